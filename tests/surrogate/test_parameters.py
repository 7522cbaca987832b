"""Samples that differ in numbers: fitted, predicted, saved and warned of."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.sample import Channel
from gola.fitting.auto.auto import AutoConfig
from gola.operators import GcnConfig, KernelConfig, LinearConfig, SpectralConfig
from gola.protocol import TrainingConfig
from gola.surrogate.evaluation import evaluate
from gola.surrogate.fit import fit
from gola.surrogate.surrogate import Surrogate

OPERATORS = {
    "kernel": KernelConfig(num_modes=60, num_input_modes=20),
    "linear": LinearConfig(num_modes=60, num_wide_modes=20, steps=()),
    "gcn": GcnConfig(width=8, output_width=8, radius=0.3),
    "spectral": SpectralConfig(num_modes=2, width=8, num_blocks=1),
    "auto": AutoConfig(members=("kernel", "spectral"), num_networks=2, num_steps=20, num_modes=2),
}


def plates(num_samples=12, *, with_field=False, unit=1.0, seed=0):
    """The deflection of a plate under a load, which grows with the load and falls with the stiffness."""
    rng = np.random.default_rng(seed)
    points = np.random.default_rng(5).random((60, 2))
    loads, stiffnesses = rng.uniform(1.0, 2.0, num_samples), rng.uniform(10.0, 30.0, num_samples)
    shape = np.sin(np.pi * points[:, 0]) * np.sin(np.pi * points[:, 1])
    fields = 1.0 + rng.random((num_samples, 1)) * points[None, :, 0]
    factors = fields if with_field else np.ones((num_samples, 1))
    return Dataset.from_arrays(
        points,
        fields if with_field else None,
        (loads / stiffnesses)[:, None] * factors * shape,
        parameters={"load [N]": unit * loads, "stiffness": stiffnesses},
        input_channels=["f"],
        target_channels=["w"],
    )


def fitted(data, operator):
    return fit(data, operator, training=TrainingConfig(num_epochs=2), progress=False)


@pytest.fixture(scope="module", params=["alone", "with a field"])
def data(request):
    return plates(with_field=request.param == "with a field")


@pytest.fixture(scope="module", params=OPERATORS)
def surrogate(request, data):
    return fitted(data, OPERATORS[request.param])


def test_a_table_of_cases_at_the_same_points_gives_a_list(surrogate, data):
    points, fields = data[0].points, data[0].inputs if data.inputs else None
    loads, stiffnesses = [1.2, 1.7, 1.5], [12.0, 25.0, 18.0]
    one_by_one = [
        surrogate.predict(points, fields, parameters=[load, stiffness])
        for load, stiffness in zip(loads, stiffnesses, strict=True)
    ]
    table = {"stiffness": stiffnesses, "load [N]": loads}
    for cases in (table, np.stack([loads, stiffnesses], axis=1), list(zip(loads, stiffnesses, strict=True))):
        found = surrogate.predict(points, fields, parameters=cases)
        assert isinstance(found, list)
        for one, wanted in zip(found, one_by_one, strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-4, atol=1e-7)
    with pytest.raises(ValueError, match="The parameters stiffness are missing; given are load"):
        surrogate.predict(points, fields, parameters={"load": loads})
    with pytest.raises(ValueError, match="The parameter load must be a finite number; got nan"):
        surrogate.predict(points, fields, parameters={**table, "load [N]": [1.2, np.nan, 1.5]})


def test_every_kind_of_operator_is_fitted_saved_and_evaluated(surrogate, data, tmp_path):
    surrogate.save(tmp_path / "x.gola")
    loaded = Surrogate.load(tmp_path / "x.gola")
    assert loaded.parameters == data.parameters == (Channel(name="load", unit="N"), Channel(name="stiffness"))
    assert loaded.correspondence == "same points"
    assert np.array_equal(loaded.predict_sample(data[0]), surrogate.predict_sample(data[0]))
    assert evaluate(loaded, data, progress=False).mean < 2.0


def test_parameters_are_given_in_order_or_by_name(surrogate, data):
    sample = data[3]
    load, stiffness = sample.parameters.tolist()
    expected = surrogate.predict_sample(sample)
    for given in ([load, stiffness], {"stiffness": stiffness, "load": load}, np.array([[load, stiffness]])):
        found = surrogate.predict(sample.points, sample.inputs, parameters=given)
        assert np.array_equal(found, expected)
    elsewhere = surrogate.predict(sample.points, sample.inputs, parameters=[load, stiffness], at=sample.points[:4])
    np.testing.assert_allclose(elsewhere, expected[:4], rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_mistakes_are_named(surrogate, data):
    sample = data[0]
    with pytest.raises(ValueError, match=r"must be 2 numbers, load \[N\], stiffness"):
        surrogate.predict(sample.points, sample.inputs)
    with pytest.raises(ValueError, match="no parameter 'lod'; did you mean 'load'"):
        surrogate.predict(sample.points, sample.inputs, parameters={"lod": 1.0, "stiffness": 20.0})
    with pytest.raises(ValueError, match=r"predict\(points, parameters=...\)"):
        surrogate.predict(sample.points, [1.5, 20.0])


def test_closed_forms_learn_from_parameters_alone():
    train, test = plates(40).split(30)
    assert evaluate(fitted(train, "kernel"), test, progress=False).mean < 0.02


def test_a_parameter_out_of_range_is_told_by_name():
    data = plates()
    surrogate = fitted(data, OPERATORS["kernel"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        surrogate.predict(data[0].points, parameters=[1.5, 20.0])
    with pytest.warns(UserWarning, match=r"load is 4 N, and from 1\.\d+ to 1\.\d+ N in the training samples"):
        surrogate.predict(data[0].points, parameters=[4.0, 20.0])


@pytest.mark.parametrize("operator", ["kernel", "gcn"])
def test_the_unit_of_a_parameter_does_not_matter(operator):
    plain, scaled = (plates(unit=unit) for unit in (1.0, 2.0**300))
    expected = fitted(plain, OPERATORS[operator]).predict_sample(plain[0])
    found = fitted(scaled, OPERATORS[operator]).predict_sample(scaled[0])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_points_stay_in_their_order_where_it_carries_meaning():
    data = plates()
    moved = [replace(sample, points=sample.points * [1.0, 1.0 + 0.05 * number]) for number, sample in enumerate(data)]
    data = Dataset.from_samples(moved, targets=data.targets, parameters=data.parameters)
    assert data.correspondence == "moved nodes"
    surrogate = fitted(data, OPERATORS["gcn"])
    assert np.array_equal(surrogate.order_of(moved[0].points), np.arange(60))
    assert not np.array_equal(replace(surrogate, correspondence="none").order_of(moved[0].points), np.arange(60))


def test_the_shape_of_the_domain_may_be_the_only_input():
    data = plates()
    moved = [replace(one, points=one.points * [1.0, 1.0 + 0.05 * number]) for number, one in enumerate(data)]
    bare = [replace(sample, parameters=np.empty(0)) for sample in moved]
    data = Dataset.from_samples(bare, targets=data.targets)
    for operator in OPERATORS.values():
        surrogate = fitted(data, operator)
        assert surrogate.predict(bare[0].points).shape == (60, 1)
