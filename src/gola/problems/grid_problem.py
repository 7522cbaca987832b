"""Problems whose samples live on one regular grid over the unit square."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from gola.data.sample import Sample
from gola.geometry.domains import Box
from gola.geometry.points import lattice_points
from gola.problems.problem import Problem, one_blas_thread, sample_rng

MIN_RESOLUTION = 8


@dataclass(frozen=True, kw_only=True)
class GridProblem(Problem):
    """A problem on a square grid of ``resolution`` × ``resolution`` points.

    Whatever the physical domain is, the points are mapped to [0, 1]². The grid includes the end points:
    coordinate i along an axis is i / (resolution − 1). ``points[:, 0]`` is the first grid axis (x) and
    ``points[:, 1]`` the second (y or t), flattened row by row: ``values.reshape(resolution, resolution)[i, j]``
    belongs to the point (i, j) / (resolution − 1). The boundary is the rim of the grid, final time included where
    the second axis is time.

    The same seed and index give the same input function at every resolution, only sampled on another grid.

    Attributes:
        resolution: Grid points along each axis.
    """

    dim: ClassVar[int] = 2
    chunk_size: ClassVar[int] = 25

    resolution: int = 128

    def __post_init__(self) -> None:
        if self.resolution < MIN_RESOLUTION:
            raise ValueError(
                f"{self.name} needs a resolution of at least {MIN_RESOLUTION} points along each axis; "
                f"got {self.resolution}."
            )

    @property
    def typical_size(self) -> str:
        """Points per sample, for people to read."""
        return f"{self.resolution} × {self.resolution} = {self.resolution**2:,} grid points"

    @property
    def coordinates(self) -> Float[np.ndarray, " row"]:
        """The grid coordinates in [0, 1], the same along both axes."""
        return np.linspace(0.0, 1.0, self.resolution)

    @abstractmethod
    def simulate(
        self, rngs: Sequence[np.random.Generator]
    ) -> tuple[Float[np.ndarray, "sample row column"], Float[np.ndarray, "sample row column"]]:
        """Draw one input field from each generator, and solve for the target fields."""

    def generate(self, seed: int, indices: Sequence[int]) -> list[Sample]:
        """Draw and solve the samples with these indices, in float64; all share one array of points."""
        if not indices:
            return []
        with one_blas_thread():
            inputs, targets = self.simulate([sample_rng(seed, index) for index in indices])
        points = lattice_points(Box.unit(2), self.resolution)
        boundary = _rim(self.resolution)
        return [
            Sample(points=points, inputs=f.reshape(-1, 1), targets=u.reshape(-1, 1), boundary=boundary)
            for f, u in zip(inputs, targets, strict=True)
        ]


def _rim(resolution: int) -> Bool[np.ndarray, " point"]:
    """Flag the grid points on the four sides of the square."""
    rim = np.ones((resolution, resolution), dtype=bool)
    rim[1:-1, 1:-1] = False
    return rim.ravel()
