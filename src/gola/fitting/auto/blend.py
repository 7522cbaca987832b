"""Weigh predictions of several operators so that their sum errs least."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import torch
from jaxtyping import Float

from gola.metrics import size_of

# Members that agree to this share of their errors cannot be told apart.
_JITTER = 1e-9


def residual_products(
    predictions: Sequence[Float[np.ndarray, "point channel"]],
    target: Float[np.ndarray, "point channel"],
    scale: Float[np.ndarray, " channel"],
) -> Float[np.ndarray, "member member"]:
    """Return the products of all pairs of members' errors on one sample, relative to the size of the solution.

    The square root of the diagonal is the relative L2 error of each member, and that of w·P·w the one of a sum with
    weights w that add up to 1.
    """
    size = float(size_of(torch.from_numpy(target / scale)))
    residuals = np.stack([((found - target) / scale).ravel() for found in predictions]) / size
    return residuals @ residuals.T


def best_weights(products: Float[np.ndarray, "member member"]) -> Float[np.ndarray, " member"]:
    """Return the weights, none negative and with the sum 1, that minimise w·P·w: the best of all subsets of members."""
    found = [weights for weights in _stationary(products) if (weights >= 0).all()]
    return min(found, key=lambda weights: float(weights @ products @ weights))


def blended_errors(products: Float[np.ndarray, "sample member member"]) -> Float[np.ndarray, " sample"]:
    """Return the error on each sample of the sum whose weights were chosen on all the others."""
    total = products.sum(axis=0)
    return np.concatenate([errors_of(own[None], best_weights(total - own)) for own in products])


def errors_of(
    products: Float[np.ndarray, "sample member member"], weights: Float[np.ndarray, " member"]
) -> Float[np.ndarray, " sample"]:
    """Return the relative L2 error on each sample of a sum with these weights."""
    return np.sqrt(np.maximum(products @ weights @ weights, 0.0))


def _stationary(products: Float[np.ndarray, "member member"]) -> Iterator[Float[np.ndarray, " member"]]:
    """Yield the minimum of w·P·w under the sum 1 alone, for each subset of members; others have no weight."""
    count = len(products)
    jitter = _JITTER * np.trace(products) / count * np.eye(count)
    yield from np.eye(count)
    for size in range(2, count + 1):
        for chosen in combinations(range(count), size):
            rows = list(chosen)
            part = np.linalg.lstsq((products + jitter)[np.ix_(rows, rows)], np.ones(size), rcond=None)[0]
            if part.sum() > 0:
                weights = np.zeros(count)
                weights[rows] = part / part.sum()
                yield weights
