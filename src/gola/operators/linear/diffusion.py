r"""Diffusion in an unknown medium: few numbers decide all of Green's function.

Where something flows down its gradient until it rests, :math:`-\nabla \cdot (a \nabla u) = f`, the medium a is one
number for each place, and Green's function one for each pair of places. So samples tell far more of the medium.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import minimize
from torch import Tensor

from gola.operators.closed_form.samples import Samples
from gola.operators.linear.finite_elements import FiniteElements
from gola.operators.linear.linear_map import Affine, LinearMap
from gola.operators.linear.observations import Observations
from gola.representation.function_space import FunctionSpace

# Cells along each axis of the box, by dimension, and at most so many for each function along an axis.
_CELLS = {1: 128, 2: 64, 3: 12, 4: 6}
_CELLS_PER_FUNCTION = 2.0
NUM_FOLDS = 5
"""Each fold of the samples is predicted from the others."""
# More samples than these tell next to nothing new of a medium.
_MOST_SAMPLES = 200
_NUM_STEPS = 60
# The weight γ of the penalty; a third or three times as much makes next to no difference.
_ROUGHNESS = 1e-5
# Smaller changes of log a between two cells are no interface.
_INTERFACE = 0.05
# How far log a may be from that of the best constant medium.
_CONTRAST = 10.0
# Samples that differ less from the mean sample than this share of the mean square count less.
_LEAST_SHARE = 0.01
# What is computed at nodes has no noise to smooth away: penalties in units of those that suit the data.
_NODE_PENALTIES = 1e-4
# Stands for zero below a line.
_TINY = 1e-100


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Diffusion:
    r"""Samples whose solutions obey :math:`-\nabla \cdot (a \nabla u) = f` in the bounding box.

    Sources and values on the boundary may have parts that are the same in all samples: differences from the mean sample
    have neither. The medium a, constant in each cell of a lattice, minimises

    .. math:: \frac1n \sum_s \frac{\lVert u_s - \hat u_s \rVert^2}{\lVert \hat u_s \rVert^2}
              + \gamma \int \lvert \nabla \log a \rvert

    where :math:`\hat u_s` is that difference at the points of sample s. The penalty lets a medium have interfaces.

    Attributes:
        inputs: The space of the inputs.
        features: Coefficients of the inputs, which have one channel.
        outputs: The space of the solutions.
        solutions: Coefficients of the solutions, which have one channel.
        samples: The samples themselves.
    """

    inputs: FunctionSpace
    features: Float[Tensor, "sample 1 mode"]
    outputs: FunctionSpace
    solutions: Float[Tensor, "sample output_mode 1"]
    samples: Samples

    @cached_property
    def medium(self) -> "Medium":
        """The medium that explains all samples best."""
        return self._explaining(np.arange(len(self.solutions)))

    @property
    def misfit(self) -> float:
        """Mean relative L2 error, at their points, of the samples that the medium was found from."""
        observed = self._observed(np.arange(len(self.solutions)))
        errors = observed.of(self.medium.response(self._sources - _mean(self._sources))) - observed.values
        sizes = np.array([float(targets.norm()) for targets in self.samples.targets])
        return float(np.mean(np.sqrt(observed.squares(errors)) / np.maximum(sizes, _TINY)))

    def map(self) -> LinearMap:
        """Return the map of the medium; each fold of the samples is predicted by a medium of the others."""
        order = np.random.default_rng(0).permutation(len(self.solutions))
        held_out = np.empty_like(self._states)
        for fold in np.array_split(order, min(NUM_FOLDS, len(order))):
            others = np.setdiff1d(order, fold)
            held_out[:, fold] = self._predicted(self._explaining(others), others, self._sources[:, fold])
        return LinearMap(held_out=self._through_nodes(held_out).T[..., None], solved=self._solved)

    def _solved(self) -> Affine:
        weights = self._through_nodes(self.medium.response(self.inputs.functions(self._places).cpu().numpy()))
        offset = self.solutions.mean(dim=0) - weights @ self.features.mean(dim=0).mT
        return Affine(weights=weights[:, None], offset=offset)

    def _explaining(self, rows: Int[np.ndarray, " row"]) -> "Medium":
        few = rows[:_MOST_SAMPLES]
        sources = self._sources[:, few]
        return Medium.explaining(self._elements, sources - _mean(sources), self._observed(few))

    def _observed(self, rows: Int[np.ndarray, " row"]) -> Observations:
        """Return how solutions differ from their mean at the points of each sample."""
        mean = self.solutions[rows].mean(dim=0)
        points = [self.samples.points[row] for row in rows]
        targets = [self.samples.targets[row] for row in rows]
        return Observations.at(
            self._elements,
            [self.outputs.fractions(places).cpu().numpy() for places in points],
            [
                (values - self.outputs.values(places, mean))[:, 0].cpu().numpy()
                for places, values in zip(points, targets, strict=True)
            ],
        )

    def _predicted(
        self, medium: "Medium", known: Int[np.ndarray, " row"], sources: Float[np.ndarray, "node sample"]
    ) -> Float[np.ndarray, "node sample"]:
        """Return the states of other sources, as differences from the mean of known samples."""
        return _mean(self._states[:, known]) + medium.response(sources - _mean(self._sources[:, known]))

    def _through_nodes(self, values: Float[np.ndarray, "node column"]) -> Float[Tensor, "output_mode column"]:
        """Return the coefficients of functions with these values at the nodes."""
        places = self._places
        space = self.outputs.with_penalties(_NODE_PENALTIES * self.outputs.penalties)
        return space.coefficients([places], [torch.from_numpy(values).to(places)])[0]

    @cached_property
    def _elements(self) -> FiniteElements:
        dim = self.outputs.dim
        resolved = math.ceil(_CELLS_PER_FUNCTION * self.outputs.num_modes ** (1.0 / dim))
        return FiniteElements.on(self.outputs.sides.cpu().numpy(), min(_CELLS[dim], max(resolved, 2)))

    @cached_property
    def _places(self) -> Float[Tensor, "node dim"]:
        fractions = torch.from_numpy(self._elements.nodes).to(self.outputs.sides)
        return self.outputs.lower + self.outputs.sides * fractions

    @cached_property
    def _sources(self) -> Float[np.ndarray, "node sample"]:
        return self.inputs.values(self._places, self.features[:, 0].T).cpu().numpy()

    @cached_property
    def _states(self) -> Float[np.ndarray, "node sample"]:
        return self.outputs.values(self._places, self.solutions[..., 0].T).cpu().numpy()


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Medium:
    """What something diffuses through.

    Attributes:
        elements: The finite elements.
        values: The medium a in each cell.
        sign: Which way sources push, 1 or -1.
    """

    elements: FiniteElements
    values: Float[np.ndarray, " cell"]
    sign: float

    @staticmethod
    def explaining(
        elements: FiniteElements, sources: Float[np.ndarray, "node sample"], observed: Observations
    ) -> "Medium":
        """Find the medium in which the sources lead to the states that were observed, from the best constant one on."""
        loads, wanted = elements.loads(sources), observed.values
        squares = observed.squares(wanted)
        floor = max(_LEAST_SHARE * squares.mean(), _TINY)
        weights = (1.0 / np.maximum(squares, floor) / len(squares))[observed.samples]
        uniform = observed.of(elements.extended(elements.solver(np.ones(len(elements.cells)))(loads)))
        response = float(np.sum(weights * uniform * wanted) / max(np.sum(weights * uniform**2), _TINY))
        sign = -1.0 if response < 0.0 else 1.0
        start = -np.log(max(abs(response), _TINY))

        def objective(logarithm: Float[np.ndarray, " cell"]) -> tuple[float, Float[np.ndarray, " cell"]]:
            values = np.exp(logarithm)
            solve = elements.solver(values)
            found = solve(sign * loads)
            errors = observed.of(elements.extended(found)) - wanted
            adjoint = solve(observed.transposed(2.0 * weights * errors)[elements.inside])
            variation, slope = elements.variation(logarithm, _INTERFACE)
            return (
                float(np.sum(weights * errors**2)) + _ROUGHNESS * variation,
                _ROUGHNESS * slope - values * elements.energies(adjoint, found),
            )

        logarithm = minimize(
            objective,
            np.full(len(elements.cells), start),
            jac=True,
            method="L-BFGS-B",
            bounds=[(start - _CONTRAST, start + _CONTRAST)] * len(elements.cells),
            # Errors are relative to the states, so smaller changes are none.
            options={"maxiter": _NUM_STEPS, "maxcor": 30, "ftol": 1e-10, "gtol": 1e-10},
        ).x
        return Medium(elements=elements, values=np.exp(logarithm), sign=sign)

    def response(self, sources: Float[np.ndarray, "node sample"]) -> Float[np.ndarray, "node sample"]:
        """Return the states that sources lead to."""
        solve = self.elements.solver(self.values)
        return self.elements.extended(solve(self.sign * self.elements.loads(sources)))


def _mean(values: Float[np.ndarray, "node sample"]) -> Float[np.ndarray, "node 1"]:
    return values.mean(axis=1, keepdims=True)
