"""Candidates for further simulations: what is known of them before they are run."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from scipy.stats import qmc

from gola.data.sample import Sample
from gola.operators.closed_form.kriging import error_covariance as kriging_covariance
from gola.registry import unknown
from gola.surrogate.coverage import spans_decades
from gola.surrogate.estimates import estimated_errors, in_space_time
from gola.surrogate.suggestion import Suggestions, checked_costs, chosen_batch
from gola.surrogate.uncertainty.calibration import Calibration
from gola.surrogate.uncertainty.case import Case
from gola.surrogate.uncertainty.spread import error_covariance

if TYPE_CHECKING:
    from gola.surrogate.surrogate import Surrogate

NUM_DRAWN, MOST_CANDIDATES = 256, 2000
"""Candidates that are drawn where none is given, and the most that are compared."""
# The part of a generic covariance that one simulation does not tell of another nearby.
_NOISE = 1e-2


def suggest(
    surrogate: "Surrogate",
    candidates: Iterable[Sample] | None,
    *,
    num: int,
    costs: Sequence[float] | Float[np.ndarray, " candidate"] | None,
    ranges: Mapping[str, tuple[float, float]] | None,
    target: float,
    seed: int,
) -> Suggestions:
    """Choose the simulations that would lower the error over all candidates most."""
    calibration = surrogate.calibration
    assert calibration is not None
    given = list(drawn_candidates(surrogate, ranges or {}, seed) if candidates is None else candidates)
    if not 1 <= num <= len(given):
        raise ValueError(f"num must be from 1 to the number of candidates, {len(given)}; got {num}.")
    if not target >= 0.0:
        raise ValueError(f"target must be a relative error, 0 or more; got {target!r}.")
    if len(given) > MOST_CANDIDATES:
        raise ValueError(f"At most {MOST_CANDIDATES} candidates are compared; got {len(given)}. Give a part of them.")
    seen = [in_space_time(sample, surrogate) for sample in given]
    covariance = error_covariance(surrogate.operator, surrogate.scaling, seen)
    source = f"the covariance of {surrogate.operator.name}"
    if covariance is None:
        covariance = described_covariance(calibration, [Case.of(sample, surrogate.scaling) for sample in seen])
        source = "distances between inputs"
    return chosen_batch(
        covariance,
        _errors(surrogate, given),
        np.stack([sample.parameters for sample in given]),
        num=num,
        costs=checked_costs(costs, len(given)),
        target=target,
        source=source,
    )


def described_covariance(calibration: Calibration, cases: Sequence[Case]) -> Float[np.ndarray, "candidate candidate"]:
    """Return the covariance of errors of a Gaussian process of how inputs are described: Matérn 1/2, usual lengths."""
    known = torch.from_numpy(calibration.description.known)
    described = [numbers for case in cases if (numbers := calibration.description.numbers(case)) is not None]
    if len(described) < len(cases):
        raise ValueError("Candidates must have the nodes of the training samples; some have others.")
    new = torch.from_numpy(np.stack(described))
    length = 2.0 * float(torch.cdist(known, known).median()) or 1.0
    known_pairs, cross_pairs, new_pairs = (
        torch.exp(-torch.cdist(*pair) / length) for pair in ((known, known), (new, known), (new, new))
    )
    return np.asarray(kriging_covariance(known_pairs, cross_pairs, new_pairs, _NOISE).numpy())


def drawn_candidates(surrogate: "Surrogate", ranges: Mapping[str, tuple[float, float]], seed: int) -> list[Sample]:
    """Draw parameters evenly within ranges: those given, else those of the training samples.

    Raises:
        ValueError: If the surrogate reads more than parameters on one domain, or a range makes no sense.
    """
    coverage, names = surrogate.coverage, [channel.name for channel in surrogate.parameters]
    if surrogate.inputs or not names or coverage is None or not len(coverage.points):
        raise ValueError(
            "Candidates are needed: only parameters of simulations on one domain can be drawn, and this surrogate reads"
            f" {', '.join(channel.name for channel in surrogate.inputs) or 'domains of their own'}."
        )
    for name in ranges:
        if name not in names:
            raise ValueError(unknown("parameter of the surrogate", name, names))
    known = dict(zip(names, zip(coverage.lowest_parameters, coverage.highest_parameters, strict=True), strict=True))
    shares = qmc.Sobol(len(names), seed=seed).random(NUM_DRAWN)
    columns = [_within(*(known | dict(ranges))[name], column) for name, column in zip(names, shares.T, strict=True)]
    points, empty = coverage.points, np.empty((len(coverage.points), 0))
    return [Sample(points=points, inputs=empty, targets=empty, parameters=row) for row in np.stack(columns, axis=1)]


def _within(low: float, high: float, shares: Float[np.ndarray, " row"]) -> Float[np.ndarray, " row"]:
    if not -np.inf < low <= high < np.inf:
        raise ValueError(f"A range goes from a finite number to one that is not smaller; got {low} and {high}.")
    if spans_decades(low, high):
        return np.asarray(low * (high / low) ** shares)
    return low + (high - low) * shares


def _errors(surrogate: "Surrogate", samples: Sequence[Sample]) -> Float[np.ndarray, " candidate"]:
    with warnings.catch_warnings():
        # That a candidate is unlike the training samples is what makes it one.
        warnings.simplefilter("ignore", UserWarning)
        predictions = [surrogate.predict_sample(sample) for sample in samples]
    return np.array([one.value for one in estimated_errors(surrogate, samples, predictions)])
