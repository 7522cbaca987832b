"""What more samples would bring: errors of fits to parts of the samples, continued by a power law."""

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from gola.data.dataset import Dataset
from gola.operators.operator import OperatorConfig
from gola.surrogate.evaluation import evaluate
from gola.surrogate.fit import fit
from gola.surrogate.power_law import PowerLaw
from gola.surrogate.quick import quick_operator
from gola.surrogate.uncertainty.calibration import OPTIMISM

# The samples are cut into so many parts, and all unions of these are fitted to.
_NUM_PARTS = 4
FEWEST_SAMPLES = 12
"""A quarter of fewer is too little to fit to."""
# Held-out predictions of all samples, by fits that share most of them, scatter like the mean of so many fits to parts:
# about what development data show.
_AS_MANY = 8
# Probability of the spread of a forecast.
_SHARE = 0.8


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """The error to expect with a number of samples.

    Attributes:
        num_samples: Training samples.
        error: Mean relative L2 error on new inputs, the median to expect.
        lower: It is above this,
        upper: and below this, in 8 of 10 cases.
    """

    num_samples: int
    error: float
    lower: float
    upper: float


@dataclass(frozen=True, kw_only=True, eq=False)
class LearningCurve:
    """Errors against numbers of training samples.

    Attributes:
        sizes: Numbers of samples that were fitted to.
        errors: Mean relative L2 error of each on samples that were not fitted to.
        doubts: Relative standard error of each.
        law: How they go on.
    """

    sizes: tuple[int, ...]
    errors: tuple[float, ...]
    doubts: tuple[float, ...]
    law: PowerLaw

    def forecast(self, num_samples: int) -> Forecast:
        """Return the error to expect with so many training samples."""
        if not num_samples >= 1:
            raise ValueError(f"A forecast is for at least 1 training sample; got {num_samples}.")
        beyond = (1.0 - _SHARE) / 2.0
        lower, middle, upper = self.law.quantiles(num_samples, np.array([beyond, 0.5, 1.0 - beyond]))
        return Forecast(num_samples=num_samples, error=float(middle), lower=float(lower), upper=float(upper))

    def sentence(self, num_more: int) -> str:
        """Say what more simulations would bring: "20 more simulations: from 4.3 % to about 3.1 % (2.7 to 3.6)"."""
        if num_more < 1:
            raise ValueError(f"More simulations are at least 1; got {num_more}.")
        now, then = self.forecast(self.sizes[-1]), self.forecast(self.sizes[-1] + num_more)
        start, end, lower, upper = (f"{100 * one:.2g}" for one in (now.error, then.error, then.lower, then.upper))
        return f"{num_more} more simulations: from {start} % to about {end} % ({lower} to {upper})."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"sizes": list(self.sizes), "errors": list(self.errors), "relative_errors_of_these": list(self.doubts)}


def learning_curve(
    data: Dataset,
    operator: str | OperatorConfig | None = None,
    *,
    seed: int = 0,
    on_progress: Callable[[int, int], object] | None = None,
) -> LearningCurve:
    """Fit to a quarter, half, three quarters and all of the samples, and find out how the error falls.

    The samples are cut into quarters, and all their unions are fitted to: 4 quarters, 6 halves, 4 times three quarters.
    So every sample is fitted to, and is predicted by fits without it, as often as any other. Errors of parts are those
    on the other samples. That of all samples is by held-out predictions, where the fit gives them, made larger by what
    choosing settings on them makes them smaller.

    Args:
        data: The samples that there are.
        operator: What to fit; the automatic choice without networks by default.
        seed: Random seed of the parts.
        on_progress: Called with the numbers of finished fits and of all.

    Raises:
        ValueError: If there are too few samples to fit to a part of them.
    """
    data = data.in_memory()
    if len(data) < FEWEST_SAMPLES:
        raise ValueError(
            f"A learning curve needs at least {FEWEST_SAMPLES} samples, to fit to a quarter of them; got {len(data)}."
        )
    chosen = quick_operator(data) if operator is None else operator
    plan = list(_unions(len(data), seed))
    errors: dict[int, list[float]] = {}
    for number, (size, rows) in enumerate(plan):
        errors.setdefault(size, []).extend(_error(data, chosen, rows))
        if on_progress is not None:
            on_progress(number + 1, len(plan) + 1)
    whole = fit(data, chosen, seed=seed, progress=False).scores.get("cv_error")
    if on_progress is not None:
        on_progress(len(plan) + 1, len(plan) + 1)
    if whole is not None:
        errors[len(data)] = [whole * (1.0 + OPTIMISM / len(data))]
    if sum(len(found) > 1 for found in errors.values()) < 2:
        raise ValueError(
            "Fits to parts of the samples cannot predict the others, which differ too much from them; give more"
            " samples, or name another operator."
        )
    return _curve({size: found for size, found in errors.items() if found}, len(data))


def _unions(count: int, seed: int) -> Iterator[tuple[int, list[int]]]:
    """Yield all unions of some of the parts, small ones first, each with about how many samples are in such a one."""
    parts = np.array_split(np.random.default_rng(seed).permutation(count), _NUM_PARTS)
    for number in range(1, _NUM_PARTS):
        for some in itertools.combinations(parts, number):
            yield round(number * count / _NUM_PARTS), np.sort(np.concatenate(some)).tolist()


def _error(data: Dataset, operator: str | OperatorConfig, rows: Sequence[int]) -> list[float]:
    """Return the mean error of a fit to a part of the samples, on the others.

    A small part may have positive inputs only, of which an operator takes logarithms, and others cannot be predicted
    then; such a part says nothing.
    """
    others = sorted(set(range(len(data))) - set(rows))
    with warnings.catch_warnings():
        # Of the others some are beyond the part, and count too.
        warnings.simplefilter("ignore", UserWarning)
        surrogate = fit(data.select(rows), operator, progress=False)
        try:
            return [evaluate(surrogate, data.select(others), progress=False).mean]
        except ValueError:
            return []


def _curve(errors: dict[int, list[float]], num_samples: int) -> LearningCurve:
    sizes = np.array(list(errors), dtype=float)
    means = np.array([np.exp(np.mean(np.log(found))) for found in errors.values()])
    doubts = _doubts(errors, num_samples)
    return LearningCurve(
        sizes=tuple(errors),
        errors=tuple(means.tolist()),
        doubts=tuple(doubts.tolist()),
        law=PowerLaw.fitted(sizes, means, doubts),
    )


def _doubts(errors: dict[int, list[float]], num_samples: int) -> Float[np.ndarray, " size"]:
    """Return the relative standard error of each mean; all scatter alike, as one cannot tell from few which do more."""
    several = [np.log(found) for found in errors.values() if len(found) > 1]
    scatter = float(np.sqrt(np.mean([np.var(found, ddof=1) for found in several])))
    counts = [_AS_MANY if size == num_samples else len(found) for size, found in errors.items()]
    return scatter / np.sqrt(counts)
