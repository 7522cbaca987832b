r"""How likely a covariance of samples makes their solutions.

Lengths, trend and ridge of a layout maximise the restricted marginal likelihood, with one variance for all outputs,

.. math:: \tfrac{n - 1}{2} \log \operatorname{tr} Y^\top S Y + \tfrac12 \log \det M
    + \tfrac12 \log \mathbf 1^\top M^{-1} \mathbf 1, \qquad
    S = M^{-1} - M^{-1} \mathbf 1 (\mathbf 1^\top M^{-1} \mathbf 1)^{-1} \mathbf 1^\top M^{-1},

for the covariance M with its ridge (Rasmussen and Williams 2006, chapter 5). Layouts are compared by the
likelihood of all samples, :meth:`Objective.cost`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gola.operators.closed_form.covariance import (
    Covariance,
    Family,
    Pairs,
    Response,
    covariance_gradient,
    covariance_matrix,
)

# What is known of scales before: those of most groups differ by factors of e rather than of e³, and some groups have
# no influence at all, so that the prior has heavy tails, as Cauchy's distribution. Counted in units of half a squared
# logarithm, like the likelihood of one sample; of their common size next to nothing is known.
_ISOTROPY, _COMMON = 1.0, 0.05
# Ranges of the logarithms of scales, trend and penalty. A smaller penalty leaves no digits to leave-one-out.
_SCALES, _TRENDS, _PENALTIES = (-4.0, 7.0), (-14.0, 2.0), (math.log(1e-11), math.log(10.0))
# Errors below this are rounding, and so is this share of the squares of what is to be predicted.
_SMALLEST = 1e-14


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
        channels: Coordinates of each channel of the solutions.
        weights: Of the errors of a sample, so that the root of the sum of their squares is its relative L2 error.
        factors: What solutions are divided by.
        laws: Returns the same as known without each sample; None where they do not change.
        num_copies: Rows of each sample and its copies by symmetry, one after the other, which are held out together.
    """

    channels: Sequence[Float[Tensor, "sample _"]]
    weights: Float[Tensor, " sample"]
    factors: Float[Tensor, "sample channel"]
    laws: Callable[[], Float[Tensor, "held_out sample channel"]] | None = None
    num_copies: int = 1

    @cached_property
    def products(self) -> Float[Tensor, "sample sample"]:
        """Inner products of what is predicted, all channels together."""
        divided = torch.cat(
            [one / factor[:, None] for one, factor in zip(self.channels, self.factors.T, strict=True)], 1
        )
        return divided @ divided.T

    def held_out_residuals(self, precision: Float[Tensor, "sample sample"]) -> list[Float[Tensor, "sample _"]]:
        """Return the errors of leave-one-out predictions; what a sample is divided by is known from the others."""
        if self.num_copies > 1:
            factors = self.factors[:, :, None].unbind(dim=1)
            return [
                _held_out_together(precision, one / factor, self.num_copies) * factor
                for one, factor in zip(self.channels, factors, strict=True)
            ]
        laws = self.factors.expand(len(precision), -1, -1) if self.laws is None else self.laws()
        return [
            (precision / law) @ one * (law.diagonal() / precision.diagonal())[:, None]
            for one, law in zip(self.channels, laws.unbind(dim=2), strict=True)
        ]

    def held_out_errors(self, precision: Float[Tensor, "row row"]) -> Float[Tensor, " sample"]:
        """Return the relative leave-one-out error of each sample."""
        of_rows = torch.cat(self.held_out_residuals(precision), dim=1).norm(dim=1) * self.weights
        return of_rows.view(-1, self.num_copies).square().mean(dim=1).sqrt()


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Objective:
    """The negative log likelihood of a covariance as a function of the logarithms of its scales, trend and penalty."""

    pairs: Pairs
    responses: Responses
    layout: Layout

    @property
    def is_linear(self) -> Bool[Tensor, " group"]:
        """Which groups the operator is linear in."""
        return torch.tensor(self.layout.is_linear)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The range of each number."""
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
        """Return the covariance that these numbers describe."""
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
        numbers = torch.from_numpy(vector)
        matrix = self._matrix(numbers)
        solved = precision_of(self._shifted(matrix, numbers), is_affine=self.layout.is_affine)
        if solved is None:
            return 1e10, np.zeros_like(vector)
        precision, determinant = solved
        products, freedom = self.responses.products, len(precision) - self.layout.is_affine
        both = precision @ products
        total = both.trace() + _SMALLEST**2 * products.trace()
        slope = 0.5 * (precision - freedom / total * both @ precision)
        prior, by_scales = self._prior(numbers[:-2])
        gradient = self._gradient(numbers, matrix, slope)
        gradient[:-2] += by_scales
        return float(0.5 * freedom * total.log() + determinant + prior), gradient.numpy()

    def _gradient(
        self, numbers: Float[Tensor, " number"], matrix: Float[Tensor, "sample sample"], slope: Tensor
    ) -> Float[Tensor, " number"]:
        """Return derivatives by all numbers, given those by the entries of the covariance with its ridge."""
        penalty = numbers[-1].exp()
        by_penalty = penalty * matrix.diagonal().mean() * slope.trace()
        # The ridge is a share of the mean of the diagonal.
        slope = slope + penalty * slope.diagonal().mean() * torch.eye(len(slope), dtype=slope.dtype)
        by_scales, by_trend = covariance_gradient(
            self.pairs,
            self.layout.family,
            self.is_linear,
            numbers[:-2].exp(),
            numbers[-2].exp(),
            is_affine=self.layout.is_affine,
            slope=slope,
            response=self.layout.response,
        )
        return torch.cat([by_scales, torch.stack([by_trend, by_penalty])])

    def cost(self, vector: Float[np.ndarray, " number"]) -> float:
        """Return the negative log likelihood of all samples, by which layouts can be compared.

        The restricted likelihood is one of differences between samples where the constant is free, and of the samples
        themselves where there is none, so that the two cannot be compared. Here a constant is as large as what varies.
        """
        numbers = torch.from_numpy(vector)
        matrix = self._matrix(numbers)
        shifted = self._shifted(matrix, numbers) + float(self.layout.is_affine) * matrix.diagonal().mean()
        factor, info = torch.linalg.cholesky_ex(shifted)
        if int(info) or not bool(factor.isfinite().all()):
            return math.inf
        products = self.responses.products
        total = torch.cholesky_solve(products, factor).trace() + _SMALLEST**2 * products.trace()
        prior, _ = self._prior(numbers[:-2])
        return float(0.5 * len(matrix) * total.log() + factor.diagonal().log().sum() + prior)

    def errors(self, vector: Float[np.ndarray, " number"]) -> Float[np.ndarray, " sample"]:
        """Return the relative leave-one-out error of each sample; infinite where rounding prevents it."""
        numbers = torch.from_numpy(vector)
        solved = precision_of(self._shifted(self._matrix(numbers), numbers), is_affine=self.layout.is_affine)
        if solved is None:
            return np.full(len(self.responses.weights) // self.responses.num_copies, np.inf)
        return self.responses.held_out_errors(solved[0]).clamp(min=_SMALLEST).numpy()

    def _prior(self, scales: Float[Tensor, " group"]) -> tuple[Float[Tensor, ""], Float[Tensor, " group"]]:
        """Return the negative logarithm of the prior of the scales, and its derivatives."""
        total, gradient = scales.new_zeros(()), torch.zeros_like(scales)
        for chosen, centre in ((~self.is_linear, self.start()[0]), (self.is_linear, 0.0)):
            if bool(chosen.any()):
                mean = scales[chosen].mean()
                differences, common = scales[chosen] - mean, mean - centre
                squares = differences.square()
                total = total + _ISOTROPY * squares.log1p().sum() + _COMMON * common**2
                slopes = differences / (1.0 + squares)
                gradient[chosen] = 2.0 * (_ISOTROPY * (slopes - slopes.mean()) + _COMMON * common / len(differences))
        return total, gradient

    def _matrix(self, numbers: Float[Tensor, " number"]) -> Float[Tensor, "sample sample"]:
        scales, trend = numbers[:-2].exp(), numbers[-2].exp()
        layout = self.layout
        return covariance_matrix(
            self.pairs,
            layout.family,
            self.is_linear,
            scales,
            trend,
            is_affine=layout.is_affine,
            response=layout.response,
        )

    @staticmethod
    def _shifted(
        matrix: Float[Tensor, "sample sample"], numbers: Float[Tensor, " number"]
    ) -> Float[Tensor, "sample sample"]:
        """Return the covariance of the samples with its ridge."""
        return matrix + numbers[-1].exp() * matrix.diagonal().mean() * torch.eye(len(matrix), dtype=matrix.dtype)


def precision_of(
    shifted: Float[Tensor, "sample sample"], *, is_affine: bool
) -> tuple[Float[Tensor, "sample sample"], Float[Tensor, ""]] | None:
    """Return S and the two terms of determinants; None where rounding prevents it."""
    factor, info = torch.linalg.cholesky_ex(shifted)
    if int(info) or not bool(factor.isfinite().all()):
        return None
    precision, determinant = torch.cholesky_inverse(factor), factor.diagonal().log().sum()
    if is_affine:
        sums = precision.sum(dim=1, keepdim=True)
        determinant = determinant + 0.5 * sums.sum().log()
        precision = precision - sums @ sums.T / sums.sum()
    return precision, determinant


def _held_out_together(
    precision: Float[Tensor, "row row"], columns: Float[Tensor, "row output"], num_copies: int
) -> Float[Tensor, "row output"]:
    """Return the residuals of rows that are held out together with the other copies of their sample."""
    num_samples = len(columns) // num_copies
    blocks = precision.view(num_samples, num_copies, num_samples, num_copies).diagonal(dim1=0, dim2=2).movedim(2, 0)
    dual = (precision @ columns).view(num_samples, num_copies, -1)
    return torch.linalg.solve(blocks, dual).flatten(0, 1)
