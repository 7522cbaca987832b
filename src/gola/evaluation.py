"""How good a surrogate is, on samples that it has never seen."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from gola.data.dataset import Dataset
from gola.metrics import relative_l2
from gola.surrogate import Surrogate


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Errors of a surrogate on test samples.

    Attributes:
        errors: Relative L2 error of each sample, channels of different units counting alike.
        channel_errors: The same for each channel by itself.
        seconds: Median time of a prediction.
    """

    errors: Float[np.ndarray, " sample"]
    channel_errors: Float[np.ndarray, "sample channel"]
    seconds: float

    @property
    def mean(self) -> float:
        """Mean error: what the paper reports."""
        return float(self.errors.mean())

    def to_dict(self) -> dict[str, object]:
        """Return plain numbers, ready for JSON."""
        return {
            "num_samples": len(self.errors),
            "mean": self.mean,
            "std": float(self.errors.std()),
            "median": float(np.median(self.errors)),
            "max": float(self.errors.max()),
            "channels": self.channel_errors.mean(axis=0).tolist(),
            "seconds": self.seconds,
        }


def evaluate(
    surrogate: Surrogate,
    data: Dataset,
    *,
    num_points: int | None = None,
    seed: int = 0,
    on_progress: Callable[[int], object] = lambda _: None,
) -> Evaluation:
    """Predict test samples at their own points, and compare with the truth.

    Args:
        surrogate: What to judge.
        data: Test samples.
        num_points: Points to keep of each sample, for input and prediction; all by default.
        seed: Decides which.
        on_progress: Called with the number of finished samples.
    """
    surrogate.require_channels(data.inputs, "The data set")
    if [channel.name for channel in data.targets] != [channel.name for channel in surrogate.targets]:
        raise ValueError(
            f"The data set has the target channels {', '.join(map(str, data.targets)) or 'none'}; the surrogate"
            f" predicts {', '.join(map(str, surrogate.targets))}."
        )
    data = data if num_points is None else data.subsample(num_points, seed=seed)
    errors, channel_errors, seconds = [], [], []
    for number, sample in enumerate(data, start=1):
        start = time.perf_counter()
        predictions = torch.from_numpy(surrogate.predict(sample.points, sample.inputs))
        seconds.append(time.perf_counter() - start)
        targets, sizes = torch.from_numpy(sample.targets), [sample.num_points]
        errors.append(float(relative_l2(predictions, targets, sizes, surrogate.scaling.targets.scale)))
        columns = zip(predictions.split(1, dim=1), targets.split(1, dim=1), strict=True)
        channel_errors.append([float(relative_l2(column, truth, sizes)) for column, truth in columns])
        on_progress(number)
    return Evaluation(
        errors=np.array(errors), channel_errors=np.array(channel_errors), seconds=float(np.median(seconds))
    )
