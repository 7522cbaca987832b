"""Held-out predictions of operators that are trained: further training runs, each without one fold of the samples."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float

from gola.data.sample import Sample
from gola.operators.scaling import Scaling
from gola.protocol import FitTask

if TYPE_CHECKING:
    from gola.operators.operator import Operator


def held_out_by_folds(operator: "Operator", task: FitTask) -> list[Float[np.ndarray, "_ channel"]]:
    """Predict each training sample by a network that was trained, in the same way, without its fold.

    Costs ``task.training.held_out_folds`` further training runs.

    Args:
        operator: Trained on all samples; others like it are made.
        task: The training samples, and how to train.
    """
    num_folds, count = task.training.held_out_folds, len(task.samples)
    if task.session.devices * task.session.num_nodes > 1:
        raise ValueError("held_out_folds trains on one device; leave it out to use several.")
    if num_folds > count:
        raise ValueError(f"Cannot hold out {num_folds} folds of {count} training samples; ask for {count} at most.")
    folds = np.array_split(np.random.default_rng(task.seed).permutation(count), num_folds)
    found: dict[int, Float[np.ndarray, "_ channel"]] = {}
    for number, fold in enumerate(folds):
        task.session.on_stage(f"training without fold {number + 1} of {num_folds}")
        found |= zip(
            fold.tolist(), _predicted(operator, _without(task, fold.tolist(), number), task, fold), strict=True
        )
    return [found[row] for row in range(count)]


def _without(task: FitTask, fold: list[int], number: int) -> FitTask:
    session = task.session
    folder = None if session.folder is None else session.folder / f"without-fold-{number + 1}"
    if folder is not None:
        folder.mkdir(exist_ok=True)
    others = task.select([row for row in range(len(task.samples)) if row not in fold])
    return replace(
        others,
        training=replace(task.training, held_out_folds=0),
        session=replace(session, folder=folder, loggers=()),
        provenance={**task.provenance, "held_out_fold": number},
    )


def _predicted(
    operator: "Operator", others: FitTask, task: FitTask, fold: np.ndarray
) -> Iterator[Float[np.ndarray, "_ channel"]]:
    torch.manual_seed(task.seed)
    result = type(operator)(operator.config).fit(others)
    trained = result.operator.eval()
    for row in fold:
        yield predicted_at_points(trained, result.scaling, task.samples[row])


@torch.no_grad()
def predicted_at_points(operator: "Operator", scaling: Scaling, sample: Sample) -> Float[np.ndarray, "point channel"]:
    """Predict a sample at its own points, in the units of the task."""
    dtype = torch.float32 if operator.normalised else torch.float64
    cloud = operator.prepare(scaling.cloud(sample.points, sample.inputs, dtype, parameters=sample.parameters))
    return np.asarray(scaling.decode(operator(cloud).double()).numpy())
