"""A plate heated by a moving source: from speed, power, width and conductivity to the temperature in time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array

from gola.data.sample import Channel, Sample
from gola.geometry.domains import Polygon
from gola.problems.finite_elements import (
    element_mesh,
    factorise_positive_definite,
    product_of_gradients,
    quadrature_load,
    scikit_fem,
    shared_geometry,
)
from gola.problems.meshing import TriangleMesh, graded_size, sample_outline, triangulate
from gola.problems.parameter_ranges import ParameterRange, channels_of
from gola.problems.parametric_problem import ParametricProblem

# Lengths in m. The source starts to the left and moves along the plate, a little below its middle.
LENGTH, WIDTH, THICKNESS = 0.2, 0.1, 0.005
START = (0.03, 0.045)
LONGEST_PATH = 0.15
# A steel: density times specific heat, in J/(m³ K). Both faces lose heat to still air, in W/(m² K).
HEAT_CAPACITY = 3.6e6
LOSS = 2.0 * 20.0
DURATION = 10.0
# Elements along the path have the size that is asked for, others grow up to so many times that.
COARSEST = 2.5
GROWTH = 0.2
# Time steps from one output to the next.
STEPS_PER_OUTPUT = 4

_RANGES = (
    ParameterRange(channel=Channel(name="speed", unit="m/s"), lower=0.003, upper=LONGEST_PATH / DURATION),
    ParameterRange(channel=Channel(name="power", unit="W"), lower=50.0, upper=500.0),
    ParameterRange(channel=Channel(name="source_width", unit="m"), lower=0.004, upper=0.01),
    ParameterRange(channel=Channel(name="conductivity", unit="W/(m K)"), lower=15.0, upper=150.0, logarithmic=True),
)

Flux = Callable[[float, Float[np.ndarray, "place 2"]], Float[np.ndarray, " place"]]
"""Maps a time and points to the heat flux into the plate there."""


@final
@dataclass(frozen=True, kw_only=True)
class MovingSource(ParametricProblem):
    """Transient heat conduction ρc d T_t = d ∇·(k∇T) − hT + q in a thin plate, under a source that moves.

    The source is a Gaussian of the power P and the width w, q = P exp(−|x − x₀ − vt|² / 2w²) / 2πw², which moves along
    the plate with the speed v from time 0 on. The plate of 20 × 10 × 0.5 cm starts at the temperature of the air, loses
    heat through both faces, and is insulated around. The temperature rise T is linear in the power.

    Attributes:
        element_size: Size of the elements along the path, in m.
        num_times: Number of output times, equally spaced up to 10 s; the start, where T = 0, is not among them.
    """

    name: ClassVar[str] = "moving_source"
    title: ClassVar[str] = "Plate under a moving heat source"
    equation: ClassVar[str] = (
        "ρc d T_t = d ∇·(k∇T) − hT + q, a Gaussian source q that moves along a plate, T = 0 at t = 0"
    )
    ranges: ClassVar[tuple[ParameterRange, ...]] = _RANGES
    parameters: ClassVar[tuple[Channel, ...]] = channels_of(_RANGES)
    targets: ClassVar[tuple[Channel, ...]] = (Channel(name="temperature_rise", unit="K"),)
    dim: ClassVar[int] = 2
    chunk_size: ClassVar[int] = 10

    element_size: float = 0.0014
    num_times: int = 30

    def __post_init__(self) -> None:
        if not 0.0 < self.element_size <= 0.01:
            raise ValueError(f"moving_source needs an element_size of 0 to 0.01 m; got {self.element_size}.")
        if not 1 <= self.num_times < inf:
            raise ValueError(f"moving_source needs num_times of 1 or more; got {self.num_times}.")

    @property
    def typical_size(self) -> str:
        """Points per sample, for people to read."""
        return f"about 1,500 mesh points, the same for all samples, at {self.num_times} times"

    @property
    def times(self) -> Float[np.ndarray, " time"]:
        """The output times in s."""
        return DURATION * np.arange(1, self.num_times + 1) / self.num_times

    def simulate(self, parameters: Float[np.ndarray, " parameter"]) -> Sample:
        """Solve for the temperature at all output times."""
        speed, power, width, conductivity = parameters.tolist()
        plate = _plate(self.element_size)
        steps = STEPS_PER_OUTPUT * self.num_times
        temperature = plate.solve(conductivity, moving_flux(speed, power, width), DURATION, steps)
        return Sample(
            inputs=np.empty((plate.num_points, 0)),
            targets=temperature[STEPS_PER_OUTPUT::STEPS_PER_OUTPUT, :, None],
            parameters=parameters,
            times=self.times,
            **plate.geometry,
        )


@final
class Plate:
    """Quadratic elements in space and the trapezoidal rule in time for ρc d T_t = d ∇·(k∇T) − hT + q.

    Args:
        mesh: The triangles.
    """

    def __init__(self, mesh: TriangleMesh) -> None:
        skfem = scikit_fem()
        basis = skfem.Basis(element_mesh(mesh.points, mesh.cells), skfem.ElementTriP2(), intorder=4)
        self._stiffness = csr_array(skfem.BilinearForm(lambda u, v, _: product_of_gradients(u, v)).assemble(basis))
        self._mass = csr_array(skfem.BilinearForm(lambda u, v, _: u * v).assemble(basis))
        self._places = np.asarray(basis.global_coordinates()).reshape(2, -1).T
        self._load = quadrature_load(basis)
        self.num_points = len(mesh.points)
        self.geometry = shared_geometry(basis.mesh)

    def solve(
        self, conductivity: float, flux: Flux, duration: float, num_steps: int
    ) -> Float[np.ndarray, "step point"]:
        """Solve for the temperature at the nodes, from time 0, where it is 0, to the end, one row for each step."""
        step = duration / num_steps
        decay = THICKNESS * conductivity * self._stiffness + LOSS * self._mass
        inertia = THICKNESS * HEAT_CAPACITY / step * self._mass
        factors = factorise_positive_definite(inertia + 0.5 * decay)
        before = inertia - 0.5 * decay
        loads = self._load @ np.stack([flux(time, self._places) for time in step * np.arange(num_steps + 1)], axis=1)
        state = np.zeros(len(loads))
        states = [state]
        for load in 0.5 * (loads[:, 1:] + loads[:, :-1]).T:
            state = factors.solve(before @ state + load)
            states.append(state)
        return np.stack(states)[:, : self.num_points]


def moving_flux(speed: float, power: float, width: float) -> Flux:
    """Return the heat flux of a Gaussian source that moves along the plate, in W/m²."""

    def flux(time: float, places: Float[np.ndarray, "place 2"]) -> Float[np.ndarray, " place"]:
        squares = np.square(places - START - np.array([speed * time, 0.0])).sum(axis=1)
        return power / (2.0 * np.pi * width**2) * np.exp(-0.5 * squares / width**2)

    return flux


def plate_mesh(element_size: float) -> TriangleMesh:
    """Mesh the plate, finely along the path of the source."""
    path = np.linspace(START, np.add(START, (LONGEST_PATH, 0.0)), 256)
    size = graded_size(path, finest=element_size, coarsest=COARSEST * element_size, growth=GROWTH)
    corners = np.array([[0.0, 0.0], [LENGTH, 0.0], [LENGTH, WIDTH], [0.0, WIDTH]])
    return triangulate(Polygon(exterior=sample_outline(corners, size)), size)


# A worker makes many chunks on the same mesh.
@lru_cache(maxsize=2)
def _plate(element_size: float) -> Plate:
    return Plate(plate_mesh(element_size))
