"""A fitted operator, ready to use: a new input function in, the solution out, in the user's units."""

import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, overload

import numpy as np
import torch
from jaxtyping import Float, Int

from gola.data.correspondence import Correspondence
from gola.data.dataset import Dataset
from gola.data.parameters import as_row
from gola.data.sample import Channel, Sample, as_rows
from gola.data.times import input_tables
from gola.data.trajectories import TimeAxis, repeated_inputs, require_times
from gola.files import replacing
from gola.geometry import spatial_order
from gola.operators.operator import Operator
from gola.operators.scaling import Scaling
from gola.surrogate.building import built_operator
from gola.surrogate.coverage import Coverage
from gola.surrogate.file import read_tensors, write_tensors
from gola.surrogate.uncertainty.calibration import Calibration
from gola.surrogate.uncertainty.case import Case
from gola.surrogate.uncertainty.levels import require_supported
from gola.surrogate.uncertainty.prediction import Kind, Prediction, require_kind
from gola.surrogate.uncertainty.spread import expected_spread

# How far beyond the training points predictions are made without a warning, as a share of their extent.
_MARGIN = 0.05
# Name of the training points among the tensors of a file.
_COVERED = "coverage.points"
# What names of tensors that bands are drawn from begin with.
_CALIBRATION = "calibration."
# Points that tell how large a prediction is, at most, where it is asked for elsewhere.
_MOST_SIZED = 500


@dataclass(frozen=True, kw_only=True, eq=False)
class Surrogate:
    """A fitted operator with all that it takes to use it.

    Attributes:
        operator: The fitted operator.
        scaling: Between the user's units and the operator's.
        inputs: Channels that it reads.
        targets: Channels that it predicts.
        parameters: Parameters that it reads.
        correspondence: How the points of the training samples correspond to each other. Where these are moved nodes of
            one mesh, the order of points carries meaning.
        time_axis: The time of trajectories, where it was fitted to such.
        coverage: What the training samples cover, by which predictions are warned of; None to warn of the box only.
        calibration: What bands are drawn from; None where the fit gave no held-out predictions.
        scores: Errors known from fitting: ``cv_error`` (on held-out training samples), ``training_error``,
            ``validation_error``.
        provenance: How it was fitted: data, settings, versions; ready for JSON.
    """

    operator: Operator
    scaling: Scaling
    inputs: tuple[Channel, ...]
    targets: tuple[Channel, ...]
    parameters: tuple[Channel, ...] = ()
    correspondence: Correspondence = "none"
    time_axis: TimeAxis | None = None
    coverage: Coverage | None = None
    calibration: Calibration | None = None
    scores: dict[str, float] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    @overload
    def predict(
        self, points: Any, inputs: Any = ..., *, parameters: Any = ..., at: Any = ..., times: Any = ...,
        interval: None = ..., kind: Kind = ...,
    ) -> Float[np.ndarray, "*time row channel"]: ...  # fmt: skip

    @overload
    def predict(
        self, points: Any, inputs: Any = ..., *, parameters: Any = ..., at: Any = ..., times: Any = ...,
        interval: float, kind: Kind = ...,
    ) -> Prediction: ...  # fmt: skip

    @torch.no_grad()
    def predict(
        self,
        points: Any,
        inputs: Any = None,
        *,
        parameters: Any = None,
        at: Any = None,
        times: Any = None,
        interval: float | None = None,
        kind: Kind = "everywhere",
    ) -> Float[np.ndarray, "*time row channel"] | Prediction:
        """Predict the solution of a new input function and new parameters.

        With an interval, the prediction comes with a band, an estimate of its error, and how unusual the input is. A
        band of 0.9 that holds ``"everywhere"`` contains 9 of 10 new solutions entirely, at all points and in all
        channels; one that holds ``"pointwise"`` contains a new solution at 9 of 10 points on average, and is narrower.
        Bands are drawn by the jackknife: held-out predictions of the training samples say how wide they have to be.
        They hold about as often as they say if new inputs are drawn like the training inputs
        (:attr:`Calibration.guarantee <gola.surrogate.uncertainty.calibration.Calibration.guarantee>`), and say nothing
        about how well the simulations describe reality.

        Args:
            points: Where the input function is known, (points, dim); where to predict.
            inputs: The input function there, (points, channels), or (points,) for a single channel; None for a
                surrogate that reads no input functions. For trajectories also (times, points, channels).
            parameters: The numbers in the order of :attr:`parameters`; a dict by name; a DataFrame of one row, or a row
                of one; None for a surrogate that reads no parameters.
            at: Where to predict, (queries, dim); at ``points`` by default.
            times: When to predict, for a surrogate that was fitted to trajectories; at the times of these by default,
                where they are the same for all.
            interval: The probability of a band around the prediction, such as 0.9; None for no band.
            kind: Whether the band is to hold everywhere at once or pointwise.

        Returns:
            The solution in its own units, a row for each point or query and a column for each channel; for trajectories
            one such table for each time. With an interval, a :class:`Prediction` of such arrays.

        Raises:
            ValueError: If an array does not have the shape that it needs, the prediction is not finite, or the training
                samples are too few for the interval.

        Warns:
            UserWarning: If inputs, parameters, places or times are unlike those of the training samples.
        """
        if interval is not None:
            require_kind(kind)
            require_supported(interval, self._calibrated().num_samples)
        asked = self._checked_times(times)
        points, values = self._checked(points, inputs, asked)
        numbers = as_row(parameters, self.parameters)
        queries = None if at is None else self._checked_points(at, "at")
        if self.coverage is not None:
            self.coverage.warn_of_parameters(numbers, self.parameters)
            if queries is not None:
                self.coverage.warn_of_queries(queries[~self._is_beyond(queries)], points)
        shape: tuple[int, ...] = (-1, len(self.targets))
        if self.time_axis is not None and asked is not None:
            # An input that is constant, or none, is shown to the operator at the times of the training samples.
            known = asked if values.ndim == 3 or self.time_axis.resembles(asked) else np.array(self.time_axis.times)
            places = points if queries is None else queries
            shape = (len(asked), len(places), len(self.targets))
            queries = None if queries is None and known is asked else self.time_axis.points(places, asked)
            points, values = self.time_axis.points(points, known), repeated_inputs(values, len(known))
        mean = self._predicted(points, values, numbers, queries)
        if interval is None:
            return mean.reshape(shape)
        sample = Sample(points=points, inputs=values, targets=np.empty((len(points), 0)), parameters=numbers)
        return self._with_band(sample, queries, mean, shape, interval, kind)

    def _with_band(
        self,
        sample: Sample,
        queries: Float[np.ndarray, "query dim"] | None,
        mean: Float[np.ndarray, "row channel"],
        shape: tuple[int, ...],
        level: float,
        kind: Kind,
    ) -> Prediction:
        """Draw the band around a prediction, and judge its input."""
        calibration, scales = self._calibrated(), np.array(self.scaling.target_scales)
        case, at_points = Case.of(sample, self.scaling), mean
        if queries is not None:
            # How large the solution is must not depend on where somebody asks for it.
            rows = np.sort(np.random.default_rng(0).permutation(len(sample.points))[:_MOST_SIZED])
            at_points = self._predicted(sample.points, sample.inputs, sample.parameters, sample.points[rows])
        spread = expected_spread(self.operator, self.scaling, sample)
        judged = calibration.judged(case, at_points / scales, spread)
        if judged.is_beyond:
            warnings.warn(
                "The input is farther from all training samples than these are from each other, clearly; the band and"
                " the estimated error mean nothing here.",
                stacklevel=4,
            )
        places = case.points if queries is None else self.scaling.frame.encode(queries)
        half = scales * calibration.half_widths(judged, places, case.points, level, kind)
        return Prediction(
            mean=mean.reshape(shape),
            lower=(mean - half).reshape(shape),
            upper=(mean + half).reshape(shape),
            level=level,
            kind=kind,
            error=calibration.error(judged, level),
            unusual=judged.unusual,
            is_beyond=judged.is_beyond,
        )

    def _calibrated(self) -> Calibration:
        if self.calibration is None:
            trained = "training" in self.operator.heeds
            how = "with TrainingConfig(held_out_folds=5)" if trained else "to at least 4 samples"
            raise ValueError(
                "This surrogate has no bands: it was fitted without held-out predictions, or saved by an older version."
                f" Fit it again {how}, or fit by 'auto' or a closed form."
            )
        return self.calibration

    def _predicted(
        self,
        points: Float[np.ndarray, "point dim"],
        values: Float[np.ndarray, "point input"],
        parameters: Float[np.ndarray, " parameter"],
        queries: Float[np.ndarray, "query dim"] | None,
    ) -> Float[np.ndarray, "row channel"]:
        """Predict at the queries, or at the points, all of them as the operator knows them: with the time, if any."""
        order = self._order(points)
        dtype = torch.float32 if self.operator.normalised else torch.float64
        cloud = self.scaling.cloud(points[order], values[order], dtype, parameters=parameters)
        cloud = self.operator.prepare(cloud)
        if queries is None:
            in_order = self.scaling.decode(self.operator(cloud).double()).numpy()
            predictions = np.empty_like(in_order)
            predictions[order] = in_order
            return _finite(predictions)
        predicted = self.operator(cloud, at=self.scaling.places(queries, dtype))
        return _finite(self.scaling.decode(predicted.double()).numpy())

    @overload
    def predict_sample(
        self, sample: Sample, at: Any = ..., times: Any = ..., *, interval: None = ..., kind: Kind = ...
    ) -> Float[np.ndarray, "*time row channel"]: ...

    @overload
    def predict_sample(
        self, sample: Sample, at: Any = ..., times: Any = ..., *, interval: float, kind: Kind = ...
    ) -> Prediction: ...

    def predict_sample(
        self,
        sample: Sample,
        at: Any = None,
        times: Any = None,
        *,
        interval: float | None = None,
        kind: Kind = "everywhere",
    ) -> Float[np.ndarray, "*time row channel"] | Prediction:
        """Predict the solution of a sample from its points, inputs and parameters, at its own times by default."""
        other = times is not None and sample.times is not None and not np.array_equal(times, sample.times)
        if other and sample.has_inputs_per_time:
            raise ValueError("The inputs of this sample change with time; it can be predicted at its own times only.")
        times = sample.times if times is None and self.has_time else times
        given: dict[str, Any] = {"parameters": sample.parameters, "at": at, "times": times}
        if interval is None:
            return self.predict(sample.points, sample.inputs, **given)
        return self.predict(sample.points, sample.inputs, **given, interval=interval, kind=kind)

    @property
    def has_time(self) -> bool:
        """Whether it predicts trajectories."""
        return self.time_axis is not None

    @property
    def dim(self) -> int:
        """Number of coordinates of a point in space."""
        return self.operator.config.dim - self.has_time

    def require_channels(self, data: Dataset, label: str) -> None:
        """Check that data bring the channels and parameters that this surrogate reads, in the same order."""
        if data.has_time != self.has_time:
            ours, theirs = ("with" if has_time else "without" for has_time in (self.has_time, data.has_time))
            raise ValueError(f"{label} has samples {theirs} times; the surrogate was fitted to samples {ours} times.")
        needed = {"input channels": (self.inputs, data.inputs), "parameters": (self.parameters, data.parameters)}
        for what, both in needed.items():
            wanted, given = ([channel.name for channel in channels] for channels in both)
            if wanted != given:
                raise ValueError(
                    f"{label} has the {what} {', '.join(given) or 'none'}; the surrogate reads"
                    f" {', '.join(wanted) or 'none'}."
                )

    def save(self, path: str | Path) -> None:
        """Write one file, which appears whole or not at all."""
        about = {
            "operator": self.operator.name,
            "config": self.operator.config.to_dict(),
            "scaling": self.scaling.to_dict(),
            "inputs": [asdict(channel) for channel in self.inputs],
            "targets": [asdict(channel) for channel in self.targets],
            "parameters": [asdict(channel) for channel in self.parameters],
            "correspondence": self.correspondence,
            "scores": self.scores,
            "provenance": self.provenance,
        }
        tensors = self.operator.state_dict()
        if self.time_axis is not None:
            about["time_axis"] = self.time_axis.to_dict()
        if self.coverage is not None:
            about["coverage"] = self.coverage.to_dict()
            tensors[_COVERED] = torch.from_numpy(self.coverage.points)
        if self.calibration is not None:
            about["calibration"] = self.calibration.to_dict()
            arrays = self.calibration.to_arrays()
            tensors |= {_CALIBRATION + name: torch.from_numpy(array) for name, array in arrays.items()}
        with replacing(path) as temporary:
            write_tensors(temporary, tensors, about)

    @classmethod
    def load(cls, path: str | Path) -> "Surrogate":
        """Read a surrogate; nothing in the file is executed.

        Raises:
            ValueError: If the file is missing, damaged, foreign or of a newer format.
        """
        about, tensors = read_tensors(Path(path))
        covered = tensors.pop(_COVERED, None)
        calibrated = [name for name in tensors if name.startswith(_CALIBRATION)]
        arrays = {name.removeprefix(_CALIBRATION): tensors.pop(name).numpy() for name in calibrated}
        try:
            return cls(
                operator=built_operator(about["operator"], about["config"], tensors).eval(),
                scaling=Scaling.from_dict(about["scaling"]),
                inputs=tuple(Channel(**channel) for channel in about["inputs"]),
                targets=tuple(Channel(**channel) for channel in about["targets"]),
                # Version 2 knows neither.
                parameters=tuple(Channel(**channel) for channel in about.get("parameters", ())),
                correspondence=about.get("correspondence", "none"),
                time_axis=TimeAxis.from_dict(about["time_axis"]) if "time_axis" in about else None,
                coverage=None if covered is None else Coverage.from_dict(about["coverage"], covered.numpy()),
                calibration=Calibration.from_dict(about["calibration"], arrays) if arrays else None,
                scores={str(name): float(score) for name, score in about["scores"].items()},
                provenance=dict(about["provenance"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = str(error).rstrip(".") if isinstance(error, ValueError) else repr(error)
            raise ValueError(f"{path} is not a whole surrogate: {reason}. Fit and save it again.") from error

    def __repr__(self) -> str:
        given = (*self.inputs, *self.parameters)
        channels = (" ".join(map(str, channels)) or "points" for channels in (given, self.targets))
        time = " and time" if self.has_time else ""
        return f"Surrogate({self.operator.name} in {self.dim}D{time}: {' -> '.join(channels)})"

    def _checked_times(self, times: Any) -> Float[np.ndarray, " time"] | None:
        if self.time_axis is not None:
            asked = require_times(times, self.time_axis)
            self._warn_of_times(asked, self.time_axis)
            return asked
        if times is not None:
            raise ValueError("This surrogate was fitted to samples without time; leave times out.")
        return None

    def _checked(
        self, points: Any, inputs: Any, times: Float[np.ndarray, " time"] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        points = self._checked_points(points, "points")
        values = None if inputs is None else np.asarray(inputs, dtype=np.float64)
        values = input_tables(values, len(self.inputs), 1 if times is None else len(times), len(points))
        shape = (len(points), len(self.inputs))
        if values.shape != shape and (times is None or values.shape != (len(times), *shape)):
            per_time = "" if times is None else f" or ({len(times)}, {len(points)}, {len(self.inputs)})"
            raise ValueError(
                f"inputs must have the shape ({len(points)}, {len(self.inputs)}){per_time}, a row per point and a"
                f" column for each of {', '.join(map(str, self.inputs)) or 'no channels'}; got {values.shape}."
                + (
                    " Numbers of a whole sample are parameters: predict(points, parameters=...)."
                    if self.parameters
                    else ""
                )
            )
        _require_finite(as_rows(values), "inputs")
        if self.coverage is not None:
            self.coverage.warn_of_inputs(points, as_rows(values), self.inputs)
        return points, values

    def _checked_points(self, points: Any, what: str) -> Float[np.ndarray, "point dim"]:
        points = np.asarray(points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.dim or not len(points):
            raise ValueError(
                f"{what} must have the shape (points, {self.dim}) and at least one row; got {points.shape}."
            )
        _require_finite(points, what)
        self._warn_if_outside(points, what)
        return points

    def _order(self, points: Float[np.ndarray, "point dim"]) -> Int[np.ndarray, " point"]:
        """Return the order in which the operator gets points: neighbours one after the other, where it needs them."""
        if "neighbours" in self.operator.needs and self.correspondence != "moved nodes":
            return spatial_order(points)
        return np.arange(len(points))

    def _is_beyond(self, points: Float[np.ndarray, "point dim"]) -> np.ndarray:
        """Tell which points lie beyond the box around the training points."""
        return np.asarray((self._beyond(points) > _MARGIN).any(axis=1))

    def _beyond(self, points: Float[np.ndarray, "point dim"]) -> Float[np.ndarray, "point dim"]:
        lower, upper = self._box
        return np.maximum(lower - points, points - upper) / np.array(self.scaling.frame.extent)[: self.dim]

    @property
    def _box(self) -> tuple[Float[np.ndarray, " dim"], Float[np.ndarray, " dim"]]:
        """Corners of the box around the training points, in space."""
        return self.scaling.frame.lower[: self.dim], self.scaling.frame.upper[: self.dim]

    def _warn_of_times(self, times: Float[np.ndarray, " time"], axis: TimeAxis) -> None:
        first, last, margin = axis.times[0], axis.times[-1], _MARGIN * axis.duration
        outside = (times < first - margin) | (times > last + margin)
        if outside.any():
            warnings.warn(
                f"{int(outside.sum())} of {len(times)} times lie outside those of the training samples, {first:.4g} to"
                f" {last:.4g}, the first of them {times[outside.argmax()]:.4g}; predictions there are guesses.",
                stacklevel=5,
            )

    def _warn_if_outside(self, points: Float[np.ndarray, "point dim"], what: str) -> None:
        lower, upper = self._box
        beyond = self._beyond(points)
        outside = self._is_beyond(points)
        if outside.any():
            box = " × ".join(f"[{a:.4g}, {b:.4g}]" for a, b in zip(lower, upper, strict=True))
            warnings.warn(
                f"{int(outside.sum())} of {len(points)} rows of {what} lie outside the training points {box}, the"
                f" farthest {points[beyond.max(axis=1).argmax()].tolist()}; predictions there are guesses.",
                stacklevel=4,
            )


def _finite(predictions: Float[np.ndarray, "row channel"]) -> Float[np.ndarray, "row channel"]:
    bad = ~np.isfinite(predictions).all(axis=1)
    if bad.any():
        raise ValueError(
            f"The prediction is not finite in {int(bad.sum())} of {len(bad)} rows: the input is too far from the"
            " training samples, or the surrogate was fitted to numbers out of range."
        )
    return predictions


def _require_finite(values: np.ndarray, what: str) -> None:
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        raise ValueError(f"{what} must be finite numbers; row {int(bad.argmax())} is {values[bad.argmax()].tolist()}.")
