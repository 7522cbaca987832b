"""What is compared of samples to tell usual from unusual: parameters, input functions and shapes, as few numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from gola.surrogate.uncertainty.case import Case

Shape = Literal["fixed", "moved nodes", "free"]
"""How samples differ in their points: not in a way that matters, as moved nodes, or as domains of their own."""

# Cosines along each axis that input functions are described by, and places that the shape of a domain is told from.
_NUM_COSINES = {1: 16, 2: 6, 3: 4}
_NUM_PLACES = {1: 16, 2: 8, 3: 5}
_MOST_NODES = 64
# Points that are read, and training samples that are remembered, at most.
_MOST_POINTS, _MOST_SAMPLES = 5000, 300
# Holds coefficients back that the points of a sample cannot tell.
_PENALTY = 1e-3
# What is the same in all training samples is described in units of this share of its size.
_CONSTANT = 1e-2


@dataclass(frozen=True, kw_only=True, eq=False)
class Description:
    """How samples are described, and the training samples so described.

    Attributes:
        shape: How samples differ in their points.
        centre: Mean of the numbers over the training samples.
        units: The unit of each number; each parameter, input channel and shape as a whole counts alike.
        known: Training samples in these units.
        distances: Of each training sample to the nearest of the others.
    """

    shape: Shape
    centre: Float[np.ndarray, " number"]
    units: Float[np.ndarray, " number"]
    known: Float[np.ndarray, "remembered number"]
    distances: Float[np.ndarray, " sample"]

    @staticmethod
    def of(cases: Sequence[Case], shape: Shape) -> "Description":
        """Describe the training samples."""
        groups = [_groups(case, shape) for case in cases]
        rows = np.stack([np.concatenate(one) for one in groups])
        centre = rows.mean(axis=0)
        units = _units(rows, [len(group) for group in groups[0]])
        known = (rows - centre) / units
        kept = np.sort(np.random.default_rng(0).permutation(len(known))[:_MOST_SAMPLES])
        apart = np.linalg.norm(known[:, None] - known[None, kept], axis=2)
        apart[kept, np.arange(len(kept))] = np.inf
        return Description(shape=shape, centre=centre, units=units, known=known[kept], distances=apart.min(axis=1))

    def distance(self, case: Case) -> float:
        """Return how far a new sample is from the nearest training sample."""
        # Another number of moved nodes cannot be compared; the operator says so too.
        numbers = self.numbers(case)
        return float("inf") if numbers is None else float(np.linalg.norm(self.known - numbers, axis=1).min())

    def numbers(self, case: Case) -> Float[np.ndarray, " number"] | None:
        """Return what describes a sample, in the units of the training samples; None for another mesh than theirs."""
        found = np.concatenate(_groups(case, self.shape))
        return None if len(found) != len(self.centre) else (found - self.centre) / self.units

    def rank(self, distance: float) -> float:
        """Return the share of training samples that are less far from the others."""
        return float((self.distances < distance).mean())

    def is_beyond(self, distance: float) -> bool:
        """Whether a distance is clearly beyond those of the training samples.

        A new sample like them is farther away than all of them with a probability of 1/(n + 1), and then by little.
        """
        largest = float(self.distances.max())
        return distance > 2.0 * largest - float(np.median(self.distances)) + 1e-9


def _groups(case: Case, shape: Shape) -> list[Float[np.ndarray, " _"]]:
    """Return what describes a sample: each parameter, each input channel, and the shape."""
    groups = list(case.parameters[:, None])
    rows = np.arange(len(case.points))
    if len(rows) > _MOST_POINTS:
        rows = np.random.default_rng(0).permutation(len(rows))[:_MOST_POINTS]
    if case.values.shape[1]:
        groups += list(_coefficients(case.points[rows], case.values[rows]).T)
    if shape == "moved nodes":
        nodes = np.unique(np.linspace(0, len(case.points) - 1, _MOST_NODES).astype(int))
        groups.append(case.points[nodes].ravel())
    elif shape == "free":
        axis = np.linspace(0.0, 1.0, _NUM_PLACES[case.points.shape[1]])
        places = np.stack(np.meshgrid(*[axis] * case.points.shape[1]), axis=-1).reshape(-1, case.points.shape[1])
        groups.append(np.asarray(cKDTree(case.points).query(places)[0]))
    return groups


def _coefficients(
    points: Float[np.ndarray, "point dim"], values: Float[np.ndarray, "point input"]
) -> Float[np.ndarray, "wave input"]:
    """Fit the lowest cosines of the unit box to the values at the points."""
    waves = np.arange(_NUM_COSINES[points.shape[1]])
    functions = np.ones((len(points), 1))
    for axis in points.T:
        cosines = np.cos(np.pi * axis[:, None] * waves)
        functions = (functions[:, :, None] * cosines[:, None]).reshape(len(points), -1)
    # Means over the points, so that a sample at fewer points is described alike.
    gram = functions.T @ functions / len(points) + _PENALTY * np.eye(functions.shape[1])
    return np.asarray(np.linalg.solve(gram, functions.T @ values / len(points)))


def _units(rows: Float[np.ndarray, "sample number"], sizes: Sequence[int]) -> Float[np.ndarray, " number"]:
    units = []
    for group in np.split(rows, np.cumsum(sizes)[:-1], axis=1):
        spread = float(np.sqrt(((group - group.mean(axis=0)) ** 2).sum(axis=1).mean()))
        size = float(np.sqrt((group**2).sum(axis=1).mean()))
        units.append(np.full(group.shape[1], max(spread, _CONSTANT * size) or 1.0))
    return np.concatenate(units) if units else np.ones(0)
