"""Problems whose samples differ in a few named numbers."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from gola.data.sample import Channel, Sample
from gola.problems.parameter_ranges import ParameterRange, draw_parameters
from gola.problems.problem import Problem, one_blas_thread, sample_rng


@dataclass(frozen=True, kw_only=True)
class ParametricProblem(Problem):
    """A problem that maps a few parameters to fields; there are no input fields.

    The same seed and index give the same parameters at every resolution.
    """

    inputs: ClassVar[tuple[Channel, ...]] = ()
    ranges: ClassVar[tuple[ParameterRange, ...]]
    """The parameters, and where they are drawn from."""

    @property
    def parameter_descriptions(self) -> list[str]:
        """The parameters and their ranges, for people to read."""
        return [str(one) for one in self.ranges]

    @abstractmethod
    def simulate(self, parameters: Float[np.ndarray, " parameter"]) -> Sample:
        """Solve for given parameters, in the order of the ranges."""

    def generate(self, seed: int, indices: Sequence[int]) -> list[Sample]:
        """Draw and solve the samples with these indices, in float64."""
        with one_blas_thread():
            return [self.simulate(draw_parameters(self.ranges, sample_rng(seed, index))) for index in indices]
