"""Gaussian-process regression of solutions at the nodes, for design parameters, moving meshes and fields on a mesh."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.amplitude import fit_power_law, laws_without, power_law
from gola.operators.closed_form.closed_form import ClosedForm, ComparingConfig
from gola.operators.closed_form.covariance import Covariance, Groups, Pairs
from gola.operators.closed_form.covariance_likelihood import Layout, Responses, precision_of
from gola.operators.closed_form.covariance_search import CovarianceSearch, Found
from gola.operators.closed_form.descriptors import Descriptors, ScaledGroups
from gola.operators.closed_form.input_features import COMPARISON_PADDING
from gola.operators.closed_form.kriging import error_covariance, held_out_variances
from gola.operators.closed_form.ridge import RidgeFit, fit_ridge
from gola.operators.closed_form.roles import roles_of
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.scores import Probes
from gola.operators.cloud import Cloud
from gola.operators.operator import OperatorConfig
from gola.protocol import FitTask
from gola.representation.nodal import NodalSpace

# Among more samples one hardly changes a power law, and fitting it without each takes long.
_MOST_LAWS = 200


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
    marginal likelihood.
    """

    name: ClassVar[str] = "pod_gp"
    title: ClassVar[str] = "Gaussian-process operator"
    reads_parameters: ClassVar[bool] = True
    refines: ClassVar[bool] = True
    config_type: ClassVar[type[OperatorConfig]] = PodGpConfig
    presets: ClassVar[dict[str, PodGpConfig]] = {"default": PodGpConfig()}

    config: PodGpConfig
    descriptors: Descriptors
    scaled: ScaledGroups
    known: Float[Tensor, "sample number"]
    exponents: Float[Tensor, "scalar channel"]
    dual: Float[Tensor, "sample mode channel"]
    offset: Float[Tensor, "mode channel"]

    def __init__(self, config: PodGpConfig) -> None:
        super().__init__(config)
        self.descriptors, self.scaled = Descriptors(), ScaledGroups()
        self._register_empty("known", "exponents", "dual", "offset")

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:
        """Whether there is more to compare samples by than one input function, which `kernel` does better."""
        is_one_field = len(task.inputs) == task.num_fields == 1 and not task.parameters
        return not is_one_field or task.correspondence == "moved nodes"

    @property
    def layout(self) -> Layout:
        """How the covariance sees the groups."""
        return Layout(**{name: _frozen(value) for name, value in self.choice["layout"].items()})

    @property
    def covariance(self) -> Covariance:
        """The covariance that was chosen."""
        return Covariance(**{name: _frozen(value) for name, value in self.choice["covariance"].items()})

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Search for the covariance."""
        space = self.space_for(samples, self.config.num_input_modes, COMPARISON_PADDING)
        self.descriptors = Descriptors.of(samples, space)
        trial = self._trial(samples, solutions, self.descriptors)
        found = trial.search().best()
        # Where parameters say how the mesh moved, its shape says nothing new.
        if (fewer := self.descriptors.without_shape()) is not None:
            other = self._trial(samples, solutions, fewer)
            simpler = other.search().best()
            if not found.is_clearly_better_than(simpler, is_likely=False):
                self.descriptors, trial, found = fewer, other, simpler
        diagonal = found.covariance(trial.pairs(found.layout.logs)).diagonal()
        ridge = found.covariance.penalty * float(diagonal.mean())
        self.choice = {"layout": asdict(found.layout), "covariance": asdict(found.covariance), "ridge": ridge}
        self.scaled, self.exponents = ScaledGroups.of(trial.raw, found.layout.logs), self.dual.new_empty(0)
        held_out = self.solve(samples, solutions)
        return held_out - trial.optimism(found, ridge, solutions) if found.layout.has_power_law else held_out

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
        groups = self.scaled(raw)
        if self.layout.has_power_law:
            channels = self._coordinates(samples, solutions)
            self.exponents = fit_power_law(*_sizes(self.layout, self.scaled, groups, _norms(channels)))
        self.known = torch.cat(raw, dim=1)
        factors = self._factors(groups)[:, None, :]
        fit = self._regression(groups, (solutions / factors).flatten(1), samples.num_copies)
        shape = solutions.shape[1:]
        self.dual = fit.dual.unflatten(1, shape).contiguous()
        self.offset = fit.free.sum(dim=0).unflatten(0, shape)
        return fit.held_out.unflatten(1, shape) * factors

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample."""
        raw = self.descriptors.raw(cloud)
        groups = self.scaled(self._checked(raw))
        matrix = self.covariance(Pairs.of(groups, self._known_groups()))
        return (torch.einsum("ts,smc->tmc", matrix, self.dual) + self.offset) * self._factors(groups)[:, None, :]

    def error_covariance(self, cloud: Cloud) -> Float[Tensor, "sample sample"]:
        """Return the covariance of errors under the Gaussian process."""
        raw = self.descriptors.raw(self.seen(cloud))
        new, known = self.scaled(self._checked(raw)), self._known_groups()
        covariance = self.covariance
        found = error_covariance(
            covariance(Pairs.of(known, known)),
            covariance(Pairs.of(new, known)),
            covariance(Pairs.of(new, new)),
            self.choice["ridge"],
            is_affine=covariance.is_affine,
        )
        factors = self._factors(new).square().mean(dim=1).sqrt()
        return factors[:, None] * found * factors

    def held_out_variances(self, cloud: Cloud) -> Float[Tensor, " sample"]:
        """Return the variances of errors of training samples, had each been held out."""
        groups = self.scaled(self.descriptors.raw(self.seen(cloud)))
        matrix = self.covariance(Pairs.of(groups, groups))
        found = held_out_variances(matrix, self.choice["ridge"], is_affine=self.covariance.is_affine)
        return self._factors(groups).square().mean(dim=1) * found

    def _regression(self, groups: Groups, columns: Float[Tensor, "sample output"], num_copies: int) -> RidgeFit:
        covariance = self.covariance
        matrix = covariance(Pairs.of(groups, groups))
        free = matrix.new_ones(len(matrix), 1 if covariance.is_affine else 0)
        together = torch.arange(len(matrix)).view(-1, num_copies) if num_copies > 1 else None
        return fit_ridge(matrix, columns, self.choice["ridge"], free, together)

    def _known_groups(self) -> Groups:
        """Return the groups of the training samples."""
        sizes = self.descriptors.sizes[self.descriptors.kept].tolist() or [self.known.shape[1]]
        return self.scaled(self.known.split(sizes, dim=1))

    def _factors(self, groups: Groups) -> Float[Tensor, "sample channel"]:
        """Return what the solutions of samples are divided by."""
        if not len(self.exponents):
            return groups.smooth[0].new_ones(len(groups.smooth[0]), self.config.num_outputs)
        smooth = ~torch.tensor(self.layout.is_linear)
        known, asked = (self.scaled.scalars(some)[:, smooth] for some in (self._known_groups(), groups))
        return power_law(asked, self.exponents, known)

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
        for group, is_log in zip(raw, self.scaled.logs.tolist(), strict=True):
            if is_log and bool((group <= 0.0).any()):
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

    def responses(self, layout: Layout) -> Responses:
        norms = _norms(self.channels)
        total = norms.norm(dim=1)
        factors, laws = torch.ones_like(norms), None
        if layout.has_power_law:
            scaled = ScaledGroups.of(self.raw, layout.logs)
            scalars, sizes = _sizes(layout, scaled, scaled(self.raw), norms)
            factors = power_law(scalars, fit_power_law(scalars, sizes), scalars)
            laws = partial(laws_without, scalars, sizes) if len(norms) <= _MOST_LAWS and self.num_copies == 1 else None
        weights = torch.where(total > 0.0, 1.0 / total, 0.0)
        return Responses(
            channels=self.channels, weights=weights, factors=factors, laws=laws, num_copies=self.num_copies
        )

    def optimism(
        self, found: Found, ridge: float, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Return by how much held-out predictions are better for a power law that has seen all samples."""
        matrix = found.covariance(self.pairs(found.layout.logs))
        shifted = matrix + ridge * torch.eye(len(matrix), dtype=matrix.dtype)
        solved = precision_of(shifted, is_affine=found.layout.is_affine)
        if solved is None:
            return torch.zeros_like(solutions)
        known = replace(self.responses(found.layout), channels=solutions.unbind(dim=2))
        without, with_all = (one.held_out_residuals(solved[0]) for one in (known, replace(known, laws=None)))
        return torch.stack(without, dim=2) - torch.stack(with_all, dim=2)


def _sizes(
    layout: Layout, scaled: ScaledGroups, groups: Groups, norms: Float[Tensor, "sample channel"]
) -> tuple[Float[Tensor, "sample scalar"], Float[Tensor, "sample channel"]]:
    """Return what a power law sees of samples, and the size of their solutions in units of what they are linear in."""
    linear = [group for group, is_linear in zip(groups.linear, layout.is_linear, strict=True) if is_linear]
    loads = torch.cat(linear, dim=1).norm(dim=1) if linear else norms.new_ones(len(norms))
    sizes = norms / torch.where(loads > 0.0, loads, 1.0)[:, None]
    scalars = scaled.scalars(groups)[:, ~torch.tensor(layout.is_linear)]
    return scalars, torch.where(sizes > 0.0, sizes, 1.0)


def _norms(channels: Sequence[Float[Tensor, "sample _"]]) -> Float[Tensor, "sample channel"]:
    return torch.stack([channel.norm(dim=1) for channel in channels], dim=1)


def _compressed(rows: Float[Tensor, "sample column"]) -> Float[Tensor, "sample _"]:
    """Return no more columns than there are rows, with the same inner products."""
    if rows.shape[1] <= rows.shape[0]:
        return rows
    left, strengths, _ = torch.linalg.svd(rows, full_matrices=False)
    return left * strengths


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
