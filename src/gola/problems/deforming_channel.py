"""Heat transfer in a channel whose wall deforms: from the shape and the Péclet number to the temperature."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Float
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from gola.data.sample import Channel, Sample
from gola.problems.finite_elements import node_weights, scikit_fem, shared_geometry
from gola.problems.parameter_ranges import ParameterRange, channels_of
from gola.problems.parametric_problem import ParametricProblem
from gola.problems.random_functions import PlaneFunction

# Lengths in units of the height of the channel far from the bump.
LENGTH = 4.0
# Elements along the channel, for each across it.
ELEMENTS_ALONG = 3
# Grid lines crowd towards the wall, where the temperature has a boundary layer: η = 1 − (1 − s)^GRADING.
GRADING = 1.5
# The wall is heated from here on; before, its temperature rises smoothly from that of the inflow.
HEATED_FROM = 1.0

_RANGES = (
    ParameterRange(channel=Channel(name="bump_height"), lower=-0.4, upper=0.5),
    ParameterRange(channel=Channel(name="bump_position"), lower=1.2, upper=2.4),
    ParameterRange(channel=Channel(name="bump_width"), lower=0.25, upper=0.6),
    ParameterRange(channel=Channel(name="peclet_number"), lower=10.0, upper=1000.0, logarithmic=True),
)


@final
@dataclass(frozen=True, kw_only=True)
class DeformingChannel(ParametricProblem):
    """Convection and diffusion u·∇T = ΔT / Pe in a channel with a bump in its upper wall.

    The wall is at y = H(x) = 1 − a exp(−(x − c)² / 2w²) with the height a, position c and width w of the bump; a
    negative height widens the channel. The nodes of one mesh move with the wall, at constant shares η = y / H(x) of the
    height, so that samples have the same cells and different points. The flow is the developed one between plates that
    are nearly parallel: the stream function is 3η² − 2η³, which is free of divergence and does not slip. Fluid of
    temperature 0 enters; the upper wall is at 1, after a smooth rise; the lower wall is insulated.

    Attributes:
        resolution: Elements across the channel.
    """

    name: ClassVar[str] = "deforming_channel"
    title: ClassVar[str] = "Channel with a deforming wall"
    equation: ClassVar[str] = (
        "u·∇T = ΔT/Pe between y = 0 and a wall with a bump, T = 0 at the inflow, 1 at the wall, ∂T/∂n = 0 elsewhere"
    )
    ranges: ClassVar[tuple[ParameterRange, ...]] = _RANGES
    parameters: ClassVar[tuple[Channel, ...]] = channels_of(_RANGES)
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="temperature"),)
    dim: ClassVar[int] = 2
    chunk_size: ClassVar[int] = 25

    resolution: int = 24

    def __post_init__(self) -> None:
        if self.resolution < 4:
            raise ValueError(f"deforming_channel needs a resolution of 4 or more; got {self.resolution}.")

    @property
    def typical_size(self) -> str:
        """Points per sample, for people to read."""
        num_points = (self.resolution + 1) * (ELEMENTS_ALONG * self.resolution + 1)
        return f"{num_points:,} mesh points with the same cells, moved by the shape"

    def simulate(self, parameters: Float[np.ndarray, " parameter"]) -> Sample:
        """Move the mesh, and solve for the temperature."""
        height, position, width, peclet = parameters.tolist()
        wall = Wall(height=height, position=position, width=width)
        solver = _solver(self.resolution)
        points = wall.moved(solver.geometry["points"])
        return Sample(
            points=points,
            inputs=np.empty((len(points), 0)),
            targets=solver(wall, peclet)[:, None],
            parameters=parameters,
            boundary=solver.geometry["boundary"],
            cells=solver.geometry["cells"],
            weights=node_weights(points, solver.geometry["cells"]),
        )


@final
@dataclass(frozen=True, kw_only=True)
class Wall:
    """The upper wall y = H(x) = 1 − a exp(−(x − c)² / 2w²).

    Attributes:
        height: How far the bump reaches into the channel, a.
        position: Where it is, c.
        width: How wide it is, w.
    """

    height: float
    position: float
    width: float

    def at(self, x: Float[np.ndarray, "*place"]) -> Float[np.ndarray, "*place"]:
        """Return H(x)."""
        return 1.0 - self._bump(x)

    def slope(self, x: Float[np.ndarray, "*place"]) -> Float[np.ndarray, "*place"]:
        """Return H'(x)."""
        return self._bump(x) * (x - self.position) / self.width**2

    def moved(self, points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, "point 2"]:
        """Map points (x, η) of the straight channel to (x, η H(x))."""
        x, shares = points.T
        return np.column_stack([x, shares * self.at(x)])

    def _bump(self, x: Float[np.ndarray, "*place"]) -> Float[np.ndarray, "*place"]:
        return np.asarray(self.height * np.exp(-0.5 * ((x - self.position) / self.width) ** 2))


def held_temperature(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
    """Return the temperature along the channel of its inflow and upper wall: from 0 smoothly to 1."""
    shares = np.minimum(points[:, 0] / HEATED_FROM, 1.0)
    return shares**2 * (3.0 - 2.0 * shares)


def no_source(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
    """Return zeros."""
    return np.zeros(len(points))


@final
class ChannelSolver:
    r"""Quadratic elements for u·∇T = ΔT / Pe + f, on the straight channel to which every deformed one is mapped.

    With shares η = y / H(x) of the height, T_x = ∂ₓT − (ηH'/H) ∂_η T and T_y = ∂_η T / H, and the stream function
    ψ(η) has convection along lines of constant η only: T satisfies

    .. math:: \int (T_x v_x + T_y v_y) H / Pe + \psi' \partial_x T \, v = \int f v H

    for all v on the straight channel. So the mesh is curved as the wall is, with no error by straight edges.

    Args:
        resolution: Elements across the channel.
    """

    def __init__(self, resolution: int) -> None:
        skfem = scikit_fem()
        across = 1.0 - (1.0 - np.linspace(0.0, 1.0, resolution + 1)) ** GRADING
        along = np.linspace(0.0, LENGTH, ELEMENTS_ALONG * resolution + 1)
        mesh = skfem.MeshTri.init_tensor(along, across)
        self._basis = skfem.Basis(mesh, skfem.ElementTriP2(), intorder=5)
        held = mesh.facets_satisfying(lambda x: (x[0] < 1e-9) | (x[1] > 1.0 - 1e-9), boundaries_only=True)
        self._held = np.asarray(self._basis.get_dofs(held).all())
        self.geometry = shared_geometry(mesh)

    def __call__(
        self,
        wall: Wall,
        peclet: float,
        *,
        held: PlaneFunction = held_temperature,
        source: PlaneFunction = no_source,
    ) -> Float[np.ndarray, " point"]:
        """Solve for the temperature at the nodes.

        Args:
            wall: The shape of the channel.
            peclet: The Péclet number Pe.
            held: The temperature at the inflow and at the upper wall, as a function of points of the channel.
            source: The source f, likewise.
        """
        skfem = scikit_fem()
        places = np.asarray(self._basis.global_coordinates())
        heights, slopes = wall.at(places[0]), wall.slope(places[0])
        moved = wall.moved(places.reshape(2, -1).T)
        matrix = skfem.BilinearForm(_transport_form).assemble(
            self._basis, height=heights, shift=places[1] * slopes / heights, peclet=np.full_like(heights, peclet)
        )
        load = skfem.LinearForm(lambda v, w: w.f * v).assemble(
            self._basis, f=source(moved).reshape(heights.shape) * heights
        )
        solution = np.zeros(self._basis.N)
        solution[self._held] = held(wall.moved(self._basis.doflocs[:, self._held].T))
        free = self._basis.complement_dofs(self._held)
        matrix = csr_array(matrix)[free]
        solution[free] = splu(csc_array(matrix[:, free])).solve(load[free] - matrix @ solution)
        return solution[: len(self.geometry["points"])]


def _transport_form(u: Any, v: Any, w: Any) -> Float[np.ndarray, "cell place"]:
    """Return (T_x v_x + T_y v_y) H / Pe + ψ' ∂ₓT v at the quadrature points."""
    slope_u, slope_v = u.grad[0] - w.shift * u.grad[1], v.grad[0] - w.shift * v.grad[1]
    diffusion = slope_u * slope_v * w.height + u.grad[1] * v.grad[1] / w.height
    shares = w.x[1]
    return diffusion / w.peclet + 6.0 * shares * (1.0 - shares) * u.grad[0] * v


# A worker makes many chunks on the same mesh.
@lru_cache(maxsize=2)
def _solver(resolution: int) -> ChannelSolver:
    return ChannelSolver(resolution)
