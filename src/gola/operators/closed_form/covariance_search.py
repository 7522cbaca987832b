"""Search for the covariance that predicts held-out samples best."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.optimize import minimize
from torch import Tensor

from gola.operators.closed_form.covariance import (
    FAMILIES,
    RESPONSES,
    Covariance,
    Family,
    Pairs,
    Response,
    covariance_matrix,
)
from gola.operators.closed_form.one_thread import one_thread

# Steps of the optimiser while layouts are compared, and in the end.
_FEW_STEPS, _MANY_STEPS = 15, 60
# What is known of scales before: those of different groups differ by factors of e rather than of e³. Counted in units
# of half a squared logarithm, like the likelihood of one sample; of their common size next to nothing is known.
_ISOTROPY, _COMMON = 1.0, 0.05
# Ranges of the logarithms of scales, trend and penalty. A smaller penalty leaves no digits to leave-one-out.
_SCALES, _TRENDS, _PENALTIES = (-4.0, 7.0), (-14.0, 2.0), (math.log(1e-11), math.log(10.0))
# A layout has to have this share of the error of a simpler one: what differs by less differs by chance.
_CLEARLY_BETTER = 0.97
# So many samples double the number of standard errors that a gain takes.
_MORE_CERTAINTY = 10.0
# Errors below this are rounding.
_SMALLEST = 1e-14
# With more groups, logarithms are taken of all positive ones or none.
_MOST_TOGGLES = 6


@final
@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a covariance sees the groups of inputs.

    Attributes:
        family: Of the covariance in the smooth groups.
        logs: Which smooth groups are seen as their logarithms.
        is_linear: Which groups the operator is linear in.
        is_affine: Whether what is linear may have a constant part.
        has_power_law: Whether solutions are divided by a power law of their size.
        response: How solutions follow the groups that the operator is linear in.
    """

    family: Family = "matern"
    logs: tuple[bool, ...]
    is_linear: tuple[bool, ...]
    is_affine: bool = True
    has_power_law: bool = False
    response: Response = "linear"

    def with_linear(self, groups: Sequence[int], *, is_affine: bool, response: Response = "linear") -> "Layout":
        """Return the layout that is linear in these groups, or follows them in another way."""
        chosen = tuple(group in groups for group in range(len(self.is_linear)))
        return replace(self, is_linear=chosen, is_affine=is_affine or not any(chosen), response=response)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Responses:
    """What is to be predicted, and how errors count.

    Attributes:
        columns: Coordinates of the solutions.
        weights: Of each error, so that the root of the sum of squares over a row is the sample's relative L2 error.
        num_copies: Rows of each sample and its copies, one after the other, which are held out together.
    """

    columns: Float[Tensor, "sample output"]
    weights: Float[Tensor, "sample output"]
    num_copies: int = 1


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """A layout with its best covariance.

    Attributes:
        errors: Relative leave-one-out error of each sample.
        layout: The layout.
        covariance: The covariance.
    """

    errors: Float[np.ndarray, " sample"]
    layout: Layout
    covariance: Covariance

    @property
    def error(self) -> float:
        """Root mean square of the errors."""
        return float(np.sqrt(np.mean(self.errors**2)))

    def is_clearly_better_than(self, other: "Found") -> bool:
        """Whether errors are lower by more than a few percent, and for most samples."""
        if not np.isfinite(self.errors).all() or not np.isfinite(other.errors).all():
            return bool(np.isfinite(self.errors).all())
        gains = np.log(other.errors) - np.log(self.errors)
        # Of few samples the standard error itself is uncertain.
        limit = (1.0 + _MORE_CERTAINTY / len(gains)) * float(gains.std(ddof=1)) / math.sqrt(len(gains))
        return float(gains.mean()) > limit and self.error < _CLEARLY_BETTER * other.error


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class CovarianceSearch:
    """Layouts and covariances by leave-one-out error.

    Attributes:
        pairs: Returns what is known of each pair of training samples, by which groups are seen as logarithms.
        responses: Returns what is to be predicted in a layout.
        positive: Which groups can be seen as logarithms.
        may_be_loads: Which groups the operator may be linear in.
    """

    pairs: Callable[[tuple[bool, ...]], Pairs]
    responses: Callable[[Layout], Responses]
    positive: tuple[bool, ...]
    may_be_loads: tuple[bool, ...]
    _known: dict[Layout, Found] = field(default_factory=dict, init=False)

    @one_thread()
    def best(self) -> Found:
        """Vary one property of the layout after the other, and keep what is clearly better."""
        best = self.found(self._start())
        # A power law can hide that an operator is linear in a group, so both are looked for from the same start.
        linear = self._better(best, self._linear_groups(best))
        linear = self._better(linear, self._power_laws(linear))
        best = self._better(self._better(best, self._power_laws(best)), iter([linear.layout]))
        for vary in (self._families, self._logarithms, self._power_laws):
            best = self._better(best, vary(best))
        return self._refined(best)

    def _start(self) -> Layout:
        """Return the layout with logarithms of all positive groups or of none, whichever may become better."""
        none = (False,) * len(self.positive)
        layouts = [Layout(logs=logs, is_linear=none) for logs in dict.fromkeys([self.positive, none])]
        # Many logarithms show what they are worth only together with a power law.
        laws = [replace(layout, has_power_law=True) for layout in layouts]
        errors = [min(self.found(plain).error, self.found(law).error) for plain, law in zip(layouts, laws, strict=True)]
        return layouts[int(np.argmin(errors))]

    def found(self, layout: Layout, *starts: Covariance) -> Found:
        """Return the best covariance of a layout, after few steps."""
        if layout not in self._known:
            self._known[layout] = self._optimised(layout, starts, _FEW_STEPS)
        return self._known[layout]

    def _better(self, best: Found, layouts: Iterator[Layout]) -> Found:
        for layout in layouts:
            found = self.found(layout, best.covariance)
            if found.is_clearly_better_than(best):
                best = found
        return best

    def _refined(self, best: Found) -> Found:
        return min(best, self._optimised(best.layout, (best.covariance,), _MANY_STEPS), key=_error)

    def _power_laws(self, best: Found) -> Iterator[Layout]:
        if not all(best.layout.is_linear):
            yield replace(best.layout, has_power_law=not best.layout.has_power_law)

    def _families(self, best: Found) -> Iterator[Layout]:
        yield from (replace(best.layout, family=family) for family in FAMILIES if family != best.layout.family)

    def _logarithms(self, best: Found) -> Iterator[Layout]:
        if sum(self.positive) > _MOST_TOGGLES:
            return
        for group in np.flatnonzero(self.positive).tolist():
            logs = best.layout.logs
            yield replace(best.layout, logs=(*logs[:group], not logs[group], *logs[group + 1 :]))

    def _linear_groups(self, best: Found) -> Iterator[Layout]:
        """Propose groups that the operator may be linear in.

        One load of several explains little by itself, and not less than anything else. So groups are ordered by how
        well each does alone, and taken together in this order.
        """
        layout, groups = best.layout, np.flatnonzero(self.may_be_loads).tolist()
        alone = [min(self.found(one).error for one in self._linear_in([group], layout)) for group in groups]
        order = [groups[row] for row in np.argsort(alone, kind="stable").tolist()]
        for size in range(1, len(order) + 1):
            yield from self._linear_in(order[:size], layout)

    def _linear_in(self, groups: Sequence[int], layout: Layout) -> list[Layout]:
        """Return the layouts in which solutions follow some groups linearly, or only scale with them.

        What only scales with loads that are all positive is the matter of a power law.
        """
        responses = RESPONSES[:1] if all(self.positive[group] for group in groups) else RESPONSES
        return [
            layout.with_linear(groups, is_affine=True),
            *(layout.with_linear(groups, is_affine=False, response=response) for response in responses),
        ]

    def _optimised(self, layout: Layout, starts: Sequence[Covariance], num_steps: int) -> Found:
        pairs, responses = self.pairs(layout.logs), self.responses(layout)
        objective = _Objective(pairs=pairs, responses=responses, layout=layout)
        vectors = [objective.start(), *(objective.vector(start) for start in starts)]
        start = min(vectors, key=lambda vector: objective.value(vector)[0])
        result = minimize(
            objective.value,
            start,
            jac=True,
            method="SLSQP",
            bounds=objective.bounds,
            options={"maxiter": num_steps},
        )
        return Found(errors=objective.errors(result.x), layout=layout, covariance=objective.covariance(result.x))


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class _Objective:
    """The leave-one-out error of a covariance as a function of the logarithms of its scales, trend and penalty."""

    pairs: Pairs
    responses: Responses
    layout: Layout

    @property
    def is_linear(self) -> Bool[Tensor, " group"]:
        return torch.tensor(self.layout.is_linear)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        return [_SCALES] * len(self.layout.is_linear) + [_TRENDS, _PENALTIES]

    def start(self) -> Float[np.ndarray, " number"]:
        """Return lengths at which samples that differ in all groups are about as far apart as in one."""
        num_smooth = self.layout.is_linear.count(False)
        scales = [0.0 if linear else 0.5 * math.log(num_smooth) for linear in self.layout.is_linear]
        return np.array([*scales, -4.0, math.log(1e-4)])

    def vector(self, covariance: Covariance) -> Float[np.ndarray, " number"]:
        """Return the numbers of a covariance, where its layout has them; scales of other roles start anew."""
        same = [old == new for old, new in zip(covariance.is_linear, self.layout.is_linear, strict=True)]
        known = np.log([*covariance.scales, covariance.trend, covariance.penalty])
        return np.where([*same, True, True], known, self.start())

    def covariance(self, vector: Float[np.ndarray, " number"]) -> Covariance:
        *scales, trend, penalty = np.exp(vector).tolist()
        return Covariance(
            family=self.layout.family,
            is_linear=self.layout.is_linear,
            scales=tuple(scales),
            trend=trend,
            is_affine=self.layout.is_affine,
            penalty=penalty,
            response=self.layout.response,
        )

    def value(self, vector: Float[np.ndarray, " number"]) -> tuple[float, Float[np.ndarray, " number"]]:
        """Return the objective and its gradient."""
        numbers = torch.from_numpy(vector).requires_grad_()
        squares = self._squares(numbers)
        if squares is None:
            return 1e10, np.zeros_like(vector)
        loss = 0.5 * len(squares) * squares.mean().log() + self._prior(numbers[:-2])
        (gradient,) = torch.autograd.grad(loss, numbers)
        return float(loss.detach()), gradient.numpy()

    @torch.no_grad()
    def errors(self, vector: Float[np.ndarray, " number"]) -> Float[np.ndarray, " sample"]:
        """Return the relative leave-one-out error of each sample; infinite where rounding prevents it."""
        squares = self._squares(torch.from_numpy(vector))
        if squares is None:
            return np.full(len(self.responses.columns), np.inf)
        return squares.sqrt().clamp(min=_SMALLEST).numpy()

    def _prior(self, scales: Float[Tensor, " group"]) -> Float[Tensor, ""]:
        total = scales.new_zeros(())
        for chosen, centre in ((~self.is_linear, self.start()[0]), (self.is_linear, 0.0)):
            if bool(chosen.any()):
                mean = scales[chosen].mean()
                total = total + _ISOTROPY * (scales[chosen] - mean).square().sum() + _COMMON * (mean - centre) ** 2
        return total

    def _squares(self, numbers: Float[Tensor, " number"]) -> Float[Tensor, " sample"] | None:
        """Return the squared relative leave-one-out error of each sample; None where rounding prevents it."""
        numbers = numbers.exp()
        layout = self.layout
        matrix = covariance_matrix(
            self.pairs,
            layout.family,
            self.is_linear,
            numbers[:-2],
            numbers[-2],
            is_affine=layout.is_affine,
            response=layout.response,
        )
        shifted = matrix + numbers[-1] * matrix.diagonal().mean() * torch.eye(len(matrix), dtype=matrix.dtype)
        factor, info = torch.linalg.cholesky_ex(shifted)
        if int(info) or not bool(factor.isfinite().all()):
            return None
        precision = torch.cholesky_inverse(factor)
        if layout.is_affine:
            sums = precision.sum(dim=1, keepdim=True)
            precision = precision - sums @ sums.T / sums.sum()
        count = self.responses.num_copies
        residuals = _held_out_residuals(precision, precision @ self.responses.columns, count)
        squares = (residuals * self.responses.weights).square().sum(dim=1).view(-1, count).mean(dim=1)
        return squares if bool(squares.isfinite().all()) and float(squares.detach().sum()) > 0.0 else None


def _held_out_residuals(
    precision: Float[Tensor, "row row"], dual: Float[Tensor, "row output"], num_copies: int
) -> Float[Tensor, "row output"]:
    """Return the residuals of rows that are held out together with the other copies of their sample."""
    if num_copies == 1:
        return dual / precision.diagonal()[:, None]
    num_samples = len(dual) // num_copies
    blocks = precision.view(num_samples, num_copies, num_samples, num_copies)
    own = blocks.diagonal(dim1=0, dim2=2).movedim(2, 0)
    return torch.linalg.solve(own, dual.view(num_samples, num_copies, -1)).flatten(0, 1)


def _error(found: Found) -> float:
    return found.error
