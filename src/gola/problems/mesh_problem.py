"""Problems whose every sample has its own domain: a square plate with holes of its own, and its own mesh."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from gola.data.sample import Sample
from gola.geometry.domains import Polygon
from gola.problems.meshing import TriangleMesh, graded_size, sample_curve, sample_outline, triangulate
from gola.problems.problem import Problem, one_blas_thread, sample_rng
from gola.problems.random_shapes import StarShape

# Growth of the element size per unit of distance from a hole; no angle fell below 20 degrees in 1,960 random meshes.
GROWTH = 0.2
# Points on each hole from which the element size measures the distance to the hole.
_POINTS_PER_HOLE = 256


@dataclass(frozen=True, kw_only=True)
class MeshProblem(Problem):
    """A problem on the square [0, side]² less random holes, or on a plate cut out that way.

    The points of a sample are the nodes of its mesh, which is fine at the holes and coarse elsewhere. What is drawn
    (shapes, coefficients, loads) does not depend on the mesh: the same seed and index give the same domain and
    functions for every element size.

    Attributes:
        finest: Element size at the edges of the holes, in the unit of length of the problem.
        coarsest: Element size far from them.
    """

    chunk_size: ClassVar[int] = 4
    side: ClassVar[float] = 1.0
    gap: ClassVar[float]
    """The smallest distance between two holes, or between a hole and a side of the square."""

    finest: float
    coarsest: float

    def __post_init__(self) -> None:
        if not 0.0 < self.finest <= self.coarsest <= self.side / 4.0:
            raise ValueError(
                f"{self.name} needs element sizes 0 < finest <= coarsest <= {self.side / 4.0:g};"
                f" got finest={self.finest}, coarsest={self.coarsest}."
            )
        if self.finest > self.gap / 3.0:
            raise ValueError(
                f"{self.name} needs finest <= {self.gap / 3.0:.3g}, so that elements fit between holes that are"
                f" {self.gap:g} apart; got finest={self.finest}."
            )

    @abstractmethod
    def simulate(self, rng: np.random.Generator) -> Sample:
        """Draw a domain and functions on it, mesh it, and solve."""

    def generate(self, seed: int, indices: Sequence[int]) -> list[Sample]:
        """Draw and solve the samples with these indices, in float64, each on its own mesh."""
        with one_blas_thread():
            return [self.simulate(sample_rng(seed, index)) for index in indices]

    def mesh(self, holes: Sequence[StarShape]) -> TriangleMesh:
        """Mesh the square less these holes."""
        parameters = np.linspace(0.0, 1.0, _POINTS_PER_HOLE, endpoint=False)
        edges = np.concatenate([hole.outline(parameters) for hole in holes])
        size = graded_size(edges, finest=self.finest, coarsest=self.coarsest, growth=GROWTH)
        corners = self.side * np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        polygon = Polygon(
            exterior=sample_outline(corners, size),
            holes=tuple(sample_curve(hole.outline, size) for hole in holes),
        )
        return triangulate(polygon, size)


def hole_distance(mesh: TriangleMesh) -> Float[np.ndarray, " point"]:
    """Return the distance of each node to the nearest edge of a hole, 0 on the edge itself."""
    holes = [Polygon(exterior=mesh.points[loop]) for loop in mesh.loops[1:]]
    distances = np.min([hole.signed_distance(mesh.points) for hole in holes], axis=0)
    # Nodes of the edge are on it by definition, whatever rounding says.
    distances[np.concatenate(mesh.loops[1:])] = 0.0
    return np.abs(distances)
