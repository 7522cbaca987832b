"""Linear maps between function spaces, fitted to few samples under a prior, with exact leave-one-out predictions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from gola.operators.closed_form.ridge import RidgeFit, fit_ridge
from gola.operators.closed_form.scores import Probes
from gola.operators.linear.green import Component, InputFunctions, kernel_at
from gola.representation.function_space import FunctionSpace
from gola.representation.representatives import spread
from gola.representation.smoothness import growth
from gola.representation.symmetry import Symmetries, composed

# Numbers that the kernels of a portion of nodes may hold: what is made of them stays in the cache.
_PORTION = 500_000
# Samples with their copies that a map is fitted to under a prior on Green's function.
_MOST_FITTED = 400
_MORE_NODES = 4
# Interpolation is worst at the boundary, where nodes have neighbours on one side only. Moving nodes this far towards
# those of Chebyshev gains as much as four more along each axis.
_CLUSTERING = 0.3


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Affine:
    """The numbers of an affine map.

    Attributes:
        weights: The matrix of the map, or the left one of two.
        offset: What it gives for an input of zero.
        rows: The right one of two matrices whose product is that of the map, where both are smaller than it.
    """

    weights: Float[Tensor, "mode channel column"]
    offset: Float[Tensor, "mode channel"]
    rows: Float[Tensor, "column feature"] | None = None

    @staticmethod
    def of_product(
        left: Float[Tensor, "mode channel column"],
        rows: Float[Tensor, "column feature"],
        offset: Float[Tensor, "mode channel"],
    ) -> "Affine":
        """Keep a product of two matrices as it is where that takes fewer numbers: few samples, many channels."""
        if left.numel() + rows.numel() < left[..., 0].numel() * rows.shape[1]:
            return Affine(weights=left, offset=offset, rows=rows)
        return Affine(weights=left @ rows, offset=offset)

    @property
    def dense(self) -> Float[Tensor, "mode channel feature"]:
        """The matrix of the map."""
        return self.weights if self.rows is None else self.weights @ self.rows

    def __call__(self, features: Float[Tensor, "sample feature"]) -> Float[Tensor, "sample mode channel"]:
        """Apply the map."""
        columns = features if self.rows is None else features @ self.rows.T
        found = columns @ self.weights.flatten(0, 1).T
        return found.unflatten(1, self.offset.shape) + self.offset


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearMap:
    """An affine map from the coefficients of inputs to those of solutions.

    Most maps are only judged by their held-out predictions and then dropped, so the rest is computed when asked for.

    Attributes:
        held_out: For each training sample, what the map fitted to all the others and their copies gives.
        solved: Returns the numbers of the map.
    """

    held_out: Float[Tensor, "sample mode channel"]
    solved: Callable[[], Affine]

    @cached_property
    def affine(self) -> Affine:
        """The numbers of the map."""
        return self.solved()

    def __call__(
        self, coefficients: Float[Tensor, "sample input_channel input_mode"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Return the coefficients of the solutions of other inputs."""
        return self.affine(coefficients.flatten(1))


@final
@dataclass(frozen=True, kw_only=True)
class GreenPrior:
    """Green's function is smooth and concentrated, as :mod:`gola.operators.linear.green` says.

    Attributes:
        components: The terms of its covariance.
        penalty: The ridge: how far the data may be missed, as a variance.
        num_modes: How many of the lowest waves of the inputs are seen; None for all.
        num_output_modes: How many of the lowest waves of the solutions are fitted; the others are predicted by their
            means. None for all.
    """

    components: tuple[Component, ...]
    penalty: float
    num_modes: int | None = None
    num_output_modes: int | None = None

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

        Of very many samples some are fitted, and the others predicted: time grows with the cube of their number.
        """
        count = self.num_output_modes or outputs.num_modes
        found = self._fit_lowest(
            inputs, coefficients, outputs.with_penalties(outputs.penalties[:count]), solutions[:, :count], symmetries
        )
        if count == outputs.num_modes:
            return found
        copies = symmetries.solutions(outputs, solutions).unflatten(0, (len(symmetries), -1))
        return _with_means(found, copies[:, :, count:])

    def held_out_at(
        self, inputs: FunctionSpace, coefficients: Float[Tensor, "sample channel mode"], probes: Probes
    ) -> Float[Tensor, "probe sample output_channel"]:
        """Return held-out predictions at some places, which take a small part of the time of a fit."""
        functions = lowest(inputs, coefficients - coefficients.mean(dim=0), self.num_modes or inputs.num_modes)
        kernel = kernel_at(functions, self.components, probes.fractions)
        return fit_ridge(kernel, probes.values, self.penalty).held_out

    def _fit_lowest(
        self,
        inputs: FunctionSpace,
        coefficients: Float[Tensor, "sample channel mode"],
        outputs: FunctionSpace,
        solutions: Float[Tensor, "sample output_mode output_channel"],
        symmetries: Symmetries,
    ) -> LinearMap:
        rows = spread(len(solutions), at_most=max(1, _MOST_FITTED // len(symmetries)))
        if len(rows) < len(solutions):
            found = self._fit_lowest(inputs, coefficients[rows], outputs, solutions[rows], symmetries)
            held_out = found(coefficients)
            held_out[rows] = found.held_out
            return LinearMap(held_out=held_out, solved=lambda: found.affine)
        copies, targets = symmetries.inputs(inputs, coefficients), symmetries.solutions(outputs, solutions)
        centre = copies.mean(dim=0)
        functions = lowest(inputs, copies - centre, self.num_modes or inputs.num_modes)
        images = symmetries.node_images(nodes_per_axis(outputs), outputs.dim).to(copies.device)
        fitted = torch.nonzero(images.min(dim=0).values == images[0]).flatten()
        nodes, axes = lattice(outputs), lattice_axes(outputs)
        columns = outputs.values_on_lattice(axes, targets.transpose(0, 1).flatten(1))
        values = columns[fitted].unflatten(1, targets.shape[::2])
        groups = symmetries.groups(len(solutions))
        fit = self._fit_nodes(functions, nodes[fitted], values, groups)
        elements, images = symmetries.elements, images[:, fitted]

        def solved() -> Affine:
            rows = functions.features(functions.covered(self.components, nodes[fitted], fit.dual))
            by_mode = rows.unflatten(2, (-1, functions.space.num_modes))
            signs = [one.input_sign * one.output_sign for one in elements]
            copied = [composed(one.inverse, functions.space, by_mode).flatten(2) for one in elements]
            weights = _spread([sign * copy for sign, copy in zip(signs, copied, strict=True)], images)
            free = _spread([one.output_sign * fit.free[:, 0] for one in elements], images)
            found = _through_nodes(outputs, torch.cat([weights, free[..., None]], dim=2))
            unseen = inputs.num_modes - functions.space.num_modes
            weights = pad(found[..., :-1].unflatten(2, (-1, functions.space.num_modes)), (0, unseen)).flatten(2)
            return Affine(weights=weights, offset=found[..., -1] - weights @ centre.flatten())

        # The solution at g(x) is that of the copy by g at x.
        parts = zip(elements, fit.held_out.split(len(solutions), dim=1), strict=True)
        held_out = _spread([one.output_sign * copy for one, copy in parts], images)
        return LinearMap(held_out=_through_nodes(outputs, held_out).transpose(0, 1), solved=solved)

    def _fit_nodes(
        self,
        functions: InputFunctions,
        nodes: Float[Tensor, "node dim"],
        values: Float[Tensor, "node copy output"],
        groups: Int[Tensor, "sample member"] | None,
    ) -> RidgeFit:
        """Fit the solution at each node by itself; nodes are taken in portions whose kernels fit into memory."""
        step = max(1, _PORTION // values.shape[1] ** 2)
        fits = [
            fit_ridge(kernel_at(functions, self.components, places), part, self.penalty, groups=groups)
            for places, part in zip(nodes.split(step), values.split(step), strict=True)
        ]
        return RidgeFit(
            dual=torch.cat([fit.dual for fit in fits]),
            free=torch.cat([fit.free for fit in fits]),
            held_out=torch.cat([fit.held_out for fit in fits]),
        )


def lowest(space: FunctionSpace, coefficients: Float[Tensor, "sample channel mode"], num_modes: int) -> InputFunctions:
    """Lay out functions with the lowest of their waves only."""
    return InputFunctions.of(space.with_penalties(space.penalties[:num_modes]), coefficients[..., :num_modes])


def _with_means(lowest: LinearMap, highest: Float[Tensor, "symmetry sample high_mode output_channel"]) -> LinearMap:
    """Extend a map to further waves of the solutions, predicted by the means of all copies of the other samples."""
    num_symmetries, num_samples = highest.shape[:2]
    own = highest.sum(dim=0)
    others = (own.sum(dim=0) - own) / (num_symmetries * (num_samples - 1))

    def solved() -> Affine:
        affine, mean = lowest.affine, highest.mean(dim=(0, 1))
        return Affine(
            weights=pad(affine.weights, (0, 0, 0, 0, 0, len(mean))),
            offset=torch.cat([affine.offset, mean]),
            rows=affine.rows,
        )

    return LinearMap(held_out=torch.cat([lowest.held_out, others], dim=1), solved=solved)


def _spread(
    parts: Sequence[Float[Tensor, "node *rest"]], images: Int[Tensor, "symmetry node"]
) -> Float[Tensor, "all_nodes *rest"]:
    """Put what symmetries make of some nodes at the images of these nodes."""
    found = parts[0].new_empty(int(images.max()) + 1, *parts[0].shape[1:])
    for part, places in zip(parts, images, strict=True):
        found[places] = part
    return found


def _through_nodes(space: FunctionSpace, values: Float[Tensor, "node *rest"]) -> Float[Tensor, "mode *rest"]:
    """Return the coefficients of functions with these values at the nodes of the lattice."""
    return space.through_lattice(lattice_axes(space), values.flatten(1)).unflatten(1, values.shape[1:])


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
        kernel, rows = weighted @ features.T, targets.flatten(1)
        fit = fit_ridge(kernel, rows, self.penalty, groups=groups, num_held_out=len(solutions))
        shape = solutions.shape[1:]

        def solved() -> Affine:
            left, mean = fit.dual.T.unflatten(0, shape), weighted @ centre.flatten()
            return Affine.of_product(left, weighted, offset=fit.free[0].unflatten(0, shape) - left @ mean)

        return LinearMap(held_out=fit.held_out.unflatten(1, shape), solved=solved)

    def weighted(
        self, inputs: FunctionSpace, coefficients: Float[Tensor, "sample channel mode"]
    ) -> Float[Tensor, "sample feature"]:
        """Weigh the coefficients by frequency, all channels in one row."""
        return (coefficients * growth(inputs, -self.exponent, self.rate)).flatten(1)


def lattice(space: FunctionSpace) -> Float[Tensor, "node dim"]:
    """Return nodes that the solutions of a space can be interpolated from, as fractions of the bounding box."""
    return torch.cartesian_prod(*lattice_axes(space)).reshape(-1, space.dim)


def lattice_axes(space: FunctionSpace) -> list[Float[Tensor, " place"]]:
    """Return where these nodes are along each axis."""
    axis = torch.linspace(0.0, 1.0, nodes_per_axis(space), dtype=torch.float64)
    axis = (1.0 - _CLUSTERING) * axis + _CLUSTERING * 0.5 * (1.0 - torch.cos(torch.pi * axis))
    return [axis.to(space.lower.device)] * space.dim


def nodes_per_axis(space: FunctionSpace) -> int:
    """Return how many nodes of the lattice share a line: more than the highest wave has half-waves across the box."""
    half_waves = int(space.waves.max() / float(space.padding))
    # There must be as many nodes as functions, too.
    return max(half_waves + _MORE_NODES, math.ceil(space.num_modes ** (1.0 / space.dim)))
