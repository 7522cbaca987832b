"""Linear maps between function spaces, fitted to few samples under a prior, with exact leave-one-out predictions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.operators.closed_form.ridge import fit_ridge
from gola.operators.linear.green import Component, InputFunctions
from gola.representation.function_space import FunctionSpace
from gola.representation.smoothness import growth
from gola.representation.symmetry import Symmetries, composed

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
        held_out: For each training sample, what the map fitted to all the others and their copies gives.
    """

    weights: Float[Tensor, "mode channel feature"]
    offset: Float[Tensor, "mode channel"]
    held_out: Float[Tensor, "sample mode channel"]

    def __call__(
        self, coefficients: Float[Tensor, "sample input_channel input_mode"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Return the coefficients of the solutions of other inputs."""
        return torch.einsum("mcf,sf->smc", self.weights, coefficients.flatten(1)) + self.offset


@final
@dataclass(frozen=True, kw_only=True)
class GreenPrior:
    """Green's function is smooth and concentrated, as :mod:`gola.operators.linear.green` says.

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
        symmetries: Symmetries,
    ) -> LinearMap:
        """Fit the solution at each node of a lattice by itself; a sum of cosines then goes through the nodes.

        Of nodes that symmetries map to each other one is fitted, to all copies of the samples. The covariance has to
        have the symmetries too: the same width along axes that are swapped.
        """
        copies, targets = symmetries.inputs(inputs, coefficients), symmetries.solutions(outputs, solutions)
        centre = copies.mean(dim=0)
        functions = InputFunctions.of(inputs, copies - centre)
        images = symmetries.node_images(nodes_per_axis(outputs), outputs.dim).to(copies.device)
        fitted = torch.nonzero(images.min(dim=0).values == images[0]).flatten()
        nodes = lattice(outputs)
        places = outputs.lower + outputs.sides * nodes
        values = torch.einsum("nm,smc->nsc", outputs.functions(places[fitted]), targets)
        groups = symmetries.groups(len(solutions))
        parts = []
        for portion in functions.portions(fitted):
            smoothed = functions.smoothed(self.components, nodes[fitted[portion]])
            fit = fit_ridge(smoothed @ functions.rows.T, values[portion], self.penalty, groups=groups)
            weights = functions.features(fit.dual.mT @ smoothed)
            parts.append(_AtNodes(weights=weights, free=fit.free[:, 0], held_out=fit.held_out))
        everywhere = _AtNodes.joined(parts).spread(inputs, symmetries, images[:, fitted])
        through = outputs.coefficients([places], [torch.eye(len(nodes)).to(places)])[0]
        weights = torch.einsum("mn,ncf->mcf", through, everywhere.weights)
        return LinearMap(
            weights=weights,
            offset=through @ everywhere.free - weights @ centre.flatten(),
            held_out=torch.einsum("mn,nsc->smc", through, everywhere.held_out),
        )


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class _AtNodes:
    """Regressions at nodes of the lattice, in terms of inputs less their centre."""

    weights: Float[Tensor, "node channel feature"]
    free: Float[Tensor, "node channel"]
    held_out: Float[Tensor, "node sample channel"]

    @staticmethod
    def joined(parts: Sequence["_AtNodes"]) -> "_AtNodes":
        return _AtNodes(
            weights=torch.cat([part.weights for part in parts]),
            free=torch.cat([part.free for part in parts]),
            held_out=torch.cat([part.held_out for part in parts]),
        )

    def spread(self, inputs: FunctionSpace, symmetries: Symmetries, images: Int[Tensor, "symmetry node"]) -> "_AtNodes":
        """Return the regressions at all images of the nodes, with the left-out predictions of the samples themselves.

        The solution at g(x) is that of the copy by g at x.
        """
        num_nodes = int(images.max()) + 1
        num_samples = self.held_out.shape[1] // len(symmetries)
        weights = self.weights.new_empty(num_nodes, *self.weights.shape[1:])
        free = self.free.new_empty(num_nodes, *self.free.shape[1:])
        held_out = self.held_out.new_empty(num_nodes, num_samples, self.held_out.shape[2])
        by_mode = self.weights.unflatten(2, (-1, inputs.num_modes))
        copies = self.held_out.split(num_samples, dim=1)
        for one, places, copy in zip(symmetries.elements, images, copies, strict=True):
            sign = one.input_sign * one.output_sign
            weights[places] = sign * composed(one.inverse, inputs, by_mode).flatten(2)
            free[places] = one.output_sign * self.free
            held_out[places] = one.output_sign * copy
        return _AtNodes(weights=weights, free=free, held_out=held_out)


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
        outputs: FunctionSpace,
        solutions: Float[Tensor, "sample output_mode output_channel"],
        symmetries: Symmetries,
    ) -> LinearMap:
        """Fit all coefficients of the solutions at once, to all copies of the samples."""
        copies, targets = symmetries.inputs(inputs, coefficients), symmetries.solutions(outputs, solutions)
        centre = copies.mean(dim=0)
        features = (copies - centre).flatten(1)
        weighted = self.weighted(inputs, copies - centre)
        groups = symmetries.groups(len(solutions))
        fit = fit_ridge(weighted @ features.T, targets.flatten(1), self.penalty, groups=groups)
        weights = (fit.dual.T @ weighted).unflatten(0, solutions.shape[1:])
        return LinearMap(
            weights=weights,
            offset=fit.free[0].unflatten(0, solutions.shape[1:]) - weights @ centre.flatten(),
            held_out=fit.held_out[: len(solutions)].unflatten(1, solutions.shape[1:]),
        )

    def weighted(
        self, inputs: FunctionSpace, coefficients: Float[Tensor, "sample channel mode"]
    ) -> Float[Tensor, "sample feature"]:
        """Weigh the coefficients by frequency, all channels in one row."""
        return (coefficients * growth(inputs, -self.exponent, self.rate)).flatten(1)


def lattice(space: FunctionSpace) -> Float[Tensor, "node dim"]:
    """Return nodes that the solutions of a space can be interpolated from, as fractions of the bounding box."""
    axis = torch.linspace(0.0, 1.0, nodes_per_axis(space), dtype=torch.float64)
    axis = (1.0 - _CLUSTERING) * axis + _CLUSTERING * 0.5 * (1.0 - torch.cos(torch.pi * axis))
    return torch.cartesian_prod(*[axis] * space.dim).reshape(-1, space.dim).to(space.lower.device)


def nodes_per_axis(space: FunctionSpace) -> int:
    """Return how many nodes of the lattice share a line: more than the highest wave has half-waves across the box."""
    half_waves = int(space.waves.max() / float(space.padding))
    # There must be as many nodes as functions, too.
    return max(half_waves + _MORE_NODES, math.ceil(space.num_modes ** (1.0 / space.dim)))
