"""Random smooth functions of scattered points."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from gola.problems.random_fields import gaussian_process

PlaneFunction = Callable[[Float[np.ndarray, "point 2"]], Float[np.ndarray, " point"]]


def draw_smooth_function(rng: np.random.Generator, length_scale: float) -> PlaneFunction:
    """Draw a function on the unit square from the Gaussian process with kernel exp(−|x−y|²/2ℓ²).

    What comes back is a function, so that a finite element method can evaluate it wherever its quadrature points lie.
    """
    field = gaussian_process((length_scale, length_scale))
    coefficients = field.draw([rng])[0]
    first, second = field.waves

    def smooth_function(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
        rows = first.at(points[:, 0]) @ coefficients
        values: Float[np.ndarray, " point"] = np.einsum("pm,pm->p", rows, second.at(points[:, 1]))
        return values

    return smooth_function
