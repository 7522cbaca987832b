"""Random holes in a square plate: smooth star shapes that keep a safe distance from each other."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

# Lobes of the outline: cos 2θ makes it oblong, cos 5θ is the finest wiggle that the meshes resolve well.
_LOBES = np.arange(2, 6)
# How many places a hole may try before it is left out: a crowded plate has fewer holes than asked for.
_ATTEMPTS = 50


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class StarShape:
    """A region that can be seen whole from its centre.

    Its outline is r(θ) = R (1 + Σₗ aₗ cos(lθ + φₗ)) with l = 2, …, 5 lobes.

    Attributes:
        centre: Where the rays start.
        radius: The mean radius R.
        amplitudes: The relative amplitudes a; all zero for a circle.
        phases: The phases φ.
    """

    centre: Float[np.ndarray, " 2"]
    radius: float
    amplitudes: Float[np.ndarray, " 4"]
    phases: Float[np.ndarray, " 4"]

    @classmethod
    def circle(cls, centre: Float[np.ndarray, " 2"], radius: float) -> "StarShape":
        """Return a circle."""
        return cls(centre=centre, radius=radius, amplitudes=np.zeros(4), phases=np.zeros(4))

    def outline(self, parameters: Float[np.ndarray, " parameter"]) -> Float[np.ndarray, "parameter 2"]:
        """Return points of the outline, once around it counter-clockwise for parameters from 0 to 1."""
        angles = 2.0 * np.pi * parameters
        radii = self.radius * (1.0 + np.cos(np.outer(angles, _LOBES) + self.phases) @ self.amplitudes)
        directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return self.centre + radii[:, None] * directions


def draw_star_shape(
    rng: np.random.Generator, centre: Float[np.ndarray, " 2"], radius: float, roughness: float
) -> StarShape:
    """Draw a random outline that stays within (1 ± roughness) of its mean radius.

    Args:
        rng: The source of randomness.
        centre: The centre.
        radius: The mean radius.
        roughness: The sum of the relative amplitudes, from 0 (a circle) to below 1.
    """
    amplitudes = rng.standard_normal(len(_LOBES)) / _LOBES**1.5
    amplitudes *= roughness / np.abs(amplitudes).sum()
    phases = rng.uniform(0.0, 2.0 * np.pi, len(_LOBES))
    return StarShape(centre=centre, radius=radius, amplitudes=amplitudes, phases=phases)


def draw_separate_shapes(
    rng: np.random.Generator,
    *,
    num_shapes: int,
    radii: tuple[float, float],
    roughness: float,
    side: float,
    gap: float,
) -> list[StarShape]:
    """Draw shapes in the square [0, side]² that keep a gap between each other and to its sides.

    Shapes are placed one after the other, each where its circumscribed circle is free. One that finds no place is left
    out; the first always finds one.

    Args:
        rng: The source of randomness.
        num_shapes: How many to place, at least one.
        radii: The smallest and the largest mean radius.
        roughness: The largest roughness; each shape draws its own from 0 to this.
        side: The side length of the square.
        gap: The smallest distance between two shapes, or between a shape and a side.
    """
    shapes: list[StarShape] = []
    centres, reaches = np.empty((0, 2)), np.empty(0)
    for _ in range(num_shapes):
        radius, own_roughness = rng.uniform(*radii), rng.uniform(0.0, roughness)
        reach = radius * (1.0 + own_roughness)
        candidates = rng.uniform(reach + gap, side - reach - gap, (_ATTEMPTS, 2))
        distances = np.linalg.norm(candidates[:, None] - centres, axis=2)
        free = np.flatnonzero((distances > reach + reaches + gap).all(axis=1))
        if len(free) > 0:
            centre = candidates[free[0]]
            shapes.append(draw_star_shape(rng, centre, radius, own_roughness))
            centres, reaches = np.vstack([centres, centre]), np.append(reaches, reach)
    return shapes
