"""Gaussian-process regression on a reference shape, for samples that each have a shape of their own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.mirror import Components
from gola.geometry.symmetry import Symmetry, domain_symmetries, largest_group
from gola.metrics import relative_l2_errors
from gola.operators.closed_form.closed_form import ClosedForm, ComparingConfig
from gola.operators.closed_form.morphed_samples import ShapeCopies, ShapedSample, as_cloud, shaped
from gola.operators.closed_form.pod_gp import PodGp, PodGpConfig
from gola.operators.closed_form.samples import Mesh, Samples
from gola.operators.cloud import Cloud
from gola.operators.operator import FitResult, OperatorConfig
from gola.operators.queries import Queries
from gola.operators.scaling import Scaling
from gola.operators.symmetry_test import not_refuted
from gola.protocol import FitTask
from gola.representation.nodal import NodalSpace
from gola.representation.reference_shape import ReferenceShape, outlines
from gola.threads import one_thread

# With more samples and copies than this, settings are chosen with fewer copies.
_MOST_ROWS = 250
# Maps that fold more of the reference than this, flat triangles at the boundary aside, are of no use.
_MOST_FOLDED = 0.01
# How many times as large errors on copies may be, as in the automatic choice.
_TOLERANCE = 1.15
_MOST_SYMMETRIES = 16
# What a fit decides.
_CHOSEN = ("solutions", "parts", "held_out", "cv_error", "choice")


@final
@dataclass(frozen=True, kw_only=True)
class MorphedGpConfig(ComparingConfig):
    """Settings of Gaussian-process regression on a reference shape, which has none of its own."""

    largest_dim: ClassVar[int] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dim not in (2, 3) or self.has_time_axis:
            raise ValueError(
                f"morphed_gp maps shapes of the plane or of space to each other, without time; got points of {self.dim}"
                " coordinates. Use another operator, like kernel."
            )


@final
class MorphedGp(ClosedForm):
    r"""Gaussian-process regression of solutions that have been carried to a reference shape.

    .. math:: u(\phi_z(x)) = \sum_j k(z, z_j)\, \alpha_j(x) + c(x)

    :math:`\phi_z` maps the reference to the shape of sample z (:class:`ReferenceShape`). There all samples share their
    nodes, and :class:`PodGp` compares them by the modes of the map, by parameters and by input functions at the nodes.
    Components of a vector share a covariance; scalars have another. Copies of samples under symmetries that a fit
    without them does not refute are samples, too, if that lowers the error on held-out samples, which are held out
    together with their copies.
    """

    name: ClassVar[str] = "morphed_gp"
    title: ClassVar[str] = "Gaussian-process operator on a reference shape"
    reads_parameters: ClassVar[bool] = True
    config_type: ClassVar[type[OperatorConfig]] = MorphedGpConfig
    presets: ClassVar[dict[str, MorphedGpConfig]] = {"default": MorphedGpConfig()}

    config: MorphedGpConfig
    reference: ReferenceShape
    parts: torch.nn.ModuleList
    training_nodes: Float[Tensor, "sample node dim"]

    def __init__(self, config: MorphedGpConfig) -> None:
        super().__init__(config)
        self.reference = ReferenceShape()
        self.parts = torch.nn.ModuleList()
        self._register_empty("training_nodes")
        self._copies: ShapeCopies | None = None

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:
        """Whether samples differ in shape, and not in topology, and have no nodes in common."""
        if task.correspondence != "none" or task.has_time_axis or task.periods is not None:
            return False
        shapes = outlines([sample.points for sample in task.samples])
        if shapes is None:
            return False
        reference = ReferenceShape.of(shapes)
        return bool(np.mean([reference.folded_share(shape) for shape in shapes]) < _MOST_FOLDED)

    def fit(self, task: FitTask) -> FitResult:
        """Fit to the samples of a task, whose channels say how copies of samples turn."""
        frame = Scaling.fit(task.samples, normalised=False).frame
        sides = (np.array(frame.sides) / np.array(frame.extent)).tolist()
        channels = (Components.of(part) for part in (task.inputs, task.targets, task.parameters))
        self._copies = ShapeCopies.of(sides, *channels)
        return super().fit(task)

    def fit_cloud(self, cloud: Cloud, targets: Float[Tensor, "point channel"], mesh: Mesh | None = None) -> None:
        """Fit to all training samples, and choose all settings by leave-one-out among them."""
        samples = self._training_samples(cloud, targets, mesh or Mesh())
        known = shaped(samples.cloud, torch.cat(list(samples.targets)))
        self.reference = ReferenceShape.of([one.shape for one in known])
        copies = self._copies or ShapeCopies.of([1.0] * cloud.dim, *_scalars(samples))
        morphed = _Morphed(reference=self.reference, samples=known, copies=copies, num_inputs=self.config.num_inputs)
        self._choose_settings(cloud, targets, morphed)

    def refit(self, cloud: Cloud, targets: Float[Tensor, "point channel"]) -> None:
        """Fit to other samples with the settings chosen by :meth:`fit_cloud`."""
        self._require_fit()
        samples = self._training_samples(cloud, targets, Mesh())
        known = shaped(samples.cloud, torch.cat(list(samples.targets)))
        copies = ShapeCopies.from_dict(self.choice["copies"])
        morphed = _Morphed(reference=self.reference, samples=known, copies=copies, num_inputs=self.config.num_inputs)
        moved = morphed.under([Symmetry.parse(one) for one in self.choice["symmetries"]])
        self._keep(cloud, targets, moved, self.solve(moved, self._solutions_of(moved)))

    def _choose_settings(self, cloud: Cloud, targets: Float[Tensor, "point channel"], morphed: "_Morphed") -> None:
        """Fit without copies, and with those that the fit does not refute; keep what is better."""
        names = [name for name, axes in morphed.copies.mirror.targets.names]
        are_vectors = [bool(axes) for _, axes in morphed.copies.mirror.targets.names]
        self.choice = {
            "copies": morphed.copies.to_dict(),
            "channels": _channel_groups(names, are_vectors),
        }
        self._fit_under([Symmetry.identity(cloud.dim)], cloud, targets, morphed)
        for group in self._symmetry_groups(morphed):
            before = {name: getattr(self, name) for name in _CHOSEN}
            self._fit_under(group, cloud, targets, morphed)
            if self.cv_error >= before["cv_error"]:
                for name, value in before.items():
                    setattr(self, name, value)

    def _fit_under(
        self, group: Sequence[Symmetry], cloud: Cloud, targets: Float[Tensor, "point channel"], morphed: "_Morphed"
    ) -> None:
        moved = morphed.under(group)
        self.solutions = self._solution_space(moved, self.config.num_modes)
        self.choice = {**self.choice, "symmetries": [str(one) for one in group]}
        fewer = morphed.under(group[: max(1, _MOST_ROWS // len(morphed.samples))])
        self.choose(fewer, self._solutions_of(fewer))
        self._keep(cloud, targets, moved, self.solve(moved, self._solutions_of(moved)))

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Search for the covariance of each group of channels."""
        self.parts = torch.nn.ModuleList(self._part(len(channels)) for channels in self.choice["channels"])
        found = [part.choose(*some) for part, some in self._by_part(samples, solutions)]
        return self._joined(found)

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit with the covariances chosen before."""
        return self._joined([part.solve(*some) for part, some in self._by_part(samples, solutions)])

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample, which is given at the nodes."""
        return self._joined([part.coefficients(cloud) for part in self._parts()])

    @one_thread()
    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries."""
        self._require_fit()
        moved = self._moved(cloud)
        return self._values(self.coefficients(moved), queries, torch.split(moved.points, moved.sizes))

    def _moved(self, cloud: Cloud) -> Cloud:
        """Return the samples at the nodes of the reference shape."""
        known = shaped(cloud)
        for number, one in enumerate(known):
            if one.shape.num_holes != self.reference.num_holes:
                raise ValueError(
                    f"This {self.title} was fitted to shapes with {self.reference.num_holes} holes, and the points of"
                    f" sample {number} leave {one.shape.num_holes}; give it more points, or fit it to such shapes."
                )
        nodes, values = zip(*(one.at_nodes(self.reference) for one in known), strict=True)
        return as_cloud(nodes, values, [one.parameters for one in known])

    def _keep(
        self,
        cloud: Cloud,
        targets: Float[Tensor, "point channel"],
        moved: Samples,
        held_out: Float[Tensor, "row mode channel"],
    ) -> None:
        """Keep the leave-one-out predictions of the samples themselves."""
        self.held_out = held_out[:: moved.num_copies].contiguous()
        self.training_nodes = torch.stack(list(moved.points[:: moved.num_copies]))
        self._places = Queries(points=cloud.points, offsets=cloud.offsets)
        scales = Samples.of(cloud, targets, Mesh()).target_scales
        errors = relative_l2_errors(self.leave_one_out().double(), targets.double(), cloud.sizes, scales.tolist())
        self.cv_error = errors.mean()

    def _nodes_of_training_samples(self) -> Sequence[Float[Tensor, "node dim"]]:
        return self.training_nodes.unbind()

    def _symmetry_groups(self, morphed: "_Morphed") -> list[tuple[Symmetry, ...]]:
        """Return groups of symmetries of the domain: all, and those that this fit without copies does not refute."""
        of_domain = domain_symmetries([one.shape.points for one in morphed.samples])
        likely = [one for one in of_domain if morphed.copies.mirror.allows(one)]
        if len(likely) >= _MOST_SYMMETRIES:  # every one of them takes a match of each sample
            likely = [one for one in likely if one in largest_group(likely, self.config.dim, at_most=_MOST_SYMMETRIES)]
        held_out = self._errors(self.held_out, morphed.under([Symmetry.identity(self.config.dim)]))
        errors = {}
        for symmetry in likely:
            copies = morphed.under([symmetry])
            errors[symmetry] = self._errors(self.coefficients(copies.cloud), copies)
        orders = (likely, not_refuted(errors, held_out, tolerance=_TOLERANCE))
        groups = dict.fromkeys(largest_group(order, self.config.dim, at_most=_MOST_SYMMETRIES) for order in orders)
        return [group for group in groups if len(group) > 1]

    def _errors(
        self, coefficients: Float[Tensor, "sample mode channel"], samples: Samples
    ) -> Float[np.ndarray, " sample"]:
        """Return the relative error of each prediction at the nodes."""
        wanted = torch.stack(list(samples.targets))
        found = torch.einsum("nm,smc->snc", self.solutions.modes, coefficients)
        misses, sizes = (((one / samples.target_scales).flatten(1)).norm(dim=1) for one in (found - wanted, wanted))
        return (misses / torch.where(sizes > 0.0, sizes, 1.0)).numpy()

    def _part(self, num_outputs: int) -> PodGp:
        names = ("dim", "num_inputs", "num_parameters", "num_modes", "padding", "num_input_modes")
        known = {name: getattr(self.config, name) for name in names}
        part = PodGp(PodGpConfig(num_outputs=num_outputs, **known))
        part.solutions = NodalSpace()
        return part

    def _parts(self) -> Iterator[PodGp]:
        for part in self.parts:
            assert isinstance(part, PodGp)
            yield part

    def _by_part(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Iterator[tuple[PodGp, tuple[Samples, Float[Tensor, "sample mode _"]]]]:
        """Return each part with its share of the channels."""
        for part, channels in zip(self._parts(), self.choice["channels"], strict=True):
            targets = [values[:, channels] for values in samples.targets]
            yield part, (replace(samples, targets=targets), solutions[:, :, channels])

    def _joined(self, parts: Sequence[Float[Tensor, "sample mode _"]]) -> Float[Tensor, "sample mode channel"]:
        """Put the channels of all parts in order."""
        order = [channel for channels in self.choice["channels"] for channel in channels]
        return torch.cat(list(parts), dim=2)[:, :, np.argsort(order)]

    def _load_from_state_dict(self, state_dict: Mapping[str, Tensor], prefix: str, *rest: Any) -> None:
        # The state says how many channels each part has.
        self.parts = torch.nn.ModuleList()
        while (dual := _first_dual(state_dict, f"{prefix}parts.{len(self.parts)}.")) is not None:
            self.parts.append(self._part(dual.shape[2]))
        super()._load_from_state_dict(state_dict, prefix, *rest)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class _Morphed:
    """Training samples with a reference shape, and their copies there, each made when first asked for."""

    reference: ReferenceShape
    samples: Sequence[ShapedSample]
    copies: ShapeCopies
    num_inputs: int
    _known: dict[Symmetry, list[tuple[Tensor, Tensor, Tensor]]] = field(default_factory=dict, init=False)

    def under(self, group: Sequence[Symmetry]) -> Samples:
        """Return the copies of all samples under some symmetries, those of a sample one after the other."""
        images = [one for images in zip(*(self._images(symmetry) for symmetry in group), strict=True) for one in images]
        nodes, values, parameters = zip(*images, strict=True)
        cloud = as_cloud(nodes, [one[:, : self.num_inputs] for one in values], parameters)
        targets = torch.cat([one[:, self.num_inputs :] for one in values])
        names = [name for name, _ in self.copies.mirror.inputs.names]
        mesh = Mesh(
            moves=True,
            cells=self.reference.cells.clone(),  # files hold no tensor twice
            num_copies=len(group),
            input_bundles=tuple(list(dict.fromkeys(names)).index(name) for name in names),
        )
        return Samples.of(cloud, targets, mesh)

    def _images(self, symmetry: Symmetry) -> list[tuple[Tensor, Tensor, Tensor]]:
        if symmetry not in self._known:
            images = [self.copies.image(sample, symmetry) for sample in self.samples]
            self._known[symmetry] = [(*image.at_nodes(self.reference), image.parameters) for image in images]
        return self._known[symmetry]


def _first_dual(state_dict: Mapping[str, Tensor], prefix: str) -> Tensor | None:
    """Return the coefficients of a part's first covariance; in older files it has no other."""
    return state_dict.get(f"{prefix}members.0.dual", state_dict.get(f"{prefix}dual"))


def _scalars(samples: Samples) -> list[Components]:
    counts = (samples.inputs[0].shape[1], samples.targets[0].shape[1], samples.cloud.parameters.shape[1])
    return [Components(tuple((f"channel {number}", ()) for number in range(count))) for count in counts]


def _channel_groups(names: Sequence[str], are_vectors: Sequence[bool]) -> list[list[int]]:
    """Return the channels of each vector or tensor, and those of all scalars."""
    groups: dict[str, list[int]] = {}
    for channel, (name, is_vector) in enumerate(zip(names, are_vectors, strict=True)):
        groups.setdefault(name if is_vector else "", []).append(channel)
    return list(groups.values())
