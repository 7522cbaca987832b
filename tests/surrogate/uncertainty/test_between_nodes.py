"""Between the nodes that all samples share, bands are wider by what solutions do there."""

import warnings

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.operators import KernelConfig
from gola.surrogate.fit import fit
from gola.surrogate.surrogate import Surrogate
from gola.surrogate.uncertainty.between_nodes import BetweenNodes

NODES, FINE = np.linspace(0.0, 1.0, 13)[:, None], np.linspace(0.0, 1.0, 97)[:, None]


def ripples(places, num_samples, *, seed=0):
    """Solutions with detail that a coarse grid hardly sees, most of it on the right."""
    numbers = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(num_samples, 2))
    x = places[:, 0]
    return [np.sin(3.0 * x) * a + 0.2 * x**2 * np.sin(15.0 * x + b) for a, b in numbers]


def coarse_data(num_samples, seed=0):
    numbers = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(num_samples, 2))
    return Dataset.from_arrays(
        NODES, targets=ripples(NODES, num_samples, seed=seed), parameters={"a": numbers[:, 0], "b": numbers[:, 1]}
    )


@pytest.fixture(scope="module")
def surrogate():
    return fit(coarse_data(30), "pod_gp", progress=False)


def held(surrogate, places, **band):
    data, truth = coarse_data(60, seed=1), ripples(places, 60, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few parameters are beyond those of the training samples
        found = surrogate.predict(data, at=places, **band)
    inside = [(a.lower[:, 0] <= b) & (b <= a.upper[:, 0]) for a, b in zip(found, truth, strict=True)]
    return np.array(inside)


def test_bands_hold_between_nodes_as_often_as_they_say(surrogate):
    assert held(surrogate, FINE, interval=0.8).all(axis=1).mean() > 0.75
    assert held(surrogate, FINE, interval=0.8, kind="pointwise").mean() > 0.75


def test_bands_are_no_wider_at_nodes_and_wider_between_them(surrogate):
    one = coarse_data(3, seed=2)[1]
    at_nodes = surrogate.predict_sample(one, interval=0.9)
    asked = surrogate.predict_sample(one, at=np.concatenate([NODES, NODES[:-1] + 0.5 / 12.0]), interval=0.9)
    widths = (asked.upper - asked.lower)[:, 0]
    np.testing.assert_allclose(widths[:13], (at_nodes.upper - at_nodes.lower)[:, 0], rtol=1e-6)
    assert (widths[13:] > 1.2 * np.minimum(widths[:12], widths[1:13])).mean() > 0.8
    assert widths[13:][-3:].min() > widths[13:][:3].max()


def test_what_is_known_of_places_between_nodes_is_saved(surrogate, tmp_path):
    surrogate.save(tmp_path / "surrogate.gola")
    loaded, one = Surrogate.load(tmp_path / "surrogate.gola"), coarse_data(3, seed=2)[1]
    here, there = (each.predict_sample(one, at=FINE, interval=0.9) for each in (surrogate, loaded))
    np.testing.assert_allclose(there.upper, here.upper, rtol=1e-6)


def test_samples_with_points_of_their_own_need_no_such_thing():
    rng = np.random.default_rng(0)
    points = [rng.random((40, 1)) for _ in range(12)]
    inputs = [np.sin(rng.normal() * one[:, 0]) for one in points]
    data = Dataset.from_arrays(points, inputs, inputs)
    assert fit(data, KernelConfig(num_modes=20, num_input_modes=10), progress=False).calibration.between is None


def test_too_few_nodes_tell_nothing():
    assert BetweenNodes.of(NODES[:7], [np.ones((7, 1))] * 4, moves=False) is None


def test_solutions_that_are_linear_between_nodes_widen_no_band():
    targets = [slope * NODES for slope in (1.0, 2.0, -3.0, 0.5)]
    between = BetweenNodes.of(NODES, targets, moves=False)
    found = between.half_widths(FINE, NODES, 1.0, 0.5, "everywhere")
    assert found.max() < 1e-6


def test_other_points_than_the_nodes_count_as_the_middle_between_nodes():
    targets = ripples(NODES, 8)
    between = BetweenNodes.of(NODES, [one[:, None] for one in targets], moves=False)
    middles = NODES[:-1] + 0.5 / 12.0
    asked = (between.half_widths(middles, points, 1.0, 0.5, "everywhere") for points in (NODES, FINE))
    np.testing.assert_allclose(*asked, rtol=1e-6)
