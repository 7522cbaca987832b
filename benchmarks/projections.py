"""Three ways to integrals over the domain from scattered points: ``python -m benchmarks.projections``.

The inputs of the paper's four problems, known at random points only, are integrated against the waves of the spectral
operator (wave numbers up to 12 on a box twice the domain): as sums with equal weights, the paper's 1/N; as sums with
the areas of Voronoi cells; and by the exact projection. The truth is the trapezoidal rule on the full grid. Writes
``results/projections/errors.csv``, ``errors.png`` and a page around them.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from gola.data.sample import Sample
from gola.geometry import Box, draw_rows, equal_weights, voronoi_weights
from gola.operators.spectral import DomainBasis, spectrum_of
from gola.operators.spectral.waves import evaluate_waves
from gola.plotting.style import house_style, new_figure, read_logarithmically
from gola.problems import make_problem

FOLDER = Path("results/projections")
PROBLEMS = ("darcy", "nonlinear_diffusion", "eikonal", "advection")
SIZES = (500, 1000, 4000)
WAYS = ("equal weights", "Voronoi weights", "exact projection")
NUM_SAMPLES, NUM_MODES, PADDING, SMOOTHING, DATA_SEED = 10, 12, 2.0, 1e-7, 0
DOMAIN = Box.unit(2)


def main() -> None:
    """Measure all problems, and write the table, the picture and the page."""
    basis = DomainBasis.on(DOMAIN, num_modes=NUM_MODES, padding=PADDING)
    rows = [row for problem in PROBLEMS for row in measured(problem, basis)]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "errors.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    draw(rows)
    (FOLDER / "README.md").write_text(page(rows))
    print(page(rows))


def measured(problem: str, basis: DomainBasis) -> Iterator[dict[str, object]]:
    """Yield the mean relative error of all integrals of a problem's inputs, for each size and way."""
    samples = list(make_problem(problem).generate(DATA_SEED, range(NUM_SAMPLES)))
    truths = [projected_from_grid(sample, basis) for sample in samples]
    for size in SIZES:
        errors = np.array(
            [
                errors_of(sample, truth, size, basis, seed)
                for seed, (sample, truth) in enumerate(zip(samples, truths, strict=True))
            ]
        )
        for way, error in zip(WAYS, errors.mean(axis=0), strict=True):
            yield {"problem": problem, "num_points": size, "way": way, "error": f"{error:.5f}"}


def errors_of(sample: Sample, truth: np.ndarray, size: int, basis: DomainBasis, seed: int) -> list[float]:
    """Return the relative error of each way on some points of a sample."""
    rows = draw_rows(sample.num_points, size, np.random.default_rng(seed))
    points, values = sample.points[rows], sample.inputs[rows]
    waves = evaluate_waves(points, basis.numbers, basis.sides)
    sums = [
        waves.T @ (weights[:, None] * values)
        for weights in (equal_weights(size, DOMAIN), voronoi_weights(points, DOMAIN))
    ]
    spectrum = spectrum_of(points, np.full(size, 1.0 / size), basis, SMOOTHING, torch.float64)
    exact = (spectrum.waves @ (spectrum.analysis @ torch.from_numpy(values))).numpy()
    return [float(np.linalg.norm(found - truth) / np.linalg.norm(truth)) for found in (*sums, exact)]


def projected_from_grid(sample: Sample, basis: DomainBasis) -> np.ndarray:
    """Integrate over the full grid by the trapezoidal rule: Voronoi cells of a grid are its weights."""
    on_boundary = ((sample.points == 0.0) | (sample.points == 1.0)).sum(axis=1)
    weights = 0.5**on_boundary
    waves = evaluate_waves(sample.points, basis.numbers, basis.sides)
    return waves.T @ (weights[:, None] * sample.inputs) / weights.sum()


def draw(rows: list[dict[str, object]]) -> None:
    """Draw the errors against the number of points, a panel for each problem."""
    with house_style():
        figure = new_figure(len(PROBLEMS), panel=2.6)
        for axes, problem in zip(figure.axes, PROBLEMS, strict=True):
            for number, way in enumerate(WAYS):
                own = [row for row in rows if (row["problem"], row["way"]) == (problem, way)]
                errors = [float(str(row["error"])) for row in own]
                axes.plot(SIZES, errors, color=f"C{number}", marker="o", label=way)
            read_logarithmically(axes, "x")
            read_logarithmically(axes, "y")
            axes.set_title(problem.replace("_", " "))
            axes.set_xlabel("points")
            axes.set_ylim(4e-4, 0.7)
        figure.axes[0].set_ylabel("relative error of the integrals")
        figure.axes[0].legend(frameon=False, loc="lower left")
        figure.savefig(FOLDER / "errors.png", dpi=150)


def page(rows: list[dict[str, object]]) -> str:
    """Return the page: what was measured, the table and the picture."""
    found = {(row["problem"], row["num_points"], row["way"]): float(str(row["error"])) for row in rows}
    lines = [
        "# Integrals over the domain from scattered points",
        "",
        f"The inputs of {NUM_SAMPLES} samples of each problem (data seed {DATA_SEED}), known at random points of the"
        " 128 × 128 grid, are integrated against the waves of the spectral operator: wave numbers up to"
        f" {NUM_MODES} on a box {PADDING:g} times the domain. Relative error of all integrals together, mean over the"
        " samples; the truth is the trapezoidal rule on the full grid. Made by `python -m benchmarks.projections`.",
        "",
        "| problem | points | " + " | ".join(WAYS) + " |",
        "|---|---|" + "---|" * len(WAYS),
    ]
    for problem in PROBLEMS:
        for size in SIZES:
            errors = " | ".join(f"{100 * found[problem, size, way]:.2f} %" for way in WAYS)
            lines.append(f"| {problem.replace('_', ' ')} | {size} | {errors} |")
    return "\n".join([*lines, "", "![Errors against the number of points](errors.png)", ""])


if __name__ == "__main__":
    main()
