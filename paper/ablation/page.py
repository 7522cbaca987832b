"""The page of the ablation: a table for each number of samples."""

from collections.abc import Sequence
from pathlib import Path

from gola.files import replacing
from gola.runs import error_text
from gola.runs.comparison import spread
from paper.ablation.goals import GOALS, paper_error
from paper.ablation.variants import PAPER_PROBLEMS, ROWS, VARIANTS
from paper.protocol import TITLES
from paper.store import Store

_INTRODUCTION = """# What each step gains

Relative L2 error on 100 test samples at 1000 scattered points: mean ± standard deviation over seeds, with the number of
seeds in brackets; – where no run is finished. `make paper TARGET=ablation` does the missing runs and writes this page;
a figure of it is in `runs/paper/report.html`. Variants were chosen on samples of generator seed 0; these are of seed 1.
The networks of all variants of `spectral` are trained equally long. Most networks from 30 samples of the paper's
problems were trained before the default of `smoothing` rose from 1e-7 to 1e-4, which on development data makes little
difference at 1000 points ([decision 11](decisions/0011-exact-projections.md)); `results/paper/runs.csv` has the code
version of every run. What follows from it is in decisions [8](decisions/0008-closed-form-operators.md),
[11](decisions/0011-exact-projections.md) and [12](decisions/0012-automatic-choice.md)."""


def write_ablation(store: Store, pages: Path) -> Path:
    """Write the page into a folder, and return where it is."""
    pages.mkdir(parents=True, exist_ok=True)
    page = pages / "ablation.md"
    tables = [_table(num_train, problems, store) for num_train, problems in ROWS]
    with replacing(page) as temporary:
        temporary.write_text("\n\n".join([_INTRODUCTION, *tables]) + "\n", encoding="utf-8")
    return page


def _table(num_train: int, problems: Sequence[str], store: Store) -> str:
    """Return mean, spread and number of seeds of every variant with a result, as Markdown."""
    lines = [[f"{num_train} samples", *(TITLES[problem] for problem in problems)], ["---"] * (len(problems) + 1)]
    if problems == PAPER_PROBLEMS:
        lines.append(["*the paper's GOLA*", *(f"*{paper_error(num_train, problem):.4f}*" for problem in problems)])
        lines.append(["*the goal*", *(f"*{GOALS[num_train, problem]:g}*" for problem in problems)])
    for name, variant in VARIANTS.items():
        errors = [store.errors(variant.cell(problem, num_train, store.protocol)) for problem in problems]
        if any(errors):
            lines.append([name, *(_cell(list(by_seed.values())) for by_seed in errors)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(errors: Sequence[float]) -> str:
    if not errors:
        return "–"
    return f"{error_text(sum(errors) / len(errors), spread(errors))} ({len(errors)})"
