"""Evaluate a surrogate with a progress bar."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gola.cli.console import progress_bar

if TYPE_CHECKING:
    from gola.data.dataset import Dataset
    from gola.surrogate.surrogate import Surrogate


def evaluated(
    surrogate: "Surrogate",
    test: "Dataset",
    sizes: Sequence[int | None],
    *,
    metrics: Sequence[str] = (),
    seed: int,
    data: Path,
) -> dict[str, Any]:
    """Evaluate at several numbers of points, and return plain values.

    Args:
        surrogate: What to evaluate.
        test: Samples that it has never seen.
        sizes: Numbers of points to draw from each sample; None for all its points.
        metrics: Further metrics by name.
        seed: Random seed of which points.
        data: The file of the samples, to be kept with the numbers.
    """
    from gola.runs.evaluations import as_record, evaluate_at  # PyTorch is slow to import

    with progress_bar() as progress:
        tasks = {size: progress.add_task(f"Predicting {size or 'all'} points", total=len(test)) for size in sizes}
        evaluations = evaluate_at(
            surrogate,
            test,
            sizes,
            metrics=metrics,
            seed=seed,
            on_progress=lambda size, num_done: progress.update(tasks[size], completed=num_done),
        )
    return as_record(evaluations, data=data, seed=seed)
