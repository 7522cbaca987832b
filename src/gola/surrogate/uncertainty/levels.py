r"""From scores of held-out samples to the factor of a band: conformal quantiles.

Of n samples and a new one, all alike, the new one's score is as likely to be in any place of their order. So it is at
most the :math:`\lceil (1 - \alpha)(n + 1) \rceil`-th smallest of the n known ones with a probability of at least
:math:`1 - \alpha`. Where there is no such score, n samples cannot support the level.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.stats import t as student

# Rounding of levels such as 0.9 must not ask for one more sample.
_ROUNDING = 1e-9
# Numbers that stand for the scores at the points of one sample, and for those of all.
_PER_SAMPLE, _POOLED = 200, 500
# How many times the farthest score an interval reaches at most.
_FARTHER = 2.0
# Parts of the samples that are left out in turn.
_FOLDS = 20


def require_supported(level: float, count: int) -> None:
    """Check that a band of this level can be drawn from so many held-out samples.

    >>> require_supported(0.95, 10)
    Traceback (most recent call last):
    ...
    ValueError: A band of 95 % needs at least 19 training samples; there are 10, enough for up to 90.9 %. Ask for a \
lower level, or fit to more samples.
    """
    if not isinstance(level, int | float) or isinstance(level, bool) or not 0.0 < level < 1.0:
        raise ValueError(f"interval must be a level between 0 and 1, like 0.9; got {level!r}.")
    if _place(level, count) > count:
        needed = math.ceil(level / (1.0 - level) - _ROUNDING)
        raise ValueError(
            f"A band of {100 * level:.4g} % needs at least {needed} training samples; there are {count}, enough for up"
            f" to {math.floor(1000 * count / (count + 1)) / 10:.4g} %. Ask for a lower level, or fit to more samples."
        )


def supported_level(count: int) -> float:
    """Return the highest level that so many held-out samples support.

    >>> supported_level(9)
    0.9
    """
    return count / (count + 1)


def upper_quantile(scores: Float[np.ndarray, " sample"], level: float) -> float:
    """Return what a new score stays below with this probability.

    >>> upper_quantile(np.arange(1.0, 10.0), 0.9)
    9.0
    """
    return float(np.sort(scores)[_place(level, len(scores)) - 1])


def interval_of(scores: Float[np.ndarray, " sample"], level: float) -> tuple[float, float]:
    """Return what a new score lies between with this probability: as much is cut off at both ends, where it can be.

    An end beyond the farthest of few scores is where Student's t says that it would be if logarithms of scores were
    normally distributed, and at most at twice the farthest.
    """
    count, ordered = len(scores), np.sort(scores)
    beyond = (1.0 - level) / 2.0 * (count + 1)
    # A place that is no whole one is rounded outwards.
    low, high = math.floor(beyond + _ROUNDING) - 1, math.ceil((count + 1) - beyond - _ROUNDING) - 1
    if low >= 0:
        return float(ordered[low]), float(ordered[high])
    least, most = _normal_interval(ordered, level)
    lowest, highest = float(ordered[0]), float(ordered[-1])
    return min(lowest, max(least, lowest / _FARTHER)), max(highest, min(most, highest * _FARTHER))


def _normal_interval(scores: Float[np.ndarray, " sample"], level: float) -> tuple[float, float]:
    """Return the same for scores whose logarithms are normally distributed."""
    if len(scores) < 2 or not scores.min() > 0.0:
        return float(scores.min()), float(scores.max())
    logs = np.log(scores)
    half = student.ppf(0.5 + level / 2.0, len(logs) - 1) * logs.std(ddof=1) * math.sqrt(1.0 + 1.0 / len(logs))
    return math.exp(logs.mean() - half), math.exp(logs.mean() + half)


def pooled(scores: Sequence[Float[np.ndarray, " _"]]) -> Float[np.ndarray, " share"]:
    """Return what the scores at points of a new sample stay below, for shares of points from 0 to 1.

    Scores of one sample are alike, so a quantile of few samples holds for fewer points of a new one than it should. By
    how much is seen by leaving samples out: where the others' quantile holds for a share c(s) instead of s on average,
    the quantile for the share c is the one at s.
    """
    places = (np.arange(_PER_SAMPLE) + 0.5) / _PER_SAMPLE
    rows = np.stack([quantiles(np.sort(one), places) for one in scores])
    shares = np.linspace(0.0, 1.0, _POOLED + 1)
    folds = np.array_split(np.arange(len(rows)), min(len(rows), _FOLDS))
    held = np.zeros(len(shares))
    order = np.argsort(rows, axis=None)
    ordered, sample = rows.ravel()[order], order // rows.shape[1]
    for fold in folds:
        others = quantiles(ordered[(sample < fold[0]) | (sample > fold[-1])], shares)
        # Quantiles of a sample are in order, so how many of them stay below a limit is where it belongs among them.
        held += sum(np.searchsorted(row, others, side="right") for row in rows[fold]) / rows.size
    return np.asarray(np.interp(shares, held, quantiles(ordered, shares)))


def quantiles(ordered: Float[np.ndarray, " score"], shares: Float[np.ndarray, " share"]) -> Float[np.ndarray, " share"]:
    """Return the same as ``np.quantile``, of scores in order: leaving some out does not take sorting the others.

    >>> quantiles(np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.75])).tolist()
    [2.0, 3.0]
    """
    return np.asarray(np.interp(shares * (len(ordered) - 1), np.arange(len(ordered)), ordered))


def pooled_quantile(distribution: Float[np.ndarray, " share"], level: float) -> float:
    """Return what the score at a point of a new sample stays below with this probability."""
    return float(np.interp(level, np.linspace(0.0, 1.0, len(distribution)), distribution))


def _place(level: float, count: int) -> int:
    return max(1, math.ceil(level * (count + 1) - _ROUNDING))
