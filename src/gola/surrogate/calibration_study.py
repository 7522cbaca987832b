"""Whether bands hold as often as they say: fits to many random splits, judged on the samples left aside."""

import itertools
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from gola.data.dataset import Dataset
from gola.data.sample import Channel, Sample, as_rows
from gola.fitting.configs import config_for, kind_of
from gola.metrics import relative_l2
from gola.operators.operator import OperatorConfig
from gola.protocol import TrainingConfig
from gola.surrogate.estimates import rank_correlation
from gola.surrogate.fit import fit
from gola.surrogate.quick import quick_operator
from gola.surrogate.surrogate import Surrogate
from gola.surrogate.uncertainty.levels import supported_level
from gola.surrogate.uncertainty.prediction import ErrorEstimate, Kind

LEVELS = (0.5, 0.8, 0.9, 0.95)
KINDS: tuple[Kind, ...] = ("everywhere", "pointwise")
# The level of bands whose widths are compared with errors, and folds that networks hold out.
_USUAL_LEVEL, _NUM_FOLDS = 0.9, 5
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class BandCoverage:
    """How often bands of one level and kind held.

    Attributes:
        level: How often they should.
        kind: Everywhere at once, or pointwise.
        actual: How often they did: the share of fields, or of points.
        error_bar: Standard error of that share over the test samples of all splits. A sample may be in the tests of
            several splits, so the true one is somewhat larger.
        half_width: Mean half-width in units of the root mean square error of the same prediction, the median over test
            samples.
    """

    level: float
    kind: Kind
    actual: float
    error_bar: float
    half_width: float


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationStudy:
    """What became of bands and estimated errors on test samples.

    Attributes:
        coverages: For every level that the training samples support, and both kinds.
        estimated: Estimated relative L2 error of each test sample, by split.
        actual: Its actual one.
        half_widths: Mean half-width of its pointwise band of ``width_level``, in units of the spread of each channel.
        rmses: Its root mean square error in the same units.
        width_level: The level nearest to 0.9 of those that were counted.
        example: A median test sample of the last split.
        num_train: Training samples of each split.
    """

    coverages: tuple[BandCoverage, ...]
    estimated: Float[np.ndarray, "split sample"]
    actual: Float[np.ndarray, "split sample"]
    half_widths: Float[np.ndarray, "split sample"]
    rmses: Float[np.ndarray, "split sample"]
    width_level: float
    example: "Example"
    num_train: int

    @property
    def rank_correlation(self) -> float:
        """Spearman's correlation of estimated and actual errors, the median over splits."""
        pairs = zip(self.estimated, self.actual, strict=True)
        return float(np.median([rank_correlation(found, truth) for found, truth in pairs]))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "num_train": self.num_train,
            "num_splits": len(self.actual),
            "num_test": self.actual.shape[1],
            "coverages": [vars(one) for one in self.coverages],
            "rank_correlation": self.rank_correlation,
            "mean_estimated_error": float(self.estimated.mean()),
            "mean_error": float(self.actual.mean()),
        }


def calibration(
    data: Dataset,
    operator: str | OperatorConfig | None = None,
    *,
    training: TrainingConfig | None = None,
    num_train: int | None = None,
    num_test: int | None = None,
    num_splits: int = 10,
    levels: Sequence[float] = LEVELS,
    seed: int = 0,
    on_progress: Callable[[int], object] | None = None,
) -> CalibrationStudy:
    """Fit to random parts of a data set, and count how often the bands hold for the other samples.

    Args:
        data: Samples with solutions.
        operator: What to fit; closed forms take seconds for each split. By default the automatic choice without
            networks.
        training: How to train, for networks, which are trained again without each of five folds unless it says
            otherwise.
        num_train: Training samples of each split; two thirds of all by default.
        num_test: Test samples of each split; all others by default.
        num_splits: Number of splits.
        levels: Levels of the bands; those that so few training samples cannot support are left out.
        seed: Random seed of the first split.
        on_progress: Called with the number of finished splits.
    """
    num_train = num_train or (2 * len(data)) // 3
    supported = supported_levels(num_train, levels)
    if not supported or num_splits < 1:
        raise ValueError(
            f"There must be at least one split, and a level that {num_train} training samples support, up to"
            f" {supported_level(num_train):.3f}; got {num_splits} splits and the levels {list(levels)}."
        )
    data, judged = data.in_memory(), []
    chosen = quick_operator(data) if operator is None else operator
    training = _holding_out(data, chosen, training or TrainingConfig())
    for split in range(num_splits):
        train, test = data.split(num_train=num_train, num_test=num_test, seed=seed + split)
        surrogate = fit(train, chosen, training=training, seed=seed + split, progress=False)
        judged.append([judged_sample(surrogate, sample, supported) for sample in test])
        if on_progress is not None:
            on_progress(split + 1)
    every = [one for split in judged for one in split]
    width_level = _usual(supported)
    rmses = np.array([[one.rmse for one in split] for split in judged])
    widths = np.array([[one.half_widths[width_level, "pointwise"] for one in split] for split in judged])
    middle = int(np.argsort([one.actual for one in judged[-1]])[len(test) // 2])
    return CalibrationStudy(
        coverages=coverages_of(every),
        estimated=np.array([[one.estimated for one in split] for split in judged]),
        actual=np.array([[one.actual for one in split] for split in judged]),
        half_widths=widths * np.where(rmses > 0.0, rmses, 1.0),
        rmses=rmses,
        width_level=width_level,
        example=_example(surrogate, test[middle], data.targets[0], width_level),
        num_train=num_train,
    )


def _holding_out(data: Dataset, operator: str | OperatorConfig, training: TrainingConfig) -> TrainingConfig:
    """Return how to train, such that there are held-out predictions to draw bands from."""
    has_them = kind_of(config_for(data, operator)).holds_out or training.held_out_folds
    return training if has_them else replace(training, held_out_folds=_NUM_FOLDS)


@dataclass(frozen=True, kw_only=True, eq=False)
class Example:
    """A test sample with its prediction: the first target channel, at the last time where there are several.

    Attributes:
        sample: Its points, with cells where they are known.
        channel: What is predicted.
        error: Absolute error at the points.
        half_width: Half the width of the pointwise band there.
    """

    sample: Sample
    channel: Channel
    error: Float[np.ndarray, " point"]
    half_width: Float[np.ndarray, " point"]


def _example(surrogate: Surrogate, sample: Sample, channel: Channel, level: float) -> Example:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = surrogate.predict_sample(sample, interval=level, kind="pointwise")
    error, half = np.abs(found.mean - sample.targets)[..., 0], (found.upper - found.lower)[..., 0] / 2
    if sample.has_time:
        error, half = error[-1], half[-1]
        sample = replace(sample, targets=sample.targets[-1], inputs=np.empty((sample.num_points, 0)), times=None)
    return Example(sample=sample, channel=channel, error=error, half_width=half)


@dataclass(frozen=True, kw_only=True)
class JudgedSample:
    """A test sample, judged by the truth.

    Attributes:
        estimate: Relative L2 error that was to be expected, with an interval of 0.9 or what is nearest to it.
        actual: Relative L2 error.
        rmse: Root mean square error in units of the spread of each channel.
        held: Of the band of each level and kind, the share that held: all or nothing of fields, or a share of points.
        half_widths: Mean half-width of each, in units of the root mean square error.
    """

    estimate: ErrorEstimate
    actual: float
    rmse: float
    held: dict[tuple[float, Kind], float]
    half_widths: dict[tuple[float, Kind], float]

    @property
    def estimated(self) -> float:
        """The error to be expected, without its interval."""
        return self.estimate.value


def judged_samples(surrogate: Surrogate, samples: Iterable[Sample]) -> list[JudgedSample]:
    """Compare bands of all usual levels that the training samples support with the truth.

    Raises:
        ValueError: If the surrogate has no bands.
    """
    if surrogate.calibration is None:
        raise ValueError("The surrogate has no bands: it was fitted without held-out predictions.")
    levels = supported_levels(surrogate.calibration.num_samples)
    return [judged_sample(surrogate, sample, levels) for sample in samples]


def supported_levels(num_train: int, levels: Sequence[float] = LEVELS) -> list[float]:
    """Return the levels that so many training samples support."""
    return [level for level in levels if level <= supported_level(num_train) + _ROUNDING]


def judged_sample(surrogate: Surrogate, sample: Sample, levels: Sequence[float]) -> JudgedSample:
    """Compare the bands and the estimated error of one prediction with the truth."""
    calibration = surrogate.calibration
    with warnings.catch_warnings():
        # Some test samples are beyond the others, and count too.
        warnings.simplefilter("ignore", UserWarning)
        found = surrogate.predict_sample(sample, interval=_usual(levels), kind="everywhere")
    assert calibration is not None
    scales, truth = np.array(surrogate.scaling.target_scales), as_rows(sample.targets)
    mean, upper = as_rows(found.mean) / scales, as_rows(found.upper) / scales
    residual = np.abs(truth / scales - mean)
    rmse = float(np.sqrt((residual**2).mean()))
    # Bands of one prediction differ by factors alone.
    unit = (upper - mean) / calibration.factors(_usual(levels), "everywhere")
    held: dict[tuple[float, Kind], float] = {}
    half_widths: dict[tuple[float, Kind], float] = {}
    for kind, level in itertools.product(KINDS, levels):
        half = calibration.factors(level, kind) * unit
        inside = residual <= half
        held[level, kind] = float(inside.all() if kind == "everywhere" else inside.mean())
        half_widths[level, kind] = float(half.mean()) / (rmse or 1.0)
    actual = float(relative_l2(torch.from_numpy(mean), torch.from_numpy(truth / scales)))
    return JudgedSample(estimate=found.error, actual=actual, rmse=rmse, held=held, half_widths=half_widths)


def coverages_of(judged: Sequence[JudgedSample]) -> tuple[BandCoverage, ...]:
    """Return how often bands of each level and kind held."""
    return tuple(_coverage(judged, level, kind) for level, kind in judged[0].held)


def _coverage(judged: Sequence[JudgedSample], level: float, kind: Kind) -> BandCoverage:
    shares = np.array([one.held[level, kind] for one in judged])
    return BandCoverage(
        level=level,
        kind=kind,
        actual=float(shares.mean()),
        error_bar=float(shares.std() / np.sqrt(len(shares))),
        half_width=float(np.median([one.half_widths[level, kind] for one in judged])),
    )


def _usual(levels: Sequence[float]) -> float:
    return min(levels, key=lambda level: abs(level - _USUAL_LEVEL))
