"""Evolution equations on a periodic line, with coefficients fitted to the training samples."""

import math
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.closed_form import ClosedForm, ClosedFormConfig
from gola.operators.closed_form.periodic_samples import looks_periodic, periodic_grid
from gola.operators.closed_form.samples import Samples
from gola.operators.cloud import Cloud
from gola.operators.fitted_evolution.evolution import MOST_STEPS, TERMS, evolved, num_steps, resampled
from gola.operators.fitted_evolution.search import search
from gola.operators.operator import OperatorConfig
from gola.protocol import FitTask
from gola.representation.periodic_grid import PeriodicGrid
from gola.threads import one_thread

# Nodes of the grid that equations are solved on, for each node of the data: products of waves need room.
_REFINEMENT = 1.5
# More nodes take minutes.
_MOST_NODES = 1024
# Inputs may be larger than those of the training samples by this factor without further time steps.
_MARGIN = 1.25


@final
@dataclass(frozen=True, kw_only=True)
class FittedEvolutionConfig(ClosedFormConfig):
    """Settings of the fitted evolution equation, which has none of its own."""

    largest_dim: ClassVar[int] = 1

    dim: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dim != 1 or self.has_time_axis or self.num_channels != 1 or self.num_outputs != 1:
            raise ValueError(
                f"fitted_evolution takes one function on a line to one other; got points of {self.dim} coordinates,"
                f" {self.num_channels} input and {self.num_outputs} output channels. Use another operator, like"
                " periodic_kernel."
            )


@final
class FittedEvolution(ClosedForm):
    """The state of an evolution equation some time after that of the input, on a periodic line.

    The equation is one of a family (:mod:`.evolution`); its coefficients, the same for all samples, are found by least
    squares on the solutions themselves. Where the data obey another equation the held-out error says so.

    Attributes:
        numbers: The coefficients, in the units of the scaled states and of the period.
        scale: The unit of the states.
        choice: The coefficients by name, and the number of time steps.
    """

    name: ClassVar[str] = "fitted_evolution"
    title: ClassVar[str] = "fitted evolution equation"
    config_type: ClassVar[type[OperatorConfig]] = FittedEvolutionConfig
    presets: ClassVar[dict[str, FittedEvolutionConfig]] = {"default": FittedEvolutionConfig()}

    config: FittedEvolutionConfig
    solutions: PeriodicGrid
    numbers: Float[Tensor, " term"]
    scale: Float[Tensor, ""]

    def __init__(self, config: FittedEvolutionConfig) -> None:
        super().__init__(config)
        self.solutions = PeriodicGrid()
        self._register_empty("numbers", "scale")

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:
        """Whether one function on a periodic line becomes another."""
        if len(task.inputs) != 1 or len(task.targets) != 1 or task.parameters or task.has_time_axis:
            return False
        sample = task.samples[0]
        return sample.points.shape[1] == 1 and len(sample.points) <= _MOST_NODES and looks_periodic(task)

    def choose(self, samples: Samples, solutions: Float[Tensor, "sample node 1"]) -> Float[Tensor, "sample node 1"]:
        """Search for the equation."""
        inputs = self.solutions.coefficients(samples.points, samples.inputs)[..., 0]
        scale = inputs.square().mean().sqrt()
        self.scale = torch.where(scale > 0.0, scale, 1.0)
        scaled = inputs / self.scale
        with one_thread(), torch.no_grad():
            found = search(scaled, solutions[..., 0] / self.scale, self._fine)
        self.numbers = found.coefficients
        largest = (_MARGIN * scaled.abs().max())[None]
        steps = int(num_steps(self.numbers[None], largest, self._fine)[0].clamp(max=MOST_STEPS))
        named = dict(zip(TERMS, self.numbers.tolist(), strict=True))
        self.choice = {"coefficients": named, "steps": steps, "largest": float(largest)}
        return (self.scale * found.held_out)[..., None]

    def solve(self, samples: Samples, solutions: Float[Tensor, "sample node 1"]) -> Float[Tensor, "sample node 1"]:
        """Search again: the equation is all there is to choose."""
        return self.choose(samples, solutions)

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample node 1"]:
        """Predict the state of each sample at the nodes of the grid."""
        points, values = (torch.split(part.double(), cloud.sizes) for part in (cloud.points, cloud.values))
        inputs = self.solutions.coefficients(points, values)[..., 0] / self.scale
        return (self.scale * torch.cat([self._evolved(one[None]) for one in inputs]))[..., None]

    def _solution_space(self, samples: Samples, num_modes: int) -> PeriodicGrid:  # noqa: ARG002 - the grid decides
        return periodic_grid(samples, self.title, most=_MOST_NODES)

    @property
    def _fine(self) -> int:
        return 2 * round(0.5 * _REFINEMENT * self.solutions.num_modes)

    def _evolved(self, start: Float[Tensor, "1 node"]) -> Float[Tensor, "1 node"]:
        fine = resampled(start, self._fine)
        return resampled(evolved(fine, self.numbers[None], self._steps(fine)), start.shape[1])

    def _steps(self, start: Float[Tensor, "1 node"]) -> int:
        """Return how many time steps a sample takes: more than others where it is larger than the training samples."""
        steps: int = self.choice["steps"]
        # A program that is exported takes the same steps whatever it is given; on the meta device nothing has a value.
        if start.is_meta or torch.compiler.is_compiling():
            return steps
        ratio = float(start.detach().abs().max()) / self.choice["largest"]
        return min(MOST_STEPS, steps * math.ceil(max(1.0, ratio) ** 2))
