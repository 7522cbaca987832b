"""Mean and spread of channels over samples of different sizes."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float


def moments(
    values: Iterable[Float[np.ndarray, "_ channel"]],
) -> tuple[Float[np.ndarray, " channel"], Float[np.ndarray, " channel"]]:
    """Return mean and standard deviation of each channel, each sample counting equally.

    Values are divided by a power of two near the largest, so that sums and squares of values near the ends of the range
    of float64 neither overflow nor vanish; for all others this changes no digit.
    """
    means, variances, powers = [], [], []
    for array in values:
        power = np.frexp(np.abs(array).max(axis=0, initial=0.0))[1]
        scaled = np.ldexp(array, -power)
        means.append(scaled.mean(axis=0, dtype=np.float64))
        variances.append(scaled.var(axis=0, dtype=np.float64))
        powers.append(power)
    if not means:
        raise ValueError("Statistics need at least one sample; got none.")
    largest = np.max(powers, axis=0)
    shifts = np.array(powers) - largest
    mean, std = pooled(np.ldexp(np.array(means), shifts), np.ldexp(np.array(variances), 2 * shifts))
    return np.ldexp(mean, largest), np.ldexp(std, largest)


def pooled(
    means: Float[np.ndarray, "sample channel"], variances: Float[np.ndarray, "sample channel"]
) -> tuple[Float[np.ndarray, " channel"], Float[np.ndarray, " channel"]]:
    """Return mean and standard deviation of all samples together from those of each."""
    mean = means.mean(axis=0)
    # The spread within samples and the spread of their means add up; neither cancels digits.
    return mean, np.sqrt(variances.mean(axis=0) + ((means - mean) ** 2).mean(axis=0))
