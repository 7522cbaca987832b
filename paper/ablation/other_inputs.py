"""The spectral operator with a further input: the prediction of a closed form, or the distance to the boundary."""

from collections.abc import Callable

import numpy as np
import torch

from gola import Dataset, evaluate, fit
from gola.data.sample import Sample
from gola.geometry import Box
from gola.metrics import relative_l2
from gola.operators.closed_form.closed_form import ClosedForm
from gola.runs import RunConfig


def closed_form_as_input(run: RunConfig) -> np.ndarray:
    """Give the network the prediction of the best closed form as a further input: leave-one-out in training."""
    train, test = _with_closed_form(run)
    return evaluate(run.fit(train), test).errors


def correction_of_closed_form(run: RunConfig) -> np.ndarray:
    """Let the network, with that input, learn only what the closed form misses."""
    train, test = _with_closed_form(run)
    surrogate = run.fit(_changed(train, targets=[sample.targets - sample.inputs[:, -1:] for sample in train]))
    return errors_of(test, lambda sample: sample.inputs[:, -1:] + surrogate.predict(sample.points, sample.inputs))


def boundary_distance(run: RunConfig) -> np.ndarray:
    """Give the network the distance of each point from the boundary of the box as a further input."""
    train, test = samples_of(run)
    box = Box.around(np.concatenate([sample.points for sample in train]))
    known, asked = (
        _with_input(data, [-box.signed_distance(sample.points)[:, None] for sample in data]) for data in (train, test)
    )
    return evaluate(run.fit(known), asked).errors


def samples_of(run: RunConfig) -> tuple[Dataset, Dataset]:
    """Return training and test samples, in memory."""
    train, test = run.samples()
    assert test is not None
    return train.in_memory(), test.in_memory()


def errors_of(test: Dataset, predict: Callable[[Sample], np.ndarray]) -> np.ndarray:
    """Return the relative L2 error of each test sample."""
    pairs = [(torch.from_numpy(predict(sample)), torch.from_numpy(sample.targets)) for sample in test]
    return np.array([float(relative_l2(predicted, target)) for predicted, target in pairs])


def _with_closed_form(run: RunConfig) -> tuple[Dataset, Dataset]:
    """Return training and test samples with the prediction of a closed form as last input channel."""
    train, test = samples_of(run)
    fitted = [fit(train, name) for name in ("linear", "kernel")]
    best = min(fitted, key=lambda surrogate: surrogate.scores["cv_error"])
    assert isinstance(best.operator, ClosedForm)
    held_out = torch.split(best.operator.leave_one_out(), train.num_points.tolist())
    predicted = [best.predict(sample.points, sample.inputs) for sample in test]
    return _with_input(train, [values.numpy() for values in held_out]), _with_input(test, predicted)


def _with_input(data: Dataset, further: list[np.ndarray]) -> Dataset:
    return _changed(data, inputs=[np.hstack([sample.inputs, own]) for sample, own in zip(data, further, strict=True)])


def _changed(data: Dataset, **changes: list[np.ndarray]) -> Dataset:
    arrays = {name: [getattr(sample, name) for sample in data] for name in ("inputs", "targets")} | changes
    return Dataset.from_arrays([sample.points for sample in data], **arrays)
