"""A plate with a hole under load: from the geometry and the load to displacement and von Mises stress."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float

from gola.data.sample import Channel, Sample
from gola.problems.finite_elements import node_weights
from gola.problems.mesh_problem import MeshProblem, hole_distance
from gola.problems.plane_stress import Material, StressField, solve_plane_stress, von_mises
from gola.problems.random_shapes import draw_separate_shapes

# Mean radii of the hole, and how far its outline may stray from them.
HOLE_RADII = (0.08, 0.22)
ROUGHNESS = 0.4


@final
@dataclass(frozen=True, kw_only=True)
class PlateElasticity(MeshProblem):
    """A square plate of 1 m with one random hole, pulled, sheared and bent at its outline, in plane stress.

    The load is given as the stress that the plate would carry without the hole,

        σxx = s₁ + b₁ (y − ½),   σyy = s₂ + b₂ (x − ½),   σxy = s₃,

    whose principal mean stresses, their direction and the bending terms b are random. Its tractions act on the outline;
    the hole is free. This stress is in equilibrium, so no support is needed, and there are no singular corners. The
    rigid motion that it leaves open is taken so that the plate has no mean displacement and no mean rotation.

    The operator maps the distance to the hole and the applied stress, as fields, to displacement and von Mises stress.

    Attributes:
        young: Young's modulus in Pa.
        poisson: Poisson's ratio.
        load: The largest principal mean stress in Pa.
    """

    name: ClassVar[str] = "plate_elasticity"
    title: ClassVar[str] = "Plate with a hole under load"
    equation: ClassVar[str] = "∇·σ(u) = 0 on (0, 1)² less a random hole, σn = σ∞n outside, σn = 0 at the hole"
    inputs: ClassVar[tuple[Channel, ...]] = (
        Channel(name="hole_distance", unit="m"),
        Channel(name="applied_stress_xx", unit="Pa"),
        Channel(name="applied_stress_yy", unit="Pa"),
        Channel(name="applied_stress_xy", unit="Pa"),
    )
    targets: ClassVar[tuple[Channel, ...]] = (
        Channel(name="displacement_x", unit="m"),
        Channel(name="displacement_y", unit="m"),
        Channel(name="von_mises", unit="Pa"),
    )
    symmetries: ClassVar[tuple[str, ...]] = ("-xy", "yx")
    dim: ClassVar[int] = 2
    gap: ClassVar[float] = 0.1

    finest: float = 0.006
    coarsest: float = 0.035
    young: float = 210e9
    poisson: float = 0.3
    load: float = 100e6

    def __post_init__(self) -> None:
        super().__post_init__()
        Material(young=self.young, poisson=self.poisson)
        if not self.load > 0.0:
            raise ValueError(f"plate_elasticity needs a positive load in Pa; got {self.load}.")

    @property
    def typical_size(self) -> str:
        """Points per sample, for people to read."""
        return "1,600 to 2,200 mesh points"

    def simulate(self, rng: np.random.Generator) -> Sample:
        """Draw a hole and a load, and solve for displacement and stress."""
        holes = draw_separate_shapes(
            rng, num_shapes=1, radii=HOLE_RADII, roughness=ROUGHNESS, side=self.side, gap=self.gap
        )
        applied_stress = draw_applied_stress(rng, self.load)
        mesh = self.mesh(holes)
        material = Material(young=self.young, poisson=self.poisson)
        displacement, stress = solve_plane_stress(mesh, material, applied_stress)
        return Sample(
            points=mesh.points,
            inputs=np.column_stack([hole_distance(mesh), applied_stress(mesh.points)]),
            targets=np.column_stack([displacement, von_mises(stress)]),
            boundary=mesh.boundary,
            cells=mesh.cells,
            weights=node_weights(mesh.points, mesh.cells),
        )


def draw_applied_stress(rng: np.random.Generator, load: float) -> StressField:
    """Draw a stress in equilibrium on the unit square: any biaxial tension or pressure, with bending in both axes.

    Args:
        rng: The source of randomness.
        load: The largest principal mean stress. The extreme fibres of the square add up to half of it by bending.
    """
    major, minor = load * rng.uniform(-1.0, 1.0, 2)
    angle = rng.uniform(0.0, np.pi)
    bending_x, bending_y = load * rng.uniform(-1.0, 1.0, 2)
    mean, deviation = 0.5 * (major + minor), 0.5 * (major - minor)

    def applied_stress(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, "point 3"]:
        x, y = points.T - 0.5
        xx = mean + deviation * np.cos(2.0 * angle) + bending_x * y
        yy = mean - deviation * np.cos(2.0 * angle) + bending_y * x
        xy = np.full_like(x, deviation * np.sin(2.0 * angle))
        return np.stack([xx, yy, xy], axis=1)

    return applied_stress
