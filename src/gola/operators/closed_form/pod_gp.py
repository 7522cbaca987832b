"""Gaussian-process regression of solutions at the nodes, for design parameters, moving meshes and fields on a mesh."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.amplitude import BEYOND, fit_power_law, laws_without, power_law
from gola.operators.closed_form.closed_form import ClosedForm, ComparingConfig
from gola.operators.closed_form.covariance import Covariance, Pairs
from gola.operators.closed_form.covariance_likelihood import Layout, Responses, precision_of
from gola.operators.closed_form.covariance_search import CovarianceSearch, Found
from gola.operators.closed_form.descriptors import Descriptors, ScaledGroups
from gola.operators.closed_form.gaussian_process import GaussianProcess, Settings, sizes
from gola.operators.closed_form.input_features import COMPARISON_PADDING
from gola.operators.closed_form.roles import roles_of
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.scores import Probes
from gola.operators.cloud import Cloud
from gola.operators.operator import OperatorConfig
from gola.protocol import FitTask
from gola.representation.nodal import NodalSpace

# Among more samples one hardly changes a power law, and fitting it without each takes long.
_MOST_LAWS = 200
_OF_ONE_COVARIANCE = ("scaled.", "exponents", "dual", "offset")
# A law that is trusted so far beyond the samples is not held back.
_AS_FITTED = 1e6
# Until a file says what was chosen.
_UNKNOWN = Settings(layout=Layout(logs=(), is_linear=()), covariance=Covariance(is_linear=(), scales=()), ridge=0.0)


@final
@dataclass(frozen=True, kw_only=True)
class PodGpConfig(ComparingConfig):
    """Settings of Gaussian-process regression, which has none of its own."""


@final
class PodGp(ClosedForm):
    r"""Gaussian-process regression (kriging) of the coefficients of solutions.

    .. math:: u = A(z) \Bigl( \sum_j k(z, z_j)\, \alpha_j + c \Bigr)

    z are the groups of numbers that describe a sample (:class:`Descriptors`). All coefficients share the covariance k
    (:mod:`gola.operators.closed_form.covariance`): which groups it sees as logarithms, which the operator is linear in,
    whether solutions are divided by a power law A is chosen by exact leave-one-out, the length of each group by
    marginal likelihood. Layouts that are about as likely and linear in the same groups are averaged (Bayesian model
    averaging).

    Attributes:
        descriptors: What describes a sample.
        members: A regression with each covariance, the one with the largest weight first.
        known: What describes the training samples.
    """

    name: ClassVar[str] = "pod_gp"
    title: ClassVar[str] = "Gaussian-process operator"
    reads_parameters: ClassVar[bool] = True
    refines: ClassVar[bool] = True
    config_type: ClassVar[type[OperatorConfig]] = PodGpConfig
    presets: ClassVar[dict[str, PodGpConfig]] = {"default": PodGpConfig()}

    config: PodGpConfig
    descriptors: Descriptors
    members: torch.nn.ModuleList
    known: Float[Tensor, "sample number"]

    def __init__(self, config: PodGpConfig) -> None:
        super().__init__(config)
        self.descriptors, self.members = Descriptors(), torch.nn.ModuleList()
        self._register_empty("known")

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:
        """Whether there is more to compare samples by than one input function, which `kernel` does better."""
        is_one_field = len(task.inputs) == task.num_fields == 1 and not task.parameters
        return not is_one_field or task.correspondence == "moved nodes"

    @property
    def layout(self) -> Layout:
        """How the covariance with the largest weight sees the groups."""
        return self._processes[0].settings.layout

    @property
    def covariance(self) -> Covariance:
        """The covariance with the largest weight."""
        return self._processes[0].settings.covariance

    @property
    def _processes(self) -> list[GaussianProcess]:
        return [member for member in self.members if isinstance(member, GaussianProcess)]

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Search for the covariance."""
        space = self.space_for(samples, self.config.num_input_modes, COMPARISON_PADDING)
        self.descriptors = Descriptors.of(samples, space)
        trial = self._trial(samples, solutions, self.descriptors)
        search = trial.search()
        found = search.best()
        # Where parameters say how the mesh moved, its shape says nothing new.
        if (fewer := self.descriptors.without_shape()) is not None:
            other = self._trial(samples, solutions, fewer)
            without = other.search()
            simpler = without.best()
            if not found.is_clearly_better_than(simpler, is_likely=False):
                self.descriptors, trial, search, found = fewer, other, without, simpler
        weighted = search.with_weights(found)
        settings = [trial.settings(one, weight) for one, weight in weighted]
        self._hold(settings)
        for process, (one, _) in zip(self._processes, weighted, strict=True):
            process.scaled = ScaledGroups.of(trial.raw, one.layout.logs)
        held_out = self.solve(samples, solutions)
        for chosen, (one, weight) in zip(settings, weighted, strict=True):
            if one.layout.has_power_law:
                held_out = held_out - weight * trial.optimism(one, chosen.ridge, solutions)
        return held_out

    def _hold(self, settings: Sequence[Settings]) -> None:
        self.choice = {"members": [one.to_dict() for one in settings]}
        self.members = torch.nn.ModuleList(GaussianProcess(one) for one in settings)

    def set_extra_state(self, state: Tensor) -> None:
        """Take over the chosen settings of a saved state; torch calls this."""
        super().set_extra_state(state)
        if "layout" in self.choice:  # older files have one covariance
            self.choice = {"members": [self.choice]}
        for process, values in zip(self._processes, self.choice.get("members", []), strict=True):
            process.settings = Settings.from_dict(values)

    def _trial(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"], descriptors: Descriptors
    ) -> "_Trial":
        return _Trial(
            raw=descriptors.raw(samples.cloud),
            channels=self._coordinates(samples, solutions),
            may_be_loads=descriptors.may_be_loads,
            num_copies=samples.num_copies,
        )

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit with the covariance chosen before."""
        raw = self.descriptors.raw(samples.cloud)
        self.known = torch.cat(raw, dim=1)
        norms = _norms(self._coordinates(samples, solutions))
        return self._weighted([process.solve(raw, solutions, norms, samples.num_copies) for process in self._processes])

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample."""
        raw, known = self._checked(self.descriptors.raw(cloud)), self._known()
        return self._weighted([process.coefficients(raw, known) for process in self._processes])

    @property
    def expects_errors(self) -> bool:
        """Yes."""
        return True

    def error_covariance(self, cloud: Cloud) -> Float[Tensor, "sample sample"]:
        """Return the covariance of errors under the Gaussian process with the largest weight."""
        raw = self._checked(self.descriptors.raw(self.seen(cloud)))
        return self._processes[0].error_covariance(raw, self._known())

    def held_out_variances(self, cloud: Cloud) -> Float[Tensor, " sample"]:
        """Return the variances of errors of training samples, had each been held out."""
        return self._processes[0].held_out_variances(self.descriptors.raw(self.seen(cloud)))

    def _weighted(self, parts: Sequence[Float[Tensor, "*shape"]]) -> Float[Tensor, "*shape"]:
        weights = [process.settings.weight for process in self._processes]
        # The weights of one part alone would round.
        if len(parts) == 1:
            return parts[0]
        return torch.einsum("p,p...->...", parts[0].new_tensor(weights), torch.stack(list(parts)))

    def _known(self) -> list[Float[Tensor, "sample _"]]:
        """Return the groups of the training samples."""
        sizes = self.descriptors.sizes[self.descriptors.kept].tolist() or [self.known.shape[1]]
        return list(self.known.split(sizes, dim=1))

    def _load_from_state_dict(self, state_dict: Mapping[str, Tensor], prefix: str, *rest: Any) -> None:
        # Older files have one covariance, whose parts had no name in front.
        assert isinstance(state_dict, dict)
        for name in [*state_dict]:
            if name.startswith(prefix) and name.removeprefix(prefix).startswith(_OF_ONE_COVARIANCE):
                state_dict[f"{prefix}members.0.{name.removeprefix(prefix)}"] = state_dict.pop(name)
        count = 0
        while f"{prefix}members.{count}.dual" in state_dict:
            count += 1
        self.members = torch.nn.ModuleList(GaussianProcess(_UNKNOWN) for _ in range(count))
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _coordinates(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> list[Float[Tensor, "sample _"]]:
        """Return numbers of each channel whose sums of squares are those of the solutions in the channel's unit."""
        if isinstance(self.solutions, NodalSpace):  # its modes are orthonormal
            values = solutions
        else:
            values = Probes.of(self.solutions, solutions, samples).values.transpose(0, 1)
        channels = (values / samples.target_scales).unbind(dim=2)
        return [_compressed(channel) for channel in channels]

    def _checked(self, raw: list[Float[Tensor, "sample _"]]) -> list[Float[Tensor, "sample _"]]:
        every = [process.settings.layout.logs for process in self._processes]
        for group, logs in zip(raw, zip(*every, strict=True), strict=True):
            if any(logs) and bool((group <= 0.0).any()):
                raise ValueError(
                    f"This {self.title} takes the logarithm of parameters or fields that were positive in all training"
                    " samples; give it positive values there, or fit it to samples that are not."
                )
        return raw


@dataclass(frozen=True, kw_only=True, eq=False)
class _Trial:
    """The training samples, as the search for a covariance needs them.

    Attributes:
        raw: Groups of numbers that describe the samples.
        channels: Coordinates of the solutions in each channel.
        may_be_loads: Which groups the operator may be linear in.
        num_copies: Of each sample, which are held out together.
        known_pairs: Pairs of samples by which groups are seen as logarithms.
    """

    raw: list[Float[Tensor, "sample _"]]
    channels: list[Float[Tensor, "sample _"]]
    may_be_loads: tuple[bool, ...]
    num_copies: int
    known_pairs: dict[tuple[bool, ...], Pairs] = field(default_factory=dict)

    def search(self) -> CovarianceSearch:
        roles = roles_of(self.raw, self.may_be_loads)
        return CovarianceSearch(pairs=self.pairs, responses=self.responses, roles=roles)

    def pairs(self, logs: tuple[bool, ...]) -> Pairs:
        if logs not in self.known_pairs:
            groups = ScaledGroups.of(self.raw, logs)(self.raw)
            self.known_pairs[logs] = Pairs.of(groups, groups)
        return self.known_pairs[logs]

    def responses(self, layout: Layout, beyond: float = _AS_FITTED) -> Responses:
        norms = _norms(self.channels)
        total = norms.norm(dim=1)
        factors, laws = torch.ones_like(norms), None
        if layout.has_power_law:
            scaled = ScaledGroups.of(self.raw, layout.logs)
            scalars, known = sizes(layout, scaled, scaled(self.raw), norms)
            factors = power_law(scalars, fit_power_law(scalars, known), scalars)
            # Laws that must be held back elsewhere are told by their errors: as fitted, they make no layout better.
            laws = (
                partial(laws_without, scalars, known, beyond)
                if len(norms) <= _MOST_LAWS and self.num_copies == 1
                else None
            )
        weights = torch.where(total > 0.0, 1.0 / total, 0.0)
        return Responses(
            channels=self.channels, weights=weights, factors=factors, laws=laws, num_copies=self.num_copies
        )

    def settings(self, found: Found, weight: float) -> Settings:
        """Return what a regression with this covariance needs to know."""
        diagonal = found.covariance(self.pairs(found.layout.logs)).diagonal()
        ridge = found.covariance.penalty * float(diagonal.mean())
        return Settings(layout=found.layout, covariance=found.covariance, ridge=ridge, weight=weight)

    def optimism(
        self, found: Found, ridge: float, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Return by how much held-out predictions are better for a power law that has seen all samples."""
        matrix = found.covariance(self.pairs(found.layout.logs))
        shifted = matrix + ridge * torch.eye(len(matrix), dtype=matrix.dtype)
        solved = precision_of(shifted, is_affine=found.layout.is_affine)
        if solved is None:
            return torch.zeros_like(solutions)
        known = replace(self.responses(found.layout, BEYOND), channels=solutions.unbind(dim=2))
        without, with_all = (one.held_out_residuals(solved[0]) for one in (known, replace(known, laws=None)))
        return torch.stack(without, dim=2) - torch.stack(with_all, dim=2)


def _norms(channels: Sequence[Float[Tensor, "sample _"]]) -> Float[Tensor, "sample channel"]:
    return torch.stack([channel.norm(dim=1) for channel in channels], dim=1)


def _compressed(rows: Float[Tensor, "sample column"]) -> Float[Tensor, "sample _"]:
    """Return no more columns than there are rows, with the same inner products."""
    if rows.shape[1] <= rows.shape[0]:
        return rows
    left, strengths, _ = torch.linalg.svd(rows, full_matrices=False)
    return left * strengths
