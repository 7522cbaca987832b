"""How often bands hold: every problem, operator and number of training samples, over many splits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.runs import Runs
from benchmarks.trust.cases import samples_of
from gola import fit
from gola.data.dataset import Dataset
from gola.operators.closed_form.closed_form import ClosedForm
from gola.operators.operator import FitResult, OperatorConfig
from gola.protocol import FitTask, TrainingConfig
from gola.registry import OPERATORS
from gola.surrogate.calibration_study import KINDS, LEVELS, judged_samples
from gola.surrogate.estimates import rank_correlation
from gola.surrogate.quick import quick_operator
from gola.surrogate.surrogate import Surrogate

METHODS = ("kernel", "linear", "pod_gp", "auto", "deeponet")
SIZES = (10, 20, 30, 50, 100)
NUM_TEST = 30
# Networks are trained six times for each cell, so shortly and for these sizes only.
NETWORK_SIZES, NUM_STEPS, NUM_FOLDS = (10, 30), 200, 5

KEYS = ("problem", "operator", "samples", "split")
BANDS = [f"{kind}_{100 * level:.0f}" for kind in KINDS for level in LEVELS]
MEASURED = ("error", "estimated_error", "rank_correlation", "half_width_90")


def runs_in(folder: Path) -> Runs:
    """Return the finished cells; of each band the share of test fields, or of points, that lay in it."""
    return Runs(path=folder / "bands.csv", columns=(*KEYS, *BANDS, *MEASURED), keys=KEYS)


def measure(runs: Runs, problem: str, size: int, split: int, operators: tuple[str, ...], data_seed: int) -> None:
    """Fit the operators that suit a problem to one split, and write down how their bands did."""
    missing = [name for name in operators if not runs.is_done(problem, name, size, split)]
    if not missing:
        return
    train, test = samples_of(problem, data_seed).split(num_train=size, num_test=NUM_TEST, seed=split)
    with shared_fits():
        for name in missing:
            if _suits(name, train, size):
                runs.append(problem, name, size, split, *judged_row(_fitted(train, name, split), test))


def _suits(name: str, train: Dataset, size: int) -> bool:
    is_network = not OPERATORS[name].holds_out
    return OPERATORS[name].is_worth_trying(FitTask.of(train)) and (size in NETWORK_SIZES or not is_network)


def _fitted(train: Dataset, name: str, split: int) -> Surrogate:
    operator: str | OperatorConfig = quick_operator(train) if name == "auto" else name
    options: dict[str, Any] = {}
    if not OPERATORS[name].holds_out:
        options = {"training": TrainingConfig(num_steps=NUM_STEPS, held_out_folds=NUM_FOLDS)}
    return fit(train, operator, seed=split, progress=False, **options)


def judged_row(surrogate: Surrogate, test: Dataset) -> list[str]:
    """Return how the bands of a surrogate did, as it is written down."""
    judged = judged_samples(surrogate, test)
    held = [
        f"{np.mean([one.held[level, kind] for one in judged]):.5g}" if (level, kind) in judged[0].held else ""
        for kind in KINDS
        for level in LEVELS
    ]
    estimated, actual = (np.array([getattr(one, name) for one in judged]) for name in ("estimated", "actual"))
    half_width = np.median([one.half_widths[0.9, "pointwise"] for one in judged])
    return [
        *held,
        *(f"{x:.4g}" for x in (actual.mean(), estimated.mean(), rank_correlation(estimated, actual), half_width)),
    ]


@contextmanager
def shared_fits() -> Iterator[None]:
    """Fit each closed form once to the same samples, by itself and as a member of `auto`."""
    known: dict[tuple[str, int], FitResult] = {}
    plain = ClosedForm.fit

    def fit_once(operator: ClosedForm, task: FitTask) -> FitResult:
        key = operator.name, len(task.targets)
        if key not in known:
            known[key] = plain(operator, task)
        return known[key]

    with patch.object(ClosedForm, "fit", fit_once):
        yield
