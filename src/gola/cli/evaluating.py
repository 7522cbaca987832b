"""Evaluate a surrogate, and show how far it is."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gola.display import Display

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

    done = dict.fromkeys(sizes, 0)
    with Display("Evaluating") as display:

        def show(size: int | None, num_done: int) -> None:
            done[size] = num_done
            display.update(f"{size or 'all'} points", sum(done.values()), len(done) * len(test))

        evaluations = evaluate_at(surrogate, test, sizes, metrics=metrics, seed=seed, on_progress=show)
    return as_record(evaluations, data=data, seed=seed)
