"""How much time to spend: seeds, steps of training, and how fine a grid of sizes and densities."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gola.protocol import TrainingConfig
from gola.runs import RunConfig
from paper import published
from paper.contenders import Contender

# All training samples are learned from: at 30 samples none can be spared, and no network gets fewer than another.
_NO_VALIDATION = TrainingConfig(validation_share=0.0, patience=None)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What the same tables cost.

    Attributes:
        name: What users choose it by.
        num_seeds: Seeds of the operators that are always repeated, in the cells of Tables 1 and 2.
        num_other_seeds: Seeds of everything else.
        training: How to train, by the name of the operator with its preset, or without; "others" for those not listed.
        longer: Epochs, where an operator needs more of them on a problem.
        dense_batches: Samples per step of an operator where there are more points than usual.
        settings: Changes to presets, where even the cheapest training of them costs too much.
        grid_sizes: Training samples of heatmaps and densities.
        grid_densities: Points of heatmaps and densities.
        seconds: Measured times of a run on one core, for estimates where no similar run is done: at 1000 points, and on
            the full grid.
    """

    name: str
    num_seeds: int
    num_other_seeds: int
    training: Mapping[str, TrainingConfig]
    longer: Mapping[tuple[str, str], int]
    dense_batches: Mapping[str, int]
    settings: Mapping[str, Mapping[str, int]]
    grid_sizes: tuple[int, ...]
    grid_densities: tuple[int, ...]
    seconds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def seeds_of(self, contender: Contender, *, in_table: bool = True) -> range:
        """Return the seeds to repeat an operator with, in a cell of Tables 1 and 2 or elsewhere."""
        return range(self.num_seeds if contender.always_repeated and in_table else self.num_other_seeds)

    def seconds_of(self, run: RunConfig) -> float | None:
        """Estimate the time of a run from the budget alone; None where nothing was measured."""
        if run.operator not in self.seconds:
            return None
        at_points, on_grid = self.seconds[run.operator]
        if run.num_points is None:
            # Their training is as long as there are samples, and those of curves have a quarter of the points.
            return on_grid * (run.num_train or 30) / 30 * (0.25 if Path(run.data).stem.endswith("_64") else 1.0)
        # Few points cost as much as a step's overhead; at more than the usual number there are fewer samples in a step.
        return at_points * (max(run.num_points / 1000, 0.1) if run.num_points <= 1000 else 0.5 * run.num_points / 1000)

    def training_of(self, operator: str, problem: str, *, dense: bool = False) -> TrainingConfig:
        """Return how to train an operator on a problem, with as many points as usual or more."""
        name = operator.partition("/")[0]
        training = self.training.get(operator) or self.training.get(name, self.training["others"])
        epochs = self.longer.get((name, problem), training.num_epochs)
        batch_size = self.dense_batches.get(operator, training.batch_size) if dense else training.batch_size
        return replace(training, num_epochs=epochs, batch_size=batch_size)


# Published settings of an FNO on these problems: 150 epochs in batches of 10, and 300 on advection (PPI-NO, arXiv
# 2502.02682). No length is published for the others.
_FNO = replace(_NO_VALIDATION, num_epochs=150, batch_size=10)
_FNO_LONGER = {("fno", "advection"): 300}

# Chosen on development data, see the decision on points drawn again.
_GOLA = replace(_NO_VALIDATION, num_steps=4000, batch_size=2, rates=(2e-3, 8e-3))

BUDGETS = {
    "quick": Budget(
        name="quick",
        num_seeds=1,
        num_other_seeds=1,
        training={"others": replace(_NO_VALIDATION, num_steps=20)},
        longer={},
        dense_batches={},
        settings={},
        grid_sizes=(5, 30),
        grid_densities=(20, 100),
    ),
    "standard": Budget(
        name="standard",
        num_seeds=3,
        num_other_seeds=1,
        training={
            "fno": _FNO,
            "deeponet": replace(_NO_VALIDATION, num_epochs=100, batch_size=10),
            "gola": _GOLA,
            "gola/paper": replace(_NO_VALIDATION, num_steps=2000, batch_size=2),
            "gkn": replace(_NO_VALIDATION, num_steps=1000, batch_size=2),
            # On the full grid a pass over a sample costs 30 times as much as one of GOLA at 1000 points.
            "gcn": replace(_NO_VALIDATION, num_steps=200, batch_size=2),
            "others": replace(_NO_VALIDATION, num_steps=1000),
        },
        longer=_FNO_LONGER,
        # A step at 4000 points then costs twice as much as one at 1000, instead of four times.
        dense_batches={"gola": 1},
        # A sixth of the preset's cost.
        settings={"gkn": {"width": 32, "kernel_width": 64}},
        grid_sizes=published.SIZES,
        grid_densities=(20, 40, 60, 80, 100, 300, 500, 1000),
        seconds={
            "gola": (220.0, 0.0),
            "gola/paper": (600.0, 0.0),
            "gkn": (170.0, 0.0),
            "gcn": (30.0, 300.0),
            "deeponet": (100.0, 60.0),
            "fno": (150.0, 400.0),
            "auto": (380.0, 0.0),
            "linear": (45.0, 0.0),
            "kernel": (8.0, 0.0),
            "nearest": (6.0, 0.0),
            "mean": (6.0, 0.0),
        },
    ),
    "paper": Budget(
        name="paper",
        num_seeds=5,
        num_other_seeds=5,
        training={
            "fno": _FNO,
            "deeponet": replace(_NO_VALIDATION, num_epochs=1000, batch_size=10),
            "gola": _GOLA,
            "gola/paper": replace(_NO_VALIDATION, num_epochs=500),
            "others": replace(_NO_VALIDATION, num_epochs=500),
        },
        longer=_FNO_LONGER,
        dense_batches={},
        settings={},
        grid_sizes=published.SIZES,
        grid_densities=published.DENSITIES,
    ),
}
