"""Channels that follow from a solution at every point: its gradient, its flux, the magnitude of a stress."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.fitted_pde.gauss_newton import relative_weights
from gola.operators.fitted_pde.system import System

Kind = Literal["linear", "root"]
KINDS: tuple[Kind, ...] = ("linear", "root")

# Directions that are not seen are held by this share of the largest curvature.
_RIDGE = 1e-10
# Errors of a square root count as those of the root itself down to this share of its root mean square.
_LEAST_ROOT = 0.1


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Readout:
    """How a channel follows from a solution, with what held-out samples would have been given.

    Attributes:
        kind: Linear in the solution, its gradient and its flux; or the root of a quadratic form of the flux.
        weights: Of these.
        held_out: Predictions of each sample by weights that have not seen it.
    """

    kind: Kind
    weights: Float[Tensor, " term"]
    held_out: list[Float[Tensor, " _"]]


def terms(
    kind: Kind,
    system: System,
    coefficients: Float[Tensor, " coefficient"],
    solution: Float[Tensor, "point component"],
) -> Float[Tensor, "point term"]:
    """Return what a channel may be made of; derivatives are means over the cells around each point."""
    law, elements, shape = system.law, system.elements, coefficients[: system.law.num_shapes]
    slopes = elements.gradients(solution)
    flux = law.flux(shape, system.given, solution[elements.cells], slopes)
    if kind == "linear":
        derived = elements.nodal(torch.cat([slopes, flux], dim=1).flatten(1))
        return torch.cat([torch.ones_like(solution[:, :1]), solution, derived], dim=1)
    parts = flux[:, 0] if law.num_components == 1 else flux[:, *torch.triu_indices(law.dim, law.dim)]
    nodal = elements.nodal(parts)
    first, second = torch.triu_indices(nodal.shape[1], nodal.shape[1])
    return nodal[:, first] * nodal[:, second]


def read(kind: Kind, weights: Float[Tensor, " term"], given: Float[Tensor, "point term"]) -> Float[Tensor, " point"]:
    """Return the channel."""
    found = given @ weights
    # The root has an infinite slope at 0.
    return found if kind == "linear" else found.clamp(min=torch.finfo(found.dtype).tiny ** 0.5).sqrt()


def fitted_readout(
    kind: Kind,
    given: Sequence[Float[Tensor, "_ term"]],
    held_out: Sequence[Float[Tensor, "_ term"]],
    targets: Sequence[Float[Tensor, " _"]],
) -> Readout | None:
    """Fit by least squares of relative errors; None where a channel cannot be of this kind.

    Args:
        kind: Which.
        given: Terms of the solutions of each sample.
        held_out: Terms of solutions by laws that have not seen the sample.
        targets: The channel.
    """
    if kind == "root" and min(float(one.min()) for one in targets) < 0.0:
        return None
    matrices, sides = [], []
    for one, wanted, share in zip(given, targets, relative_weights(targets), strict=True):
        weight = torch.full_like(wanted, share)
        if kind == "root":
            weight = weight / (4.0 * wanted.square().clamp(min=_LEAST_ROOT**2 / (share * len(wanted))))
            wanted = wanted.square()
        matrices.append(one.T @ (weight[:, None] * one))
        sides.append(one.T @ (weight * wanted))
    matrix, side = torch.stack(matrices).sum(dim=0), torch.stack(sides).sum(dim=0)
    predictions = [
        read(kind, _solved(matrix - matrices[row], side - sides[row]), one) for row, one in enumerate(held_out)
    ]
    return Readout(kind=kind, weights=_solved(matrix, side), held_out=predictions)


def _solved(matrix: Float[Tensor, "term term"], side: Float[Tensor, " term"]) -> Float[Tensor, " term"]:
    # Terms have different units.
    scales = matrix.diagonal().clamp(min=torch.finfo(matrix.dtype).tiny).rsqrt()
    scaled = matrix * scales * scales[:, None] + _RIDGE * torch.eye(len(matrix), dtype=matrix.dtype)
    found: Float[Tensor, " term"] = scales * torch.linalg.lstsq(scaled, scales * side).solution
    return found
