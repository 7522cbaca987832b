r"""Diffusion in an unknown medium: few numbers decide all of Green's function.

Where something flows down its gradient until it rests, :math:`-\nabla \cdot (a \nabla u) = f`, the medium a is one
number for each place, and Green's function one for each pair of places. So samples tell far more of the medium.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import Bounds, OptimizeResult, minimize
from torch import Tensor

from gola.operators.closed_form.samples import Samples, drawn
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
# Nor do more points of a sample, which are then as many as there are cells.
_MOST_POINTS = 4000
# Steps on one, two or three lattices from coarse to fine; each has twice the cells of the one before along an axis.
_NUM_STEPS = {1: (60,), 2: (50, 25), 3: (50, 25, 15)}
# Media that are only found to judge by take fewer steps where these take longest: held-out errors rise by 0.5 %.
_JUDGED_NUM_STEPS = {**_NUM_STEPS, 3: (50, 25, 8)}
_FEWEST_CELLS = 4
# A medium is given up where it misses the samples by so many times the error that it has to reach.
_SLACK = (3.0, 1.5, 1.0)
# The weight γ of the penalty; a third or three times as much makes next to no difference.
_ROUGHNESS = 1e-5
# On a lattice that others refine, steps go on as long as these many together lower the misfit by this share.
_JUDGED_STEPS, _LEAST_GAIN = 5, 0.02
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
        return list(self._media)[-1]

    def explains(self, error: float) -> bool:
        """Whether a medium explains the samples with this mean relative L2 error at their points, or a lower one.

        Where it does not by far, it is given up on a coarse lattice.
        """
        media = self._media
        slack = _SLACK[-len(self._levels) :]
        for allowed, medium in zip(slack, media, strict=True):
            if self._misfit(medium) > allowed * error:
                return False
        # What was found need not be found again.
        self.__dict__["medium"] = medium
        return True

    @property
    def _media(self) -> Iterator["Medium"]:
        return self._explaining(np.arange(len(self.solutions)), _NUM_STEPS)

    def _misfit(self, medium: "Medium") -> float:
        """Return the mean relative L2 error, at their points, of the samples that the medium was found from."""
        rows = np.arange(len(self.solutions))
        observed = self._observed(medium.elements, rows, self._differences(rows))
        sources = self._sources[self._elements.places_of(medium.elements)]
        errors = observed.of(medium.response(sources - _mean(sources))) - observed.values
        sizes = np.array([float(targets.norm()) for targets in self._targets])
        return float(np.mean(np.sqrt(observed.squares(errors)) / np.maximum(sizes, _TINY)))

    def map(self) -> LinearMap:
        """Return the map of the medium; each fold of the samples is predicted by a medium of the others."""
        order = np.random.default_rng(0).permutation(len(self.solutions))
        held_out = np.empty_like(self._states)
        for fold in np.array_split(order, min(NUM_FOLDS, len(order))):
            others = np.setdiff1d(order, fold)
            *_, medium = self._explaining(others, _JUDGED_NUM_STEPS)
            held_out[:, fold] = self._predicted(medium, others, self._sources[:, fold])
        return LinearMap(held_out=self._through_nodes(held_out).T[..., None], solved=self._solved)

    def _solved(self) -> Affine:
        places = self.outputs.lower + self.outputs.sides * torch.from_numpy(self._elements.nodes).to(self.features)
        weights = self._through_nodes(self.medium.response(self.inputs.functions(places).cpu().numpy()))
        offset = self.solutions.mean(dim=0) - weights @ self.features.mean(dim=0).mT
        return Affine(weights=weights[:, None], offset=offset)

    def _explaining(
        self, rows: Int[np.ndarray, " row"], num_steps: Mapping[int, tuple[int, ...]]
    ) -> Iterator["Medium"]:
        few = rows[:_MOST_SAMPLES]
        sources, differences = self._sources[:, few] - _mean(self._sources[:, few]), self._differences(few)
        # Fine lattices are not asked for where a coarse one shows that no medium explains the samples.
        coarse_to_fine = (
            Misfit.of(elements, sources[self._elements.places_of(elements)], self._observed(elements, few, differences))
            for elements in self._levels
        )
        return Medium.explaining(coarse_to_fine, num_steps[len(self._levels)])

    def _observed(
        self, elements: FiniteElements, rows: Int[np.ndarray, " row"], differences: Sequence[Float[np.ndarray, " _"]]
    ) -> Observations:
        return Observations.at(elements, [self._fractions[row] for row in rows], differences)

    def _differences(self, rows: Int[np.ndarray, " row"]) -> list[Float[np.ndarray, " _"]]:
        """Return how solutions differ from their mean at the points of each sample."""
        mean = self.solutions[rows].mean(dim=0)
        pairs = [(self._points[row], self._targets[row]) for row in rows]
        return [(values - self.outputs.values(places, mean))[:, 0].cpu().numpy() for places, values in pairs]

    @cached_property
    def _fractions(self) -> list[Float[np.ndarray, "_ dim"]]:
        return [self.outputs.fractions(places).cpu().numpy() for places in self._points]

    @cached_property
    def _points(self) -> list[Float[Tensor, "_ dim"]]:
        return [places[drawn(len(places), _MOST_POINTS)] for places in self.samples.points]

    @cached_property
    def _targets(self) -> list[Float[Tensor, "_ 1"]]:
        return [values[drawn(len(values), _MOST_POINTS)] for values in self.samples.targets]

    def _predicted(
        self, medium: "Medium", known: Int[np.ndarray, " row"], sources: Float[np.ndarray, "node sample"]
    ) -> Float[np.ndarray, "node sample"]:
        """Return the states of other sources, as differences from the mean of known samples."""
        return _mean(self._states[:, known]) + medium.response(sources - _mean(self._sources[:, known]))

    def _through_nodes(self, values: Float[np.ndarray, "node column"]) -> Float[Tensor, "output_mode column"]:
        """Return the coefficients of functions with these values at the nodes."""
        space = self.outputs.with_penalties(_NODE_PENALTIES * self.outputs.penalties)
        return space.through_lattice(self._axes, torch.from_numpy(values).to(self.features))

    @property
    def _elements(self) -> FiniteElements:
        return self._levels[-1]

    @cached_property
    def _levels(self) -> list[FiniteElements]:
        """Lattices from coarse to fine, each with half the spacing of the one before."""
        dim = self.outputs.dim
        resolved = math.ceil(_CELLS_PER_FUNCTION * self.outputs.num_modes ** (1.0 / dim))
        counts = [min(_CELLS[dim], max(resolved, 2))]
        while len(counts) < len(_NUM_STEPS) and counts[0] % 2 == 0 and counts[0] >= 2 * _FEWEST_CELLS:
            counts.insert(0, counts[0] // 2)
        return [FiniteElements.on(self.outputs.sides.cpu().numpy(), count) for count in counts]

    @property
    def _axes(self) -> list[Float[Tensor, " place"]]:
        """Where the nodes are along each axis of the box."""
        return [torch.from_numpy(self._elements.places).to(self.features)] * self.outputs.dim

    @cached_property
    def _sources(self) -> Float[np.ndarray, "node sample"]:
        return self.inputs.values_on_lattice(self._axes, self.features[:, 0].T).cpu().numpy()

    @cached_property
    def _states(self) -> Float[np.ndarray, "node sample"]:
        return self.outputs.values_on_lattice(self._axes, self.solutions[..., 0].T).cpu().numpy()


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
    def explaining(coarse_to_fine: Iterable["Misfit"], num_steps: Sequence[int]) -> Iterator["Medium"]:
        """Find the medium in which the sources lead to the states that were observed, from the best constant one on.

        What a coarse lattice shows takes little time there; finer ones only add what it cannot show. The medium that is
        found on each lattice is yielded.

        Args:
            coarse_to_fine: The misfit on each lattice.
            num_steps: At most so many steps are taken there.
        """
        sign, start, logarithm = 1.0, 0.0, np.zeros(0)
        for level, (misfit, at_most) in enumerate(zip(coarse_to_fine, num_steps, strict=True), start=1):
            if level == 1:
                response = misfit.response_of_a_constant()
                sign, start = -1.0 if response < 0.0 else 1.0, -float(np.log(max(abs(response), _TINY)))
                logarithm = np.full(1, start)
            logarithm = misfit.elements.refined(logarithm)
            logarithm = minimize(
                partial(misfit.objective, sign=sign),
                logarithm,
                jac=True,
                method="L-BFGS-B",
                bounds=Bounds(np.full(len(logarithm), start - _CONTRAST), np.full(len(logarithm), start + _CONTRAST)),
                # Errors are relative to the states, so smaller changes are none.
                options={"maxiter": at_most, "maxcor": 30, "ftol": 1e-10, "gtol": 1e-10},
                callback=None if level == len(num_steps) else _stopping_where_flat(),
            ).x
            yield Medium(elements=misfit.elements, values=np.exp(logarithm), sign=sign)

    def response(self, sources: Float[np.ndarray, "node sample"]) -> Float[np.ndarray, "node sample"]:
        """Return the states that sources lead to."""
        solve = self.elements.solver(self.values)
        return self.elements.extended(solve(self.sign * self.elements.loads(sources)))


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Misfit:
    """How far the states in a medium are from those that were observed, on one lattice."""

    elements: FiniteElements
    loads: Float[np.ndarray, "inside sample"]
    observed: Observations
    weights: Float[np.ndarray, " point"]

    @staticmethod
    def of(elements: FiniteElements, sources: Float[np.ndarray, "node sample"], observed: Observations) -> "Misfit":
        """Take sources at the nodes, and what was observed of the states that they lead to."""
        squares = observed.squares(observed.values)
        floor = max(_LEAST_SHARE * squares.mean(), _TINY)
        weights = (1.0 / np.maximum(squares, floor) / len(squares))[observed.samples]
        return Misfit(elements=elements, loads=elements.loads(sources), observed=observed, weights=weights)

    def response_of_a_constant(self) -> float:
        """Return by what the states in a medium of 1 have to be multiplied."""
        elements, observed = self.elements, self.observed
        uniform = observed.of(elements.extended(elements.solver(np.ones(len(elements.cells)))(self.loads)))
        squares = max(float(np.sum(self.weights * uniform**2)), _TINY)
        return float(np.sum(self.weights * uniform * observed.values)) / squares

    def objective(self, logarithm: Float[np.ndarray, " cell"], sign: float) -> tuple[float, Float[np.ndarray, " cell"]]:
        """Return the misfit with the penalty, and its gradient by the adjoint method."""
        elements, observed, values = self.elements, self.observed, np.exp(logarithm)
        solve = elements.solver(values)
        found = solve(sign * self.loads)
        errors = observed.of(elements.extended(found)) - observed.values
        adjoint = solve(observed.transposed(2.0 * self.weights * errors)[elements.inside])
        variation, slope = elements.variation(logarithm, _INTERFACE)
        return (
            float(np.sum(self.weights * errors**2)) + _ROUGHNESS * variation,
            _ROUGHNESS * slope - values * elements.energies(adjoint, found),
        )


def _stopping_where_flat() -> Any:  # the stubs of SciPy know callbacks of one name only
    """Return what ends a minimisation once steps hardly lower the objective."""
    values: list[float] = []

    def watch(intermediate_result: OptimizeResult) -> None:
        values.append(float(intermediate_result.fun))
        if len(values) > _JUDGED_STEPS and values[-1] > (1.0 - _LEAST_GAIN) * values[-1 - _JUDGED_STEPS]:
            raise StopIteration

    return watch


def _mean(values: Float[np.ndarray, "node sample"]) -> Float[np.ndarray, "node 1"]:
    return values.mean(axis=1, keepdims=True)
