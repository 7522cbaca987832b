import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.data.dataset import Dataset
from gola.surrogate.fit import fit
from tests.fits import small_data, small_surrogate


@pytest.fixture(scope="module")
def scattered():
    return small_data()


@pytest.fixture(scope="module")
def surrogate(scattered):
    return small_surrogate("kernel", scattered)


def on_a_grid():
    """A field and two numbers make a field, on one grid."""
    rng, axis = np.random.default_rng(0), np.linspace(0.0, 1.0, 8)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    fields = [np.sin(rng.uniform(1.0, 3.0) * points[:, 0]) for _ in range(8)]
    numbers = rng.random((8, 2))
    targets = [load * field + angle * points[:, 1] for field, (load, angle) in zip(fields, numbers, strict=True)]
    return Dataset.from_arrays(points, fields, targets, parameters={"load": numbers[:, 0], "angle": numbers[:, 1]})


def close(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        # Fits to few points on a grid are ill-conditioned, and round differently together.
        assert one == pytest.approx(other, rel=1e-3, abs=1e-3 * np.abs(other).max())


@pytest.mark.parametrize(("most", "expected"), [(2**15, 1), (10, 2)])
def test_few_rows_are_predicted_on_one_thread_and_many_on_all(monkeypatch, most, expected):
    surrogate, seen = small_surrogate("spectral", small_data()), []
    monkeypatch.setattr("gola.surrogate.answering._FEW_ROWS", most)
    forward = type(surrogate.operator).forward

    def watched(self, *given, **further):
        seen.append(torch.get_num_threads())
        return forward(self, *given, **further)

    monkeypatch.setattr(type(surrogate.operator), "forward", watched)
    torch.set_num_threads(2)
    surrogate.predict_sample(small_data()[0])
    after = torch.get_num_threads()
    torch.set_num_threads(1)
    assert (seen, after) == ([expected], 2)


@pytest.mark.parametrize("operator", ["kernel", "linear", "gola", "spectral"])
@pytest.mark.parametrize("share", [False, True])
def test_a_data_set_is_predicted_as_its_samples_are_one_by_one(operator, share):
    data = on_a_grid() if share else small_data()
    surrogate = small_surrogate(operator, data)
    close(surrogate.predict(data), [surrogate.predict_sample(sample) for sample in data])
    places = np.random.default_rng(1).random((7, 2))
    close(surrogate.predict(data, at=places), [surrogate.predict_sample(sample, at=places) for sample in data])


def test_lists_are_predicted_entry_by_entry(surrogate, scattered):
    points, inputs = [one.points for one in scattered], [one.inputs[:, 0] for one in scattered]
    expected = [surrogate.predict_sample(sample) for sample in scattered]
    close(surrogate.predict(points, inputs), expected)
    close(surrogate.predict(np.stack(points), np.stack(inputs)), expected)
    places = [one.points[: 5 + number] for number, one in enumerate(scattered)]
    found = surrogate.predict(points, inputs, at=places)
    close(found, [surrogate.predict_sample(one, at=where) for one, where in zip(scattered, places, strict=True)])


def test_parameters_of_many_samples_are_rows_or_columns():
    data = on_a_grid()
    surrogate = small_surrogate("pod_gp", data)
    points, inputs = [one.points for one in data], [one.inputs for one in data]
    expected = surrogate.predict(data)
    table = np.stack([one.parameters for one in data])
    close(surrogate.predict(points, inputs, parameters=table), expected)
    columns = {"angle": table[:, 1], "load": table[:, 0]}
    close(surrogate.predict(points, inputs, parameters=columns), expected)


def test_bands_of_many_samples_are_those_of_each():
    data = on_a_grid()
    surrogate = fit(data, "kernel")
    many = surrogate.predict(data, interval=0.5)
    for found, sample in zip(many, data, strict=True):
        alone = surrogate.predict_sample(sample, interval=0.5)
        assert found.upper == pytest.approx(alone.upper, rel=1e-6)
        assert found.unusual == alone.unusual


def test_trajectories_are_predicted_at_their_own_times():
    rng, times = np.random.default_rng(0), np.linspace(0.0, 1.0, 4)
    points = rng.random((30, 2))
    targets = [np.exp(-rate * times[:, None]) * points[:, 0] for rate in rng.random(6)]
    data = Dataset.from_arrays(points, targets=targets, parameters={"rate": rng.random(6)}, times=times)
    surrogate = fit(data, "pod_gp")
    close(surrogate.predict(data), [surrogate.predict_sample(sample) for sample in data])
    close(surrogate.predict(data, times=[0.5]), [surrogate.predict_sample(sample, times=[0.5]) for sample in data])


def test_what_does_not_fit_together_is_refused(surrogate, scattered):
    points, inputs = [one.points for one in scattered], [one.inputs for one in scattered]
    with pytest.raises(ValueError, match="There are 8 samples and inputs for 7"):
        surrogate.predict(points, inputs[:-1])
    with pytest.raises(ValueError, match="A data set brings inputs and parameters of its own"):
        surrogate.predict(scattered, inputs)
    with pytest.raises(ValueError, match="the surrogate reads speed"):
        surrogate.predict(replace(scattered, inputs=(replace(scattered.inputs[0], name="slowness"),)))


def test_many_samples_bring_one_warning(surrogate, scattered):
    far = [sample.points + 5.0 for sample in scattered]
    with pytest.warns(UserWarning, match=r"lie outside .* There are 8 warnings for 8 samples") as caught:
        surrogate.predict(far, [one.inputs for one in scattered])
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_points_that_the_caller_writes_over_are_read_again(surrogate, scattered):
    points = scattered[0].points.copy()
    before = surrogate.predict(points, scattered[0].inputs)
    points[:] = scattered[1].points
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not np.allclose(surrogate.predict(points, scattered[0].inputs), before)
    assert np.array_equal(surrogate.predict(scattered[0].points, scattered[0].inputs), before)
