"""Samples with points of their own on a raster that all share, and back."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator, RegularGridInterpolator

from gola.data.dataset import Dataset
from gola.data.sample import Sample

# Places along the longest side of the box.
RESOLUTION = {1: 128, 2: 32, 3: 16}


def on_raster(train: Dataset, test: Dataset) -> tuple[Dataset, Dataset]:
    """Interpolate all samples on a raster over the box of the training points, constantly beyond their hull."""
    lower = np.min([sample.points.min(axis=0) for sample in train], axis=0)
    upper = np.max([sample.points.max(axis=0) for sample in train], axis=0)
    counts = np.maximum(2, np.round(RESOLUTION[train.dim] * (upper - lower) / np.max(upper - lower)).astype(int))
    axes = [np.linspace(a, b, count) for a, b, count in zip(lower, upper, counts, strict=True)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, train.dim)
    return tuple(  # type: ignore[return-value]
        Dataset.from_samples([_brought(sample, places) for sample in data], inputs=data.inputs, targets=data.targets)
        for data in (train, test)
    )


def from_raster(
    found: Sequence[Float[np.ndarray, "place channel"]], raster: Dataset, data: Dataset
) -> list[Float[np.ndarray, "point channel"]]:
    """Interpolate values on the raster at the points of each sample."""
    axes = [np.unique(x) for x in raster[0].points.T]
    shape = [len(axis) for axis in axes]
    return [
        RegularGridInterpolator(axes, values.reshape(*shape, -1), bounds_error=False, fill_value=None)(sample.points)
        for values, sample in zip(found, data, strict=True)
    ]


def _brought(sample: Sample, places: Float[np.ndarray, "place dim"]) -> Sample:
    both = np.concatenate([sample.inputs, sample.targets], axis=1)
    values = LinearNDInterpolator(sample.points, both)(places)
    beyond = np.isnan(values).any(axis=1)
    if beyond.any():
        values[beyond] = NearestNDInterpolator(sample.points, both)(places[beyond])
    inputs, targets = np.split(values, [sample.inputs.shape[1]], axis=1)
    return Sample(points=places, inputs=inputs, targets=targets)
