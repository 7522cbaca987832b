"""Errors of a surrogate at several numbers of points, and how a run keeps them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gola.data.dataset import Dataset
from gola.surrogate.evaluation import Evaluation, evaluate
from gola.surrogate.surrogate import Surrogate


def evaluate_at(
    surrogate: Surrogate,
    test: Dataset,
    sizes: Sequence[int | None],
    *,
    metrics: Sequence[str] = (),
    seed: int,
    on_progress: Callable[[int | None, int], object] = lambda _size, _num_done: None,
) -> dict[int | None, Evaluation]:
    """Evaluate at several numbers of points.

    Args:
        surrogate: What to evaluate.
        test: Samples that it has never seen.
        sizes: Numbers of points to draw from each sample; None for all its points.
        metrics: Further metrics besides the relative L2 error, by name.
        seed: Random seed of which points.
        on_progress: Called with the number of points and the number of finished samples.
    """
    fewest = int(test.num_points.min())
    most = max(size or 1 for size in sizes)
    if most > fewest:
        raise ValueError(
            f"Cannot draw {most} points from every sample: the smallest has {fewest}; ask for 1 to {fewest}."
        )
    return {
        size: evaluate(
            surrogate,
            test,
            metrics=metrics,
            num_points=size,
            seed=seed,
            on_progress=lambda num_done, size=size: on_progress(size, num_done),  # type: ignore[misc]
        )
        for size in sizes
    }


def as_record(evaluations: Mapping[int | None, Evaluation], *, data: str | Path, seed: int) -> dict[str, Any]:
    """Return evaluations as plain values, ready for JSON.

    Args:
        evaluations: By number of points; None for all points.
        data: The file of the samples.
        seed: Random seed of which points.
    """
    rows = [
        {
            "num_points": size,
            **evaluation.to_dict(),
            "errors": evaluation.errors.tolist(),
            "channel_errors": evaluation.channel_errors.tolist(),
            "estimates": [asdict(estimate) for estimate in evaluation.estimates],
        }
        for size, evaluation in evaluations.items()
    ]
    return {"data": str(data), "seed": seed, "evaluations": rows}
