"""Held-out predictions of ridge regression under many penalties, from one decomposition."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class RidgePath:
    r"""Regressions of the same samples under different penalties, with a free constant.

    With the eigendecomposition :math:`K = V \Lambda V^\top` every matrix of :func:`~.ridge.fit_ridge` is a product with
    a diagonal one, :math:`M^{-1} = V (\Lambda + \lambda)^{-1} V^\top`: no further decomposition for another λ. It takes
    as long as :func:`~.ridge.fit_ridge` takes for three or four penalties.

    Attributes:
        kernel: The kernel K of the training samples, for one or more regressions.
        targets: What is to be predicted.
        groups: Numbers of the samples that are left out together; each sample alone by default.
    """

    kernel: Float[Tensor, "*node sample sample"]
    targets: Float[Tensor, "*node sample output"]
    groups: Int[Tensor, "group member"] | None = None

    def held_out(self, penalty: float) -> Float[Tensor, "*node sample output"]:
        """Return the same as ``fit_ridge(kernel, targets, penalty, groups=groups).held_out``."""
        eigenvalues, vectors = self._decomposed
        weights = 1.0 / (eigenvalues.clamp(min=0.0) + penalty)
        carried = (vectors * (weights * vectors.sum(dim=-2))[..., None, :]).sum(dim=-1, keepdim=True)
        total = carried.sum(dim=-2, keepdim=True)
        free = (carried.mT @ self.targets) / total
        dual = vectors @ (weights[..., None] * self._rotated) - carried * free
        fitted = self.kernel @ dual + free
        return fitted + penalty * dual - self._residuals(weights, carried / total.sqrt(), dual)

    @cached_property
    def _decomposed(self) -> tuple[Float[Tensor, "*node value"], Float[Tensor, "*node sample value"]]:
        found = torch.linalg.eigh(self.kernel)
        return found.eigenvalues, found.eigenvectors

    @cached_property
    def _rotated(self) -> Float[Tensor, "*node value output"]:
        return self._decomposed[1].mT @ self.targets

    def _residuals(
        self,
        weights: Float[Tensor, "*node value"],
        mean: Float[Tensor, "*node sample 1"],
        dual: Float[Tensor, "*node sample output"],
    ) -> Float[Tensor, "*node sample output"]:
        """Return what held-out samples are off by, where S is the weighted sum over eigenvectors less mean·meanᵀ."""
        vectors = self._decomposed[1]
        if self.groups is None:
            return dual / (vectors.square() @ weights[..., None] - mean.square())
        members, means = vectors[..., self.groups, :], mean[..., self.groups, :]
        blocks = (members * weights[..., None, None, :]) @ members.mT - means @ means.mT
        residuals = torch.empty_like(dual)
        residuals[..., self.groups, :] = torch.linalg.solve(blocks, dual[..., self.groups, :])
        return residuals
