"""Heat conduction in a block of nine materials: from conductivities and heat loads to the temperature."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Float, Int

from gola.data.sample import Channel, Sample
from gola.problems.finite_elements import (
    at_quadrature,
    product_of_gradients,
    scikit_fem,
    shared_geometry,
    solve_positive_definite,
)
from gola.problems.parameter_ranges import ParameterRange, channels_of
from gola.problems.parametric_problem import ParametricProblem
from gola.problems.random_functions import PlaneFunction

# Side of the block in m, and heat transfer coefficient of its top in W/(m² K).
SIDE = 0.12
TRANSFER = 200.0
# Materials along a side.
NUM_ALONG = 3
# How much of the spacing of grid lines is graded towards the interfaces, where the temperature has kinks.
GRADING = 0.6

_CONDUCTIVITIES = tuple(
    ParameterRange(
        channel=Channel(name=f"conductivity_{row}{column}", unit="W/(m K)"), lower=1.0, upper=100.0, logarithmic=True
    )
    for row in range(1, NUM_ALONG + 1)
    for column in range(1, NUM_ALONG + 1)
)
_LOADS = tuple(
    ParameterRange(channel=Channel(name=f"heat_{place}", unit="W/m"), lower=0.0, upper=500.0)
    for place in ("centre", "left", "right")
)


@final
@dataclass(frozen=True, kw_only=True)
class BlockHeat(ParametricProblem):
    """Steady heat conduction −∇·(k∇T) = f in a square block of 3 × 3 materials.

    The bottom is held at the temperature of the coolant, T = 0; the top gives off k ∂T/∂n = −hT; the sides are
    insulated. Three loads heat the block, in W per metre of depth: one within the material at the centre, one through
    the left side of the material at the upper left, one through the right side of the middle row. The temperature rise
    T is linear in the loads and nonlinear in the conductivities. ``conductivity_rc`` belongs to row r from the bottom
    and column c from the left.

    Attributes:
        resolution: Elements across one material.
    """

    name: ClassVar[str] = "block_heat"
    title: ClassVar[str] = "Block of nine materials"
    equation: ClassVar[str] = (
        "−∇·(k∇T) = f in a square of 3 × 3 materials, T = 0 at the bottom, k ∂T/∂n = −hT on top,"
        " loads at the centre and at both sides"
    )
    ranges: ClassVar[tuple[ParameterRange, ...]] = (*_CONDUCTIVITIES, *_LOADS)
    parameters: ClassVar[tuple[Channel, ...]] = channels_of(ranges)
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="temperature_rise", unit="K"),)
    dim: ClassVar[int] = 2
    chunk_size: ClassVar[int] = 25

    resolution: int = 16

    def __post_init__(self) -> None:
        if self.resolution < 2:
            raise ValueError(f"block_heat needs a resolution of 2 or more; got {self.resolution}.")

    @property
    def typical_size(self) -> str:
        """Points per sample, for people to read."""
        return f"{(NUM_ALONG * self.resolution + 1) ** 2:,} mesh points, the same for all samples"

    def simulate(self, parameters: Float[np.ndarray, " parameter"]) -> Sample:
        """Solve for the temperature."""
        conductivities, loads = np.split(parameters, [len(_CONDUCTIVITIES)])
        solver = _solver(self.resolution)
        return Sample(
            inputs=np.empty((solver.num_points, 0)),
            targets=solver(conductivities, loads @ solver.loads)[:, None],
            parameters=parameters,
            **solver.geometry,
        )


@final
class BlockSolver:
    """Quadratic elements for −∇·(k∇T) = f, on a grid whose lines follow the interfaces.

    Args:
        resolution: Elements across one material.
    """

    def __init__(self, resolution: int) -> None:
        skfem = scikit_fem()
        lines = grid_lines(resolution)
        mesh = skfem.MeshTri.init_tensor(lines, lines)
        self._basis = skfem.Basis(mesh, skfem.ElementTriP2(), intorder=4)
        self._materials = material_of(mesh.p[:, mesh.t].mean(axis=1).T)
        self._free = self._basis.complement_dofs(self._basis.get_dofs(lambda x: x[1] < 1e-9))
        top = self._side(lambda x: x[1] > SIDE - 1e-9)
        self._exchange = TRANSFER * skfem.BilinearForm(lambda u, v, _: u * v).assemble(top)
        self.num_points = mesh.nvertices
        self.geometry = shared_geometry(mesh)
        self.loads = self._unit_loads()

    def __call__(
        self, conductivities: Float[np.ndarray, " material"], right_side: Float[np.ndarray, " unknown"]
    ) -> Float[np.ndarray, " point"]:
        """Solve for the temperature rise at the nodes, given the conductivities row by row."""
        conduction = scikit_fem().BilinearForm(lambda u, v, w: w.k * product_of_gradients(u, v))
        places = np.broadcast_to(conductivities[self._materials, None], self._basis.dx.shape)
        matrix = (conduction.assemble(self._basis, k=places) + self._exchange).tocsr()
        solution = np.zeros(self._basis.N)
        solution[self._free] = solve_positive_definite(matrix[self._free][:, self._free], right_side[self._free])
        return solution[: self.num_points]

    def load(self, source: PlaneFunction) -> Float[np.ndarray, " unknown"]:
        """Assemble ∫ f v."""
        load: Float[np.ndarray, " unknown"] = (
            scikit_fem().LinearForm(lambda v, w: w.f * v).assemble(self._basis, f=at_quadrature(self._basis, source))
        )
        return load

    def _unit_loads(self) -> Float[np.ndarray, "load unknown"]:
        """Return the right sides of one watt per metre within the centre, and through the left and the right side."""
        width = SIDE / NUM_ALONG
        centre = self.load(lambda points: (material_of(points) == 4) / width**2)
        flux = scikit_fem().LinearForm(lambda v, _: v / width)
        left = flux.assemble(self._side(lambda x: (x[0] < 1e-9) & (x[1] > 2.0 * width)))
        right = flux.assemble(self._side(lambda x: (x[0] > SIDE - 1e-9) & (np.abs(x[1] - SIDE / 2.0) < width / 2.0)))
        return np.stack([centre, left, right])

    def _side(self, select: Any) -> Any:
        mesh = self._basis.mesh
        facets = mesh.facets_satisfying(select, boundaries_only=True)
        return scikit_fem().FacetBasis(mesh, self._basis.elem, facets=facets, intorder=4)


# A worker makes many chunks on the same mesh.
@lru_cache(maxsize=2)
def _solver(resolution: int) -> BlockSolver:
    return BlockSolver(resolution)


def grid_lines(resolution: int) -> Float[np.ndarray, " line"]:
    """Return coordinates from 0 to the side of the block that are closer together near the interfaces."""
    shares = np.linspace(0.0, 1.0, resolution + 1)
    graded = (1.0 - GRADING) * shares + GRADING * 0.5 * (1.0 - np.cos(np.pi * shares))
    lines = np.concatenate([[0.0], *(index + graded[1:] for index in range(NUM_ALONG))])
    return SIDE / NUM_ALONG * lines


def material_of(points: Float[np.ndarray, "point 2"]) -> Int[np.ndarray, " point"]:
    """Return the number of the material at each point, row by row from the bottom left."""
    columns, rows = np.clip((points / (SIDE / NUM_ALONG)).astype(int), 0, NUM_ALONG - 1).T
    return NUM_ALONG * rows + columns
