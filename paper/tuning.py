"""Settings of GOLA and GKN, tried on development data: ``python -m paper.tuning --variants cells --problems darcy``.

A variant learns from 30 samples, with 1000 points drawn again in every epoch, and is evaluated on 100 others at 1000
points. All are development samples (generator seed 5), which no table uses. A run is written to
``results/presets/redrawn.csv`` as soon as it ends, and a second call does only the missing ones; ``--table`` prints
what there is.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.runs import Runs
from gola.cli.console import output
from gola.problems import make_problem
from gola.problems.generation import generate
from gola.protocol import TrainingConfig
from gola.runs import RunConfig
from gola.runs.execution import execute
from paper.protocol import Protocol

DATA_SEED, NUM_SAMPLES, NUM_TEST, NUM_POINTS = 5, 230, 100, 1000
DATA = Path("data/development")
_KEYS = ("problem", "variant", "num_train", "seed")
RUNS = Runs(
    path=Path("results/presets/redrawn.csv"), columns=(*_KEYS, "error", "training_error", "seconds"), keys=_KEYS
)
# What a step costs with 5 samples, so that all variants of GOLA but the longer ones cost the same.
_FIRST = TrainingConfig(num_steps=1000, points_per_epoch=NUM_POINTS, validation_share=0.0, patience=None)
_PAIRS = replace(_FIRST, num_steps=2500, batch_size=2)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """What is tried.

    Attributes:
        operator: Name of the operator, with its preset.
        settings: Changes to the preset.
        training: How to train.
    """

    operator: str = "gola"
    settings: Mapping[str, Any] = field(default_factory=dict)
    training: TrainingConfig = _FIRST


VARIANTS = {
    "equal weights": Variant(settings={"weights": "equal"}),
    "cells": Variant(),
    "batch 2, rate 2e-3": Variant(training=replace(_PAIRS, learning_rate=2e-3)),
    "batch 2, rate 2e-3, 128 modes, frequencies 1, width 96": Variant(
        settings={"num_modes": 128, "frequency_scale": 1.0, "width": 96},
        training=replace(_PAIRS, learning_rate=2e-3),
    ),
    "batch 2, rate 4e-3": Variant(training=replace(_PAIRS, learning_rate=4e-3)),
    "batch 2, rate 4e-3, 5000 steps": Variant(training=replace(_PAIRS, learning_rate=4e-3, num_steps=5000)),
    "batch 2, rate 8e-3": Variant(training=replace(_PAIRS, learning_rate=8e-3)),
    "batch 2, rate 16e-3": Variant(training=replace(_PAIRS, learning_rate=16e-3)),
    "batch 2, rate 8e-3, 5000 steps": Variant(training=replace(_PAIRS, learning_rate=8e-3, num_steps=5000)),
    "batch 1, rate 4e-3, 5000 steps": Variant(
        training=replace(_FIRST, learning_rate=4e-3, num_steps=5000, batch_size=1)
    ),
    "batch 2, rate 2e-3, 4000 steps": Variant(training=replace(_PAIRS, learning_rate=2e-3, num_steps=4000)),
    "batch 2, rate 8e-3, 4000 steps": Variant(training=replace(_PAIRS, learning_rate=8e-3, num_steps=4000)),
    "batch 2, rate 8e-3, weight decay 0.1": Variant(training=replace(_PAIRS, learning_rate=8e-3, weight_decay=0.1)),
    "batch 2, rate 8e-3, weight decay 0.1, 8000 steps": Variant(
        training=replace(_PAIRS, learning_rate=8e-3, weight_decay=0.1, num_steps=8000)
    ),
    "batch 2, rate 8e-3, weight decay 1": Variant(training=replace(_PAIRS, learning_rate=8e-3, weight_decay=1.0)),
    "batch 2, rate 8e-3, averaging 0.99": Variant(training=replace(_PAIRS, learning_rate=8e-3, averaging=0.99)),
    "batch 2, rate 8e-3, 512 modes": Variant(settings={"num_modes": 512}, training=replace(_PAIRS, learning_rate=8e-3)),
    "batch 2, rate 2e-3 or 8e-3, 5000 steps": Variant(training=replace(_PAIRS, rates=(2e-3, 8e-3), num_steps=5000)),
    "gkn, radius 0.1": Variant(
        operator="gkn",
        settings={"width": 32, "kernel_width": 64},
        training=replace(_FIRST, batch_size=2),
    ),
    "gkn, radius 0.1, rate 4e-3": Variant(
        operator="gkn",
        settings={"width": 32, "kernel_width": 64},
        training=replace(_FIRST, batch_size=2, learning_rate=4e-3),
    ),
    "gkn, radius 0.2, rate 4e-3": Variant(
        operator="gkn",
        settings={"width": 32, "kernel_width": 64, "radius": 0.2},
        training=replace(_FIRST, batch_size=2, learning_rate=4e-3),
    ),
    **{
        f"gkn, radius 0.25, {layers} iterations, {points} points, rate {rate}": Variant(
            operator="gkn",
            settings={"width": 32, "kernel_width": 64, "radius": 0.25, "num_layers": layers},
            training=replace(_FIRST, num_steps=2000, batch_size=2, learning_rate=float(rate), points_per_epoch=points),
        )
        for layers, points, rate in ((4, 300, "1e-3"), (4, 300, "4e-3"), (6, 200, "4e-3"), (6, 300, "4e-3"))
    },
    "paper, rate 1e-3": Variant(operator="gola/paper", training=replace(_PAIRS, num_steps=2000)),
}


def main() -> None:
    """Do the missing runs, or print the table of those that are done."""
    protocol = Protocol()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--problems", nargs="+", default=list(protocol.problems), choices=list(protocol.compared))
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="only print what is done, as Markdown")
    options = parser.parse_args()
    if options.table:
        output.print("\n".join(table(options.samples)), soft_wrap=True)
        return
    torch.set_num_threads(1)
    for variant in options.variants:
        for problem in options.problems:
            if not RUNS.is_done(problem, variant, options.samples, options.seed):
                RUNS.append(*run(problem, variant, options.samples, options.seed))


def run(problem: str, variant: str, num_train: int, seed: int) -> tuple[object, ...]:
    """Fit a variant to development samples, and evaluate it on others."""
    law, path = Protocol().law_of(problem), DATA / f"{problem}.h5"
    DATA.mkdir(parents=True, exist_ok=True)
    generate(make_problem(law.problem, **law.parameters), path, num_samples=NUM_SAMPLES, seed=DATA_SEED, num_workers=1)
    tried = VARIANTS[variant]
    result = execute(
        RunConfig(
            data=str(path),
            operator=tried.operator,
            settings=tried.settings,
            training=tried.training,
            num_train=num_train,
            num_test=NUM_TEST,
            num_points=NUM_POINTS,
            whole_training=True,
            seed=seed,
        )
    )
    error, training_error = sum(result.errors) / len(result.errors), result.scores["training_error"]
    return problem, variant, num_train, seed, f"{error:.4f}", f"{training_error:.4f}", f"{result.fit_seconds:.0f}"


def table(num_train: int) -> list[str]:
    """Return the errors of all variants, a column for each problem."""
    problems = Protocol().compared
    lines = [["variant", *problems], ["---"] * (len(problems) + 1)]
    for variant in VARIANTS:
        errors = {
            row["problem"]: row["error"]
            for row in RUNS.finished()
            if row["variant"] == variant and int(row["num_train"]) == num_train
        }
        if errors:
            lines.append([variant, *(errors.get(problem, "–") for problem in problems)])
    return ["| " + " | ".join(line) + " |" for line in lines]


if __name__ == "__main__":
    main()
