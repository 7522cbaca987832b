r"""Bands from held-out predictions: the jackknife for functions at points.

The band around a prediction :math:`\hat u` is :math:`\hat u(x) \pm q\, a\, s(x)`. The scale s says where errors are
large, the size a how large those of this input should be, and q is a conformal quantile of the scores of held-out
training samples, of which each is judged by an s and an a that do not know it:

.. math:: S_i = \sup_x \frac{|u_i(x) - \hat u_{-i}(x)|}{a_{-i}\, s_{-i}(x)}

for bands that hold everywhere, and the pooled distribution of these quotients over x for those that hold pointwise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from gola.mapped import Mapped
from gola.metrics import relative_l2
from gola.surrogate.uncertainty.between_nodes import BetweenNodes
from gola.surrogate.uncertainty.case import Case
from gola.surrogate.uncertainty.description import Description, Shape
from gola.surrogate.uncertainty.error_model import ErrorModel, damped, fit_error_model, typical_of_others
from gola.surrogate.uncertainty.levels import (
    interval_of,
    pooled,
    pooled_quantile,
    require_supported,
    upper_quantile,
)
from gola.surrogate.uncertainty.local_scale import LocalScale, SmoothedSquares
from gola.surrogate.uncertainty.prediction import ErrorEstimate, Kind

FEWEST_SAMPLES = 4
"""Fewer cannot tell a scale without one of them."""

GUARANTEE = (
    "Jackknife around the fit to all {count} samples, with held-out predictions by {method}. If new samples are drawn"
    " like the training samples, bands hold about as often as they say; no theorem promises it, because the settings of"
    " the fit were chosen on the same held-out samples. For inputs unlike the training samples nothing is promised."
)
OPTIMISM = 1.5
"""Held-out errors of n samples, on which settings were chosen, are too small by this share of 1/n."""

# Points of a sample that are scored, at most.
_MOST_POINTS = 20_000
# Sizes and distances below are zero up to rounding.
_SMALLEST = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Calibration:
    """What bands are drawn from; errors are in units of the spread of each target channel.

    Attributes:
        description: What is usual.
        errors: How large errors should be.
        spreads: Of each training sample, the size of error that the operator itself expects when it is held out, up to
            a factor; empty where it does not say.
        scale: Where they are large.
        scores: Of each held-out sample, the largest quotient of error and scale over all its points and channels.
        shares: Quantiles of the quotients at points of all samples, in each channel.
        ratios: Of each held-out sample, its relative L2 error over the expected one.
        method: How samples were held out.
        between: How far solutions may be from what is interpolated between the nodes that all samples share; None where
            they share none.
        largest_size: Root mean square of the largest held-out prediction.
    """

    description: Description
    errors: ErrorModel
    spreads: Float[np.ndarray, " expected"]
    scale: LocalScale
    scores: Float[np.ndarray, " sample"]
    shares: Float[np.ndarray, "share channel"]
    ratios: Float[np.ndarray, " sample"]
    method: str
    between: BetweenNodes | None = None
    largest_size: float = np.inf

    @staticmethod
    def of(
        cases: Sequence[Case],
        predictions: Sequence[Float[np.ndarray, "_ channel"]],
        targets: Sequence[Float[np.ndarray, "_ channel"]],
        *,
        spreads: Float[np.ndarray, " sample"] | None = None,
        shape: Shape,
        nodes_correspond: bool,
        method: str,
    ) -> "Calibration":
        """Compare held-out predictions with the truth.

        Args:
            cases: Inputs of the training samples.
            predictions: Held-out predictions, in units of the spread of each channel.
            targets: The truth in the same units.
            spreads: What the operator itself expects of each sample when it is held out; None where it does not say.
            shape: How samples differ in their points.
            nodes_correspond: Whether row i is the same node in all samples.
            method: How samples were held out.
        """
        residuals = Mapped(np.subtract, targets, predictions)
        description = Description.of(cases, shape)
        sizes = np.array([_rms(found) for found in predictions])
        doubts = description.distances if spreads is None else spreads
        features = _features(sizes, doubts)
        rmses = np.array([_rms(one) for one in residuals])
        model, expected = fit_error_model(features, rmses)
        sizes_of_bands = damped(expected, typical_of_others(rmses), len(cases))
        squares = SmoothedSquares.of(
            Mapped(lambda case: case.points, cases), residuals, nodes_correspond=nodes_correspond
        )
        quotients = []
        for number, residual in enumerate(residuals):
            rows = np.random.default_rng(number).permutation(len(residual))[:_MOST_POINTS]
            local = squares.without(number, squares.places[number][rows])
            quotients.append(np.abs(residual[rows]) / (sizes_of_bands[number] * local))
        # Settings were chosen on the very errors that are counted here; the more there is to compare samples by, the
        # more freely.
        chosen = 1.0 + OPTIMISM * np.sqrt(_num_groups(cases[0], shape)) / len(cases)
        pairs = zip(predictions, targets, strict=True)
        relative = np.array([float(relative_l2(torch.from_numpy(a), torch.from_numpy(b))) for a, b in pairs])
        return Calibration(
            description=description,
            errors=model,
            spreads=np.empty(0) if spreads is None else spreads,
            scale=squares.scale(len(cases[0].points) if shape == "moved nodes" else 0),
            scores=chosen * np.array([one.max() for one in quotients]),
            shares=chosen
            * np.stack([pooled(column) for column in zip(*(one.T for one in quotients), strict=True)], axis=1),
            ratios=(1.0 + OPTIMISM / len(cases)) * relative * sizes / expected,
            method=method,
            between=BetweenNodes.of(cases[0].points, targets, moves=shape == "moved nodes")
            if nodes_correspond
            else None,
            largest_size=float(sizes.max()),
        )

    @property
    def num_samples(self) -> int:
        """Number of held-out samples."""
        return len(self.scores)

    @property
    def guarantee(self) -> str:
        """What the bands promise, and what not."""
        return GUARANTEE.format(count=self.num_samples, method=self.method)

    def judged(
        self, case: Case, prediction: Float[np.ndarray, "point channel"], spread: float | None = None
    ) -> "Judged":
        """Judge the input of a prediction.

        Args:
            case: The input.
            prediction: At the points of the input or some of them, in units of the spread of each channel.
            spread: What the operator itself expects; None where it does not say.
        """
        distance, size = self.description.distance(case), max(_rms(prediction), _SMALLEST)
        known, doubt = self.description.distances, distance
        if len(self.spreads) and spread is not None:
            known, doubt = self.spreads, spread
        # Beyond the training samples slopes are not known; sizes grow no further than the farthest of them say twice.
        near, usual = min(doubt, 2.0 * float(known.max())), min(size, 2.0 * self.largest_size)
        expected, expected_of_usual = self.errors(_features(np.array([size, usual]), np.array([near, near]))).tolist()
        return Judged(
            expected=expected,
            size=size,
            relative=expected_of_usual / usual,
            unusual=self.description.rank(distance),
            is_beyond=self.description.is_beyond(distance),
        )

    def half_widths(
        self,
        judged: "Judged",
        places: Float[np.ndarray, "place dim"],
        points: Float[np.ndarray, "point dim"],
        level: float,
        kind: Kind,
    ) -> Float[np.ndarray, "place channel"]:
        """Return half the width of a band at places, in units of the spread of each channel.

        Args:
            judged: What is known of the input.
            places: Where, in the unit box.
            points: Where the input is known.
            level: The probability of the band.
            kind: Whether it holds everywhere or pointwise.
        """
        size = damped(np.array([judged.expected]), self.errors.typical, self.num_samples)
        half = self.factors(level, kind) * size * self.scale.at(places, points)
        if self.between is None:
            return half
        return half + self.between.half_widths(places, points, judged.size, level, kind)

    def factors(self, level: float, kind: Kind) -> Float[np.ndarray, " channel"]:
        """Return the quantile that bands of a level and kind are drawn with, in each channel."""
        require_supported(level, self.num_samples)
        if kind == "everywhere":
            return np.full(self.shares.shape[1], upper_quantile(self.scores, level))
        return np.array([pooled_quantile(column, level) for column in self.shares.T])

    def error(self, judged: "Judged", level: float) -> ErrorEstimate:
        """Return the relative L2 error to expect of a prediction, with an interval of this level."""
        lower, upper = interval_of(self.ratios, level)
        value = float(np.median(self.ratios))
        return ErrorEstimate(
            value=judged.relative * value, lower=judged.relative * lower, upper=judged.relative * upper
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return all numbers as arrays by name."""
        return {
            "centre": self.description.centre,
            "units": self.description.units,
            "known": self.description.known,
            "distances": self.description.distances,
            "slopes": self.errors.slopes,
            "spreads": self.spreads,
            "feature_centre": self.errors.centre,
            "anchors": self.scale.anchors,
            "rows": self.scale.rows,
            "scale": self.scale.values,
            "scores": self.scores,
            "shares": self.shares,
            "ratios": self.ratios,
            **({} if self.between is None else self.between.to_arrays()),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what is not an array, ready for JSON."""
        return {
            "shape": self.description.shape,
            "offset": self.errors.offset,
            "num_nodes": self.scale.num_nodes,
            "method": self.method,
            "guarantee": self.guarantee,
            "largest_size": self.largest_size,
            **({} if self.between is None else self.between.to_dict()),
        }

    @staticmethod
    def from_dict(values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "Calibration":
        """Undo ``to_dict`` and ``to_arrays``."""
        return Calibration(
            description=Description(
                shape=values["shape"],
                **{name: arrays[name] for name in ("centre", "units", "known", "distances")},
            ),
            errors=ErrorModel(offset=float(values["offset"]), slopes=arrays["slopes"], centre=arrays["feature_centre"]),
            # Surrogates of before know no spreads.
            spreads=arrays.get("spreads", np.empty(0)),
            scale=LocalScale(
                anchors=arrays["anchors"],
                rows=arrays["rows"],
                num_nodes=int(values["num_nodes"]),
                values=arrays["scale"],
            ),
            scores=arrays["scores"],
            shares=arrays["shares"],
            ratios=arrays["ratios"],
            method=str(values["method"]),
            between=BetweenNodes.from_dict(values, arrays),
            # Surrogates of before do not know it.
            largest_size=float(values.get("largest_size", np.inf)),
        )


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What is known of one input before the truth is.

    Attributes:
        expected: Root mean square error to expect, in units of the spread of each channel.
        size: Root mean square of the prediction in the same units.
        relative: The error to expect as a share of the size; a prediction far larger than those of the training samples
            is no reason to expect a small one.
        unusual: The share of training samples that are less unusual.
        is_beyond: Whether it is clearly beyond them.
    """

    expected: float
    size: float
    relative: float
    unusual: float
    is_beyond: bool


def _num_groups(case: Case, shape: Shape) -> int:
    """Return how many parameters, input channels and shapes samples may differ in."""
    return max(1, len(case.parameters) + case.values.shape[1] + (shape != "fixed"))


def _rms(values: Float[np.ndarray, "point channel"]) -> float:
    return float(np.sqrt((values**2).mean()))


def _features(
    sizes: Float[np.ndarray, " sample"], doubts: Float[np.ndarray, " sample"]
) -> Float[np.ndarray, "sample 2"]:
    """Return what may tell the size of an error: logarithms, as errors grow by factors."""
    return np.log(np.maximum(np.stack([sizes, doubts], axis=1), _SMALLEST))
