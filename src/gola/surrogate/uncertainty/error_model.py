r"""How large the error of a prediction should be, before it is known.

.. math:: \log a = c + \beta_1 \log \lVert \hat u \rVert + \beta_2 \log d, \qquad \beta \ge 0

Large solutions have large errors, and so have inputs that are far from the training samples: d is what the operator
itself expects where it has a covariance (:mod:`gola.operators.closed_form.kriging`), else the distance of descriptions.
Which of both matters, and how much, is decided by leave-one-out among the held-out errors; perhaps neither.

The covariance was chosen on the same samples, so of few it fits their errors better than those of new ones. Bands rely
on it only so far (:func:`damped`): what it adds is multiplied by :math:`n / (n + 20)`.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from gola.operators.closed_form.ridge import fit_ridge

_PENALTIES = (0.3, 3.0, 30.0)
# With so many samples bands rely by half on what an input adds to the error.
_HALF = 20.0
# Fewer samples cannot tell a slope from chance.
_FEWEST = 6
# A slope has to lower the squared error of log a by this share.
_LEAST_GAIN = 0.02


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorModel:
    """A regression of the logarithm of errors.

    Attributes:
        offset: The logarithm of a typical error.
        slopes: What each feature adds.
        centre: Mean of the features over the training samples.
    """

    offset: float
    slopes: Float[np.ndarray, " feature"]
    centre: Float[np.ndarray, " feature"]

    @property
    def typical(self) -> float:
        """A typical error."""
        return float(np.exp(self.offset))

    def __call__(self, features: Float[np.ndarray, "*row feature"]) -> Float[np.ndarray, "*row"]:
        """Return the size of the error to expect."""
        return np.asarray(np.exp(self.offset + (features - self.centre) @ self.slopes))


def fit_error_model(
    features: Float[np.ndarray, "sample feature"], errors: Float[np.ndarray, " sample"]
) -> tuple[ErrorModel, Float[np.ndarray, " sample"]]:
    """Fit to the errors of held-out samples.

    Args:
        features: What may tell the size of an error.
        errors: Root mean square error of each sample.

    Returns:
        The model, and what it expects of each sample when fitted to the others.
    """
    logs = _logarithms(errors)
    centre, count = features.mean(axis=0), len(errors)
    none = np.zeros(features.shape[1])
    held_out = (logs.sum() - logs) / max(1, count - 1)
    best = float(((held_out - logs) ** 2).mean()), none, held_out
    limit = (1.0 - _LEAST_GAIN) * best[0]
    columns = range(features.shape[1] if count >= _FEWEST else 0)
    subsets = [subset for size in range(1, len(columns) + 1) for subset in itertools.combinations(columns, size)]
    spreads = features.std(axis=0)
    for subset, penalty in itertools.product(subsets, _PENALTIES):
        chosen = list(subset)
        if not (spreads[chosen] > 1e-12).all():
            continue
        rows = torch.from_numpy((features - centre)[:, chosen] / spreads[chosen])
        fit = fit_ridge(rows @ rows.T, torch.from_numpy(logs)[:, None], penalty)
        slopes = none.copy()
        slopes[chosen] = (rows.T @ fit.dual)[:, 0].numpy() / spreads[chosen]
        found = fit.held_out[:, 0].numpy()
        score = float(((found - logs) ** 2).mean())
        if (slopes >= 0.0).all() and score < min(limit, best[0]):
            best = score, slopes, found
    _, slopes, held_out = best
    return ErrorModel(offset=float(logs.mean()), slopes=slopes, centre=centre), np.exp(held_out)


def damped(
    expected: Float[np.ndarray, " sample"], typical: float | Float[np.ndarray, " sample"], count: int
) -> Float[np.ndarray, " sample"]:
    """Return errors to expect as far as bands of so many samples rely on them: nearer to typical ones."""
    return np.asarray(typical * (expected / typical) ** (count / (count + _HALF)))


def typical_of_others(errors: Float[np.ndarray, " sample"]) -> Float[np.ndarray, " sample"]:
    """Return the geometric mean of the errors of all samples but each."""
    logs = _logarithms(errors)
    return np.asarray(np.exp((logs.sum() - logs) / max(1, len(logs) - 1)))


def _logarithms(errors: Float[np.ndarray, " sample"]) -> Float[np.ndarray, " sample"]:
    """Return logarithms; an error of zero counts like the smallest other one."""
    known = errors > 0.0
    return np.asarray(np.log(np.where(known, errors, errors[known].min() if known.any() else 1.0)))
