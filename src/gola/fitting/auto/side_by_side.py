"""Candidates fitted side by side: by processes on this machine, or by the workers of a Dask cluster."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import torch

from gola.executors import completed, workers_for
from gola.operators.operator import FitResult, Operator, OperatorConfig
from gola.protocol import FitTask, Session

# What is raised where an operator cannot be fitted to some samples.
UNFIT = (ValueError, np.linalg.LinAlgError, torch.linalg.LinAlgError)  # type: ignore[attr-defined]


def fit_candidate(kind: type[Operator], config: OperatorConfig, task: FitTask) -> FitResult:
    """Fit one candidate; what is random follows from the seed of the task alone."""
    torch.manual_seed(task.seed)
    return kind(config).fit(task)


def fitted_side_by_side(
    candidates: Mapping[str, tuple[type[Operator], OperatorConfig]], task: FitTask
) -> Iterator[tuple[str, FitResult | Exception]]:
    """Yield each candidate's fit, or why it cannot be fitted, as they come."""
    session = task.session
    # Whoever watches or stops this fit cannot be asked from elsewhere.
    apart = replace(task, session=Session(accelerator=session.accelerator, precision=session.precision))
    jobs = {name: (*candidate, apart) for name, candidate in candidates.items()}
    with workers_for(len(jobs), num_workers=session.num_workers, scheduler=session.scheduler) as workers:
        yield from completed(workers, _fit_or_reason, jobs)


def _fit_or_reason(kind: type[Operator], config: OperatorConfig, task: FitTask) -> FitResult | Exception:
    try:
        return fit_candidate(kind, config, task)
    except UNFIT as error:
        return error
