"""Three ways to integrals over the domain from scattered points: ``python -m benchmarks.projections``.

The inputs of the paper's four problems, known at random points only, are integrated against the waves of the spectral
operator (wave numbers up to 12 on a box twice the domain): as sums with equal weights, the paper's 1/N; as sums with
the areas of Voronoi cells; and by the exact projection. The truth is the trapezoidal rule on the full grid. Writes
``results/projections/errors.csv``, and prints it as a Markdown table.
"""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from gola.data.sample import Sample
from gola.geometry import Box, draw_rows, equal_weights, voronoi_weights
from gola.operators.spectral import DomainBasis, spectrum_of
from gola.operators.spectral.waves import evaluate_waves
from gola.problems import make_problem

FOLDER = Path("results/projections")
PROBLEMS = ("darcy", "nonlinear_diffusion", "eikonal", "advection")
SIZES = (500, 1000, 4000)
WAYS = ("equal weights", "Voronoi weights", "exact projection")
NUM_SAMPLES, NUM_MODES, PADDING, SMOOTHING, DATA_SEED = 10, 12, 2.0, 1e-7, 0
DOMAIN = Box.unit(2)


def main() -> None:
    """Measure all problems, and write and print the table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    basis = DomainBasis.on(DOMAIN, num_modes=NUM_MODES, padding=PADDING)
    rows = [row for problem in PROBLEMS for row in measured(problem, basis)]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "errors.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    print(table(rows))


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


def table(rows: list[dict[str, object]]) -> str:
    """Return the errors as Markdown."""
    found = {(row["problem"], row["num_points"], row["way"]): float(str(row["error"])) for row in rows}
    lines = ["| problem | points | " + " | ".join(WAYS) + " |", "|---|---|" + "---|" * len(WAYS)]
    for problem in PROBLEMS:
        for size in SIZES:
            errors = " | ".join(f"{100 * found[problem, size, way]:.2f} %" for way in WAYS)
            lines.append(f"| {problem.replace('_', ' ')} | {size} | {errors} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
