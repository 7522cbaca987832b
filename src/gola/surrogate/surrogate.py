"""A fitted operator, ready to use: a new input function in, the solution out, in the user's units."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import torch
from jaxtyping import Float, Int

from gola.advice import said_once, warn
from gola.data.correspondence import Correspondence
from gola.data.dataset import Dataset
from gola.data.parameters import num_cases
from gola.data.sample import Channel, Sample
from gola.data.trajectories import TimeAxis
from gola.operators.operator import Operator
from gola.operators.scaling import Scaling
from gola.surrogate.answering import Answering
from gola.surrogate.candidates import suggest
from gola.surrogate.coverage import Coverage
from gola.surrogate.request import Reader, Request, is_many, one_each
from gola.surrogate.saving import read_surrogate, write_surrogate
from gola.surrogate.suggestion import Suggestions
from gola.surrogate.uncertainty.calibration import Calibration
from gola.surrogate.uncertainty.case import Case
from gola.surrogate.uncertainty.levels import require_supported
from gola.surrogate.uncertainty.prediction import Kind, Prediction, require_kind
from gola.surrogate.uncertainty.spread import expected_spreads

if TYPE_CHECKING:
    from gola.surrogate.differentiable import DifferentiableSurrogate

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
        self, points: Dataset, *, at: Any = ..., times: Any = ..., interval: None = ..., kind: Kind = ...
    ) -> list[Float[np.ndarray, "*time row channel"]]: ...

    @overload
    def predict(
        self, points: Dataset, *, at: Any = ..., times: Any = ..., interval: float, kind: Kind = ...
    ) -> list[Prediction]: ...

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
    ) -> Any:
        """Predict the solution of a new input function and new parameters, or of many at once.

        Many are predicted by one call for a data set, or for lists with one entry for each sample; that is much faster
        than one call for each, most of all where samples share their points. Answers come in a list.

        With an interval, the prediction comes with a band, an estimate of its error, and how unusual the input is. A
        band of 0.9 that holds ``"everywhere"`` contains 9 of 10 new solutions entirely, at all points and in all
        channels; one that holds ``"pointwise"`` contains a new solution at 9 of 10 points on average, and is narrower.
        Bands are drawn by the jackknife: held-out predictions of the training samples say how wide they have to be.
        They hold about as often as they say if new inputs are drawn like the training inputs
        (:attr:`Calibration.guarantee <gola.surrogate.uncertainty.calibration.Calibration.guarantee>`), and say nothing
        about how well the simulations describe reality.

        Args:
            points: Where the input function is known, (points, dim); where to predict. For many samples a list of such
                arrays, with lists of inputs and parameters; or a :class:`Dataset`, which brings both.
            inputs: The input function there, (points, channels), or (points,) for a single channel; None for a
                surrogate that reads no input functions. For trajectories also (times, points, channels).
            parameters: The numbers in the order of :attr:`parameters`; a dict by name; a DataFrame of one row, or a row
                of one; a table of several rows for as many cases at these points, which gives a list; None for a
                surrogate that reads no parameters.
            at: Where to predict, (queries, dim); at ``points`` by default. The same places for many samples, or a list.
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
        given = {"parameters": parameters, "at": at, "times": times}
        requests = list(self._requests(points, inputs, **given))
        means = self._answering.answers(requests)
        if interval is None:
            answers: list[Any] = [mean.reshape(request.shape) for mean, request in zip(means, requests, strict=True)]
        else:
            samples = [request.sample for request in requests]
            spreads = expected_spreads(self.operator, self.scaling, samples)
            known = zip(requests, means, self._at_points(requests, means), spreads, strict=True)
            answers = [self._with_band(*one, interval, kind) for one in known]
        are_many = isinstance(points, Dataset) or is_many(points) or num_cases(parameters) > 1
        return answers if are_many else answers[0]

    def _requests(self, points: Any, inputs: Any, *, parameters: Any, at: Any, times: Any) -> Iterable[Request]:
        """Read what is given for one sample or for many."""
        reader = Reader(
            frame=self.scaling.frame,
            inputs=self.inputs,
            targets=self.targets,
            parameters=self.parameters,
            coverage=self.coverage,
            time_axis=self.time_axis,
        )
        if isinstance(points, Dataset):
            if inputs is not None or parameters is not None:
                raise ValueError("A data set brings inputs and parameters of its own; leave them out.")
            self.require_channels(points, "The data set")
            samples = list(points)
            own = [sample.times if times is None else times for sample in samples]
            rows = [(sample.points, sample.inputs, sample.parameters) for sample in samples]
        elif not is_many(points) and (count := num_cases(parameters)) > 1:
            own = [times] * count
            rows = [(points, inputs, numbers) for numbers in one_each(parameters, count, "parameters")]
        elif is_many(points):
            count = len(points)
            own = [times] * count
            columns = [one_each(inputs, count, "inputs"), one_each(parameters, count, "parameters")]
            rows = list(zip(points, *columns, strict=True))
        else:
            return [reader.request(points, inputs, parameters, at, times)]
        places = one_each(at, len(rows), "at") if is_many(at) else [at] * len(rows)
        with said_once(len(rows)):
            return [reader.request(*row, where, when) for row, where, when in zip(rows, places, own, strict=True)]

    def _at_points(
        self, requests: Sequence[Request], means: Sequence[Float[np.ndarray, "row channel"]]
    ) -> list[Float[np.ndarray, "some_point channel"]]:
        """Return predictions at points of each sample, or at some of many, wherever it was asked for."""
        found = list(means)
        elsewhere = [number for number, request in enumerate(requests) if request.queries is not None]
        asked = []
        for number in elsewhere:
            points = requests[number].points
            rows = np.sort(np.random.default_rng(0).permutation(len(points))[:_MOST_SIZED])
            asked.append(replace(requests[number], queries=points[rows]))
        for number, answer in zip(elsewhere, self._answering.answers(asked), strict=True):
            found[number] = answer
        return found

    def _with_band(
        self,
        request: Request,
        mean: Float[np.ndarray, "row channel"],
        # How large the solution is must not depend on where somebody asks for it.
        at_points: Float[np.ndarray, "some_point channel"],
        spread: float | None,
        level: float,
        kind: Kind,
    ) -> Prediction:
        """Draw the band around a prediction, and judge its input."""
        calibration, scales = self._calibrated(), np.array(self.scaling.target_scales)
        case, queries, shape = Case.of(request.sample, self.scaling), request.queries, request.shape
        judged = calibration.judged(case, at_points / scales, spread)
        if judged.is_beyond:
            warn(
                "The input is farther from all training samples than these are from each other, clearly; the band and"
                " the estimated error mean nothing here."
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
            is_outside=request.is_outside,
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

    def differentiable(self, dtype: torch.dtype | None = None) -> "DifferentiableSurrogate":
        """Return the predictions as a torch module, with gradients to inputs, parameters and places.

        ``module(points, inputs, parameters, at)`` takes and returns tensors, in the units of the data: for inverse
        design, sensitivities, or as part of another model.

        Args:
            dtype: The precision that networks compute in; that of their training, single precision, by default. Closed
                forms always compute in double precision.
        """
        from gola.surrogate.differentiable import DifferentiableSurrogate  # it builds on this module

        return DifferentiableSurrogate(self, dtype)

    def export(
        self,
        path: str | Path,
        points: Any,
        inputs: Any = None,
        *,
        parameters: Any = None,
        at: Any = None,
        times: Any = None,
    ) -> None:
        """Write a program that predicts without this package: ``*.pt2`` for torch.export, ``*.onnx`` for ONNX.

        The program reads inputs and parameters, those that the surrogate reads, in double precision, and returns the
        prediction at fixed places for inputs known at fixed points: everything that depends on these alone is worked
        out before. It is compared with the surrogate on other values before it is written.

        Args:
            path: The file.
            points: Where input functions will be known.
            inputs: An example of them; None for a surrogate that reads none.
            parameters: An example of the parameters, in order; None for a surrogate that reads none.
            at: Where to predict; at the points by default.
            times: When to predict, for a surrogate of trajectories.
        """
        from gola.surrogate.export import export  # it builds on this module

        export(self, path, points, inputs, parameters=parameters, at=at, times=times)

    def suggest(
        self,
        candidates: Sequence[Sample] | Dataset | None = None,
        *,
        num: int = 5,
        costs: Sequence[float] | Float[np.ndarray, " candidate"] | None = None,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        target: float = 0.0,
        seed: int = 0,
    ) -> Suggestions:
        """Choose the simulations to run next: those that should lower the mean error over all candidates most.

        Args:
            candidates: Samples that could be simulated, with inputs and parameters and whatever targets; like the
                inputs that predictions will be made for. None to draw parameters.
            num: How many to choose.
            costs: What the simulation of each candidate costs, in any unit; the same for all by default.
            ranges: Lowest and highest value of parameters that are drawn, by name; those of the training samples by
                default.
            target: A mean relative L2 error that is small enough, where to stop.
            seed: Random seed of the parameters that are drawn.

        Raises:
            ValueError: If there are no candidates and none can be drawn, or the surrogate has no held-out predictions.
        """
        self._calibrated()
        return suggest(self, candidates, num=num, costs=costs, ranges=ranges, target=target, seed=seed)

    def order_of(self, points: Float[np.ndarray, "point dim"]) -> Int[np.ndarray, " point"]:
        """Return the order in which the operator gets points: neighbours one after the other, where it needs them."""
        return self._answering.order_of(points)

    @cached_property
    def _answering(self) -> Answering:
        return Answering(operator=self.operator, scaling=self.scaling, keeps_order=self.correspondence == "moved nodes")

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
        write_surrogate(path, self)

    @classmethod
    def load(cls, path: str | Path) -> "Surrogate":
        """Read a surrogate; nothing in the file is executed.

        Raises:
            ValueError: If the file is missing, damaged, foreign or of a newer format.
        """
        return cls(**read_surrogate(Path(path)))

    def __repr__(self) -> str:
        given = (*self.inputs, *self.parameters)
        channels = (" ".join(map(str, channels)) or "points" for channels in (given, self.targets))
        time = " and time" if self.has_time else ""
        return f"Surrogate({self.operator.name} in {self.dim}D{time}: {' -> '.join(channels)})"
