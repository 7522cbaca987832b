"""Check runs against their data before the first of them starts."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from gola.data.dataset import Dataset
from gola.fitting.configs import config_for, kind_of
from gola.runs.config import RunConfig

# Enough to make a config: nothing is fitted to them.
_FEW_POINTS = 32


def require_runnable(runs: Iterable[RunConfig]) -> None:
    """Check runs against their data: numbers of samples and points, operator, settings.

    Raises:
        ValueError: For the first run that cannot work, with what to change.
    """
    for run in runs:
        whole = Dataset.load(run.data)
        if not whole.targets:
            raise ValueError(f"{run.data} has inputs only; a run needs targets, to fit to and to evaluate on.")
        _require_points(run, whole)
        num_fitted = _num_fitted(run, whole)
        one = whole.select([0])
        one = one.subsample(min(_FEW_POINTS, int(one.num_points[0])))
        require_alike(run.settings, asdict(config_for(one, run.operator)), run.operator)
        kind = kind_of(config_for(one, run.operator, **run.settings))
        if num_fitted < kind.min_samples:
            raise ValueError(
                f"{run.operator} needs at least {kind.min_samples} training samples; it would get {num_fitted}."
            )


def _require_points(run: RunConfig, whole: Dataset) -> None:
    fewest = int(np.min(whole.num_points))
    for number in (run.num_points, *run.test_points):
        if number is not None and not 1 <= number <= fewest:
            raise ValueError(
                f"Cannot draw {number} points from every sample of {run.data}: the smallest has {fewest}; ask for 1 to"
                f" {fewest}."
            )


def _num_fitted(run: RunConfig, whole: Dataset) -> int:
    """Return how many samples a run fits to, and check that it has some to be evaluated on."""
    if run.num_train is not None and not 1 <= run.num_train <= len(whole):
        raise ValueError(f"Cannot take {run.num_train} training samples from {run.data}, which has {len(whole)}.")
    train, test = run.whole_samples()
    if test is None:
        raise ValueError(
            f"{run.data} has {len(whole)} samples; take fewer of them for training, so that some are left for testing."
        )
    return len(train)


def require_alike(settings: Mapping[str, Any], defaults: Mapping[str, Any], label: str) -> None:
    """Check that values have the type of their defaults; whether there are such settings is checked elsewhere.

    Args:
        settings: Values by name.
        defaults: Default values by name; None stands for a number that is left open.
        label: What they belong to, in messages.
    """
    for name, value in settings.items():
        if name in defaults and not _alike(value, defaults[name]):
            default = "a whole number" if defaults[name] is None else f"like its default, {defaults[name]!r}"
            raise ValueError(f"{label}: {name} must be {default}; got {value!r}.")


def _alike(value: Any, default: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if default is None:
        return value is None or isinstance(value, int)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))
