"""What every benchmark problem offers, whatever its equation and its solver."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from gola.data.periods import Periods
from gola.data.sample import Channel, Sample


class Problem(ABC):
    """A PDE benchmark: draws random inputs, functions or a few numbers, and solves for their targets.

    A concrete problem is a frozen, keyword-only dataclass whose fields are its settings. Sample ``index`` of
    ``seed`` depends on nothing else, and samples are always solved in the same chunks, so a data set is the same
    to the last bit however many workers make it.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    equation: ClassVar[str]
    inputs: ClassVar[tuple[Channel, ...]]
    targets: ClassVar[tuple[Channel, ...]]
    parameters: ClassVar[tuple[Channel, ...]] = ()
    """Numbers that are drawn for each sample, ``Sample.parameters``, such as a Reynolds number or a load."""
    dim: ClassVar[int]
    chunk_size: ClassVar[int]
    """How many samples one unit of work solves together."""
    symmetries: ClassVar[tuple[str, ...]] = ()
    """Reflections and rotations that map solutions to solutions, as ``TrainingConfig`` takes them."""
    periods: ClassVar[Periods | None] = None
    """The period along each axis, None along those without; None where there are none at all."""

    @property
    @abstractmethod
    def typical_size(self) -> str:
        """Points per sample, for people to read."""

    @abstractmethod
    def generate(self, seed: int, indices: Sequence[int]) -> list[Sample]:
        """Draw and solve the samples with these indices, in float64."""

    @property
    def parameter_descriptions(self) -> list[str]:
        """The parameters, for people to read."""
        return [str(parameter) for parameter in self.parameters]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that define the problem, ready for JSON."""
        return asdict(self)  # type: ignore[call-overload]  # every concrete problem is a dataclass


def sample_rng(seed: int, index: int) -> np.random.Generator:
    """Return the generator that draws sample ``index``, independent of every other sample's."""
    return np.random.default_rng([seed, index])


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let BLAS use one thread for a while: their number changes the order of sums, and with it the last bits."""
    return threadpool_limits(limits=1, user_api="blas")
