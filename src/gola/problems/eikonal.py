"""The Eikonal equation: from the speed of a wave to its travel time."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float
from scipy.interpolate import RectBivariateSpline

from gola.data.sample import Channel
from gola.extras import require
from gola.problems.grid_problem import GridProblem
from gola.problems.random_fields import check_length_scales, gaussian_process

SIDE = 256.0
SOURCE = (0.0, 10.0)
# SOURCE / SIDE = (0, 5/128), so the source is a point of a grid with a multiple of 128 cells along the side.
CELLS = 128


@final
@dataclass(frozen=True, kw_only=True)
class Eikonal(GridProblem):
    """Travel time |∇u| = 1/f on [0, 256]² from a point source at (0, 10); the operator maps the speed f to u.

    The speed is f = max(g, 0) + 1 with a Gaussian process g. Fast marching runs on a grid that is at least as fine
    as that of the samples and has the source among its points; the travel times are interpolated from there.

    Attributes:
        length_scale: Length-scale of g, as a fraction of the side; the default is where an FNO errs as published.
    """

    name: ClassVar[str] = "eikonal"
    title: ClassVar[str] = "Eikonal equation"
    equation: ClassVar[str] = "|∇u| = 1/f on [0, 256]², u = 0 at (0, 10)"
    inputs: ClassVar[tuple[Channel, ...]] = (Channel(name="speed"),)
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="travel_time"),)

    length_scale: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_length_scales(self._length_scales)

    @property
    def _length_scales(self) -> tuple[float, float]:
        return self.length_scale, self.length_scale

    def simulate(
        self, rngs: Sequence[np.random.Generator]
    ) -> tuple[Float[np.ndarray, "sample row column"], Float[np.ndarray, "sample row column"]]:
        """Draw the speeds, and march the wave front through them."""
        field = gaussian_process(self._length_scales)
        coefficients = field.draw(rngs)
        fine = np.linspace(0.0, 1.0, CELLS * ceil((self.resolution - 1) / CELLS) + 1)
        speeds, fine_speeds = (
            np.maximum(field.evaluate(coefficients, grid, grid), 0.0) + 1.0 for grid in (self.coordinates, fine)
        )
        times = [travel_time(speed, SIDE, SOURCE, self.coordinates) for speed in fine_speeds]
        return speeds, np.stack(times)


def travel_time(
    speed: Float[np.ndarray, "fine fine"],
    side: float,
    source: tuple[float, float],
    coordinates: Float[np.ndarray, " row"],
) -> Float[np.ndarray, "row row"]:
    """Solve |∇u| = 1/speed on [0, side]² from a point source, by factored fast marching of second order.

    Near a point source u is a cone, whose tip spoils the order of every scheme for u itself. The factor τ in
    u = |x − source| τ is smooth there, so it is τ that is marched (Treister and Haber, 2016) and interpolated.

    Args:
        speed: Speed at the points of the solver's grid, end points included.
        side: Length of a side of the square.
        source: Where u = 0; has to be a point of the solver's grid.
        coordinates: Where u is wanted along both axes, as fractions of the side.
    """
    eikonalfm = require("eikonalfm", extra="problems", what="Fast marching")
    cells = len(speed) - 1
    spacing = side / cells
    node = tuple(round(coordinate / spacing) for coordinate in source)
    if not np.allclose(np.multiply(node, spacing), source, rtol=0.0, atol=1e-9 * side):
        raise ValueError(
            f"The source has to be a point of the solver's grid; {source} is not a multiple of the spacing "
            f"{spacing}. Choose another number of cells."
        )
    factor = eikonalfm.factored_fast_marching(speed, node, (spacing, spacing), 2)
    fine = np.linspace(0.0, 1.0, cells + 1)
    # Piecewise linear: where fronts meet u has a kink, and a smoother interpolant would overshoot.
    factor_at_coordinates = RectBivariateSpline(fine, fine, factor, kx=1, ky=1, s=0)(coordinates, coordinates)
    distance = np.hypot(side * coordinates[:, None] - source[0], side * coordinates - source[1])
    return np.asarray(distance * factor_at_coordinates)
