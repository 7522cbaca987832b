"""Samples as the networks of an automatic choice see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float

from gola.data.sample import Sample
from gola.operators.closed_form.preprocessing import Preprocessing
from gola.operators.cloud import Cloud
from gola.operators.scaling import Scaling

Predictions = Mapping[int, Float[np.ndarray, "point channel"]]
"""Of samples by number, by an operator that has not seen them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PreprocessedSamples:
    """Samples without amplitudes, transformed, and less what a base operator predicts, if networks correct one.

    Attributes:
        samples: The samples as networks see them.
        scaling: Fitted to these.
        factors: What solutions of each sample were divided by.
        base: What the base operator, fitted without the sample, predicts, by sample; empty without one.
    """

    samples: Sequence[Sample]
    scaling: Scaling
    factors: Sequence[float]
    base: Predictions

    @staticmethod
    def of(
        samples: Sequence[Sample], scaling: Scaling, preprocessing: Preprocessing, base: Predictions | None = None
    ) -> "PreprocessedSamples":
        """Preprocess samples.

        Args:
            samples: In the units of the data.
            scaling: In these units.
            preprocessing: Transforms and amplitudes.
            base: Predictions of the operator that networks correct, each by one that has not seen the sample: they
                become further input channels, and are taken off the solution.
        """
        base = base or {}
        pairs = [_seen(sample, preprocessing, base.get(row)) for row, sample in enumerate(samples)]
        seen = [sample for sample, _ in pairs]
        return PreprocessedSamples(
            samples=seen,
            scaling=replace(Scaling.fit(seen), frame=scaling.frame),
            factors=[factor for _, factor in pairs],
            base=base,
        )

    def in_units(self, row: int, values: Float[np.ndarray, "point channel"]) -> Float[np.ndarray, "point channel"]:
        """Return what a network predicts for a sample in the units of the data."""
        return self.factors[row] * values + self.base.get(row, 0.0)


def _seen(
    sample: Sample, preprocessing: Preprocessing, base: Float[np.ndarray, "point channel"] | None
) -> tuple[Sample, float]:
    parts = (torch.from_numpy(part).double() for part in (sample.points, sample.inputs, sample.parameters))
    cloud, factors = preprocessing.of_cloud(Cloud.of(*parts))
    inputs, parameters, factor = cloud.values.numpy(), cloud.parameters[0].numpy(), float(factors[0])
    if base is None:
        return replace(sample, inputs=inputs, parameters=parameters, targets=sample.targets / factor), factor
    further = np.concatenate([inputs, base / factor], axis=1)
    targets = (sample.targets - base) / factor
    return replace(sample, inputs=further, parameters=parameters, targets=targets), factor
