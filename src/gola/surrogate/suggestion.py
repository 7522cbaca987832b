r"""The simulations to run next: those that would lower the error over all candidates most.

The covariance C of the errors of candidates does not depend on their solutions, so a whole batch is chosen without new
fits. A simulation of candidate c leaves the covariance :math:`C - C_{\cdot c} C_{c \cdot} / C_{cc}`. Greedily, the one
is taken that lowers the sum of the variances of all candidates most for its cost (Cohn, Ghahramani and Jordan, 1996,
arXiv cs/9603104; a Cholesky decomposition with pivots). C is that of the operator where it has one
(:mod:`gola.operators.closed_form.kriging`), else that of a Gaussian process of how inputs are described.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

_LEAST_GAIN = 0.01
# A candidate is helped by a simulation if the variance of its error falls by this share.
_HELPED = 0.2


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A simulation to run.

    Attributes:
        candidate: Its number among the candidates.
        parameters: Its parameters, in the order of the surrogate.
        error: The mean relative L2 error over candidates to expect after this one and all before it.
        gain: The share of the error that it removes.
        reason: Why it, in a few words.
    """

    candidate: int
    parameters: tuple[float, ...]
    error: float
    gain: float
    reason: str


@dataclass(frozen=True, kw_only=True)
class Suggestions:
    """A batch of simulations to run, the best first.

    Attributes:
        chosen: The simulations.
        error: The mean relative L2 error over candidates to expect without any of them.
        num_worthwhile: How many of them are worth it: the error is above the target before each, and each removes 1 %
            of it or more.
        source: Where the covariance of errors comes from.
    """

    chosen: tuple[Suggestion, ...]
    error: float
    num_worthwhile: int
    source: str


def chosen_batch(
    covariance: Float[np.ndarray, "candidate candidate"],
    errors: Float[np.ndarray, " candidate"],
    parameters: Float[np.ndarray, "candidate parameter"],
    *,
    num: int,
    costs: Float[np.ndarray, " candidate"],
    target: float,
    source: str,
) -> Suggestions:
    """Choose simulations one after the other.

    Args:
        covariance: Of the errors of candidates, up to a factor.
        errors: The relative error to expect of each as it is.
        parameters: Of each.
        num: How many to choose.
        costs: What the simulation of each costs.
        target: A mean error that is small enough.
        source: Where the covariance comes from.
    """
    left, start = covariance.copy(), np.maximum(covariance.diagonal(), 1e-300)
    now, num_worthwhile, is_worthwhile = float(errors.mean()), 0, True
    chosen: list[Suggestion] = []
    for _ in range(num):
        variances = np.maximum(left.diagonal(), 1e-12 * start)
        removed = left**2 / variances
        taken = [one.candidate for one in chosen]
        # Each candidate counts by its relative error, whatever the size of its solution; by its first power, as which
        # errors are large is known far less well than which inputs tell of each other.
        totals = ((errors / start) @ removed) / costs
        totals[taken] = -np.inf
        best = int(totals.argmax())
        helped = int((removed[:, best] > _HELPED * variances).sum())
        left = left - np.outer(left[:, best], left[best]) / variances[best]
        shares = np.sqrt(np.clip(left.diagonal(), 0.0, start) / start)
        error = float((errors * shares).mean())
        gain = 1.0 - error / now if now > 0.0 else 0.0
        ratio = errors[best] * np.sqrt(variances[best] / start[best]) / max(now, 1e-300)
        reason = f"{ratio:.1f} times the mean error; helps {helped} of {len(errors)} candidates"
        chosen.append(
            Suggestion(
                candidate=best, parameters=tuple(parameters[best].tolist()), error=error, gain=gain, reason=reason
            )
        )
        is_worthwhile = is_worthwhile and gain >= _LEAST_GAIN and now > target
        num_worthwhile += is_worthwhile
        now = error
    return Suggestions(chosen=tuple(chosen), error=float(errors.mean()), num_worthwhile=num_worthwhile, source=source)


def checked_costs(
    costs: Sequence[float] | Float[np.ndarray, " given"] | None, count: int
) -> Float[np.ndarray, " candidate"]:
    """Return the cost of each candidate; 1 where nothing is said.

    Raises:
        ValueError: If there is not a positive number for each.
    """
    if costs is None:
        return np.ones(count)
    found = np.asarray(costs, dtype=float)
    if found.shape != (count,) or not (np.isfinite(found) & (found > 0.0)).all():
        raise ValueError(f"costs must be a positive number for each of the {count} candidates; got {len(found)}.")
    return found
