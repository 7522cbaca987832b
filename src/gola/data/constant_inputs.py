"""Input channels that are one number per sample: parameters in disguise."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from jaxtyping import Float

from gola.data.dataset import Dataset
from gola.data.sample import Sample, as_rows

Variation = Literal["field", "parameter", "constant"]
"""Where a channel varies: over the points of a sample, only between samples, or nowhere."""

# Relative differences below this are rounding, for instance of averages over the cells around a point.
_ROUNDING = 1e-12


def constant_inputs(samples: Iterable[Sample], kinds: Sequence[Variation] = ("parameter",)) -> list[int]:
    """Return the input channels that are the same at all points of every sample, and differ between samples.

    Args:
        samples: The samples.
        kinds: Also with ``"constant"``, those that do not differ.
    """
    ends = np.array([_ends(as_rows(sample.inputs)) for sample in samples])
    is_constant = [varies_over(low, high) in kinds for low, high in ends.transpose(2, 1, 0)]
    return np.flatnonzero(is_constant).tolist()


def as_parameters(dataset: Dataset, columns: Sequence[int]) -> Dataset:
    """Return a data set with some constant input channels as parameters, before those that it has."""
    if not columns:
        return dataset
    kept = [column for column in range(len(dataset.inputs)) if column not in columns]
    samples = [
        replace(
            sample,
            inputs=np.ascontiguousarray(sample.inputs[..., kept]) if kept else np.empty((sample.num_points, 0)),
            parameters=np.concatenate([as_rows(sample.inputs)[0, list(columns)], sample.parameters]),
        )
        for sample in dataset
    ]
    return replace(
        dataset,
        samples=tuple(samples),
        inputs=tuple(dataset.inputs[column] for column in kept),
        parameters=(*(dataset.inputs[column] for column in columns), *dataset.parameters),
    )


def _ends(
    rows: Float[np.ndarray, "row channel"],
) -> tuple[Float[np.ndarray, " channel"], Float[np.ndarray, " channel"]]:
    return rows.min(axis=0), rows.max(axis=0)


def varies_over(lowest: Float[np.ndarray, " sample"], highest: Float[np.ndarray, " sample"]) -> Variation:
    """Tell where a channel varies, from its extreme values in each sample."""
    rounding = _ROUNDING * max(abs(highest.max()), abs(lowest.min()))
    if (highest - lowest > rounding).any():
        return "field"
    return "parameter" if highest.max() - lowest.min() > rounding else "constant"
