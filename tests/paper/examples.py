"""A protocol so tiny that its runs take no time, and made-up results."""

import math
from dataclasses import replace
from pathlib import Path

from gola.protocol import TrainingConfig
from gola.runs import RunConfig, RunResult
from paper.budgets import BUDGETS, Budget
from paper.cells import TARGETS, Cell, cells_of, run_of, seeds_of
from paper.contenders import TABLES, Contender
from paper.protocol import Capacity, Protocol
from paper.reproduction import Reproduction
from paper.rows import Row
from paper.store import Store

TINY = Protocol(
    problems=("darcy", "eikonal"),
    further_problems=(),
    parameters={"resolution": 16},
    num_samples=16,
    data_seed=1,
    num_test=4,
    few=5,
    many=8,
    num_points=60,
    densities=(20, 60),
    test_points=(30, 60, 120),
    dense=120,
    dense_sizes=(5, 8),
    sizes=(5, 8),
    curve_resolution=None,
    contenders=(
        Contender(operator="gcn", title="GCN", targets=("table1",), published="gcn", on_grid=True, grid_radius=1.2),
        Contender(
            operator="nearest", title="nearest", targets=(*TABLES, "heatmaps", "densities"), always_repeated=True
        ),
        Contender(operator="mean", title="mean", always_repeated=True),
    ),
    capacity=Capacity(num_points=(60,), settings={"num_modes": (4,)}),
)
BRIEF = Budget(
    name="brief",
    num_seeds=2,
    num_other_seeds=1,
    training={"others": TrainingConfig(num_epochs=1, validation_share=0.0)},
    longer={},
    settings={},
    grid_sizes=(5, 8),
    grid_densities=(20, 60),
)


def tiny_work(folder):
    return Reproduction(budget=BRIEF, out=folder / "out", work=folder / "work", data=folder / "data", protocol=TINY)


def made_result(run: RunConfig, error, **facts):
    """A result with that mean error, a little higher at fewer points; errors of single samples are half as far away."""
    half = run.num_test // 2
    usual = {
        "data": Path(run.data).stem,
        "errors": (0.5 * error, 1.5 * error) * half,
        "errors_by_points": {number: (error * (1000 / number) ** 0.1,) for number in run.test_points},
        "scores": {"training_error": error / 4} if run.heeds("training") else {"cv_error": error},
        "num_parameters": 1000,
        "fit_seconds": 8.0,
        "predict_seconds": 0.01,
        "seconds": 10.0,
        "code_version": "another",
        "finished": "2026-01-01T00:00:00+00:00",
    }
    return RunResult(run=run, **{**usual, **facts})


def made_row(run, error, **facts):
    """The row of such a result."""
    return Row.of(made_result(run, error, **facts))


def made_store(errors=None, *, budget=None, protocol=None, targets=tuple(TARGETS)):
    """All results of some targets, with errors by a function of cell and seed; None for no result."""
    protocol, budget = protocol or Protocol(), budget or BUDGETS["standard"]
    error_of = errors or plausible
    rows, cells = [], cells_of(targets, protocol, budget)
    for cell in cells:
        for seed in seeds_of(cell, protocol, budget):
            error = error_of(cell, seed)
            if error is not None:
                rows.append(made_row(run_of(cell, protocol, budget, Path("data"), seed), error))
    return Store(
        protocol=protocol,
        budget=budget,
        rows=tuple(rows),
        fingerprints={problem: [problem] for problem in (*protocol.compared, *(cell.problem for cell in cells))},
        data=Path("data"),
    )


_LEVELS = {"gcn": 4.0, "deeponet": 2.0, "fno": 0.8, "gkn": 1.1, "gola/paper": 1.5, "gola": 1.0, "linear": 0.2}


def plausible(cell: Cell, seed: int) -> float:
    """An error that falls with samples and points."""
    points = cell.num_points or 16384
    rising = 1.0 if cell.operator != "gkn" else (points / 300) ** 0.3
    scale = math.prod(value**-0.2 for _, value in cell.settings)
    falls = (cell.num_train / 30) ** -0.6 * (points / 1000) ** -0.2
    return 0.3 * _LEVELS.get(cell.operator, 3.0) * falls * rising * scale * (1 + 0.05 * seed)


def without(store, **facts):
    """The same store without rows whose runs have these facts."""
    kept = [row for row in store.rows if any(getattr(row.run, name) != value for name, value in facts.items())]
    return replace(store, rows=tuple(kept))
