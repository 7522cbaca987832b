"""A cooled plate under chips: from the power map and the cooling holes to the temperature in space."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import spmatrix

from gola.data.sample import Channel, Sample
from gola.problems.extrusion import PlateMesh, extrude
from gola.problems.finite_elements import (
    element_mesh,
    node_weights,
    product_of_gradients,
    scikit_fem,
    solve_positive_definite,
)
from gola.problems.mesh_problem import MeshProblem, hole_distance
from gola.problems.random_functions import PlaneFunction
from gola.problems.random_shapes import draw_separate_shapes

# All lengths in m, powers in W.
HOLE_RADII = (0.006, 0.013)
ROUGHNESS = 0.35
CHIP_WIDTHS = (0.007, 0.014)
CHIP_POWERS = (10.0, 50.0)
MAX_CHIPS = 5
# Each layer is this much thinner than the one below: the heat enters at the top, and gradients are steepest there.
LAYER_RATIO = 0.8


@final
@dataclass(frozen=True, kw_only=True)
class HeatSink(MeshProblem):
    """Steady heat conduction in a square plate of 10 cm with cooling holes and chips on top.

    The temperature rise T over the coolant satisfies ∇·(k∇T) = 0. Chips heat the top by the flux k ∂T/∂n = q, a sum
    of Gaussians of random place, width and power, wherever the holes leave a surface to heat. Coolant takes
    k ∂T/∂n = −hT from the walls of the holes, which go through the plate, and less from the bottom; the four sides are
    insulated. The operator maps the heat flux, as a field that does not vary with height, and the distance to the
    nearest hole to the temperature rise.

    Attributes:
        num_layers: Layers of elements through the thickness.
        thickness: Thickness of the plate in m.
        conductivity: Thermal conductivity k in W/(m K); alumina, of which substrates are made, has about 30.
        hole_transfer: Heat transfer coefficient h at the walls of the holes in W/(m² K).
        bottom_transfer: Heat transfer coefficient at the bottom in W/(m² K).
        max_holes: The largest number of holes; each sample draws its own from 2 to this.
    """

    name: ClassVar[str] = "heat_sink"
    title: ClassVar[str] = "Cooled plate under chips (3D)"
    equation: ClassVar[str] = (
        "∇·(k∇T) = 0 in a plate with random holes, k ∂T/∂n = q on top, −hT at the holes and the bottom, 0 at the sides"
    )
    inputs: ClassVar[tuple[Channel, ...]] = (
        Channel(name="heat_flux", unit="W/m²"),
        Channel(name="hole_distance", unit="m"),
    )
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="temperature_rise", unit="K"),)
    symmetries: ClassVar[tuple[str, ...]] = ("-xyz", "yxz")
    dim: ClassVar[int] = 3
    side: ClassVar[float] = 0.1
    gap: ClassVar[float] = 0.007

    finest: float = 0.002
    coarsest: float = 0.01
    num_layers: int = 5
    thickness: float = 0.02
    conductivity: float = 30.0
    hole_transfer: float = 3000.0
    bottom_transfer: float = 200.0
    max_holes: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_layers < 2:
            raise ValueError(f"heat_sink needs num_layers of 2 or more; got {self.num_layers}.")
        if self.max_holes < 2:
            raise ValueError(f"heat_sink needs max_holes of 2 or more; got {self.max_holes}.")
        for name in ("thickness", "conductivity", "hole_transfer", "bottom_transfer"):
            if not getattr(self, name) > 0.0:
                raise ValueError(f"heat_sink needs a positive {name}; got {getattr(self, name)}.")

    @property
    def typical_size(self) -> str:
        """Points per sample, for people to read."""
        return "3,000 to 5,500 mesh points in space"

    def simulate(self, rng: np.random.Generator) -> Sample:
        """Draw holes and chips, and solve for the temperature."""
        holes = draw_separate_shapes(
            rng,
            num_shapes=int(rng.integers(2, self.max_holes, endpoint=True)),
            radii=HOLE_RADII,
            roughness=ROUGHNESS,
            side=self.side,
            gap=self.gap,
        )
        heat_flux = draw_power_map(rng, self.side)
        base = self.mesh(holes)
        mesh = extrude(base, graded_levels(self.thickness, self.num_layers))
        temperature = solve_conduction(
            mesh,
            conductivity=self.conductivity,
            heat_flux=heat_flux,
            hole_transfer=self.hole_transfer,
            bottom_transfer=self.bottom_transfer,
        )
        fields = np.stack([heat_flux(base.points), hole_distance(base)], axis=1)
        return Sample(
            points=mesh.points,
            inputs=np.tile(fields, (len(mesh.levels), 1)),
            targets=temperature[:, None],
            boundary=mesh.boundary,
            cells=mesh.cells,
            weights=node_weights(mesh.points, mesh.cells),
        )


def draw_power_map(rng: np.random.Generator, side: float) -> PlaneFunction:
    """Draw the heat flux of a few chips on the square [0, side]²: q(x) = Σᵢ Pᵢ exp(−|x−xᵢ|²/2wᵢ²) / 2πwᵢ²."""
    num_chips = int(rng.integers(1, MAX_CHIPS, endpoint=True))
    centres = rng.uniform(0.15 * side, 0.85 * side, (num_chips, 2))
    widths = rng.uniform(*CHIP_WIDTHS, num_chips)
    powers = rng.uniform(*CHIP_POWERS, num_chips)

    def heat_flux(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
        squares = np.square(points[:, None] - centres).sum(axis=2)
        flux: Float[np.ndarray, " point"] = np.exp(-0.5 * squares / widths**2) @ (powers / (2.0 * np.pi * widths**2))
        return flux

    return heat_flux


def graded_levels(thickness: float, num_layers: int) -> Float[np.ndarray, " level"]:
    """Return heights from 0 to the thickness whose layers get thinner upwards, in a constant ratio."""
    layers = LAYER_RATIO ** np.arange(num_layers)
    return thickness * np.concatenate([[0.0], np.cumsum(layers)]) / layers.sum()


def solve_conduction(
    mesh: PlateMesh,
    *,
    conductivity: float,
    heat_flux: PlaneFunction,
    hole_transfer: float,
    bottom_transfer: float,
) -> Float[np.ndarray, " point"]:
    r"""Solve for the temperature rise of a plate that is heated on top and cooled at the holes and the bottom.

    Linear elements: find T with :math:`\int k \nabla T \cdot \nabla v + \int_\text{cooled} h T v = \int_\text{top} q v`
    for all v. With v = 1 this is the energy balance, which so holds to rounding.
    """
    skfem = scikit_fem()
    basis = skfem.Basis(element_mesh(mesh.points, mesh.cells), skfem.ElementTetP1(), intorder=1)
    top, bottom, walls = _surfaces(basis.mesh, mesh)
    conduction = skfem.BilinearForm(lambda u, v, _: product_of_gradients(u, v)).assemble(basis)
    matrix = (
        conductivity * conduction
        + hole_transfer * _exchange_matrix(basis, walls)
        + bottom_transfer * _exchange_matrix(basis, bottom)
    )
    return solve_positive_definite(matrix, _heat_load(basis, top, heat_flux))


def _surfaces(
    mesh: Any, plate: PlateMesh
) -> tuple[Int[np.ndarray, " _"], Int[np.ndarray, " _"], Int[np.ndarray, " _"]]:
    """Return the facets of the upper face, of the lower face, and of the walls of all holes."""
    facets = mesh.boundary_facets()
    levels, base_nodes = np.divmod(mesh.facets[:, facets], len(plate.base.points))
    at_top = (levels == len(plate.levels) - 1).all(axis=0)
    at_bottom = (levels == 0).all(axis=0)
    # Nodes of the outline come first. A facet on a side of the plate has all its corners on one boundary curve.
    at_hole = (base_nodes >= len(plate.base.loops[0])).all(axis=0) & ~at_top & ~at_bottom
    return facets[at_top], facets[at_bottom], facets[at_hole]


def _exchange_matrix(basis: Any, facets: Int[np.ndarray, " facet"]) -> spmatrix:
    """Assemble ∫ u v over a surface."""
    skfem = scikit_fem()
    surface = skfem.FacetBasis(basis.mesh, basis.elem, facets=facets, intorder=2)
    return skfem.BilinearForm(lambda u, v, _: u * v).assemble(surface)


def _heat_load(basis: Any, facets: Int[np.ndarray, " facet"], heat_flux: PlaneFunction) -> Float[np.ndarray, " point"]:
    """Assemble ∫ q v over the upper face."""
    skfem = scikit_fem()
    surface = skfem.FacetBasis(basis.mesh, basis.elem, facets=facets, intorder=4)
    places = np.asarray(surface.global_coordinates())
    flux = heat_flux(places[:2].reshape(2, -1).T).reshape(places.shape[1:])
    load: Float[np.ndarray, " point"] = skfem.LinearForm(lambda v, w: w.flux * v).assemble(surface, flux=flux)
    return load
