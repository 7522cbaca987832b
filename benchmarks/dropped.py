"""Other ways to train the spectral operator: ``python -m benchmarks.dropped``.

All were dropped as a default; only the automatic choice still tries one of them, to start from a closed form. Each run
has the samples, points, settings and length of training of "spectral" in the ablation, whose page shows what comes out
here as well (``python -m benchmarks.ablation --page-only``). It is kept in ``results/ablation/dropped.csv`` as soon as
it ends, and a second call does only what is missing.
"""

import argparse
import itertools
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.runs import Runs
from benchmarks.variants import PAPER_PROBLEMS, SPECTRAL
from gola import Dataset, Surrogate, evaluate, fit
from gola.data.sample import Sample
from gola.fitting.training import train
from gola.fitting.training.samples import Objective, PreparedSamples
from gola.geometry import Box, voronoi_weights
from gola.metrics import relative_l2
from gola.operators.cloud import Cloud
from gola.operators.spectral.projection import with_spectra
from gola.runs import RunConfig

RUNS = Runs(
    path=Path("results/ablation/dropped.csv"),
    columns=("variant", "problem", "num_train", "seed", "error", "seconds"),
    keys=("variant", "problem", "num_train", "seed"),
)
_TAIL_STEPS, _TAIL_RATE = 500, 2e-4
_POLISH_STEPS = 100
_NUM_NETWORKS = 5


def equal_weights(run: RunConfig) -> float:
    """Project on waves by sums in which all points count the same, as the paper does."""
    return _with_weights(run, lambda points: np.full(len(points), 1.0 / len(points)))


def voronoi(run: RunConfig) -> float:
    """Project on waves by sums in which points count by the area around them."""
    return _with_weights(run, lambda points: voronoi_weights(points, Box.around(points)) / Box.around(points).measure)


def _with_weights(run: RunConfig, weights_of: Callable[[np.ndarray], np.ndarray]) -> float:
    def summed(cloud: Cloud, **settings: Any) -> Cloud:
        exact = with_spectra(cloud, **settings)
        assert exact.spectra is not None
        spectra = [
            replace(spectrum, analysis=spectrum.functions.mT * torch.from_numpy(weights_of(points.numpy())).float())
            for spectrum, points in zip(exact.spectra, torch.split(cloud.points.double(), cloud.sizes), strict=True)
        ]
        return replace(exact, spectra=tuple(spectra))

    with patch("gola.operators.spectral.spectral.with_spectra", summed):
        train_set, test = run.samples()
        assert test is not None
        return evaluate(run.fit(train_set), test.in_memory()).mean


def closed_form_as_input(run: RunConfig) -> float:
    """Give the network what the best closed form predicts as a further input: for training samples, left out."""
    train_set, test = _stacked(run)
    return evaluate(run.fit(train_set), test).mean


def from_closed_form(run: RunConfig) -> float:
    """Let the network, with that input, only learn what the closed form misses."""
    train_set, test = _stacked(run)
    surrogate = run.fit(_of(train_set, targets=[one.targets - one.inputs[:, -1:] for one in train_set]))
    return _mean_error(test, lambda one: one.inputs[:, -1:] + surrogate.predict(one.points, one.inputs))


def mean_of_networks(run: RunConfig) -> float:
    """Let several networks, each with its own initial weights and order of samples, predict together by their mean."""
    train_set, test = (data.in_memory() for data in run.samples() if data is not None)
    # Seeds that no other run has.
    networks = [replace(run, seed=1000 * (run.seed + 1) + number).fit(train_set) for number in range(_NUM_NETWORKS)]
    return _mean_error(test, lambda one: np.mean([each.predict(one.points, one.inputs) for each in networks], axis=0))


def _mean_error(test: Dataset, predict: Callable[[Sample], np.ndarray]) -> float:
    pairs = [(torch.from_numpy(predict(one)), torch.from_numpy(one.targets)) for one in test]
    return float(np.mean([float(relative_l2(found, truth, [len(truth)])) for found, truth in pairs]))


def _stacked(run: RunConfig) -> tuple[Dataset, Dataset]:
    """Return training and test samples with the prediction of a closed form as last input channel."""
    train_set, test = (data.in_memory() for data in run.samples() if data is not None)
    fitted = [fit(train_set, name) for name in ("linear", "kernel")]
    closed_form = min(fitted, key=lambda surrogate: surrogate.scores["cv_error"])
    held_out = torch.split(closed_form.operator.leave_one_out(), train_set.num_points.tolist())
    predicted = [closed_form.predict(one.points, one.inputs) for one in test]
    return _with_input(train_set, [one.numpy() for one in held_out]), _with_input(test, predicted)


def _with_input(data: Dataset, further: list[np.ndarray]) -> Dataset:
    return _of(data, inputs=[np.hstack([one.inputs, own]) for one, own in zip(data, further, strict=True)])


def _of(data: Dataset, **changes: list[np.ndarray]) -> Dataset:
    arrays = {name: [getattr(one, name) for one in data] for name in ("inputs", "targets")} | changes
    return Dataset.from_arrays([one.points for one in data], **arrays)


def boundary_distance(run: RunConfig) -> float:
    """Give the network the distance of each point from the boundary of the box as a further input."""
    train_set, test = (data.in_memory() for data in run.samples() if data is not None)
    box = Box.around(np.concatenate([one.points for one in train_set]))
    known, asked = (
        _with_input(data, [-box.signed_distance(one.points)[:, None] for one in data]) for data in (train_set, test)
    )
    return evaluate(run.fit(known), asked).mean


def longer_tail(run: RunConfig) -> float:
    """Go on for a quarter of the steps, at a twentieth of the learning rate that then falls to zero."""

    def go_on(surrogate: Surrogate, train_set: Dataset) -> None:
        tail = replace(run.training, num_steps=_TAIL_STEPS, learning_rate=_TAIL_RATE)
        train(surrogate.operator, list(train_set), surrogate.scaling, tail, seed=run.seed)

    return _continued(run, go_on)


def polished(run: RunConfig) -> float:
    """Go on with L-BFGS on all training samples at once."""

    def go_on(surrogate: Surrogate, train_set: Dataset) -> None:
        prepared = PreparedSamples(samples=list(train_set), operator=surrogate.operator, scaling=surrogate.scaling)
        objective = Objective(surrogate.operator, prepared)
        optimiser = torch.optim.LBFGS(
            surrogate.operator.parameters(), max_iter=_POLISH_STEPS, history_size=30, line_search_fn="strong_wolfe"
        )

        def closure() -> float:
            optimiser.zero_grad()
            total = 0.0
            for row in range(len(prepared)):
                error = objective([row], 0)[0].mean() / len(prepared)
                error.backward()
                total += float(error.detach())
            return total

        optimiser.step(closure)

    return _continued(run, go_on)


def _continued(run: RunConfig, go_on: Callable[[Surrogate, Dataset], None]) -> float:
    train_set, test = run.samples()
    assert test is not None
    surrogate = run.fit(train_set)
    surrogate.operator.train()
    go_on(surrogate, train_set.in_memory())
    surrogate.operator.eval()
    return evaluate(surrogate, test.in_memory()).mean


VARIANTS: dict[str, Callable[[RunConfig], float]] = {
    "spectral, sums with equal weights": equal_weights,
    "spectral, sums with Voronoi weights": voronoi,
    "spectral, closed form as input": closed_form_as_input,
    "spectral, starting from closed form": from_closed_form,
    "spectral, distance to the boundary as input": boundary_distance,
    "spectral, longer tail": longer_tail,
    "spectral, L-BFGS polish": polished,
    "spectral, mean of five networks": mean_of_networks,
}


def errors_of(problem: str, num_train: int, variant: str) -> list[float]:
    """Return the errors of all seeds that are finished."""
    key = (variant, problem, str(num_train))
    return [float(row["error"]) for row in RUNS.finished() if (row["variant"], row["problem"], row["num_train"]) == key]


def main() -> None:
    """Run what is missing of the chosen variants, problems, sizes and seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--problems", nargs="+", default=list(PAPER_PROBLEMS), choices=PAPER_PROBLEMS)
    parser.add_argument("--sizes", nargs="+", type=int, default=[30], choices=[30, 100])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    options = parser.parse_args()
    torch.set_num_threads(1)
    for seed, size, variant, problem in itertools.product(
        options.seeds, options.sizes, options.variants, options.problems
    ):
        if not RUNS.is_done(variant, problem, size, seed):
            start = time.perf_counter()
            error = VARIANTS[variant](SPECTRAL.run(problem, size, seed))
            RUNS.append(variant, problem, size, seed, f"{error:.5f}", f"{time.perf_counter() - start:.0f}")


if __name__ == "__main__":
    main()
