"""Small ragged data sets for the tests of this folder."""

from collections.abc import Sequence

import numpy as np

from gola.data.dataset import Dataset
from gola.data.sample import Channel, Sample

INPUTS = (Channel(name="k", unit="W/m/K"), Channel(name="f"))
TARGETS = (Channel(name="T", unit="K"),)


def ragged_sample(num_points: int, *, dim: int = 2, seed: int = 0, mesh: bool = True) -> Sample:
    rng = np.random.default_rng([seed, num_points])
    return Sample(
        points=rng.random((num_points, dim)),
        inputs=rng.standard_normal((num_points, len(INPUTS))),
        targets=rng.standard_normal((num_points, len(TARGETS))),
        boundary=rng.random(num_points) < 0.3 if mesh else None,
        cells=rng.integers(num_points, size=(num_points + 2, dim + 1)) if mesh else None,
        weights=rng.random(num_points) if mesh else None,
    )


def ragged_dataset(sizes: Sequence[int] = (7, 12, 5, 9, 30), *, dim: int = 2, mesh: bool = True) -> Dataset:
    samples = [ragged_sample(size, dim=dim, seed=seed, mesh=mesh) for seed, size in enumerate(sizes)]
    return Dataset.from_samples(samples, inputs=INPUTS, targets=TARGETS, provenance={"problem": "noise", "seed": 0})


def shared_dataset(num_samples: int = 4, num_points: int = 20) -> Dataset:
    rng = np.random.default_rng(3)
    values = rng.standard_normal((2, num_samples, num_points, 1))
    return Dataset.from_arrays(
        rng.random((num_points, 2)),
        *values,
        weights=rng.random(num_points),
        input_channels=["f"],
        target_channels=["u"],
    )


def assert_same_sample(one: Sample, other: Sample) -> None:
    for name in ("points", "inputs", "targets", "boundary", "cells", "weights", "parameters"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert ours.dtype == theirs.dtype, name
            np.testing.assert_array_equal(ours, theirs, err_msg=name)


def assert_same(one: Dataset, other: Dataset) -> None:
    for name in ("inputs", "targets", "parameters", "correspondence", "provenance"):
        assert getattr(one, name) == getattr(other, name), name
    assert len(one) == len(other)
    for ours, theirs in zip(one, other, strict=True):
        assert_same_sample(ours, theirs)
