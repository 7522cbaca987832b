"""How much time to spend: seeds, steps of training, and how fine a grid of sizes and densities."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from gola.protocol import TrainingConfig
from gola.runs import RunConfig
from paper import published
from paper.contenders import Contender

# All training samples are learned from: at 30 samples none can be spared, and no network gets fewer than another.
_NO_VALIDATION = TrainingConfig(validation_share=0.0, patience=None)

Density = Literal["sparse", "usual", "dense"]
"""Whether there are fewer points than usual, as many or more."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What the same tables cost.

    Attributes:
        name: What users choose it by.
        num_seeds: Seeds of the operators that are always repeated, in the cells of Tables 1 and 2.
        num_other_seeds: Seeds of everything else.
        training: How to train, by the name of the operator with its preset, or without; "others" for those not listed.
        longer: Epochs, where an operator needs more of them on a problem.
        sparse: How to train, by the name of the operator, where there are fewer points than usual.
        dense: The same where there are more.
        samples: Training samples that numbers of steps are meant for: more samples get more steps and fewer get fewer,
            by the square root. None for as many steps always.
        settings: Changes to presets, by the name of the operator.
        drawn: Points of a sample in a training step, by the name of the operator, where a sample has more: a step is
            cheaper, and there can be more of them. Settings are for these; with fewer points a preset's radius follows
            them.
        grid_sizes: Training samples of heatmaps and densities.
        grid_densities: Points of heatmaps and densities.
        seconds: Measured times of a run on one quiet core, for estimates: at 1000 points, and on the full grid. Others
            are estimated by similar runs.
    """

    name: str
    num_seeds: int
    num_other_seeds: int
    training: Mapping[str, TrainingConfig]
    longer: Mapping[tuple[str, str], int]
    settings: Mapping[str, Mapping[str, float]]
    grid_sizes: tuple[int, ...]
    grid_densities: tuple[int, ...]
    sparse: Mapping[str, TrainingConfig] = field(default_factory=dict)
    dense: Mapping[str, TrainingConfig] = field(default_factory=dict)
    drawn: Mapping[str, int] = field(default_factory=dict)
    samples: int | None = None
    seconds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def seeds_of(self, contender: Contender, *, in_table: bool = True) -> range:
        """Return the seeds to repeat an operator with, in a cell of Tables 1 and 2 or elsewhere."""
        return range(self.num_seeds if contender.always_repeated and in_table else self.num_other_seeds)

    def settings_of(self, operator: str, num_points: int | None) -> dict[str, float]:
        """Return the changes to an operator's preset at a number of points, None for the full grid."""
        settings = dict(self.settings.get(operator, {}))
        if num_points is not None and num_points < self.drawn.get(operator, 0):
            settings.pop("radius", None)
        return settings

    def points_in_step(self, operator: str, num_points: int) -> int:
        """Return how many points of a sample a training step sees."""
        return min(num_points, self.drawn.get(operator, num_points))

    def seconds_of(self, run: RunConfig) -> float | None:
        """Estimate the time of a run from the budget alone; None where nothing was measured."""
        if run.operator not in self.seconds:
            return None
        at_points, on_grid = self.seconds[run.operator]
        if run.num_points is None:
            # Their training is as long as there are samples, and those of curves have a quarter of the points.
            return on_grid * (run.num_train or 30) / 30 * (0.25 if Path(run.data).stem.endswith("_64") else 1.0)
        usual = self.training_of(run.operator, "")
        lengthened = run.training.num_steps / usual.num_steps if run.training.num_epochs is None else 1.0
        # Every rate to choose from costs a fifth of a run, and few points cost as much as a step's overhead.
        tried = (1 + 0.2 * len(run.training.rates)) / (1 + 0.2 * len(usual.rates))
        size = max(run.num_points / 1000, 0.2) * run.training.batch_size / usual.batch_size
        return at_points * lengthened * tried * size

    def training_of(
        self, operator: str, problem: str, *, num_train: int | None = None, density: Density = "usual"
    ) -> TrainingConfig:
        """Return how to train an operator on a problem.

        Args:
            operator: Its name, or name and preset.
            problem: Name of the problem.
            num_train: Training samples; by default as many as the numbers of steps are meant for.
            density: Whether there are as many points as usual.
        """
        name = operator.partition("/")[0]
        training = self.training.get(operator) or self.training.get(name, self.training["others"])
        training = {"sparse": self.sparse, "usual": {}, "dense": self.dense}[density].get(operator, training)
        epochs = self.longer.get((name, problem), training.num_epochs)
        if epochs is not None or num_train is None or self.samples is None:
            return replace(training, num_epochs=epochs)
        return replace(training, num_steps=round(training.num_steps * math.sqrt(num_train / self.samples)))


# Published settings of an FNO on these problems: 150 epochs in batches of 10, and 300 on advection (PPI-NO, arXiv
# 2502.02682). No length is published for the others.
_FNO = replace(_NO_VALIDATION, num_epochs=150, batch_size=10)
_FNO_LONGER = {("fno", "advection"): 300}

# Chosen on development data, see the decision on points drawn again.
_GOLA = replace(_NO_VALIDATION, num_steps=4000, batch_size=2, rates=(2e-3, 8e-3))
# Figures and the other tables have many more cells: half the steps, at a rate between the two.
_GOLA_SPARSE = replace(_GOLA, num_steps=2000, rates=(), learning_rate=4e-3)
# Chosen on development data too, and frozen after the others, see the same decision.
_GKN = replace(_NO_VALIDATION, num_steps=2000, batch_size=2, learning_rate=4e-3)

BUDGETS = {
    "quick": Budget(
        name="quick",
        num_seeds=1,
        num_other_seeds=1,
        training={"others": replace(_NO_VALIDATION, num_steps=20)},
        longer={},
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
            "gola/paper": replace(_NO_VALIDATION, num_steps=1000, batch_size=2),
            "gkn": _GKN,
            # On the full grid a pass over a sample costs 30 times as much as one of GOLA at 1000 points.
            "gcn": replace(_NO_VALIDATION, num_steps=100, batch_size=2),
            "others": replace(_NO_VALIDATION, num_steps=1000),
        },
        longer=_FNO_LONGER,
        sparse={"gola": _GOLA_SPARSE, "gkn": replace(_GKN, num_steps=1000)},
        # One sample of 4000 points costs as much as two batches of two samples of 1000.
        dense={"gola": replace(_GOLA_SPARSE, num_steps=3000, batch_size=1)},
        samples=30,
        # A sixth of the preset's cost, and iterations that cross the domain, as those of its authors' code do, which
        # has radius 0.2 on 200 points.
        settings={"gkn": {"width": 32, "kernel_width": 64, "num_layers": 6, "radius": 0.25}},
        drawn={"gkn": 300},
        grid_sizes=published.SIZES,
        grid_densities=(20, 40, 60, 80, 100, 300, 500, 1000),
        seconds={
            "gola": (220.0, 0.0),
            "gola/paper": (280.0, 0.0),
            "gkn": (180.0, 0.0),
            "gcn": (15.0, 150.0),
            "deeponet": (100.0, 60.0),
            "fno": (90.0, 250.0),
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
        settings={},
        grid_sizes=published.SIZES,
        grid_densities=published.DENSITIES,
    ),
}
