"""Ridge regression in its dual form, with exact leave-one-out predictions, also of groups of samples."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.representation.cholesky import cholesky_of_many, cholesky_solve, inverses_of_factors


@dataclass(frozen=True, kw_only=True, eq=False)
class RidgeFit:
    r"""A fitted regression :math:`\hat y(f) = \sum_j k(f, f_j) \alpha_j + p(f)^\top \gamma`.

    Attributes:
        dual: The coefficients α, one row per training sample.
        free: The coefficients γ of the free functions p, which no penalty holds back.
        held_out: The prediction for each training sample by the regression fitted to all the others, or to all outside
            its group.
    """

    dual: Float[Tensor, "*node sample output"]
    free: Float[Tensor, "*node term output"]
    held_out: Float[Tensor, "*node some_sample output"]


def fit_ridge(
    kernel: Float[Tensor, "*node sample sample"],
    targets: Float[Tensor, "*node sample output"],
    penalty: float | Float[Tensor, "*node 1 1"],
    free: Float[Tensor, "sample term"] | None = None,
    groups: Int[Tensor, "group member"] | None = None,
    num_held_out: int | None = None,
) -> RidgeFit:
    r"""Fit the regression :math:`\min \lVert y - K\alpha - P\gamma \rVert^2 + \lambda\, \alpha^\top K \alpha`.

    With :math:`M = K + \lambda I` and :math:`S = M^{-1} - M^{-1} P (P^\top M^{-1} P)^{-1} P^\top M^{-1}` the solution
    is :math:`\alpha = S y`. Leaving out sample i, refitting and predicting it gives exactly
    :math:`y_i - \alpha_i / S_{ii}`: the free functions are fitted anew too. Centring the data first and forgetting
    that the mean has been fitted would make the errors come out far too small. Leaving out all samples b of a group
    at once gives :math:`y_b - S_{bb}^{-1} \alpha_b` for the same reason.

    In that formula :math:`y_i` is the fitted value plus :math:`\lambda \alpha_i`. The fitted value is computed as any
    other prediction is, so that what rounding does to predictions under a tiny penalty shows in the held-out ones too.

    Args:
        kernel: The kernel K of the training samples, for one or more regressions.
        targets: What is to be predicted.
        penalty: The penalty λ, or that of each regression.
        free: The free functions P at the training samples; the constant by default.
        groups: Numbers of the samples that are left out together; each sample alone by default.
        num_held_out: How many samples are predicted held out, the first ones, each the first of its group; all by
            default.
    """
    num_samples = kernel.shape[-1]
    terms = kernel.new_ones(num_samples, 1) if free is None else free
    shifted = kernel + penalty * torch.eye(num_samples, dtype=kernel.dtype, device=kernel.device)
    factor = cholesky_of_many(shifted)
    carried = cholesky_solve(terms.expand(*kernel.shape[:-1], -1), factor)
    small = torch.linalg.inv(terms.T @ carried)
    coefficients = small @ (carried.mT @ targets)
    # Products with an inverse lose the digits that the solution of a system keeps.
    dual = cholesky_solve(targets - terms @ coefficients, factor)
    rows = slice(num_held_out)
    fitted = kernel[..., rows, :] @ dual + terms[rows] @ coefficients
    precision = _Precision(inverse=inverses_of_factors(factor), carried=carried, small=small)
    if groups is not None and num_held_out is not None:
        residuals = _residuals_of_first(precision, dual, groups)
    else:
        residuals = _held_out_residuals(precision, dual, groups)
    return RidgeFit(
        dual=dual,
        free=coefficients,
        held_out=fitted + penalty * dual[..., rows, :] - residuals[..., rows, :],
    )


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class _Precision:
    r"""The matrix S, of which only entries between samples that are left out together are computed.

    Attributes:
        inverse: The inverse of the Cholesky factor L of M, so that :math:`M^{-1} = L^{-T} L^{-1}`.
        carried: :math:`M^{-1} P`.
        small: :math:`(P^\top M^{-1} P)^{-1}`.
    """

    inverse: Float[Tensor, "*node sample sample"]
    carried: Float[Tensor, "*node sample term"]
    small: Float[Tensor, "*node term term"]

    @property
    def diagonal(self) -> Float[Tensor, "*node sample"]:
        return self.inverse.square().sum(dim=-2) - ((self.carried @ self.small) * self.carried).sum(dim=-1)

    def blocks(self, groups: Int[Tensor, "group member"]) -> Float[Tensor, "*node group member member"]:
        carried = self.carried[..., groups, :]
        parts = [self.inverse[..., rows] for rows in groups.T]
        # Many small products of matrices take longer than products of their entries.
        found = torch.stack([(one * other).sum(dim=-2) for one in parts for other in parts], dim=-1)
        return found.unflatten(-1, (len(parts), -1)) - carried @ self.small[..., None, :, :] @ carried.mT


def _held_out_residuals(
    precision: _Precision,
    dual: Float[Tensor, "*node sample output"],
    groups: Int[Tensor, "group member"] | None,
) -> Float[Tensor, "*node sample output"]:
    if groups is None:
        return dual / precision.diagonal[..., None]
    residuals = torch.empty_like(dual)
    residuals[..., groups, :] = torch.linalg.solve(precision.blocks(groups), dual[..., groups, :])
    return residuals


def _residuals_of_first(
    precision: _Precision,
    dual: Float[Tensor, "*node sample output"],
    groups: Int[Tensor, "group member"],
) -> Float[Tensor, "*node group output"]:
    """Return the residuals of the first sample of each group, which take one row of what all of them take."""
    blocks = precision.blocks(groups)
    first = torch.eye(groups.shape[1], 1).to(blocks).expand(*blocks.shape[:-1], 1)
    return (torch.linalg.solve(blocks, first).mT @ dual[..., groups, :]).squeeze(-2)
