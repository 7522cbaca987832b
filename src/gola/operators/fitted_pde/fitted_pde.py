"""Finite elements on the mesh of every sample, with coefficients fitted to the training samples."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.advice import warn
from gola.data.mirror import Components
from gola.geometry.points import fill_same_domain
from gola.metrics import relative_l2_errors
from gola.operators.closed_form.samples import Mesh, Samples
from gola.operators.cloud import Cloud
from gola.operators.fitted_pde.arrival import Arrivals
from gola.operators.fitted_pde.channels import ChannelNames
from gola.operators.fitted_pde.elements import Elements
from gola.operators.fitted_pde.fitted_law import law_from_dict, system_of
from gola.operators.fitted_pde.readout import Kind, read, terms
from gola.operators.fitted_pde.search import Found, search
from gola.operators.fitted_pde.sparse import is_recorded
from gola.operators.fitted_pde.system import System
from gola.operators.operator import FitResult, HeldOut, Operator, OperatorConfig
from gola.operators.queries import Queries, interpolated_values
from gola.operators.scaling import Scaling
from gola.protocol import FitTask
from gola.representation.fitted import Fitted, as_bytes, from_bytes
from gola.representation.interpolated import interpolation_weights
from gola.representation.shared_points import Recent, runs
from gola.threads import one_thread

# Larger meshes take minutes to solve on. With more inputs there are more coefficients than laws have, and every further
# target may take a fit of its own.
_MOST_POINTS = {2: 50_000, 3: 12_000}
_MOST_CHANNELS = 8
# Points that lie within this distance from the nodes of the training samples, in units of the domain, are these nodes.
_SAME = 1e-4
# Points fill the same domain as others if none of either is farther from the others than so many typical spacings.
_SPACINGS = 3.0


@final
@dataclass(frozen=True, kw_only=True)
class FittedPdeConfig(OperatorConfig):
    """Settings of finite elements with fitted coefficients.

    Attributes:
        num_steps: The largest number of Gauss–Newton steps from each start.
    """

    largest_dim: ClassVar[int] = 3

    num_steps: int = 12

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("num_steps")
        if self.dim not in (2, 3) or self.has_time_axis:
            raise ValueError(
                f"fitted_pde solves equations in the plane or in space, without time; got points of {self.dim}"
                " coordinates. Use another operator, like kernel."
            )


@final
class FittedPde(Fitted, Operator):
    """Finite elements on each sample's own mesh, for an elliptic equation with fitted coefficients.

    The equation (:class:`Law`, :class:`Flow`) is one of diffusion, elasticity or flow: its medium depends on the
    inputs, which may also act as sources, or as values or fluxes at parts of the boundary. Coefficients are few, the
    same for all samples, and found by Gauss–Newton steps on the solutions themselves. Channels that are no solutions
    may follow from one at every point: components of a flux, a von Mises stress. Where the data obey another equation
    the held-out error says so.

    Meshes are found from the points (:mod:`gola.geometry.filling`), so that samples may have any shape and number of
    holes.

    Attributes:
        choice: Laws and readouts, as plain values; saved with the state.
        coefficients: Of all laws, one after the other.
        readouts: Weights of all readouts, one after the other.
        box: Lower and upper corner of the box around all training samples.
        nodes: The points of the training samples, if all of them have the same; none otherwise.
    """

    name: ClassVar[str] = "fitted_pde"
    title: ClassVar[str] = "finite-element operator with fitted coefficients"
    normalised: ClassVar[bool] = False
    holds_out: ClassVar[bool] = True
    min_samples: ClassVar[int] = 3
    config_type: ClassVar[type[OperatorConfig]] = FittedPdeConfig
    presets: ClassVar[Mapping[str, FittedPdeConfig]] = {"default": FittedPdeConfig()}

    config: FittedPdeConfig
    choice: dict[str, Any]
    coefficients: Float[Tensor, " coefficient"]
    readouts: Float[Tensor, " term"]
    box: Float[Tensor, "2 dim"]
    nodes: Float[Tensor, "node dim"]

    def __init__(self, config: FittedPdeConfig) -> None:
        super().__init__(config)
        self.choice = {"laws": [], "readouts": []}
        self._register_empty("coefficients", "readouts", "box", "nodes")
        self._meshes: Recent[Elements] = Recent()

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:
        """Whether there are fields or shapes, and meshes that are small enough to be solved on."""
        dim = task.samples[0].points.shape[1]
        if task.has_time_axis or task.periods is not None or dim not in _MOST_POINTS:
            return False
        num_channels = max(len(task.inputs) + len(task.parameters), len(task.targets))
        is_small = max(len(sample.points) for sample in task.samples) <= _MOST_POINTS[dim]
        return is_small and num_channels <= _MOST_CHANNELS and (task.num_fields > 0 or task.correspondence == "none")

    def fit(self, task: FitTask) -> FitResult:
        """Fit to the samples of a task, whose channel names say which of them are vectors."""
        self.require_samples(task)
        scaling = Scaling.fit(task.samples, normalised=False)
        cloud = scaling.clouds(task.samples, torch.float64)
        targets = torch.cat([scaling.encode(one.targets, torch.float64) for one in task.samples])
        names = ChannelNames(Components.of((*task.inputs, *task.parameters)), Components.of(task.targets))
        with one_thread(), torch.no_grad():
            predictions = self.fit_cloud(cloud, targets, names)
        errors = relative_l2_errors(predictions, targets, cloud.sizes, scaling.targets.scale)
        held_out = [values.numpy() for values in torch.split(predictions, cloud.sizes)]
        return FitResult(
            operator=self,
            scaling=scaling,
            held_out=HeldOut(predictions=held_out, method="leave-one-out"),
            scores={"cv_error": float(errors.mean())},
            details={"settings": self.choice},
        )

    def fit_cloud(
        self, cloud: Cloud, targets: Float[Tensor, "point channel"], names: ChannelNames | None = None
    ) -> Float[Tensor, "point channel"]:
        """Fit to all training samples, and return predictions of each by coefficients that have not seen it.

        Args:
            cloud: The input functions, one sample after the other.
            targets: The solutions at the same points.
            names: Which channels are vectors; scalars by default.
        """
        samples = Samples.of(self.seen(cloud), targets, Mesh())
        self.box = torch.stack([samples.cloud.points.amin(dim=0), samples.cloud.points.amax(dim=0)])
        if len(runs(samples.points)) == 1:
            self.nodes = samples.points[0].double().clone()
        meshes = [self._mesh(points) for points in samples.points]
        found = search(names or _scalars(samples), meshes, samples.inputs, samples.targets, self.config.num_steps)
        self._keep(found)
        return torch.cat(found.held_out)

    @one_thread()
    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        if not len(self.box):
            raise ValueError(f"This {self.title} is not fitted yet; call fit_cloud(cloud, targets) first.")
        parts = zip(torch.split(cloud.points, cloud.sizes), torch.split(cloud.values, cloud.sizes), strict=True)
        return torch.cat([self._predicted(points, values.double()) for points, values in parts]).to(cloud.points.dtype)

    def _predicted(
        self, points: Float[Tensor, "point dim"], values: Float[Tensor, "point input"]
    ) -> Float[Tensor, "point channel"]:
        """Predict at the points of one sample.

        Other points of the domain that all training samples share are answered from a solution at the nodes of these:
        conditions at the boundary were fitted to how far it is from them, half a cell on many grids.
        """
        if not self._are_other_points(points.detach()):
            return self._solved(points, values)
        inputs = _interpolated(points.detach().double(), values, self.nodes)
        return _interpolated(self.nodes, self._solved(self.nodes, inputs), points.double())

    def _are_other_points(self, points: Float[Tensor, "point dim"]) -> bool:
        """Whether points fill the domain of the training samples, and are not their nodes."""
        if not len(self.nodes) or points.device.type == "meta":
            return False
        if points.shape == self.nodes.shape and torch.allclose(points.double(), self.nodes, rtol=0.0, atol=_SAME):
            return False
        return fill_same_domain(points.double().cpu().numpy(), self.nodes.cpu().numpy(), _SPACINGS)

    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries, interpolated from the points of the cloud."""
        known = replace(cloud, values=self.predict(cloud))
        return interpolated_values(known, queries).to(queries.points.dtype)

    @property
    def relates_targets(self) -> bool:
        """Whether some targets follow from the solution for others."""
        return bool(self.choice["readouts"])

    def get_extra_state(self) -> Tensor:
        """Return the choice as a tensor, so that it is saved with the state; torch calls this."""
        return as_bytes(self.choice)

    def set_extra_state(self, state: Tensor) -> None:
        """Take over the choice of a saved state; torch calls this.

        Raises:
            ValueError: If the state is of a time when equations had other terms.
        """
        choice = from_bytes(state)
        if not all("scales" in law for law in choice.get("laws", ())):
            raise ValueError(
                "A surrogate of fitted_pde by an older version has other terms and cannot be read; fit it again."
            )
        self.choice = choice

    def parameter_counts(self) -> dict[str, int]:
        """Return how many numbers a prediction draws on, by name."""
        counts = {name: getattr(self, name).numel() for name in ("coefficients", "readouts")}
        return {name: count for name, count in counts.items() if count}

    def _mesh(self, points: Float[Tensor, "point dim"]) -> Elements:
        return self._meshes.of(lambda: Elements.of(points, self.box.cpu()), points.detach())

    def _solved(
        self, points: Float[Tensor, "point dim"], values: Float[Tensor, "point input"]
    ) -> Float[Tensor, "point channel"]:
        mesh = self._mesh(points)
        columns: dict[int, Tensor] = {}
        laws = [law_from_dict(one["law"]) for one in self.choice["laws"]]
        sizes = [law.num_coefficients for law in laws]
        weights = iter(self.readouts.split([one["size"] for one in self.choice["readouts"]]))
        for number, (law, numbers) in enumerate(zip(laws, self.coefficients.split(sizes), strict=True)):
            about, system = self.choice["laws"][number], system_of(law, mesh, values)
            solution = _solution(system, numbers)
            # A solution may have components that are no targets, like a pressure.
            pairs = zip(about["channels"], about["scales"], solution.unbind(dim=1), strict=False)
            columns |= {channel: scale * column for channel, scale, column in pairs}
            for readout in (one for one in self.choice["readouts"] if one["law"] == number):
                assert isinstance(system, System)
                kind = cast("Kind", readout["kind"])
                given = terms(kind, system, numbers, solution)
                columns[readout["channel"]] = read(kind, next(weights), given)
        return torch.stack([columns[channel] for channel in range(self.config.num_outputs)], dim=1)

    def _keep(self, found: "Found") -> None:
        self.coefficients = torch.cat([one.coefficients for one in found.laws])
        weights = [readout.weights for _, _, readout in found.readouts]
        self.readouts = torch.cat(weights) if weights else self.coefficients[:0].clone()
        self.choice = {
            "laws": [
                {"channels": list(one.channels), "scales": list(one.scales), "law": one.law.to_dict()}
                for one in found.laws
            ],
            "readouts": [
                {"channel": channel, "law": law, "kind": readout.kind, "size": len(readout.weights)}
                for law, channel, readout in found.readouts
            ],
        }


def _solution(
    system: System | Arrivals, coefficients: Float[Tensor, " coefficient"]
) -> Float[Tensor, "point component"]:
    """Solve; an equation that was fitted need not have a solution for inputs unlike those that it was fitted to."""
    found = system.solution(coefficients)
    if isinstance(system, Arrivals) or found.is_meta or is_recorded() or bool(found.isfinite().all()):
        return found
    warn(
        "The fitted equation has no solution that could be found for this input; the prediction is that of an equation"
        " with weaker nonlinear terms, and a guess."
    )
    return system.weakened_solution(coefficients)


def _scalars(samples: Samples) -> ChannelNames:
    counts = samples.inputs[0].shape[1], samples.targets[0].shape[1]
    return ChannelNames(*(Components(tuple((str(channel), ()) for channel in range(count))) for count in counts))


def _interpolated(
    points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"], at: Float[Tensor, "query dim"]
) -> Float[Tensor, "query channel"]:
    rows, weights = interpolation_weights(points.cpu().numpy(), at)
    return torch.einsum("qk,qkc->qc", weights.to(values), values[rows.to(values.device)])
