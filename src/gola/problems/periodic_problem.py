"""Problems on a periodic box: from an initial field to the field at a later time."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np
from jaxtyping import Complex, Float

from gola.data.sample import Sample
from gola.problems.problem import Problem, one_blas_thread, sample_rng

MIN_RESOLUTION = 8


@dataclass(frozen=True, kw_only=True)
class PeriodicProblem(Problem):
    """A problem on the box [0, 1)^dim whose opposite sides are the same.

    Points are an equispaced grid that does not repeat the first point at the end: coordinate i along an axis is
    i / resolution. In two dimensions ``points[:, 0]`` is the first grid axis, flattened row by row. There is no
    boundary.

    Solvers work with Fourier series of a fixed number of waves, whatever the resolution; the same seed and index give
    the same function at every resolution, only sampled on another grid.

    Attributes:
        resolution: Grid points along each axis.
        viscosity: The viscosity ν.
        time: The final time.
    """

    chunk_size: ClassVar[int] = 10
    min_viscosity: ClassVar[float]
    """The smallest viscosity whose finest structures the solver resolves."""

    resolution: int
    viscosity: float
    time: float

    def __post_init__(self) -> None:
        if self.resolution < MIN_RESOLUTION:
            raise ValueError(
                f"{self.name} needs a resolution of at least {MIN_RESOLUTION} points along each axis;"
                f" got {self.resolution}."
            )
        if not (self.min_viscosity <= self.viscosity < inf and 0.0 < self.time < inf):
            raise ValueError(
                f"{self.name} needs viscosity >= {self.min_viscosity:g}, which its waves resolve, and time > 0;"
                f" got viscosity={self.viscosity}, time={self.time}."
            )

    @property
    def typical_size(self) -> str:
        """Points per sample, for people to read."""
        sides = " × ".join([str(self.resolution)] * self.dim)
        return f"{sides} grid points" if self.dim == 1 else f"{sides} = {self.resolution**self.dim:,} grid points"

    @abstractmethod
    def simulate(
        self, rngs: Sequence[np.random.Generator]
    ) -> tuple[Complex[np.ndarray, "sample *wave"], Complex[np.ndarray, "sample *wave"]]:
        """Draw one initial field from each generator, and solve; return Fourier coefficients as of ``np.fft.rfftn``.

        They are those of a function, not of its values on some grid: the constant 1 has the coefficient 1.
        """

    def generate(self, seed: int, indices: Sequence[int]) -> list[Sample]:
        """Draw and solve the samples with these indices, in float64; all share one array of points."""
        if not indices:
            return []
        with one_blas_thread():
            start, end = (
                sample_series(spectra, self.resolution, self.dim)
                for spectra in self.simulate([sample_rng(seed, index) for index in indices])
            )
        axis = np.arange(self.resolution) / self.resolution
        points = np.stack(np.meshgrid(*[axis] * self.dim, indexing="ij"), axis=-1).reshape(-1, self.dim)
        return [
            Sample(points=points, inputs=f.reshape(-1, 1), targets=u.reshape(-1, 1))
            for f, u in zip(start, end, strict=True)
        ]


def sample_series(
    spectra: Complex[np.ndarray, "sample *wave"], resolution: int, dim: int
) -> Float[np.ndarray, "sample *place"]:
    """Evaluate Fourier series on a grid that may be finer or coarser than their waves.

    Args:
        spectra: Coefficients of each function, laid out as by ``np.fft.rfftn``.
        resolution: Grid points along each axis.
        dim: Number of axes.
    """
    axis = np.arange(resolution) / resolution
    num_last = spectra.shape[-1]
    last = np.exp(2j * np.pi * np.outer(np.arange(num_last), axis))
    # The other half of the spectrum is the complex conjugate.
    last[1:] *= 2.0
    values = spectra @ last
    if dim == 2:
        num_first = spectra.shape[1]
        first = np.exp(2j * np.pi * np.outer(axis, np.fft.fftfreq(num_first, 1.0 / num_first)))
        values = first @ values
    return values.real
