"""Lower bounds of the error from what the input's values at scattered points reveal: ``python -m benchmarks.floors``.

With the equation and the distribution of inputs known, no training samples are needed: the best prediction is the
solution for the conditional expectation of the input, given its values. Where solutions are linear in the input, no
other prediction has a smaller mean square error, so this is a lower bound for every operator (for the mean of relative
errors nearly so). On the test samples and points of the first seed of ``make paper``. Eikonal is far from linear and
has no such bound.
"""

import argparse
import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from gola.data.sample import Sample
from gola.problems.advection import Advection, bumps
from gola.problems.darcy import ALPHA, TAU, Darcy, DarcySolver
from gola.problems.nonlinear_diffusion import LENGTH, NonlinearDiffusion, solve_diffusion
from gola.problems.random_fields import RandomField, gaussian_process, periodic_field
from paper.cells import Cell, run_of
from paper.reproduction import Reproduction

PATH = Path("results/floors.csv")
WORK = Reproduction.of("standard", out=Path("results/paper"), work=Path("runs/paper"), data=Path("data/paper"))
# Beside a variance of one: what keeps nearly equal points from making the matrix singular.
_NUGGET = 1e-10
# Bumps everywhere stand for those that advection draws.
_NUM_CENTRES = 4000

Predict = Callable[[Sample], np.ndarray]


def solving(field: RandomField, solve: Callable[[np.ndarray], np.ndarray], coordinates: np.ndarray) -> Predict:
    """Solve for the conditional expectation of the input, given its values."""

    def predict(sample: Sample) -> np.ndarray:
        along = [waves.at(sample.points[:, axis]) for axis, waves in enumerate(field.waves)]
        functions = (along[0][:, :, None] * field.deviations * along[1][:, None, :]).reshape(len(sample.points), -1)
        expected = functions.T @ explained(functions, sample.inputs)
        coefficients = field.deviations * expected.reshape(field.deviations.shape)
        solution = solve(field.evaluate(coefficients[None], coordinates, coordinates))[0]
        rows, columns = np.round(sample.points * (len(coordinates) - 1)).astype(int).T
        return solution[rows, columns][:, None]

    return predict


def advected(problem: Advection) -> Predict:
    """Add bumps up, with the conditional expectation of their weights, given the forcing."""
    centres = np.random.default_rng(0).random((2, _NUM_CENTRES))
    scale = np.sqrt(problem.num_centres / _NUM_CENTRES)

    def predict(sample: Sample) -> np.ndarray:
        (along_x, slope_x), (along_t, slope_t) = (
            (values[0] for values in bumps(sample.points[:, axis], centres[axis][None], problem.length_scale))
            for axis in (0, 1)
        )
        forcings, solutions = scale * (slope_x * along_t + along_x * slope_t), scale * along_x * along_t
        return solutions @ (forcings.T @ explained(forcings, sample.inputs))

    return predict


def explained(functions: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the covariance's inverse times the values, for coefficients of the functions with variance one."""
    covariance = functions @ functions.T
    covariance[np.diag_indices_from(covariance)] += _NUGGET * np.trace(covariance) / len(covariance)
    return cho_solve(cho_factor(covariance), values)


def predictors() -> dict[str, Predict]:
    """Return the best predictor of each problem."""
    darcy, diffusion = Darcy(), NonlinearDiffusion()
    process = gaussian_process((diffusion.length_scale / LENGTH, diffusion.length_scale))
    return {
        "darcy": solving(periodic_field(alpha=ALPHA, tau=TAU), DarcySolver(darcy.coefficient), darcy.coordinates),
        "advection": advected(Advection()),
        "nonlinear_diffusion": solving(process, solve_diffusion, diffusion.coordinates),
    }


def main() -> None:
    """Write the lower bound of each problem and number of points."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", nargs="+", type=int, default=[20, 100, 500, 1000])
    options = parser.parse_args()
    rows = [
        (problem, num_points, f"{floor(problem, predict, num_points):.5f}")
        for problem, predict in predictors().items()
        for num_points in options.points
    ]
    with PATH.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("problem", "num_points", "error"))
        writer.writerows(rows)


def floor(problem: str, predict: Predict, num_points: int) -> float:
    """Return the mean relative error on the test samples."""
    WORK.prepare(problem)
    cell = Cell(problem=problem, operator="linear", num_train=WORK.protocol.many, num_points=num_points)
    run = run_of(cell, WORK.protocol, WORK.budget, WORK.data, seed=0)
    _, test = run.samples()
    assert test is not None
    errors = mean_errors(predict, list(test.in_memory()))
    print(f"{problem}, {num_points} points: {errors:.5f}", flush=True)
    return errors


def mean_errors(predict: Predict, samples: Sequence[Sample]) -> float:
    """Return the mean over samples of the relative L2 error."""
    pairs = [(predict(sample), sample.targets) for sample in samples]
    return float(np.mean([np.linalg.norm(found - truth) / np.linalg.norm(truth) for found, truth in pairs]))


if __name__ == "__main__":
    main()
