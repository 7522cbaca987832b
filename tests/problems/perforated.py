"""Meshes of perforated domains that the tests of several solvers share."""

from collections.abc import Sequence

import numpy as np

from gola.geometry.domains import Polygon
from gola.problems.meshing import TriangleMesh, graded_size, sample_curve, sample_outline, triangulate
from gola.problems.random_shapes import StarShape, draw_separate_shapes

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def draw_holes(seed: int) -> list[StarShape]:
    """Draw one to six holes in the unit square."""
    rng = np.random.default_rng(seed)
    return draw_separate_shapes(rng, num_shapes=1 + seed % 6, radii=(0.04, 0.12), roughness=0.45, side=1.0, gap=0.04)


def perforated_square(
    holes: Sequence[StarShape], *, finest: float = 0.01, coarsest: float = 0.07, growth: float = 0.2
) -> tuple[TriangleMesh, Polygon]:
    """Mesh the unit square less the holes; return the polygon that was to be meshed as well."""
    edges = np.concatenate([hole.outline(np.linspace(0.0, 1.0, 300)) for hole in holes])
    size = graded_size(edges, finest=finest, coarsest=coarsest, growth=growth)
    polygon = Polygon(
        exterior=sample_outline(SQUARE, size), holes=tuple(sample_curve(hole.outline, size) for hole in holes)
    )
    return triangulate(polygon, size), polygon


def refined_twice(hole: StarShape, *, size: float, growth: float) -> list[TriangleMesh]:
    """Mesh the square less a hole three times, each mesh with elements half as large as the one before."""
    scales = 0.5 ** np.arange(3)
    return [
        perforated_square([hole], finest=scale * size / 2, coarsest=scale * size, growth=scale * growth)[0]
        for scale in scales
    ]


def observed_order(errors: Sequence[float]) -> float:
    """Return the mean order over successive halvings of the element size."""
    return float(np.log2(errors[0] / errors[-1]) / (len(errors) - 1))
