"""Choose the prior of a linear map by exact leave-one-out over the training samples."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.geometry.symmetry import Symmetry, candidates, largest_group
from gola.metrics import relative_l2
from gola.operators.closed_form.ridge import fit_ridge
from gola.operators.closed_form.ridge_path import RidgePath
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.scores import Probes
from gola.operators.linear.green import Component, InputFunctions, Window, kernel_at
from gola.operators.linear.linear_map import GreenPrior, LinearMap, SpectralPrior, lowest
from gola.operators.symmetry_test import not_refuted
from gola.representation.cosines import lowest_waves
from gola.representation.function_space import FunctionSpace
from gola.representation.representatives import spread
from gola.representation.symmetry import Symmetries, composed

# Widths of the window, as fractions of the bounding box.
_WIDTHS = (math.inf, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
_FINER = (0.7, 1.4)
_WINDOWS: tuple[Window, ...] = ("gaussian", "cauchy")
# Green's function varies fast near the point and slowly far from it, which takes a rough component with a narrow window
# and a smooth one with a wider window, by this factor and with one of these shares.
_FAR_FACTOR = 4.0
_FAR_SHARES = (1.0, 0.1)
_RATE = 10.0
# For each probe and each prior there is a matrix of samples by samples; settings show with few of both. So many probes
# show which shapes are worth a look at all of them.
_SEARCH_PROBES, _FIRST_PROBES = 32, 8
_FINALISTS = 3
_SEARCH_SAMPLES = 50
# Samples with their copies: settings chosen with fewer than are there to fit may fit them badly.
_SEARCH_COPIES = 100
_LEAST_SAMPLES = 10
# Waves of the inputs that hold less than this share of the error are not looked at.
_UNSEEN = 0.1
# Nor are waves of the solutions fitted that vary by less than this share of it: with a tenth maps err more by a fifth.
_UNFITTED = 0.03
_PENALTIES = tuple(10.0**power for power in range(-10, 0))
# Below this, rounding makes kernels indefinite.
_LEAST_PENALTY = 1e-11
_SPECTRAL_RATE = 3.0
_EXPONENTS = (-2.0, -1.0, 0.0, 1.0, 2.0)
# Penalties as shares of the variance of the inputs; the largest leave little but the mean solution.
_SHARES = tuple(10.0**power for power in range(-12, 2))

# What a symmetry is tested with.
_TESTED_SAMPLES = 8
_TESTED_POINTS = 1000
# Samples with their copies. Time grows with the cube of this.
_MOST_COPIES = 400


def choose_green_prior(
    inputs: FunctionSpace,
    coefficients: Float[Tensor, "sample channel mode"],
    solutions: Float[Tensor, "copy output_channel output_mode"],
    probes: Probes,
    symmetries: Symmetries,
    *,
    error: float,
    start: GreenPrior | None = None,
) -> GreenPrior:
    """Search for the widths of the window first, then for one setting after the other.

    Inputs are seen without their finest waves, as far as these make far less of a difference than the error that there
    is anyway: that of the best map so far for comparing shapes, and that of the best shape for its penalty and its fit.
    The finest waves of the solutions are not fitted either, as far as they vary far less than that error.

    Args:
        inputs: The space of the inputs.
        coefficients: Of the inputs of the samples.
        solutions: Coefficients of all copies of the solutions by the symmetries, each channel in a unit of its own.
        probes: Those of all copies by the symmetries.
        symmetries: By which samples are copied.
        error: The relative error of the best map so far.
        start: The prior to start from; by default all windows of the same width along all axes are tried.
    """
    at_most = max(_LEAST_SAMPLES, min(_SEARCH_SAMPLES, _SEARCH_COPIES // len(symmetries)))
    rows = spread(len(coefficients), at_most)
    copies = symmetries.inputs(inputs, coefficients[rows])
    copies = copies - copies.mean(dim=0)
    copied_rows = [copy * len(coefficients) + row for copy in range(len(symmetries)) for row in rows]
    search = _GreenSearch(
        functions=lowest(inputs, copies, num_needed(copies, inputs.dim, _UNSEEN * error)),
        probes=probes.part(copied_rows, _SEARCH_PROBES),
        groups=symmetries.groups(len(rows)),
    )
    if start is None:
        first = [_Shape(widths=(width,) * inputs.dim, window=window) for width in _WIDTHS for window in _WINDOWS]
        best = search.best_of_many(first, _PENALTIES)
    else:
        best = search.best_of([_Shape.of(start, symmetries)], _near(start.penalty))
    widths = [partial(_next_widths, axes) for axes in symmetries.tied_axes]
    sweep: list[_Variation] = [*widths, _other_windows, _other_shares]
    finer: list[_Variation] = [partial(_finer_widths, axes) for axes in symmetries.tied_axes]
    for vary in (*sweep, *sweep, *finer):
        best = search.descended(best, vary)
    num_modes = num_needed(copies, inputs.dim, _UNSEEN * min(error, best.error))
    fine = replace(search, functions=lowest(inputs, copies, num_modes), kernels={}, scored={})
    # Inputs that are all alike have no variance.
    ratio = fine.size(best.shape) / (search.size(best.shape) or 1.0) or 1.0
    best = fine.best_of([best.shape], _near(ratio * best.penalty))
    best = min(best, fine.best_of([best.shape], _near(best.penalty, step=0.5)))
    centred = solutions - solutions.mean(dim=0)
    return GreenPrior(
        components=best.shape.components,
        penalty=best.penalty,
        num_modes=num_modes,
        num_output_modes=num_needed(centred, inputs.dim, _UNFITTED * min(error, best.error)),
    )


def num_needed(coefficients: Float[Tensor, "sample channel mode"], dim: int, share: float) -> int:
    """Return how many of the lowest waves hold all but this share of the root mean square, whole shells of them."""
    squares = coefficients.square().sum(dim=(0, 1))
    beyond = squares.flip(0).cumsum(0).flip(0)
    # The constant, which is first, is always kept.
    count = max(1, int((beyond > share**2 * beyond[0]).sum()))
    lengths = lowest_waves(len(squares), dim).square().sum(dim=1)
    return int((lengths <= lengths[count - 1]).sum())


def choose_spectral_prior(
    inputs: FunctionSpace,
    coefficients: Float[Tensor, "sample channel mode"],
    probes: Probes,
    symmetries: Symmetries,
) -> SpectralPrior:
    """Try all exponents and penalties; the probes are those of all copies by the symmetries."""
    copies, groups = symmetries.inputs(inputs, coefficients), symmetries.groups(len(coefficients))
    centred = copies - copies.mean(dim=0)
    scored = []
    for exponent in _EXPONENTS:
        prior = SpectralPrior(exponent=exponent, rate=_SPECTRAL_RATE, penalty=1.0)
        kernel = prior.weighted(inputs, centred) @ centred.flatten(1).T
        # Inputs that are all alike have no variance.
        scale = float(kernel.diagonal().mean()) or 1.0
        path = RidgePath(kernel=kernel, targets=probes.rows, groups=groups)
        for penalty in _SHARES:
            error = probes.error_of_rows(path.held_out(penalty * scale))
            scored.append((error, replace(prior, penalty=penalty * scale)))
    return min(scored, key=lambda candidate: candidate[0])[1]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class SymmetryTest:
    """How well a fitted map predicts copies of training samples by symmetries.

    Attributes:
        errors: The relative error of each tested sample's copy by each candidate.
        held_out: The relative errors of the samples themselves, held out.
        dim: Number of coordinates of a point.
        at_most: Number of symmetries that may be taken together.
    """

    errors: dict[Symmetry, Float[np.ndarray, " row"]]
    held_out: Float[np.ndarray, " row"]
    dim: int
    at_most: int

    @staticmethod
    def of(
        inputs: FunctionSpace,
        coefficients: Float[Tensor, "sample channel mode"],
        outputs: FunctionSpace,
        found: LinearMap,
        samples: Samples,
    ) -> "SymmetryTest":
        """Predict copies of some samples.

        Args:
            inputs: The space of the inputs.
            coefficients: Of the inputs of the samples.
            outputs: The space of the solutions.
            found: The map.
            samples: The training samples.
        """
        rows = spread(len(samples), at_most=_TESTED_SAMPLES)
        tested = candidates(inputs.dim, has_time_axis=samples.has_time_axis)
        copies = [symmetry.input_sign * composed(symmetry, inputs, coefficients[rows]) for symmetry in tested]
        predictions = [found.held_out[rows]]
        # All copies at once: the matrix of the map is large, and is read once.
        for symmetry, copy in zip(tested, found(torch.cat(copies)).split(len(rows)), strict=True):
            predictions.append(symmetry.output_sign * composed(symmetry.inverse, outputs, copy.mT).mT)
        held_out, *errors = _errors(outputs, torch.stack(predictions), samples, rows)
        return SymmetryTest(
            errors=dict(zip(tested, errors, strict=True)),
            held_out=held_out,
            dim=inputs.dim,
            at_most=max(1, _MOST_COPIES // len(samples)),
        )

    def accepted(self, tolerance: float) -> Symmetries:
        """Return the symmetries of the map: those whose copies it predicts about as well as samples left out.

        Args:
            tolerance: How many times as large the error on copies may be.
        """
        accepted = not_refuted(self.errors, self.held_out, tolerance=tolerance)
        return Symmetries(largest_group(accepted, self.dim, at_most=self.at_most))


def _errors(
    space: FunctionSpace, predictions: Float[Tensor, "try row mode channel"], samples: Samples, rows: Sequence[int]
) -> Float[np.ndarray, "try row"]:
    """Return the relative error of each try at some points of some samples."""
    scales, errors = samples.target_scales, []
    for number, row in enumerate(rows):
        some = spread(len(samples.points[row]), at_most=_TESTED_POINTS)
        columns = space.values(samples.points[row][some], predictions[:, number].transpose(0, 1).flatten(1))
        values = columns.unflatten(1, (len(predictions), -1)).transpose(0, 1)
        targets = samples.targets[row][some].expand_as(values)
        errors.append(relative_l2(values / scales, targets / scales))
    return torch.stack(errors, dim=1).cpu().numpy()


@final
@dataclass(frozen=True, kw_only=True)
class _Shape:
    """Settings of the covariance that the search varies one by one."""

    widths: tuple[float, ...]
    window: Window
    far_share: float = _FAR_SHARES[0]

    @staticmethod
    def of(prior: GreenPrior, symmetries: Symmetries) -> "_Shape":
        """Return the shape of a prior, with the same width along axes that symmetries swap."""
        near, far = prior.components
        widths = list(near.widths)
        for axes in symmetries.tied_axes:
            for axis in axes:
                widths[axis] = math.prod(near.widths[one] for one in axes) ** (1.0 / len(axes))
        return _Shape(widths=tuple(widths), window=near.window, far_share=far.share)

    @property
    def components(self) -> tuple[Component, ...]:
        wider = tuple(_FAR_FACTOR * width for width in self.widths)
        near = Component(order=1, rate=_RATE, widths=self.widths, window=self.window)
        return near, Component(order=3, rate=_RATE, widths=wider, window=self.window, share=self.far_share)


_Variation = Callable[[_Shape], Iterator[_Shape]]


@final
@dataclass(frozen=True, kw_only=True)
class _Scored:
    """A covariance and a penalty with their leave-one-out error."""

    error: float
    shape: _Shape
    penalty: float

    def __lt__(self, other: "_Scored") -> bool:
        return self.error < other.error


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class _GreenSearch:
    """Scores of covariances, with the kernels of all components that have been met."""

    functions: InputFunctions
    probes: Probes
    groups: Int[Tensor, "sample member"] | None
    kernels: dict[Component, Tensor] = field(default_factory=dict)
    scored: dict[tuple[_Shape, float], _Scored] = field(default_factory=dict)

    def best_of_many(self, shapes: Sequence[_Shape], penalties: Sequence[float]) -> _Scored:
        """Return the best of many covariances and penalties; most of them are looked at with few probes only."""
        ranked = sorted(min(self.quick._along(shape, penalties)) for shape in shapes)
        return min(self.best_of([one.shape], _near(one.penalty)) for one in ranked[:_FINALISTS])

    def descended(self, best: _Scored, vary: "_Variation") -> _Scored:
        """Vary a shape as long as that makes it better."""
        while shapes := self._promising(best, vary(best.shape)):
            found = min(best, self.best_of(shapes, _near(best.penalty)))
            if found is best:
                break
            best = found
        return best

    def _promising(self, best: _Scored, shapes: Iterable[_Shape]) -> list[_Shape]:
        """Return the shapes that are better than the best one at a few of the probes."""
        penalties = _near(best.penalty)
        limit = self.quick.best_of([best.shape], penalties).error
        return [shape for shape in shapes if self.quick.best_of([shape], penalties).error < limit]

    @cached_property
    def quick(self) -> "_GreenSearch":
        """The same search with a few of the probes."""
        return replace(self, probes=self.probes.part(slice(None), _FIRST_PROBES), kernels={}, scored={})

    def size(self, shape: _Shape) -> float:
        """Return the mean variance of solutions under a shape, which is what penalties compare with."""
        return float(self._sum(shape).diagonal(dim1=-2, dim2=-1).mean())

    def best_of(self, shapes: Iterable[_Shape], penalties: Sequence[float]) -> _Scored:
        """Return the best of some covariances with the best of some penalties."""
        return min(self._score(shape, penalty) for shape in shapes for penalty in penalties)

    def _score(self, shape: _Shape, penalty: float) -> _Scored:
        if (shape, penalty) not in self.scored:
            fit = fit_ridge(self._sum(shape), self.probes.values, penalty, groups=self.groups)
            self.scored[shape, penalty] = _Scored(error=self.probes.error(fit.held_out), shape=shape, penalty=penalty)
        return self.scored[shape, penalty]

    def _along(self, shape: _Shape, penalties: Sequence[float]) -> Iterator[_Scored]:
        path = RidgePath(kernel=self._sum(shape), targets=self.probes.values, groups=self.groups)
        for penalty in penalties:
            yield _Scored(error=self.probes.error(path.held_out(penalty)), shape=shape, penalty=penalty)

    def _sum(self, shape: _Shape) -> Float[Tensor, "probe sample sample"]:
        near, far = shape.components
        return torch.add(self._kernel(near), self._kernel(replace(far, share=1.0)), alpha=far.share)

    def _kernel(self, component: Component) -> Float[Tensor, "probe sample sample"]:
        if component not in self.kernels:
            known = self.__dict__["quick"].kernels.get(component) if "quick" in self.__dict__ else None
            places = self.probes.fractions if known is None else self.probes.fractions[len(known) :]
            found = kernel_at(self.functions, [component], places)
            self.kernels[component] = found if known is None else torch.cat([known, found])
        return self.kernels[component]


def _near(penalty: float, step: float = 1.0) -> list[float]:
    return [max(penalty * 10.0 ** (power * step), _LEAST_PENALTY) for power in (-1, 0, 1)]


def _next_widths(axes: Collection[int], shape: _Shape) -> Iterator[_Shape]:
    """Return shapes with the next wider and the next narrower window along some axes."""
    width = shape.widths[min(axes)]
    wider, narrower = ([one for one in _WIDTHS if one > width], [one for one in _WIDTHS if one < width])
    for other in (*wider[-1:], *narrower[:1]):
        yield replace(shape, widths=tuple(other if axis in axes else old for axis, old in enumerate(shape.widths)))


def _finer_widths(axes: Collection[int], shape: _Shape) -> Iterator[_Shape]:
    """Return shapes with a slightly wider and a slightly narrower window along some axes, none far from all others."""
    least, *_, most = sorted(width for width in _WIDTHS if math.isfinite(width))
    for factor in _FINER:
        widths = tuple(factor * old if axis in axes else old for axis, old in enumerate(shape.widths))
        if all(_FINER[0] * least <= widths[axis] <= _FINER[1] * most for axis in axes):
            yield replace(shape, widths=widths)


def _other_windows(shape: _Shape) -> Iterator[_Shape]:
    for window in _WINDOWS:
        yield replace(shape, window=window)


def _other_shares(shape: _Shape) -> Iterator[_Shape]:
    for share in _FAR_SHARES:
        yield replace(shape, far_share=share)
