"""Mean and spread of channels over samples of different sizes."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float


def moments(
    values: Iterable[Float[np.ndarray, "_ channel"]],
) -> tuple[Float[np.ndarray, " channel"], Float[np.ndarray, " channel"]]:
    """Return mean and standard deviation of each channel, each sample counting equally."""
    means, variances = [], []
    for array in values:
        means.append(array.mean(axis=0, dtype=np.float64))
        variances.append(array.var(axis=0, dtype=np.float64))
    if not means:
        raise ValueError("Statistics need at least one sample; got none.")
    return pooled(np.array(means), np.array(variances))


def pooled(
    means: Float[np.ndarray, "sample channel"], variances: Float[np.ndarray, "sample channel"]
) -> tuple[Float[np.ndarray, " channel"], Float[np.ndarray, " channel"]]:
    """Return mean and standard deviation of all samples together from those of each."""
    mean = means.mean(axis=0)
    # The spread within samples and the spread of their means add up; neither cancels digits.
    return mean, np.sqrt(variances.mean(axis=0) + ((means - mean) ** 2).mean(axis=0))
