"""Linear maps between function spaces, fitted to few samples under a prior, with exact leave-one-out predictions."""

import math
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.function_space import FunctionSpace
from gola.operators.closed_form.green import Component, InputFunctions
from gola.operators.closed_form.ridge import fit_ridge
from gola.operators.closed_form.smoothness import growth

_MORE_NODES = 4
# Interpolation is worst at the boundary, where nodes have neighbours on one side only. Moving nodes this far towards
# those of Chebyshev gains as much as four more along each axis.
_CLUSTERING = 0.3


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearMap:
    """An affine map from the coefficients of inputs to those of solutions.

    Attributes:
        weights: The matrix of the map.
        offset: What it gives for an input of zero.
        left_out: For each training sample, what the map fitted to all the others gives.
    """

    weights: Float[Tensor, "mode channel feature"]
    offset: Float[Tensor, "mode channel"]
    left_out: Float[Tensor, "sample mode channel"]


@final
@dataclass(frozen=True, kw_only=True)
class GreenPrior:
    """Green's function is smooth and concentrated, as :mod:`gola.operators.closed_form.green` says.

    Attributes:
        components: The terms of its covariance.
        penalty: The ridge: how far the data may be missed, as a variance.
    """

    components: tuple[Component, ...]
    penalty: float

    def fit(
        self,
        inputs: FunctionSpace,
        coefficients: Float[Tensor, "sample channel mode"],
        outputs: FunctionSpace,
        solutions: Float[Tensor, "sample output_mode output_channel"],
    ) -> LinearMap:
        """Fit the solution at each node of a lattice by itself; a sum of cosines then goes through the nodes."""
        centre = coefficients.mean(dim=0)
        functions = InputFunctions.of(inputs, coefficients - centre)
        nodes = lattice(outputs)
        places = outputs.lower + outputs.sides * nodes
        values = torch.einsum("nm,smc->nsc", outputs.functions(places), solutions)
        through = outputs.coefficients([places], [torch.eye(len(nodes)).to(places)])[0]
        weights = torch.zeros(len(through), values.shape[2], functions.rows.shape[1]).to(places)
        offset, left_out = torch.zeros_like(weights[..., 0]), torch.zeros_like(solutions)
        for portion in functions.portions(nodes):
            smoothed = functions.smoothed(self.components, nodes[portion])
            fit = fit_ridge(smoothed @ functions.rows.T, values[portion], self.penalty)
            share = through[:, portion]
            weights += torch.einsum("mn,ncf->mcf", share, fit.dual.mT @ smoothed)
            offset += share @ fit.free[:, 0]
            left_out += torch.einsum("mn,nsc->smc", share, fit.left_out)
        weights = functions.features(weights)
        return LinearMap(weights=weights, offset=offset - weights @ centre.flatten(), left_out=left_out)


@final
@dataclass(frozen=True, kw_only=True)
class SpectralPrior:
    r"""Coefficients of the map are the smaller the higher the frequency of the input, wherever the solution is.

    The inner product of inputs is :math:`\sum_k (1 + \omega_k^2/\tau^2)^{-s}\, a_k b_k`. Inputs are continued beyond
    the domain first, in a space with much padding: what they are about to do there tells them apart too.

    Attributes:
        exponent: The exponent s; negative where high frequencies matter more.
        rate: The frequency τ from which on it matters.
        penalty: The ridge: how far the data may be missed, as a variance.
    """

    exponent: float
    rate: float
    penalty: float

    def fit(
        self,
        inputs: FunctionSpace,
        coefficients: Float[Tensor, "sample channel mode"],
        outputs: FunctionSpace,  # noqa: ARG002  # as for GreenPrior
        solutions: Float[Tensor, "sample output_mode output_channel"],
    ) -> LinearMap:
        """Fit all coefficients of the solutions at once."""
        centre = coefficients.mean(dim=0)
        features = (coefficients - centre).flatten(1)
        weighted = self.weighted(inputs, coefficients - centre)
        fit = fit_ridge(weighted @ features.T, solutions.flatten(1), self.penalty)
        weights = (fit.dual.T @ weighted).unflatten(0, solutions.shape[1:])
        return LinearMap(
            weights=weights,
            offset=fit.free[0].unflatten(0, solutions.shape[1:]) - weights @ centre.flatten(),
            left_out=fit.left_out.unflatten(1, solutions.shape[1:]),
        )

    def weighted(
        self, inputs: FunctionSpace, coefficients: Float[Tensor, "sample channel mode"]
    ) -> Float[Tensor, "sample feature"]:
        """Weigh the coefficients by frequency, all channels in one row."""
        return (coefficients * growth(inputs, -self.exponent, self.rate)).flatten(1)


def lattice(space: FunctionSpace) -> Float[Tensor, "node dim"]:
    """Return nodes that the solutions of a space can be interpolated from, as fractions of the bounding box."""
    # As many nodes as functions, and more than the highest wave has half-waves across the bounding box.
    half_waves = int(space.waves.max() / float(space.padding))
    count = max(half_waves + _MORE_NODES, math.ceil(space.num_modes ** (1.0 / space.dim)))
    axis = torch.linspace(0.0, 1.0, count, dtype=torch.float64)
    axis = (1.0 - _CLUSTERING) * axis + _CLUSTERING * 0.5 * (1.0 - torch.cos(torch.pi * axis))
    return torch.cartesian_prod(*[axis] * space.dim).reshape(-1, space.dim).to(space.lower.device)
