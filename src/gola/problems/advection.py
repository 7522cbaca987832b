"""Advection with a forcing: from the forcing to the transported quantity."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float

from gola.data.sample import Channel
from gola.problems.grid_problem import GridProblem


@final
@dataclass(frozen=True, kw_only=True)
class Advection(GridProblem):
    """Advection u_t + u_x = f for (x, t) in [0, 1]²; the operator maps the forcing f to u.

    There is no solver and no error: u = Σⱼ wⱼ k(·, zⱼ) is a random sum of Gaussian bumps
    k(x, z) = exp(−|x − z|² / 2ℓ²) with uniform centres z and standard normal weights w, and f follows by
    differentiation. Initial and inflow values are not among the inputs, so f alone does not determine u: an
    operator has to learn from the samples how such functions look.

    Attributes:
        num_centres: Number of bumps.
        length_scale: Width ℓ of a bump.
    """

    name: ClassVar[str] = "advection"
    title: ClassVar[str] = "Advection"
    equation: ClassVar[str] = "u_t + u_x = f for (x, t) in [0, 1]²"
    inputs: ClassVar[tuple[Channel, ...]] = (Channel(name="forcing"),)
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="concentration"),)
    symmetries: ClassVar[tuple[str, ...]] = ("yx",)

    num_centres: int = 100
    length_scale: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_centres < 1:
            raise ValueError(f"advection needs num_centres of 1 or more; got {self.num_centres}.")
        if not 0.0 < self.length_scale < inf:
            raise ValueError(f"advection needs a positive, finite length_scale; got {self.length_scale}.")

    def simulate(
        self, rngs: Sequence[np.random.Generator]
    ) -> tuple[Float[np.ndarray, "sample row column"], Float[np.ndarray, "sample row column"]]:
        """Draw the bumps, and evaluate the forcing and its solution."""
        centres = np.stack([rng.random((2, self.num_centres)) for rng in rngs])
        weights = np.stack([rng.standard_normal((1, self.num_centres)) for rng in rngs])
        # A bump is a product of a factor in x and a factor in t, so the sums over bumps are matrix products.
        along_x, slope_x = bumps(self.coordinates, centres[:, 0], self.length_scale)
        along_t, slope_t = bumps(self.coordinates, centres[:, 1], self.length_scale)
        along_t, slope_t = (weights * along_t).swapaxes(1, 2), (weights * slope_t).swapaxes(1, 2)
        return slope_x @ along_t + along_x @ slope_t, along_x @ along_t


def bumps(
    coordinates: Float[np.ndarray, " row"], centres: Float[np.ndarray, "sample centre"], length_scale: float
) -> tuple[Float[np.ndarray, "sample row centre"], Float[np.ndarray, "sample row centre"]]:
    """Return exp(−(x − z)² / 2ℓ²) and its derivative with respect to x."""
    offsets = (coordinates[:, None] - centres[:, None, :]) / length_scale
    values = np.exp(-0.5 * offsets**2)
    return values, -offsets / length_scale * values
