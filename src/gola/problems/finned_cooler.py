"""A cooler with fins over a chip, in space: from materials, cooling and load to the temperature."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array

from gola.data.sample import Channel, Sample
from gola.problems.finite_elements import (
    product_of_gradients,
    scikit_fem,
    shared_geometry,
    solve_iteratively,
)
from gola.problems.parameter_ranges import ParameterRange, channels_of
from gola.problems.parametric_problem import ParametricProblem

# Lengths in m: the base plate, and the fins that stand on it along x.
LENGTH = 0.1
BASE_THICKNESS = 0.006
NUM_FINS, FIN_THICKNESS, FIN_GAP, FIN_HEIGHT = 5, 0.004, 0.01, 0.03
WIDTH = NUM_FINS * FIN_THICKNESS + (NUM_FINS - 1) * FIN_GAP
# The chip is not in the middle, so that nothing is symmetric; its heat flux is a Gaussian of these widths.
CHIP_Y = 0.024
CHIP_WIDTHS = (0.012, 0.009)
# Elements along the cooler, across a gap, through the base and up a fin, for each through a fin.
ALONG, ACROSS_GAP, THROUGH_BASE, UP_FIN = 13, 2, 2, 5

_RANGES = (
    ParameterRange(
        channel=Channel(name="base_conductivity", unit="W/(m K)"), lower=20.0, upper=400.0, logarithmic=True
    ),
    ParameterRange(channel=Channel(name="fin_conductivity", unit="W/(m K)"), lower=20.0, upper=400.0, logarithmic=True),
    ParameterRange(channel=Channel(name="heat_transfer", unit="W/(m² K)"), lower=20.0, upper=500.0, logarithmic=True),
    ParameterRange(channel=Channel(name="chip_position", unit="m"), lower=0.025, upper=0.075),
    ParameterRange(channel=Channel(name="chip_power", unit="W"), lower=20.0, upper=200.0),
    ParameterRange(channel=Channel(name="air_heating", unit="K"), lower=0.0, upper=20.0),
)


@final
@dataclass(frozen=True, kw_only=True)
class FinnedCooler(ParametricProblem):
    """Steady heat conduction ∇·(k∇T) = 0 in a base plate with five fins over a chip.

    The chip heats the bottom by k ∂T/∂n = q, a Gaussian around its position. Air takes k ∂T/∂n = −h(T − Tₐ) from the
    fins and from the base between them; it warms up on its way, Tₐ = ΔT x / L. Everything else is insulated. The
    temperature rise T over the incoming air is linear in the power of the chip and in ΔT.

    Attributes:
        resolution: Elements through a fin; 4 make 52,000 nodes, 2 make 7,700.
    """

    name: ClassVar[str] = "finned_cooler"
    title: ClassVar[str] = "Finned cooler over a chip"
    equation: ClassVar[str] = (
        "∇·(k∇T) = 0 in a plate with fins, k ∂T/∂n = q under a chip, −h(T − Tₐ) in the air, 0 elsewhere"
    )
    ranges: ClassVar[tuple[ParameterRange, ...]] = _RANGES
    parameters: ClassVar[tuple[Channel, ...]] = channels_of(_RANGES)
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="temperature_rise", unit="K"),)
    dim: ClassVar[int] = 3
    chunk_size: ClassVar[int] = 5

    resolution: int = 4

    def __post_init__(self) -> None:
        if self.resolution < 1:
            raise ValueError(f"finned_cooler needs a resolution of 1 or more; got {self.resolution}.")

    @property
    def typical_size(self) -> str:
        """Points per sample, for people to read."""
        along = ALONG * self.resolution + 1
        base_rows = (NUM_FINS + (NUM_FINS - 1) * ACROSS_GAP) * self.resolution + 1
        base = base_rows * (THROUGH_BASE * self.resolution + 1)
        fins = NUM_FINS * (self.resolution + 1) * UP_FIN * self.resolution
        return f"{along * (base + fins):,} mesh points in space, the same for all samples"

    def simulate(self, parameters: Float[np.ndarray, " parameter"]) -> Sample:
        """Solve for the temperature."""
        cooler = _cooler(self.resolution)
        base, fins, transfer, position, power, heating = parameters.tolist()
        temperature = cooler.solve(
            base_conductivity=base,
            fin_conductivity=fins,
            transfer=transfer,
            heat_flux=power * cooler.chip(position),
            air=heating * cooler.geometry["points"][:, 0] / LENGTH,
        )
        return Sample(
            inputs=np.empty((len(temperature), 0)),
            targets=temperature[:, None],
            parameters=parameters,
            **cooler.geometry,
        )


@final
class Cooler:
    r"""Linear tetrahedra for ∇·(k∇T) = 0.

    Find T with :math:`\int k \nabla T \cdot \nabla v + \int_\text{air} h (T - T_a) v = \int_\text{bottom} q v` for all
    v. The matrix is a sum of three fixed ones, one for each of the numbers k and h.

    Args:
        resolution: Elements through a fin.
    """

    def __init__(self, resolution: int) -> None:
        skfem = scikit_fem()
        mesh = cooler_mesh(resolution)
        self._basis = skfem.Basis(mesh, skfem.ElementTetP1(), intorder=1)
        in_fin = mesh.p[2, mesh.t].mean(axis=0) > BASE_THICKNESS
        self._base, self._fins = self._conduction(~in_fin), self._conduction(in_fin)
        self._exchange = self._surface_mass(_touches_air)
        self._bottom = self._surface_mass(lambda x: x[2] < 1e-9)
        self.geometry = shared_geometry(mesh)

    def solve(
        self,
        *,
        base_conductivity: float,
        fin_conductivity: float,
        transfer: float,
        heat_flux: Float[np.ndarray, " point"],
        air: Float[np.ndarray, " point"],
    ) -> Float[np.ndarray, " point"]:
        """Solve for the temperature rise at the nodes, given heat flux and air temperature at the nodes."""
        matrix = base_conductivity * self._base + fin_conductivity * self._fins + transfer * self._exchange
        return solve_iteratively(csr_array(matrix), self._bottom @ heat_flux + transfer * (self._exchange @ air))

    def chip(self, position: float) -> Float[np.ndarray, " point"]:
        """Return the heat flux of a chip of one watt at the nodes; interpolated linearly between them."""
        arms = (self.geometry["points"][:, :2] - [position, CHIP_Y]) / CHIP_WIDTHS
        flux = np.exp(-0.5 * np.square(arms).sum(axis=1))
        # All of the power enters, on every mesh, also where the edge of the plate cuts the Gaussian off.
        return flux / (self._bottom @ flux).sum()

    def _conduction(self, cells: Any) -> csr_array:
        """Assemble ∫ ∇u · ∇v over some of the cells, with the pattern of all."""
        form = scikit_fem().BilinearForm(lambda u, v, w: w.inside * product_of_gradients(u, v))
        inside = np.broadcast_to(cells[:, None].astype(float), self._basis.dx.shape)
        return csr_array(form.assemble(self._basis, inside=inside))

    def _surface_mass(self, select: Any) -> csr_array:
        """Assemble ∫ u v over a part of the surface."""
        skfem = scikit_fem()
        facets = self._basis.mesh.facets_satisfying(select, boundaries_only=True)
        surface = skfem.FacetBasis(self._basis.mesh, self._basis.elem, facets=facets, intorder=2)
        return csr_array(skfem.BilinearForm(lambda u, v, _: u * v).assemble(surface))


def cooler_mesh(resolution: int) -> Any:
    """Return the mesh of scikit-fem: a grid that is cut into tetrahedra, less the gaps between the fins."""
    along = np.linspace(0.0, LENGTH, ALONG * resolution + 1)
    across = _lines([(FIN_THICKNESS, 1), (FIN_GAP, ACROSS_GAP)] * (NUM_FINS - 1) + [(FIN_THICKNESS, 1)], resolution)
    up = _lines([(BASE_THICKNESS, THROUGH_BASE), (FIN_HEIGHT, UP_FIN)], resolution)
    mesh = scikit_fem().MeshTet.init_tensor(along, across, up)
    _, y, z = mesh.p[:, mesh.t].mean(axis=1)
    in_gap = (z > BASE_THICKNESS) & (y % (FIN_THICKNESS + FIN_GAP) > FIN_THICKNESS)
    return mesh.remove_elements(np.flatnonzero(in_gap))


def _lines(parts: list[tuple[float, int]], resolution: int) -> Float[np.ndarray, " line"]:
    """Return grid lines through parts of given lengths, each divided into a multiple of the resolution."""
    steps = [np.full(count * resolution, length / (count * resolution)) for length, count in parts]
    return np.concatenate([[0.0], np.cumsum(np.concatenate(steps))])


def _touches_air(x: Float[np.ndarray, "3 facet"]) -> Any:
    """Whether facets belong to the fins, or to the upper face of the base."""
    return x[2] > BASE_THICKNESS - 1e-9


# A worker makes many chunks on the same mesh.
@lru_cache(maxsize=2)
def _cooler(resolution: int) -> Cooler:
    return Cooler(resolution)
