"""POD at the nodes, and a regression from parameters to its coefficients: what a reduced-order model is to most people.

A regression is a function of the features of the training samples, what to predict of them, and the features of the
test samples; it returns the predictions.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.interpolate import RBFInterpolator
from scipy.spatial.distance import pdist

from benchmarks.engineering.cases import Split
from gola.data.dataset import Dataset
from gola.extras import require
from gola.problems.parametric_problem import ParametricProblem

Table = Float[np.ndarray, "sample _"]
Regression = Callable[[Table, Table, Table], Table]

# Coefficients of POD that get a Gaussian process with length-scales of their own; the others share those of the last.
NUM_OWN = 12
# Of input functions the principal components with all of the variance but this share are features.
LEFT_OUT = 1e-4


def features(split: Split, *, logarithmic: bool) -> tuple[Table, Table] | None:
    """Return what a regression sees of training and test samples, or None where there is no logarithm to take.

    Parameters are standardised. Of input functions, these are the principal components at the nodes, all in the unit of
    the first.
    """
    train, test = (_given(data) for data in (split.train, split.test))
    if logarithmic:
        scale = _logarithmic(split, train)
        if not scale.any():
            return None
        # What was positive in all training samples is so in test samples too, or as small as can be.
        least = np.where(scale, 1e-3 * train.min(axis=0), 1.0)
        train, test = (
            np.where(scale, np.log(np.where(scale, np.maximum(rows, least), 1.0)), rows) for rows in (train, test)
        )
    if not split.train.inputs:
        mean, spread = train.mean(axis=0), train.std(axis=0)
        return (train - mean) / spread, (test - mean) / spread
    mean, basis = principal(train, LEFT_OUT)
    scores = (train - mean) @ basis.T
    return scores / scores[:, 0].std(), (test - mean) @ basis.T / scores[:, 0].std()


def _logarithmic(split: Split, train: Table) -> Bool[np.ndarray, " _"]:
    """Return which parameters were drawn on a logarithmic scale; of input functions, whether they are positive."""
    if isinstance(split.problem, ParametricProblem):
        return np.array([one.logarithmic for one in split.problem.ranges])
    return np.full(train.shape[1], bool(split.train.inputs and train.min() > 0.0))


def _given(data: Dataset) -> Table:
    if data.inputs:
        return np.stack([np.concatenate([sample.inputs.ravel(), sample.parameters]) for sample in data])
    return data.parameter_values


def principal(rows: Table, left_out: float) -> tuple[Float[np.ndarray, " _"], Float[np.ndarray, "mode _"]]:
    """Return the mean and the principal components that hold all of the variance but a share."""
    mean = rows.mean(axis=0)
    _, sizes, basis = np.linalg.svd(rows - mean, full_matrices=False)
    beyond = 1.0 - np.cumsum(sizes**2) / np.sum(sizes**2)
    # Centred rows are linearly dependent, so the last component is rounding.
    return mean, basis[: min(int((beyond > left_out).sum()) + 1, len(rows) - 1)]


def by_pod(regression: Regression, seen: Table, snapshots: Table, asked: Table) -> Table:
    """Predict snapshots by their POD coefficients."""
    mean, basis = principal(snapshots, 0.0)
    return mean + regression(seen, (snapshots - mean) @ basis.T, asked) @ basis


def splines(kernel: str) -> Regression:
    """Return interpolation by radial basis functions with a linear polynomial where the samples determine one."""

    def interpolate(seen: Table, values: Table, asked: Table) -> Table:
        return RBFInterpolator(seen, values, kernel=determined(kernel, seen))(asked)

    return interpolate


def determined(kernel: str, seen: Table) -> str:
    """Return the kernel, or ``linear``, which needs no linear polynomial, where there are too few samples for one."""
    return kernel if len(seen) > seen.shape[1] + 1 else "linear"


def gaussian_processes(seen: Table, values: Table, asked: Table) -> Table:
    """Predict each coefficient by scikit-learn's Gaussian process: Matérn 5/2, a length-scale for each feature."""
    learn = require("sklearn.gaussian_process", extra="benchmarks", what="A Gaussian process")
    kernel = covariance(seen)
    # From one start alone the likelihood often ends in explaining everything as noise.
    restarts = {"n_restarts_optimizer": 3, "random_state": 0}
    columns = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # length-scales at the ends of their ranges
        for values_of_one in values.T[:NUM_OWN]:
            process = learn.GaussianProcessRegressor(kernel=kernel, normalize_y=True, **restarts)
            columns.append(process.fit(seen, values_of_one).predict(asked)[:, None])
        if values.shape[1] > NUM_OWN:
            process = learn.GaussianProcessRegressor(kernel=process.kernel_, normalize_y=True, optimizer=None)
            columns.append(process.fit(seen, values[:, NUM_OWN:]).predict(asked).reshape(len(asked), -1))
    return np.concatenate(columns, axis=1)


def covariance(seen: Table) -> Any:
    """Return amplitude times Matérn 5/2 plus noise; one length-scale for all where features are many."""
    kernels = require("sklearn.gaussian_process.kernels", extra="benchmarks", what="A Gaussian process")
    # In many dimensions all samples are far from each other, so lengths start at their typical distance.
    typical = float(np.median(pdist(seen)))
    length = np.full(seen.shape[1], typical) if seen.shape[1] <= 15 else typical
    smooth = kernels.Matern(length, (0.1 * typical, 1e3 * typical), nu=2.5)
    return kernels.ConstantKernel(1.0, (1e-2, 1e4)) * smooth + kernels.WhiteKernel(1e-5, (1e-10, 1e-1))
