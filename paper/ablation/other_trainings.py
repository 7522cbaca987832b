"""Ways to train the spectral operator that no setting describes; none of them became the default.

Each has the samples, points, settings and length of training of "spectral" in the ablation.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
import torch

from gola import Dataset, Surrogate, evaluate
from gola.fitting.training import train
from gola.fitting.training.samples import Objective, PreparedSamples
from gola.protocol import FitTask
from gola.runs import RunConfig, code_version, fingerprint_of
from paper.ablation.other_inputs import (
    boundary_distance,
    closed_form_as_input,
    correction_of_closed_form,
    errors_of,
    samples_of,
)
from paper.ablation.other_projections import cell_areas, equal_weights
from paper.rows import Errors, Row, problem_of, versions_text

_MORE_STEPS, _LOW_RATE = 500, 2e-4
_LBFGS_STEPS = 100
_NUM_NETWORKS = 5


def run_other(run: RunConfig, variant: str) -> Row:
    """Do a run with one of :data:`OTHER_TRAININGS`, on one thread."""
    code, start = code_version(run.operator), time.perf_counter()
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        errors = OTHER_TRAININGS[variant](run)
    finally:
        torch.set_num_threads(num_threads)
    return Row(
        run=replace(run, data=problem_of(run)),
        variant=variant,
        data=fingerprint_of(run.data),
        errors=Errors.of(errors.tolist()),
        seconds=time.perf_counter() - start,
        num_threads=1,
        versions=versions_text({name: version(name) for name in ("gola", "torch", "numpy")}),
        code_version=code,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def mean_of_networks(run: RunConfig) -> np.ndarray:
    """Predict by the mean of several networks, each with its own initial weights and order of samples."""
    known, test = samples_of(run)
    # Seeds that no other run has.
    networks = [replace(run, seed=1000 * (run.seed + 1) + number).fit(known) for number in range(_NUM_NETWORKS)]
    return errors_of(
        test, lambda sample: np.mean([each.predict(sample.points, sample.inputs) for each in networks], axis=0)
    )


def more_steps(run: RunConfig) -> np.ndarray:
    """Continue for a quarter of the steps, at a twentieth of the learning rate, which then falls to zero."""

    def go_on(surrogate: Surrogate, known: Dataset) -> None:
        training = replace(run.training, num_steps=_MORE_STEPS, learning_rate=_LOW_RATE)
        train(surrogate.operator, FitTask.of(known, training=training, seed=run.seed), surrogate.scaling)

    return _continued(run, go_on)


def lbfgs(run: RunConfig) -> np.ndarray:
    """Continue with L-BFGS on all training samples at once."""

    def go_on(surrogate: Surrogate, known: Dataset) -> None:
        prepared = PreparedSamples(samples=list(known), operator=surrogate.operator, scaling=surrogate.scaling)
        objective = Objective(surrogate.operator, prepared)
        optimiser = torch.optim.LBFGS(
            surrogate.operator.parameters(), max_iter=_LBFGS_STEPS, history_size=30, line_search_fn="strong_wolfe"
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


def _continued(run: RunConfig, go_on: Callable[[Surrogate, Dataset], None]) -> np.ndarray:
    known, test = samples_of(run)
    surrogate = run.fit(known)
    surrogate.operator.train()
    go_on(surrogate, known)
    surrogate.operator.eval()
    return evaluate(surrogate, test).errors


OTHER_TRAININGS: dict[str, Callable[[RunConfig], np.ndarray]] = {
    "sums with equal weights": equal_weights,
    "sums with Voronoi weights": cell_areas,
    "closed form as input": closed_form_as_input,
    "correction of the closed form": correction_of_closed_form,
    "distance to the boundary as input": boundary_distance,
    "500 more steps at a low rate": more_steps,
    "L-BFGS at the end": lbfgs,
    "mean of five networks": mean_of_networks,
}
"""Functions of a run that return the error of each test sample."""
