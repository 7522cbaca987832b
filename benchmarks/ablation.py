"""What every part of the automatic choice gains, at 1000 scattered points: ``python -m benchmarks.ablation``.

The paper's problems from 30 and 100 samples, and those on irregular domains from 30. Runs are those of ``gola
reproduce``, on the same data and kept in the same folder, ``results/paper/runs``, with some variants of the spectral
operator beside them: whatever is done there is not done again. What comes out is ``docs/ablation.md``.
"""

import argparse
import itertools

from benchmarks import ablation_page
from benchmarks.variants import IRREGULAR_PROBLEMS, IRREGULAR_WORK, PAPER_PROBLEMS, ROWS, VARIANTS, WORK
from gola.runs import run_all


def main() -> None:
    """Run what is missing of the chosen variants, problems, sizes and seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    problems = (*PAPER_PROBLEMS, *IRREGULAR_PROBLEMS)
    parser.add_argument("--problems", nargs="+", default=list(problems), choices=problems)
    parser.add_argument("--sizes", nargs="+", type=int, default=[30, 100], choices=[30, 100])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--workers", type=int, help="processes; one per core by default")
    parser.add_argument("--page-only", action="store_true", help="only write the page of what is finished")
    options = parser.parse_args()
    if not options.page_only:
        run(options)
    ablation_page.write()


def run(options: argparse.Namespace) -> None:
    """Do the runs."""
    for problem in options.problems:
        (WORK if problem in PAPER_PROBLEMS else IRREGULAR_WORK).prepare(problem)
    runs = [
        VARIANTS[variant].run(problem, size, seed)
        for seed, (size, problems), variant in itertools.product(options.seeds, ROWS, options.variants)
        for problem in problems
        if size in options.sizes and problem in options.problems
    ]
    store = WORK.store()
    missing = [run for run in runs if run.seed not in store.of_run(run)]
    print(f"{len(missing)} of {len(runs)} runs are missing", flush=True)
    run_all(
        missing,
        WORK.runs_folder,
        num_workers=options.workers,
        on_progress=lambda status: print(f"{status.num_done} of {status.num_runs} are done", flush=True),
    )


if __name__ == "__main__":
    main()
