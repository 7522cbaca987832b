"""All training samples at once, as a closed-form operator sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.data.frame import Frame
from gola.operators.cloud import Cloud
from gola.protocol import FitTask


@dataclass(frozen=True, kw_only=True, eq=False)
class Mesh:
    """What is known of the points of all samples besides where they are.

    Attributes:
        moves: Whether row i of the points is the same node of a mesh in every sample, at another place.
        cells: Simplices over the points, the same in all samples.
        periods: The period along each axis, in the units of the points of a cloud; None unless all are periodic.
        has_time_axis: Whether the last coordinate is the time.
        num_copies: Of each sample, itself included: its copies by symmetry follow it.
        input_bundles: The number of the vector, tensor or scalar that each input channel belongs to, if that is known.
    """

    moves: bool = False
    cells: Int[Tensor, "cell vertex"] | None = None
    periods: Float[Tensor, " dim"] | None = None
    has_time_axis: bool = False
    num_copies: int = 1
    input_bundles: tuple[int, ...] | None = None

    @staticmethod
    def of(task: FitTask, frame: Frame) -> "Mesh":
        """Look at the samples of a task, whose points are seen in a frame."""
        cells = None if task.correspondence == "none" else task.samples[0].cells
        if cells is not None and not all(_equal(one.cells, cells) for one in task.samples):
            cells = None
        periods = None
        if task.periods is not None and None not in task.periods:
            periods = torch.tensor(task.periods, dtype=torch.float64) / torch.tensor(frame.extent, dtype=torch.float64)
        known = None if cells is None else torch.from_numpy(cells)
        return Mesh(
            moves=task.correspondence == "moved nodes",
            cells=known,
            periods=periods,
            has_time_axis=task.has_time_axis,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Points, inputs and targets of each training sample, in float64.

    Attributes:
        points: Coordinates.
        inputs: The input function at the points.
        targets: The solution at the points.
        cloud: All of them, without targets.
        nodes_move: Whether row i of the points is the same node of a mesh in every sample, at another place.
        cells: Simplices over the points, where they are known and the same in all samples.
        periods: The period along each axis, where all are known to be periodic.
        has_time_axis: Whether the last coordinate is the time.
        num_copies: Of each sample, itself included: its copies by symmetry follow it, and are held out with it.
        input_bundles: The number of the vector, tensor or scalar that each input channel belongs to, if that is known.
    """

    points: Sequence[Float[Tensor, "_ dim"]]
    inputs: Sequence[Float[Tensor, "_ input_channel"]]
    targets: Sequence[Float[Tensor, "_ target_channel"]]
    cloud: Cloud
    nodes_move: bool = False
    cells: Int[Tensor, "cell vertex"] | None = None
    periods: Float[Tensor, " dim"] | None = None
    has_time_axis: bool = False
    num_copies: int = 1
    input_bundles: tuple[int, ...] | None = None

    @staticmethod
    def of(cloud: Cloud, targets: Float[Tensor, "point target_channel"], mesh: "Mesh") -> "Samples":
        """Take the samples of a cloud apart."""
        if len(targets) != cloud.num_points:
            raise ValueError(
                f"There are targets for {len(targets)} points and the cloud has {cloud.num_points}; give one row of"
                " targets for each point of the cloud."
            )
        checked = {"points": cloud.points, "inputs": cloud.values, "targets": targets, "parameters": cloud.parameters}
        for what, values in checked.items():
            if not values.isfinite().all():
                raise ValueError(f"The {what} of the training samples must be finite; remove NaN and infinite values.")
        known = {name: getattr(cloud, name).detach().double() for name in ("points", "values", "parameters")}
        cloud = replace(cloud, **known)
        parts = (torch.split(values, cloud.sizes) for values in (cloud.points, cloud.values, targets.detach().double()))
        points, inputs, solutions = parts
        return Samples(
            points=points,
            inputs=inputs,
            targets=solutions,
            cloud=cloud,
            nodes_move=mesh.moves,
            cells=mesh.cells,
            periods=mesh.periods,
            has_time_axis=mesh.has_time_axis,
            num_copies=mesh.num_copies,
            input_bundles=mesh.input_bundles,
        )

    @property
    def share_nodes(self) -> bool:
        """Whether all samples have the same nodes, in the same order, perhaps at other places."""
        return self.nodes_move or self.share_points

    def __len__(self) -> int:
        return len(self.points)

    @property
    def share_points(self) -> bool:
        """Whether all samples have the same points, in the same order."""
        first = self.points[0]
        return all(points.shape == first.shape and torch.equal(points, first) for points in self.points)

    @property
    def target_scales(self) -> Float[Tensor, " target_channel"]:
        """Root mean square of each target channel, each sample counting equally; 1 for a channel that is zero."""
        squares = torch.stack([values.square().mean(dim=0) for values in self.targets]).mean(dim=0)
        return torch.where(squares > 0.0, squares.sqrt(), 1.0)

    def probes(self, count: int) -> Float[Tensor, "probe dim"]:
        """Draw places where the data are from the points of all samples, always the same ones."""
        # Not put together first: they may be millions.
        ends = torch.tensor([len(points) for points in self.points]).cumsum(0)
        rows = drawn(int(ends[-1]), count)
        numbers = torch.bucketize(rows, ends, right=True)
        starts = torch.cat([ends.new_zeros(1), ends[:-1]])
        places = zip(numbers.tolist(), (rows - starts[numbers]).tolist(), strict=True)
        return torch.stack([self.points[number][row] for number, row in places])


def _equal(cells: np.ndarray | None, others: np.ndarray) -> bool:
    return cells is others or (cells is not None and np.array_equal(cells, others))


@lru_cache(maxsize=8)
def drawn(count: int, at_most: int) -> Int[Tensor, " row"]:
    """Draw some rows, always the same ones."""
    return torch.randperm(count, generator=torch.Generator().manual_seed(0))[:at_most].clone()
