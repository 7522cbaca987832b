"""Samples on a box that is periodic along every axis, as declared or as they look."""

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.samples import Samples
from gola.protocol import FitTask
from gola.representation.periodic_grid import PeriodicGrid, likely_periods


def looks_periodic(task: FitTask) -> bool:
    """Whether there are input functions, and every axis is periodic, as declared or as the samples look."""
    if not task.num_fields:
        return False
    if task.periods is not None:
        return None not in task.periods
    if task.correspondence != "same points":
        return False
    points = torch.from_numpy(task.samples[0].points)
    return all(likely_periods(points, _fields(task, name)) is not None for name in ("inputs", "targets"))


def periodic_grid(samples: Samples, title: str, *, most: int) -> PeriodicGrid:
    """Return the grid of the samples' nodes, or one of as many nodes.

    Args:
        samples: The samples.
        title: Of the operator that needs it.
        most: The largest number of nodes of a grid that is not that of the points.
    """
    periods = samples.periods
    if periods is None and samples.share_points:
        periods = likely_periods(samples.points[0], [*samples.inputs, *samples.targets])
    if periods is None:
        raise ValueError(
            f"The {title} needs axes that are periodic; declare them, as in Dataset.from_arrays(…,"
            " periods=(1.0,)), or name another operator."
        )
    return PeriodicGrid.around(samples.points[0], periods, most=most)


def _fields(task: FitTask, name: str) -> list[Float[Tensor, "point channel"]]:
    return [torch.from_numpy(getattr(sample, name)) for sample in task.samples]
