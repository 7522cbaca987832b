import numpy as np
import pytest
import torch

import gola
from gola.data.dataset import Dataset
from gola.data.sample import Channel, Sample
from gola.operators import KernelConfig
from gola.operators.closed_form.kernel import transforms
from tests.operators.closed_form.examples import relative_error, scattered, small_operator, wave_samples


def random_function(seed):
    """A random smooth function, its square, and whether it may vanish."""
    generator = torch.Generator().manual_seed(seed)
    amplitude, shift = torch.rand(2, generator=generator, dtype=torch.float64).tolist()
    return lambda points: (2.0 * amplitude - 1.0) * torch.cos(2.0 * points[:, :1] + shift)


def squares(count, seed):
    functions = [random_function(1000 * seed + number) for number in range(count)]
    pairs = [(function, lambda points, function=function: 1.0 + function(points) ** 2) for function in functions]
    return scattered(pairs, sizes=[60] * count, seed=seed)


def slownesses(count, seed):
    functions = [random_function(1000 * seed + number) for number in range(count)]
    pairs = [
        (
            lambda points, function=function: 1.0 / (1.5 + function(points)),
            lambda points, function=function: 3.0 + function(points),
        )
        for function in functions
    ]
    return scattered(pairs, sizes=[60] * count, seed=seed)


def test_it_learns_what_no_linear_operator_can():
    cloud, targets = squares(20, seed=1)

    def error(name):
        operator = small_operator(name)
        operator.fit_cloud(*squares(30, seed=0))
        return relative_error(operator(cloud), targets, cloud.sizes)

    assert error("kernel") < 0.3 * error("linear")


def test_it_finds_the_transform_that_makes_the_map_simple():
    operator = small_operator("kernel")
    operator.fit_cloud(*slownesses(15, seed=0))
    assert operator.kernel.transform == "reciprocal"
    cloud, targets = slownesses(5, seed=1)
    assert relative_error(operator(cloud), targets, cloud.sizes) < 0.02


def test_values_that_cannot_be_transformed_are_refused():
    operator = small_operator("kernel")
    operator.fit_cloud(*slownesses(15, seed=0))
    cloud, _ = wave_samples(1)
    with pytest.raises(ValueError, match="takes the reciprocal of input channels that were positive in all training"):
        operator(cloud)


def test_channels_that_may_vanish_are_left_as_they_are():
    assert transforms(torch.tensor([False, False])) == ("identity",)
    assert transforms(torch.tensor([False, True])) == ("identity", "reciprocal", "logarithm")
    operator = small_operator("kernel")
    operator.fit_cloud(*squares(10, seed=0))
    assert operator.kernel.transform == "identity"


def test_a_linear_map_is_no_harder_for_it():
    operator = small_operator("kernel", num_modes=80)
    operator.fit_cloud(*wave_samples(40))
    cloud, targets = wave_samples(5, seed=1)
    assert relative_error(operator(cloud), targets, cloud.sizes) < 0.05


def test_a_fit_ends_where_more_functions_are_wanted_than_there_are():
    rng = np.random.default_rng(0)
    samples = tuple(
        Sample(points=rng.random((100, 2)), inputs=rng.normal(size=(100, 1)), targets=rng.normal(size=(100, 1)))
        for _ in range(5)
    )
    noise = Dataset(samples=samples, inputs=(Channel(name="f"),), targets=(Channel(name="u"),))
    surrogate = gola.fit(noise, KernelConfig(num_modes=40, symmetries=False), progress=False)
    assert surrogate.operator.solutions.num_modes < 100


def test_another_representation_is_kept_only_if_it_is_predicted_better(monkeypatch):
    operator, refined = small_operator("kernel"), []

    def to_fewer(space, _error, _samples, with_modes):
        refined.append(space.num_modes)
        return with_modes(4), 0.0

    monkeypatch.setattr("gola.operators.closed_form.closed_form.is_limiting", lambda *_: True)
    monkeypatch.setattr("gola.operators.closed_form.closed_form.refined", to_fewer)
    operator.fit_cloud(*wave_samples(12))
    assert refined == [operator.solutions.num_modes]
    assert operator.representation_error > 0.0
