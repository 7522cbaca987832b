"""Choose the prior of a linear map by exact leave-one-out over the training samples."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import final

from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.function_space import FunctionSpace
from gola.operators.closed_form.green import Component, InputFunctions, Window, kernel_at
from gola.operators.closed_form.linear_map import GreenPrior, SpectralPrior
from gola.operators.closed_form.ridge import fit_ridge
from gola.operators.closed_form.samples import spread
from gola.operators.closed_form.scores import Probes

# Widths of the window, as fractions of the bounding box.
_WIDTHS = (math.inf, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
_FINER = (0.7, 1.4)
_WINDOWS: tuple[Window, ...] = ("gaussian", "cauchy")
# Green's function varies fast near the point and slowly far from it, which takes a rough component with a narrow window
# and a smooth one with a wider window, by this factor and with one of these shares.
_FAR_FACTOR = 4.0
_FAR_SHARES = (1.0, 0.1)
_RATE = 10.0
# For each probe and each prior there is a matrix of samples by samples; settings show with few of both.
_SEARCH_PROBES = 32
_SEARCH_SAMPLES = 50
_PENALTIES = tuple(10.0**power for power in range(-10, 0))
# Below this, rounding makes kernels indefinite.
_LEAST_PENALTY = 1e-11
_SPECTRAL_RATE = 3.0
_EXPONENTS = (-2.0, -1.0, 0.0, 1.0, 2.0)
# Penalties as shares of the variance of the inputs; the largest leave little but the mean solution.
_SHARES = tuple(10.0**power for power in range(-12, 2))


def choose_green_prior(
    inputs: FunctionSpace, coefficients: Float[Tensor, "sample channel mode"], probes: Probes
) -> GreenPrior:
    """Search for the widths of the window first, then for one setting after the other."""
    rows = spread(len(coefficients), at_most=_SEARCH_SAMPLES)
    functions = InputFunctions.of(inputs, (coefficients - coefficients.mean(dim=0))[rows])
    search = _GreenSearch(functions=functions, probes=probes.part(rows, _SEARCH_PROBES))
    dim = functions.space.dim
    start = [_Shape(widths=(width,) * dim, window=window) for width in _WIDTHS for window in _WINDOWS]
    best = search.best_of(start, _PENALTIES)
    sweep: list[_Variation] = [*(partial(_other_widths, axis) for axis in range(dim)), _other_windows, _other_shares]
    finer: list[_Variation] = [partial(_finer_widths, axis) for axis in range(dim)]
    for vary in (*sweep, *sweep, *finer):
        best = min(best, search.best_of(vary(best.shape), _near(best.penalty)))
    best = min(best, search.best_of([best.shape], _near(best.penalty, step=0.5)))
    return GreenPrior(components=best.shape.components, penalty=best.penalty)


def choose_spectral_prior(
    inputs: FunctionSpace, coefficients: Float[Tensor, "sample channel mode"], probes: Probes
) -> SpectralPrior:
    """Try all exponents and penalties."""
    centred = coefficients - coefficients.mean(dim=0)
    scored = []
    for exponent in _EXPONENTS:
        prior = SpectralPrior(exponent=exponent, rate=_SPECTRAL_RATE, penalty=1.0)
        kernel = prior.weighted(inputs, centred) @ centred.flatten(1).T
        # Inputs that are all alike have no variance.
        scale = float(kernel.diagonal().mean()) or 1.0
        for penalty in _SHARES:
            left_out = fit_ridge(kernel, probes.rows, penalty * scale).left_out
            scored.append((probes.error_of_rows(left_out), replace(prior, penalty=penalty * scale)))
    return min(scored, key=lambda candidate: candidate[0])[1]


@final
@dataclass(frozen=True, kw_only=True)
class _Shape:
    """Settings of the covariance that the search varies one by one."""

    widths: tuple[float, ...]
    window: Window
    far_share: float = _FAR_SHARES[0]

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
    kernels: dict[Component, Tensor] = field(default_factory=dict)

    def best_of(self, shapes: Iterable[_Shape], penalties: Sequence[float]) -> _Scored:
        """Return the best of some covariances with the best of some penalties."""
        return min(self._scored(shape, penalty) for shape in shapes for penalty in penalties)

    def _scored(self, shape: _Shape, penalty: float) -> _Scored:
        kernel = sum(component.share * self._kernel(replace(component, share=1.0)) for component in shape.components)
        assert isinstance(kernel, Tensor)
        left_out = fit_ridge(kernel, self.probes.values, penalty).left_out
        return _Scored(error=self.probes.error(left_out), shape=shape, penalty=penalty)

    def _kernel(self, component: Component) -> Float[Tensor, "probe sample sample"]:
        if component not in self.kernels:
            self.kernels[component] = kernel_at(self.functions, [component], self.probes.fractions)
        return self.kernels[component]


def _near(penalty: float, step: float = 1.0) -> list[float]:
    return [max(penalty * 10.0 ** (power * step), _LEAST_PENALTY) for power in (-1, 0, 1)]


def _other_widths(axis: int, shape: _Shape) -> Iterator[_Shape]:
    for width in _WIDTHS:
        yield replace(shape, widths=(*shape.widths[:axis], width, *shape.widths[axis + 1 :]))


def _finer_widths(axis: int, shape: _Shape) -> Iterator[_Shape]:
    for factor in _FINER:
        yield replace(shape, widths=(*shape.widths[:axis], factor * shape.widths[axis], *shape.widths[axis + 1 :]))


def _other_windows(shape: _Shape) -> Iterator[_Shape]:
    for window in _WINDOWS:
        yield replace(shape, window=window)


def _other_shares(shape: _Shape) -> Iterator[_Shape]:
    for share in _FAR_SHARES:
        yield replace(shape, far_share=share)
