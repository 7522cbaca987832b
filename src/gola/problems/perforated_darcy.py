"""Darcy flow around impermeable obstacles: from permeability, source and geometry to the pressure."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float

from gola.data.sample import Channel, Sample
from gola.problems.finite_elements import (
    at_quadrature,
    element_mesh,
    facets_between,
    node_weights,
    product_of_gradients,
    scikit_fem,
    solve_positive_definite,
)
from gola.problems.mesh_problem import MeshProblem, hole_distance
from gola.problems.meshing import TriangleMesh
from gola.problems.random_functions import PlaneFunction, draw_smooth_function
from gola.problems.random_shapes import draw_separate_shapes

# Mean radii of the holes: the smallest is still several elements across, four of the largest fit side by side.
HOLE_RADII = (0.04, 0.12)
ROUGHNESS = 0.45


@final
@dataclass(frozen=True, kw_only=True)
class PerforatedDarcy(MeshProblem):
    """Darcy flow −∇·(a∇u) = f on the unit square less random holes.

    The holes are impermeable obstacles, a ∂u/∂n = 0 on their edges, and the pressure u is held at 0 around the
    square, so that all that is injected leaves through its sides. The permeability is a = exp(σ g) and the source is
    f = 1 + g', with independent smooth Gaussian random functions g and g' of unit variance. Geometry enters the
    inputs as the distance to the nearest hole.

    Attributes:
        max_holes: The largest number of holes; each sample draws its own from 1 to this.
        log_deviation: The standard deviation σ of log a.
        length_scale: The correlation length of g and g'.
    """

    name: ClassVar[str] = "perforated_darcy"
    title: ClassVar[str] = "Darcy flow around obstacles"
    equation: ClassVar[str] = "−∇·(a∇u) = f on (0, 1)² less random holes, u = 0 outside, a ∂u/∂n = 0 at the holes"
    inputs: ClassVar[tuple[Channel, ...]] = (
        Channel(name="permeability"),
        Channel(name="source"),
        Channel(name="hole_distance"),
    )
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="pressure"),)
    symmetries: ClassVar[tuple[str, ...]] = ("-xy", "yx")
    dim: ClassVar[int] = 2
    gap: ClassVar[float] = 0.04

    finest: float = 0.007
    coarsest: float = 0.05
    max_holes: int = 6
    log_deviation: float = 1.0
    length_scale: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_holes < 1:
            raise ValueError(f"perforated_darcy needs max_holes of 1 or more; got {self.max_holes}.")
        if not (self.log_deviation >= 0.0 and self.length_scale > 0.0):
            raise ValueError(
                "perforated_darcy needs log_deviation >= 0 and length_scale > 0;"
                f" got log_deviation={self.log_deviation}, length_scale={self.length_scale}."
            )

    @property
    def typical_size(self) -> str:
        """Points per sample, for people to read."""
        return "1,000 to 4,000 mesh points"

    def simulate(self, rng: np.random.Generator) -> Sample:
        """Draw holes, permeability and source, and solve for the pressure."""
        holes = draw_separate_shapes(
            rng,
            num_shapes=int(rng.integers(1, self.max_holes, endpoint=True)),
            radii=HOLE_RADII,
            roughness=ROUGHNESS,
            side=self.side,
            gap=self.gap,
        )
        log_permeability = draw_smooth_function(rng, self.length_scale)
        source_variation = draw_smooth_function(rng, self.length_scale)

        def permeability(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
            return np.exp(self.log_deviation * log_permeability(points))

        def source(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
            return 1.0 + source_variation(points)

        mesh = self.mesh(holes)
        pressure = solve_darcy(mesh, permeability, source)
        return Sample(
            points=mesh.points,
            inputs=np.stack([permeability(mesh.points), source(mesh.points), hole_distance(mesh)], axis=1),
            targets=pressure[:, None],
            boundary=mesh.boundary,
            cells=mesh.cells,
            weights=node_weights(mesh.points, mesh.cells),
        )


def solve_darcy(mesh: TriangleMesh, permeability: PlaneFunction, source: PlaneFunction) -> Float[np.ndarray, " point"]:
    r"""Solve −∇·(a∇u) = f with u = 0 on the outline and no flux through the holes; return u at the nodes.

    Quadratic elements: find u, 0 on the outline, with :math:`\int a \nabla u \cdot \nabla v = \int f v` for all such v.
    The missing boundary integral over the holes is the condition of no flux. Evaluating a and f costs as
    much as factorising the matrix, so the quadrature is the cheapest that keeps the order of the elements.
    """
    skfem = scikit_fem()
    basis = skfem.Basis(element_mesh(mesh.points, mesh.cells), skfem.ElementTriP2(), intorder=2)
    stiffness = skfem.BilinearForm(lambda u, v, w: w.a * product_of_gradients(u, v))
    load = skfem.LinearForm(lambda v, w: w.f * v)
    matrix = stiffness.assemble(basis, a=at_quadrature(basis, permeability)).tocsr()
    right_side = load.assemble(basis, f=at_quadrature(basis, source))
    free = basis.complement_dofs(basis.get_dofs(facets_between(basis.mesh, mesh.loops[0])))
    solution = np.zeros(basis.N)
    solution[free] = solve_positive_definite(matrix[free][:, free], right_side[free])
    return solution[: len(mesh.points)]
