"""How good a surrogate is, on samples that it has never seen."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.dataset import Dataset
from gola.data.sample import Sample, as_rows
from gola.display import Display
from gola.registry import METRICS
from gola.surrogate.estimates import estimated_errors, rank_correlation, usual_level
from gola.surrogate.surrogate import Surrogate
from gola.surrogate.uncertainty.prediction import ErrorEstimate

Metric = Callable[[Tensor, Tensor], Any]
"""A function of predictions and targets, both (points, channels), that returns one number."""

# Rows of samples that are predicted together: most of the gain, and progress is still seen.
_TOGETHER = 2**14
ERROR, VARIATION = "relative_l2", "variation_error"
"""The metrics that are always computed: the paper's, and the error relative to how a target varies."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Errors of a surrogate on test samples.

    Attributes:
        errors: Relative L2 error of each sample, channels of different units counting alike; of a trajectory over all
            its times.
        channel_errors: The same for each channel by itself.
        variation_errors: The L2 error of each sample and channel relative to how the target varies over the points.
        seconds: Median time of a prediction, of those that are made together by one call.
        metrics: Further metrics of each sample by name, computed on all channels together in units of their spread.
        channel_metrics: The same for each channel by itself, in its own unit.
        estimates: The error that was to be expected of each prediction; empty where the surrogate cannot say.
        level: The probability of their intervals.
    """

    errors: Float[np.ndarray, " sample"]
    channel_errors: Float[np.ndarray, "sample channel"]
    variation_errors: Float[np.ndarray, "sample channel"]
    seconds: float
    metrics: Mapping[str, Float[np.ndarray, " sample"]] = field(default_factory=dict)
    channel_metrics: Mapping[str, Float[np.ndarray, "sample channel"]] = field(default_factory=dict)
    estimates: tuple[ErrorEstimate, ...] = ()
    level: float | None = None

    @property
    def mean(self) -> float:
        """Mean error: what the paper reports."""
        return float(self.errors.mean())

    @property
    def num_within(self) -> int:
        """How many errors lay in their intervals."""
        pairs = zip(self.estimates, self.errors.tolist(), strict=True) if self.estimates else ()
        return sum(one.lower <= error <= one.upper for one, error in pairs)

    def to_dict(self) -> dict[str, object]:
        """Return plain numbers, ready for JSON."""
        return {
            "num_samples": len(self.errors),
            "mean": self.mean,
            "std": float(self.errors.std()),
            "median": float(np.median(self.errors)),
            "max": float(self.errors.max()),
            "channels": self.channel_errors.mean(axis=0).tolist(),
            "variation": self.variation_errors.mean(axis=0).tolist(),
            "metrics": {
                name: {"mean": float(values.mean()), "channels": self.channel_metrics[name].mean(axis=0).tolist()}
                for name, values in self.metrics.items()
            },
            "seconds": self.seconds,
            **({"estimated": self._estimated()} if self.estimates else {}),
        }

    def _estimated(self) -> dict[str, float | int | None]:
        values = np.array([one.value for one in self.estimates])
        return {
            "mean": float(values.mean()),
            "level": self.level,
            "num_within": self.num_within,
            "rank_correlation": rank_correlation(values, self.errors),
        }


def evaluate(
    surrogate: Surrogate,
    data: Dataset,
    *,
    metrics: Sequence[str | Metric] = (),
    num_points: int | None = None,
    seed: int = 0,
    on_progress: Callable[[int], object] | None = None,
    progress: bool = True,
) -> Evaluation:
    """Predict test samples at their own points, and compare with the truth.

    Args:
        surrogate: What to judge.
        data: Test samples.
        metrics: Further metrics besides the relative L2 error, by name (``"relative_l1"``, ``"rmse"``, ``"max_error"``,
            ``"r2"``, or one that was registered) or as functions of predictions and targets.
        num_points: Points to keep of each sample, for input and prediction; all by default.
        seed: Random seed of which.
        on_progress: Called with the number of finished samples.
        progress: Whether to show on standard error how far it is, if it takes long and nobody else watches.
    """
    surrogate.require_channels(data, "The data set")
    if [channel.name for channel in data.targets] != [channel.name for channel in surrogate.targets]:
        raise ValueError(
            f"The data set has the target channels {', '.join(map(str, data.targets)) or 'none'}; the surrogate"
            f" predicts {', '.join(map(str, surrogate.targets))}."
        )
    named = _named([ERROR, VARIATION, *metrics])
    data = data if num_points is None else data.subsample(num_points, seed=seed)
    scale = torch.tensor(surrogate.scaling.target_scales, dtype=torch.float64)
    overall: dict[str, list[float]] = {name: [] for name in named}
    by_channel: dict[str, list[list[float]]] = {name: [] for name in named}
    seconds: list[float] = []
    estimates: list[ErrorEstimate] = []
    with Display("Evaluating", enabled=progress and on_progress is None) as display:
        for portion in _portions(data):
            start = time.perf_counter()
            answers = surrogate.predict(portion)
            seconds += [(time.perf_counter() - start) / len(portion)] * len(portion)
            estimates += estimated_errors(surrogate, list(portion), answers)
            for sample, answer in zip(portion, answers, strict=True):
                predictions, targets = (torch.from_numpy(as_rows(values)) for values in (answer, sample.targets))
                columns = list(zip(predictions.split(1, dim=1), targets.split(1, dim=1), strict=True))
                for name, metric in named.items():
                    overall[name].append(float(metric(predictions / scale, targets / scale)))
                    by_channel[name].append([float(metric(found, truth)) for found, truth in columns])
            display.update("samples", len(seconds), len(data))
            if on_progress is not None:
                on_progress(len(seconds))
    errors, channel_errors = np.array(overall.pop(ERROR)), np.array(by_channel.pop(ERROR))
    del overall[VARIATION]
    return Evaluation(
        errors=errors,
        channel_errors=channel_errors,
        variation_errors=np.array(by_channel.pop(VARIATION)),
        seconds=float(np.median(seconds)),
        metrics={name: np.array(values) for name, values in overall.items()},
        channel_metrics={name: np.array(values) for name, values in by_channel.items()},
        estimates=tuple(estimates),
        level=usual_level(surrogate),
    )


def _portions(data: Dataset) -> Iterator[Dataset]:
    """Cut a data set into parts that are predicted by one call each; samples are read when their part is."""
    samples: list[Sample] = []
    for sample in data:
        if samples and sum(len(as_rows(one.targets)) for one in (*samples, sample)) > _TOGETHER:
            yield replace(data, samples=tuple(samples))
            samples = []
        samples.append(sample)
    yield replace(data, samples=tuple(samples))


def _named(metrics: Sequence[str | Metric]) -> dict[str, Metric]:
    """Look metrics up, and name those that are functions."""
    if isinstance(metrics, str):
        raise ValueError(f"metrics must be a sequence, like ['rmse']; got {metrics!r}.")
    named: dict[str, Metric] = {}
    for metric in metrics:
        name = metric if isinstance(metric, str) else getattr(metric, "__name__", type(metric).__name__)
        named[name] = METRICS[metric] if isinstance(metric, str) else metric
    return named
