"""Steady flow past a body in a channel: from Reynolds number and inflow profile to velocity and pressure."""

from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float
from scipy.interpolate import BarycentricInterpolator

from gola.data.sample import Channel, Sample
from gola.geometry.domains import Polygon
from gola.problems.finite_elements import shared_geometry
from gola.problems.meshing import SizeFunction, TriangleMesh, graded_size, sample_curve, sample_outline, triangulate
from gola.problems.navier_stokes import TaylorHood
from gola.problems.parameter_ranges import ParameterRange, channels_of
from gola.problems.parametric_problem import ParametricProblem
from gola.problems.random_shapes import StarShape

# Lengths in units of the mean diameter of the body. It stands a little below the middle, so that nothing is symmetric.
LENGTH, HEIGHT = 12.0, 4.0
BODY = StarShape(
    centre=np.array([2.5, 1.85]),
    radius=0.5,
    amplitudes=np.array([0.12, 0.12, 0.0, 0.0]),
    phases=np.array([0.6, 0.0, 0.0, 0.0]),
)
WAKE_END = 8.0
# Element size at the body, in the wake, and far away, in units of the element size that is asked for.
SIZES = (0.4, 1.0, 2.2)
GROWTH = 0.15
# Flows at these Reynolds numbers are solved once, each starting from the one before; those of samples start between.
LADDER = (5.0, 10.0, 20.0, 35.0, 60.0, 100.0)

_RANGES = (
    ParameterRange(channel=Channel(name="reynolds_number"), lower=LADDER[0], upper=LADDER[-1], logarithmic=True),
    ParameterRange(channel=Channel(name="inflow_skewness"), lower=-0.6, upper=0.6),
)


@final
@dataclass(frozen=True, kw_only=True)
class FlowPastBody(ParametricProblem):
    """Steady incompressible flow (u·∇)u = −∇p + Δu / Re, ∇·u = 0, past a body in a channel.

    Lengths are in mean diameters of the body, velocities in mean inflow velocities U, pressures in ρU². The inflow is a
    parabola with more flow above or below the middle, 6η(1 − η)(1 + s(2η − 1)) at the height η = y / H, with the
    skewness s. Nothing moves at the walls and the body; the outflow is free of traction. Above a Reynolds number of
    about 50 such a flow starts to oscillate, and this is the steady flow that it oscillates about.

    Attributes:
        element_size: Size of the elements in the wake; they are smaller at the body and larger elsewhere.
    """

    name: ClassVar[str] = "flow_past_body"
    title: ClassVar[str] = "Flow past a body in a channel"
    equation: ClassVar[str] = (
        "(u·∇)u = −∇p + Δu/Re, ∇·u = 0 in a channel with a body, skewed parabola at the inflow, free outflow"
    )
    ranges: ClassVar[tuple[ParameterRange, ...]] = _RANGES
    parameters: ClassVar[tuple[Channel, ...]] = channels_of(_RANGES)
    targets: ClassVar[tuple[Channel, ...]] = (
        Channel(name="velocity_x"),
        Channel(name="velocity_y"),
        Channel(name="pressure"),
    )
    dim: ClassVar[int] = 2
    chunk_size: ClassVar[int] = 10

    element_size: float = 0.13

    def __post_init__(self) -> None:
        if not 0.0 < self.element_size < inf:
            raise ValueError(f"flow_past_body needs a positive element_size; got {self.element_size}.")
        if self.element_size > 0.4:
            raise ValueError(
                "flow_past_body needs an element_size of at most 0.4, so that the elements follow the body;"
                f" got {self.element_size}."
            )

    @property
    def typical_size(self) -> str:
        """Points per sample, for people to read."""
        return "about 2,000 mesh points, the same for all samples"

    def simulate(self, parameters: Float[np.ndarray, " parameter"]) -> Sample:
        """Solve for velocity and pressure."""
        channel = _channel(self.element_size)
        reynolds, skewness = parameters.tolist()
        return Sample(
            inputs=np.empty((len(channel.geometry["points"]), 0)),
            targets=channel.flow(reynolds, skewness),
            parameters=parameters,
            **channel.geometry,
        )


@final
class ChannelFlow:
    """Solves for flows past the body on one mesh.

    Args:
        element_size: Size of the elements in the wake.
    """

    def __init__(self, element_size: float) -> None:
        mesh = channel_mesh(element_size)
        self._elements = TaylorHood(mesh)
        skfem_mesh = self._elements.velocity.mesh
        self.geometry = shared_geometry(skfem_mesh)
        facets = skfem_mesh.facets_satisfying(lambda x: x[0] < LENGTH - 1e-9, boundaries_only=True)
        self._fixed = self._elements.velocity_on(facets)
        self._ladder = self._climb()

    def flow(self, reynolds: float, skewness: float) -> Float[np.ndarray, "point 3"]:
        """Return velocity and pressure at the nodes."""
        start = self._ladder(np.log(np.clip(reynolds, LADDER[0], LADDER[-1])))
        return self._elements.at_nodes(self._solve(reynolds, skewness, start))

    def _climb(self) -> BarycentricInterpolator:
        """Solve along the ladder of Reynolds numbers, for the symmetric profile; interpolate in their logarithm."""
        states = [np.zeros(self._elements.num_unknowns)]
        for reynolds in LADDER:
            states.append(self._solve(reynolds, 0.0, states[-1]))
        return BarycentricInterpolator(np.log(LADDER), np.array(states[1:]))

    def _solve(
        self, reynolds: float, skewness: float, start: Float[np.ndarray, " unknown"]
    ) -> Float[np.ndarray, " unknown"]:
        start = start.copy()
        start[self._fixed] = self._boundary_values(skewness)
        return self._elements.solve(1.0 / reynolds, self._fixed, start)

    def _boundary_values(self, skewness: float) -> Float[np.ndarray, " fixed"]:
        """Return the velocity at the inflow, and zeros at the walls and the body."""
        velocity = self._elements.velocity
        x, y = velocity.doflocs[:, self._fixed]
        is_along = np.isin(self._fixed, np.concatenate([velocity.nodal_dofs[0], velocity.facet_dofs[0]]))
        return np.where(is_along & (x < 1e-9), inflow(y, skewness), 0.0)


# A worker makes many chunks on the same mesh.
@lru_cache(maxsize=2)
def _channel(element_size: float) -> ChannelFlow:
    return ChannelFlow(element_size)


def inflow(heights: Float[np.ndarray, " point"], skewness: float) -> Float[np.ndarray, " point"]:
    """Return the velocity along the channel at these heights; its mean is 1."""
    shares = heights / HEIGHT
    return 6.0 * shares * (1.0 - shares) * (1.0 + skewness * (2.0 * shares - 1.0))


def channel_mesh(element_size: float) -> TriangleMesh:
    """Mesh the channel less the body: fine at the body and in its wake."""
    size = _sizes(element_size)
    corners = np.array([[0.0, 0.0], [LENGTH, 0.0], [LENGTH, HEIGHT], [0.0, HEIGHT]])
    polygon = Polygon(exterior=sample_outline(corners, size), holes=(sample_curve(BODY.outline, size),))
    return triangulate(polygon, size)


def _sizes(element_size: float) -> SizeFunction:
    at_body, in_wake, far_away = element_size * np.array(SIZES)
    outline = BODY.outline(np.linspace(0.0, 1.0, 256, endpoint=False))
    along = np.linspace(BODY.centre[0], WAKE_END, 256)
    wake = np.column_stack([along, np.full_like(along, BODY.centre[1])])
    near_body = graded_size(outline, finest=at_body, coarsest=far_away, growth=GROWTH)
    near_wake = graded_size(wake, finest=in_wake, coarsest=far_away, growth=GROWTH)
    return lambda points: np.minimum(near_body(points), near_wake(points))
