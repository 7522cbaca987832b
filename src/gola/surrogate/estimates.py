"""The errors to expect of predictions that are made already."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

from gola.data.sample import Sample, as_rows
from gola.data.trajectories import repeated_inputs
from gola.surrogate.uncertainty.case import Case
from gola.surrogate.uncertainty.levels import supported_level
from gola.surrogate.uncertainty.prediction import ErrorEstimate
from gola.surrogate.uncertainty.spread import expected_spreads

if TYPE_CHECKING:
    from gola.surrogate.surrogate import Surrogate

_USUAL_LEVEL = 0.9


def usual_level(surrogate: "Surrogate") -> float | None:
    """Return the level of intervals unless another is asked for; None where errors cannot be estimated."""
    calibration = surrogate.calibration
    return None if calibration is None else min(_USUAL_LEVEL, supported_level(calibration.num_samples))


def estimated_errors(
    surrogate: "Surrogate", samples: Sequence[Sample], predictions: Sequence[Float[np.ndarray, "... channel"]]
) -> list[ErrorEstimate]:
    """Estimate the relative L2 error of predictions, each with an interval of the usual level.

    Args:
        surrogate: What predicted.
        samples: What it predicted; solutions are not looked at.
        predictions: What it found at the points of each.

    Returns:
        An estimate for each, the same that `predict` gives with a band; nothing where the surrogate cannot say.
    """
    calibration, level = surrogate.calibration, usual_level(surrogate)
    if calibration is None or level is None:
        return []
    seen = [in_space_time(sample, surrogate) for sample in samples]
    spreads, scales = expected_spreads(surrogate.operator, surrogate.scaling, seen), surrogate.scaling.target_scales
    judged = [
        calibration.judged(Case.of(sample, surrogate.scaling), as_rows(found) / np.array(scales), spread)
        for sample, found, spread in zip(seen, predictions, spreads, strict=True)
    ]
    return [calibration.error(one, level) for one in judged]


def in_space_time(sample: Sample, surrogate: "Surrogate") -> Sample:
    """Return the input of a sample as the operator sees it: a trajectory has points in space and time."""
    axis = surrogate.time_axis
    if axis is None:
        return sample
    times = np.array(axis.times) if sample.times is None else sample.times
    inputs = as_rows(repeated_inputs(sample.inputs, len(times)))
    points = axis.points(sample.points, times)
    return Sample(points=points, inputs=inputs, targets=np.empty((len(points), 0)), parameters=sample.parameters)


def rank_correlation(left: Float[np.ndarray, " sample"], right: Float[np.ndarray, " sample"]) -> float:
    """Return Spearman's rank correlation; 0 where one of both does not vary."""
    first, second = rankdata(left), rankdata(right)
    if np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
