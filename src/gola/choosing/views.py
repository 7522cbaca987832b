"""Samples as networks see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float

from gola.data.normaliser import Normaliser
from gola.data.sample import Sample
from gola.data.scaling import Scaling
from gola.operators import Auto

Predictions = Mapping[int, Float[np.ndarray, "point channel"]]
"""Of samples by number, by an operator that has not seen them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """Samples without amplitudes, transformed, and less what a closed form predicts, if networks start from one.

    Attributes:
        samples: The samples as networks see them.
        scaling: Fitted to these.
        factors: What solutions of each sample were divided by.
        starts: What a closed form that has not seen the sample predicts, by sample; empty without one.
    """

    samples: Sequence[Sample]
    scaling: Scaling
    factors: Sequence[float]
    starts: Predictions

    @staticmethod
    def of(samples: Sequence[Sample], scaling: Scaling, auto: Auto, starts: Predictions | None = None) -> "View":
        """Return what the networks of an automatic choice see.

        Args:
            samples: In the units of the data.
            scaling: In these units.
            auto: Knows the transforms and amplitudes.
            starts: Predictions of a closed form that networks start from, each by one that has not seen the sample: as
                further input channels, and taken off the solution.
        """
        starts = starts or {}
        pairs = [_seen(sample, auto, starts.get(row)) for row, sample in enumerate(samples)]
        seen = [sample for sample, _ in pairs]
        inputs, targets = Normaliser.fit(one.inputs for one in seen), Normaliser.fit(one.targets for one in seen)
        return View(
            samples=seen,
            scaling=replace(scaling, inputs=inputs, targets=targets, normalised=True),
            factors=[factor for _, factor in pairs],
            starts=starts,
        )

    def in_units(self, row: int, values: Float[np.ndarray, "point channel"]) -> Float[np.ndarray, "point channel"]:
        """Return what a network predicts for a sample in the units of the data."""
        return self.factors[row] * values + self.starts.get(row, 0.0)


def _seen(sample: Sample, auto: Auto, start: Float[np.ndarray, "point channel"] | None) -> tuple[Sample, float]:
    values, of_sample = auto.seen(torch.from_numpy(sample.inputs).double())
    inputs, factor = values.numpy(), float(of_sample)
    if start is None:
        return replace(sample, inputs=inputs, targets=sample.targets / factor), factor
    further = np.concatenate([inputs, start / factor], axis=1)
    return replace(sample, inputs=further, targets=(sample.targets - start) / factor), factor
