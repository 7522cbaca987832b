"""Whether versions of the code give the same numbers: ``python -m paper.versions``.

Work on what networks share with the rest of the library changes their code version, mostly without changing a number.
Repeating hours of runs would show that; so does a short one. The command trains every network of the tables for a few
steps on a few small samples and keeps the error beside the code version, in ``results/paper/short_runs.csv``. Results
of versions whose short runs end with the same error count as current.
"""

import functools
import math
import tempfile
from pathlib import Path

import torch

from benchmarks.runs import Runs
from gola.problems import make_problem
from gola.problems.generation import generate
from gola.protocol import TrainingConfig
from gola.runs import RunConfig, code_version, execute
from paper.contenders import CONTENDERS

_KEYS = ("operator", "code_version")
RUNS = Runs(path=Path("results/paper/short_runs.csv"), columns=(*_KEYS, "error"), keys=_KEYS)
_RESOLUTION, _NUM_POINTS, _NUM_STEPS = 24, 150, 20
# Rounding alone grows to about a millionth in so few steps, and any change of the arithmetic to far more than this.
_TOLERANCE = 1e-4


def main() -> None:
    """Do the short runs of the present code that are missing."""
    torch.set_num_threads(1)
    for operator in networks():
        version = code_version(operator)
        if not RUNS.is_done(operator, version):
            RUNS.append(operator, version, f"{short_error(operator):.8f}")


def networks() -> list[str]:
    """Return the operators of the tables that are trained."""
    names = [contender.operator for contender in CONTENDERS]
    return [name for name in names if RunConfig(data="", operator=name).heeds("training")]


def short_error(operator: str) -> float:
    """Train for a few steps, and return the error on other samples."""
    training = TrainingConfig(
        num_steps=_NUM_STEPS, batch_size=2, points_per_epoch=_NUM_POINTS, validation_share=0.0, patience=None
    )
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "short.h5"
        generate(make_problem("darcy", resolution=_RESOLUTION), data, num_samples=12, seed=0, num_workers=1)
        run = RunConfig(
            data=str(data),
            operator=operator,
            training=training,
            num_train=8,
            num_test=4,
            num_points=_NUM_POINTS,
            whole_training=True,
        )
        return execute(run).error


@functools.cache
def current_versions(operator: str) -> frozenset[str]:
    """Return the present code version of an operator and those that give the same numbers."""
    present, name = code_version(operator), operator.removesuffix("/default")
    errors = {row["code_version"]: float(row["error"]) for row in RUNS.finished() if row["operator"] == name}
    return frozenset({present, *_same(errors, present)})


def _same(errors: dict[str, float], present: str) -> list[str]:
    if present not in errors:
        return []
    return [name for name, error in errors.items() if math.isclose(error, errors[present], rel_tol=_TOLERANCE)]


if __name__ == "__main__":
    main()
