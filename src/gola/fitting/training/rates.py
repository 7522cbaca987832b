"""Choose the learning rate by short training runs, each judged on samples that it has not seen."""

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from gola.fitting.training.samples import Objective, PreparedSamples
from gola.operators.operator import Operator
from gola.operators.scaling import Scaling
from gola.protocol import FitTask, Session, TrainingConfig

# A fifth of the steps tells rates apart, and three rates then cost as much as half of a training run.
_SHARE_OF_STEPS = 0.2
_HELD_OUT = 0.2
# A held-out sample is judged at several draws of its points, where points are drawn.
_DRAWS = 3


def with_chosen_rate(operator: Operator, task: FitTask, scaling: Scaling, train: Callable[..., Any]) -> TrainingConfig:
    """Return how to train, with the rate of those to choose from that has the lowest error on held-out samples.

    Every rate trains a copy of the operator on four fifths of the samples for a fifth of the steps. Fewer than three
    samples are too few to choose by: then the learning rate stays what it is.

    Args:
        operator: The operator, which is not changed.
        task: The training samples and how to train.
        scaling: How the samples are normalised.
        train: The training loop, as ``train(operator, task, scaling)``.
    """
    config = task.training
    if not config.rates or len(task.samples) < 3:
        return replace(config, rates=())
    order = np.random.default_rng([task.seed, len(task.samples)]).permutation(len(task.samples)).tolist()
    count = max(1, round(_HELD_OUT * len(order)))
    learned, held_out = task.select(order[count:]), task.select(order[:count])
    errors = {}
    for rate in config.rates:
        task.session.on_stage(f"trying the learning rate {rate:g}")
        trial = copy.deepcopy(operator)
        # Checkpoints are for the run itself; every process makes the same choice on its own.
        session = Session(accelerator=task.session.accelerator, stop=task.session.stop)
        train(trial, replace(learned, training=_shortened(config, rate, len(order)), session=session), scaling)
        errors[rate] = _error(trial, held_out, scaling)
    return replace(config, rates=(), learning_rate=min(errors, key=lambda rate: errors[rate]))


def _shortened(config: TrainingConfig, rate: float, num_samples: int) -> TrainingConfig:
    epochs = config.resolved(num_samples).num_epochs
    assert epochs is not None
    return replace(
        config,
        rates=(),
        learning_rate=rate,
        num_epochs=max(1, math.ceil(_SHARE_OF_STEPS / (1.0 - _HELD_OUT) * epochs)),
        validation_share=0.0,
        residual_weight=0.0,
    )


@torch.no_grad()
def _error(operator: Operator, task: FitTask, scaling: Scaling) -> float:
    """Return the mean error on samples; infinite where the weights have run away."""
    num_points = task.training.points_per_epoch
    samples = PreparedSamples(
        samples=task.samples, operator=operator, scaling=scaling, num_points=num_points, seed=task.seed
    )
    objective = Objective(operator, samples)
    draws = range(_DRAWS if num_points is not None else 1)
    errors = [float(objective([row], draw)[0]) for draw in draws for row in range(len(samples))]
    mean = math.fsum(errors) / len(errors)
    return mean if math.isfinite(mean) else math.inf
