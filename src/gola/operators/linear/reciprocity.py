r"""Reciprocity: where an operator is its own adjoint, every training pair gives an integral of any other solution.

Steady diffusion, elasticity and electrostatics answer alike if source and observer change places:
:math:`\langle f_i, u \rangle = \langle u_i, f \rangle` for the pair of an unknown solution u and its input f. The right
side is known, so n training pairs give n integrals of u, whatever f is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Optional, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.input_features import InputFeatures
from gola.operators.linear.linear_map import Affine, LinearMap
from gola.representation.cosines import amplitudes
from gola.representation.function_space import FunctionSpace
from gola.representation.representatives import spread

# Pairs of samples that disagree by a larger share are not reciprocal.
_MOST_ASYMMETRY = 0.2
_JITTER = 1e-10
_MOST_PAIRS = 128


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Reciprocity:
    """Training pairs of an operator that is its own adjoint, up to small errors.

    Attributes:
        features: Coefficients of the inputs.
        solutions: Coefficients of the solutions.
        tested: The integral of each input times each function of the solutions.
        known: The integral of each solution times each function of the inputs.
    """

    features: Float[Tensor, "sample feature"]
    solutions: Float[Tensor, "sample output"]
    tested: Float[Tensor, "sample output"]
    known: Float[Tensor, "sample feature"]

    @staticmethod
    def found(
        inputs: InputFeatures,
        features: Float[Tensor, "sample channel mode"],
        outputs: FunctionSpace,
        solutions: Float[Tensor, "sample output_mode output_channel"],
    ) -> Optional["Reciprocity"]:
        """Return the pairs, or None if there is no reciprocity between them."""
        if features.shape[1] != solutions.shape[2]:
            return None
        products = integrals(inputs.space, outputs)
        scaled = features * inputs.scales[:, None]
        pairs = Reciprocity(
            features=features.flatten(1),
            solutions=solutions.flatten(1),
            tested=torch.einsum("sck,km->smc", scaled, products).flatten(1),
            known=(torch.einsum("smc,km->sck", solutions, products) * inputs.scales[:, None]).flatten(1),
        )
        return pairs if pairs.asymmetry <= _MOST_ASYMMETRY else None

    @property
    def asymmetry(self) -> float:
        """How far ⟨f_i, u_j⟩ and ⟨u_i, f_j⟩ differ, relative to their size."""
        values = self._crossed()
        size = float(values.norm())
        return float((values - values.T).norm()) / size if size > 0.0 else math.inf

    def conditioned(self, plain: LinearMap, noises: Sequence[float]) -> list[LinearMap]:
        """Return the maps, one for each noise, whose solutions have nearly the integrals that the pairs give.

        A solution is taken for the prediction of the plain map, with the variance of its leave-one-out residuals, and
        conditioned on the integrals.

        Args:
            plain: A map that knows nothing of reciprocity.
            noises: Variances of the errors of the integrals, in units of that by which pairs disagree.
        """
        # Integrals of more pairs tell next to nothing new, and time grows with the cube of their number.
        rows = torch.tensor(spread(len(self.features), at_most=_MOST_PAIRS))
        squares = (plain.held_out.flatten(1) - self.solutions).square()
        variances = self._disagreement() * torch.tensor(noises).to(squares)
        everyone = self._conditioning(rows, squares[rows].mean(dim=0))
        held_out = everyone.corrected(plain.held_out.flatten(1).T, self.features.T, variances).mT.contiguous()
        for row in rows.tolist():
            kept = rows[rows != row]
            others = self._conditioning(kept, squares[kept].mean(dim=0))
            alone = plain.held_out[row].flatten()[:, None], self.features[row][:, None]
            held_out[:, row] = others.corrected(*alone, variances)[..., 0]
        return [
            LinearMap(
                held_out=found.view_as(plain.held_out), solved=partial(_solved, plain, everyone, variances[[place]])
            )
            for place, found in enumerate(held_out)
        ]

    def _crossed(self) -> Float[Tensor, "sample sample"]:
        """Return ⟨f_i, u_j⟩, inputs and solutions less their mean."""
        return (self.tested - self.tested.mean(dim=0)) @ (self.solutions - self.solutions.mean(dim=0)).T

    def _disagreement(self) -> float:
        values, count = self._crossed(), len(self.features)
        return float((values - values.T).square().sum()) / (2 * count * (count - 1))

    def _conditioning(self, rows: Tensor, variances: Float[Tensor, " output"]) -> "_Conditioning":
        tested = self.tested[rows] - self.tested[rows].mean(dim=0)
        weighted = tested * variances
        return _Conditioning(
            tested=tested,
            known=self.known[rows] - self.known[rows].mean(dim=0),
            weighted=weighted,
            covariance=weighted @ tested.T,
            input_mean=self.features[rows].mean(dim=0),
            solution_mean=self.solutions[rows].mean(dim=0),
        )


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class _Conditioning:
    """Pairs less their mean, and the covariance of integrals with the solution and with each other."""

    tested: Float[Tensor, "sample output"]
    known: Float[Tensor, "sample feature"]
    weighted: Float[Tensor, "sample output"]
    covariance: Float[Tensor, "sample sample"]
    input_mean: Float[Tensor, " feature"]
    solution_mean: Float[Tensor, " output"]

    def corrected(
        self,
        predicted: Float[Tensor, "output column"],
        features: Float[Tensor, "feature column"],
        noises: Float[Tensor, " noise"],
    ) -> Float[Tensor, "noise output column"]:
        """Return predictions for inputs with these features that have nearly the integrals."""
        known = self.known @ (features - self.input_mean[:, None])
        return predicted + self.change(known - self.tested @ (predicted - self.solution_mean[:, None]), noises)

    def change(
        self, differences: Float[Tensor, "sample column"], noises: Float[Tensor, " noise"]
    ) -> Float[Tensor, "noise output column"]:
        """Return what to add to predictions whose integrals are off by these differences."""
        # Pairs that agree perfectly may give the same integral twice.
        noises = noises.clamp(min=_JITTER * float(self.covariance.diagonal().mean()))
        noises = torch.where(noises > 0.0, noises, 1.0)
        shifted = self.covariance + noises[:, None, None] * torch.eye(len(differences)).to(differences)
        return self.weighted.T @ torch.linalg.solve(shifted, differences[None])


def _solved(plain: LinearMap, everyone: _Conditioning, noise: Float[Tensor, "1"]) -> Affine:
    dense, offset = plain.affine.dense, plain.affine.offset
    weights = dense.flatten(0, 1)
    nothing = torch.zeros_like(everyone.input_mean[:, None])
    return Affine(
        weights=(weights + everyone.change(everyone.known - everyone.tested @ weights, noise)[0]).view_as(dense),
        offset=everyone.corrected(offset.flatten()[:, None], nothing, noise).view_as(offset),
    )


def integrals(first: FunctionSpace, second: FunctionSpace) -> Float[Tensor, "first second"]:
    r"""Return the mean over the bounding box of each function of one space times each of another on the same box.

    Angles are affine in the place and π/2 at the centre in both spaces. So along an axis, with wave numbers k and l and
    paddings p and q, the mean of :math:`\cos k\theta \cos l\theta'` is

    .. math:: \tfrac12 \sum_\pm \cos \tfrac{(k \pm l) \pi}{2} \, \mathrm{sinc} \tfrac{k/p \pm l/q}{2}.
    """
    numbers = [torch.arange(int(space.waves.max()) + 1) for space in (first, second)]
    rows, columns = numbers[0].double()[:, None], numbers[1].double()
    along_axis = (
        amplitudes(numbers[0])[:, None]
        * amplitudes(numbers[1])
        * sum(
            0.5
            * torch.cos(0.5 * torch.pi * (rows + sign * columns))
            * torch.sinc(0.5 * (rows / first.padding.cpu() + sign * columns / second.padding.cpu()))
            for sign in (1.0, -1.0)
        )
    )
    axes = zip(first.waves.T, second.waves.T, strict=True)
    return torch.stack([along_axis[one[:, None], other] for one, other in axes]).prod(dim=0).to(first.padding)
