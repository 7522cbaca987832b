"""From a user's units to those of an operator, and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.frame import Frame, require_numbers
from gola.data.sample import Sample
from gola.operators.cloud import Cloud
from gola.operators.normaliser import Normaliser


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """How points, inputs, targets and parameters are scaled for an operator, fitted to training samples only.

    Attributes:
        frame: Of the points.
        inputs: Normaliser of the inputs.
        targets: Normaliser of the targets.
        parameters: Normaliser of the parameters.
        normalised: Whether the operator sees normalised values; if not, it sees values in their own units.
        input_units: What inputs are divided by before anything else; all 1 if empty.
        target_units: What predictions are multiplied by after everything else; all 1 if empty.
        parameter_units: What parameters are divided by before anything else; all 1 if empty.
    """

    frame: Frame
    inputs: Normaliser
    targets: Normaliser
    parameters: Normaliser = field(default_factory=lambda: Normaliser(mean=(), scale=()))
    normalised: bool = True
    input_units: tuple[float, ...] = ()
    target_units: tuple[float, ...] = ()
    parameter_units: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for units, channels in (
            (self.input_units, self.inputs),
            (self.target_units, self.targets),
            (self.parameter_units, self.parameters),
        ):
            require_numbers(units, "A scaling")
            if units and (len(units) != len(channels.mean) or not all(units)):
                raise ValueError(f"A scaling needs a unit other than 0 for each of {len(channels.mean)} channels.")
        if not isinstance(self.normalised, bool):
            raise ValueError(f"normalised must be True or False; got {self.normalised!r}.")

    @classmethod
    def fit(cls, samples: Iterable[Sample], *, normalised: bool = True) -> "Scaling":
        """Compute the statistics of training samples."""
        read = list(samples)
        return cls(
            frame=Frame.around(read),
            inputs=Normaliser.fit(sample.inputs for sample in read),
            targets=Normaliser.fit(sample.targets for sample in read),
            parameters=Normaliser.fit(sample.parameters[None] for sample in read),
            normalised=normalised,
        )

    # All is scaled in float64 and rounded afterwards: coordinates and values may be large and differ by little.
    def cloud(
        self,
        points: Float[np.ndarray, "point dim"],
        inputs: Float[np.ndarray, "point channel"],
        dtype: torch.dtype = torch.float32,
        *,
        parameters: Float[np.ndarray, " parameter"] | None = None,
    ) -> Cloud:
        """Return the cloud of one sample as the operator sees it."""
        values, numbers = self.seen(inputs, np.empty(0) if parameters is None else parameters, dtype)
        return Cloud.of(self.places(points, dtype), values, numbers)

    def clouds(self, samples: Sequence[Sample], dtype: torch.dtype = torch.float32) -> Cloud:
        """Return the cloud of several samples; of a million points each, parts beside it would take gigabytes."""
        sizes = torch.tensor([sample.num_points for sample in samples])
        total, first = int(sizes.sum()), samples[0]
        points = torch.empty(total, first.points.shape[1], dtype=dtype)
        values = torch.empty(total, first.inputs.shape[1], dtype=dtype)
        parameters = torch.empty(len(samples), len(first.parameters), dtype=dtype)
        parts = zip(samples, points.split(sizes.tolist()), values.split(sizes.tolist()), parameters, strict=True)
        for sample, places, inputs, numbers in parts:
            places.copy_(self.places(sample.points, dtype))
            for own, seen in zip((inputs, numbers), self.seen(sample.inputs, sample.parameters, dtype), strict=True):
                own.copy_(seen)
        return Cloud(
            points=points,
            values=values,
            weights=(1.0 / sizes.to(dtype)).repeat_interleave(sizes),
            offsets=torch.cat([sizes.new_zeros(1), sizes.cumsum(0)]),
            parameters=parameters,
        )

    def seen(
        self,
        inputs: Float[np.ndarray, "point channel"],
        parameters: Float[np.ndarray, " parameter"],
        dtype: torch.dtype = torch.float32,
    ) -> tuple[Float[Tensor, "point channel"], Float[Tensor, " parameter"]]:
        """Return inputs and parameters as the operator sees them."""
        values, numbers = self.seen_tensors(torch.from_numpy(inputs), torch.from_numpy(parameters))
        return values.to(dtype), numbers.to(dtype)

    def seen_tensors(
        self, inputs: Float[Tensor, "point channel"], parameters: Float[Tensor, " parameter"]
    ) -> tuple[Float[Tensor, "point channel"], Float[Tensor, " parameter"]]:
        """Return inputs and parameters as the operator sees them, in their own precision and differentiable."""
        both = ((inputs, self.inputs, self.input_units), (parameters, self.parameters, self.parameter_units))
        plain = [(values / values.new_tensor(units) if units else values, by) for values, by, units in both]
        values, numbers = (by.encode(values) if self.normalised else values for values, by in plain)
        return values, numbers

    def places(
        self, points: Float[np.ndarray, "point dim"], dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "point dim"]:
        """Return coordinates as the operator sees them."""
        return torch.from_numpy(self.frame.encode(points)).to(dtype)

    def encode(
        self, targets: Float[np.ndarray, "point channel"], dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "point channel"]:
        """Return targets as the operator predicts them."""
        values = torch.from_numpy(targets)
        return (self.targets.encode(values) if self.normalised else values).to(dtype)

    def decode(self, predictions: Float[Tensor, "point channel"]) -> Float[Tensor, "point channel"]:
        """Return predictions in their own units."""
        values = self.targets.decode(predictions) if self.normalised else predictions
        return values * values.new_tensor(self.target_units) if self.target_units else values

    @property
    def target_scales(self) -> tuple[float, ...]:
        """Spread of each target channel, in the units of the data."""
        units = self.target_units or (1.0,) * len(self.targets.scale)
        return tuple(scale * unit for scale, unit in zip(self.targets.scale, units, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        parts = {name: getattr(self, name).to_dict() for name in ("frame", "inputs", "targets", "parameters")}
        units = {name: list(getattr(self, name)) for name in ("input_units", "target_units", "parameter_units")}
        return {**parts, **units, "normalised": self.normalised}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Scaling":
        """Undo ``to_dict``."""
        return cls(
            frame=Frame.from_dict(values["frame"]),
            inputs=Normaliser.from_dict(values["inputs"]),
            targets=Normaliser.from_dict(values["targets"]),
            # Version 2 of the surrogate's file knows no parameters.
            parameters=Normaliser.from_dict(values.get("parameters", {"mean": [], "scale": []})),
            normalised=values["normalised"],
            input_units=tuple(values["input_units"]),
            target_units=tuple(values["target_units"]),
            parameter_units=tuple(values.get("parameter_units", ())),
        )
