"""What every part of the automatic choice gains, at 1000 scattered points: ``python -m benchmarks.ablation``.

Runs are those of ``gola reproduce``, on the same data and kept in the same folder, ``results/paper/runs``, with some
variants of the spectral operator beside them: whatever is done there is not done again. ``--table`` prints what is
finished as Markdown, and ``--figure`` draws it. Variants were chosen on samples of generator seed 0; these are of seed
1. All variants are trained equally long.
"""

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from gola import TrainingConfig
from gola.paper.budgets import BUDGETS
from gola.paper.cells import Cell, run_of
from gola.paper.reproduction import Reproduction
from gola.runs import ResultFolder, RunConfig, RunResult, run_all

WORK = Reproduction.of("standard", out=Path("results/paper"), data=Path("data/paper"))
FIGURE = Path("results/ablation/ablation.png")
PROBLEMS = ("darcy", "nonlinear_diffusion", "eikonal", "advection")
SIZES = (30, 100)
# The paper's GOLA, and our goal: half of it, and less where closed forms are good.
PAPER = {30: (0.1554, 0.0747, 0.0803, 0.3707), 100: (0.1147, 0.0439, 0.0611, 0.2290)}
REACH = {30: (0.065, 0.037, 0.045, 0.085), 100: (0.014, 0.008, 0.035, 0.0025)}


@dataclass(frozen=True, kw_only=True)
class Variant:
    """An operator and how it is trained.

    Attributes:
        operator: Its name.
        settings: Changes to its preset.
        training: How to train, where the tables do otherwise.
    """

    operator: str
    settings: dict[str, object] = field(default_factory=dict)
    training: TrainingConfig | None = None

    def run(self, problem: str, num_train: int, seed: int) -> RunConfig:
        """Return the run of this variant."""
        cell = Cell(problem=problem, operator=self.operator, num_train=num_train, num_points=WORK.protocol.num_points)
        usual = run_of(cell, WORK.protocol, BUDGETS["standard"], WORK.data, seed)
        return replace(usual, settings=self.settings, training=self.training or usual.training)


# As the automatic choice trains its networks.
_NETWORK = TrainingConfig(num_steps=2000, batch_size=2, learning_rate=4e-3, validation_share=0.0, patience=None)
_MODES: dict[str, object] = {"num_modes": 8}
VARIANTS = {
    "gola": Variant(operator="gola"),
    "spectral": Variant(operator="spectral", settings=_MODES, training=_NETWORK),
    "spectral, with message passing": Variant(
        operator="spectral", settings={**_MODES, "local": True}, training=_NETWORK
    ),
    "spectral, weight averaging": Variant(
        operator="spectral", settings=_MODES, training=replace(_NETWORK, averaging=0.99)
    ),
    "spectral, weight decay 1": Variant(
        operator="spectral", settings=_MODES, training=replace(_NETWORK, weight_decay=1.0)
    ),
    "spectral, local law": Variant(operator="spectral", settings=_MODES, training=replace(_NETWORK, law=0.1)),
    "five networks": Variant(operator="auto", settings={"members": "spectral"}),
    "kernel": Variant(operator="kernel"),
    "linear": Variant(operator="linear"),
    "auto": Variant(operator="auto"),
}


def main() -> None:
    """Run what is missing of the chosen variants, problems, sizes and seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=PROBLEMS)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--workers", type=int, help="processes; one per core by default")
    parser.add_argument("--table", action="store_true", help="only print what is finished, as Markdown")
    parser.add_argument("--figure", action="store_true", help=f"only draw what is finished to {FIGURE}")
    options = parser.parse_args()
    if options.table:
        print_table()
    if options.figure:
        draw()
    if options.table or options.figure:
        return
    for problem in options.problems:
        WORK.prepare(problem)
    wanted = itertools.product(options.seeds, options.sizes, options.variants, options.problems)
    runs = [VARIANTS[variant].run(problem, size, seed) for seed, size, variant, problem in wanted]
    known = finished()
    missing = [run for run in runs if result_of(run, known) is None]
    print(f"{len(missing)} of {len(runs)} runs are missing", flush=True)
    run_all(
        missing, WORK.runs_folder, num_workers=options.workers, on_progress=lambda status: print(status, flush=True)
    )


def finished() -> dict[str, RunResult]:
    """Return all results by identity."""
    return {result.identity: result for result in ResultFolder(path=WORK.runs_folder).results()}


def result_of(run: RunConfig, known: dict[str, RunResult]) -> RunResult | None:
    """Return the result of a run, on whatever machine its data were made."""
    fingerprints = WORK.store().fingerprints.get(Path(run.data).stem, ())
    return next((known[name] for name in map(run.identity, fingerprints) if name in known), None)


def errors_of(problem: str, num_train: int, variant: str, known: dict[str, RunResult]) -> list[float]:
    """Return the errors of all seeds that are finished."""
    found = [result_of(VARIANTS[variant].run(problem, num_train, seed), known) for seed in range(3)]
    return [result.error for result in found if result is not None]


def print_table() -> None:
    """Print mean, spread and number of seeds of every variant on every problem."""
    print("| samples | variant | " + " | ".join(PROBLEMS) + " |")
    print("|---" * (len(PROBLEMS) + 2) + "|")
    known = finished()
    for size in SIZES:
        print(f"| {size} | *the paper's GOLA* | " + " | ".join(f"*{error:.4f}*" for error in PAPER[size]) + " |")
        for variant in VARIANTS:
            cells = [cell(errors_of(problem, size, variant, known)) for problem in PROBLEMS]
            print(f"| {size} | {variant} | " + " | ".join(cells) + " |")


def cell(errors: Sequence[float]) -> str:
    """Write mean and spread over the seeds, and their number."""
    if not errors:
        return "–"
    spread = f" ± {np.std(errors, ddof=1):.4f}" if len(errors) > 1 else ""
    return f"{np.mean(errors):.4f}{spread} ({len(errors)})"


def draw() -> None:
    """Draw every variant as a row of points on a logarithmic axis, one panel for each problem and size."""
    known = finished()
    figure, axes = plt.subplots(
        len(SIZES), len(PROBLEMS), figsize=(13, 6.5), sharey=True, sharex="col", layout="constrained"
    )
    for (row, size), (column, problem) in itertools.product(enumerate(SIZES), enumerate(PROBLEMS)):
        panel = axes[row, column]
        for place, variant in enumerate(VARIANTS):
            errors = errors_of(problem, size, variant, known)
            colour = "C1" if variant == "auto" else "C0"
            panel.plot(errors, [place] * len(errors), "o", color=colour, alpha=0.5, markersize=5)
            if errors:
                panel.plot(np.mean(errors), place, "|", color=colour, markersize=14, markeredgewidth=2)
        panel.axvline(PAPER[size][column], color="0.4", linestyle="--", linewidth=1, label="the paper's GOLA")
        panel.axvline(REACH[size][column], color="0.4", linestyle=":", linewidth=1.5, label="the goal")
        panel.set_xscale("log")
        panel.grid(axis="x", alpha=0.3)
        panel.set_title(f"{problem.replace('_', ' ')}, {size} samples", fontsize=10)
        panel.set_yticks(range(len(VARIANTS)), list(VARIANTS))
    axes[0, 0].invert_yaxis()
    axes[0, 0].legend(fontsize=8, loc="lower left")
    figure.supxlabel("relative L2 error on 100 test samples (one dot for each seed, a bar for their mean)", fontsize=10)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=150)


if __name__ == "__main__":
    main()
