import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from torch.autograd import gradcheck

import gola
from gola.data.dataset import Dataset
from gola.fitting.auto.auto import AutoConfig
from gola.problems import make_problem

NODES = np.arange(48) / 48


def states(count, seed):
    """Random smooth functions at the nodes."""
    rng = np.random.default_rng(seed)
    waves = np.arange(1, 5)
    angles = 2.0 * np.pi * waves * NODES[:, None]
    return [0.5 + 0.1 * (np.cos(angles) @ a + np.sin(angles) @ b) for a, b in rng.normal(size=(count, 2, 4)) / waves]


def dataset(solve, count, seed):
    starts = states(count, seed)
    return Dataset.from_arrays(NODES[:, None], starts, [solve(start) for start in starts], periods=(1.0,))


def fronts(start):
    """Solve Fisher's equation u_t = 0.002 u_xx + 2 u (1 − u) by central differences on a finer grid."""
    fine = np.fft.irfft(np.append(np.fft.rfft(start), np.zeros(360)), 768) * 16

    def rate(_time, u):
        return 0.002 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) * 768**2 + 2.0 * u * (1.0 - u)

    return solve_ivp(rate, (0.0, 1.0), fine, method="LSODA", rtol=1e-8, atol=1e-8).y[::16, -1]


def error(surrogate, data):
    pairs = zip(surrogate.predict(data), data, strict=True)
    return np.mean([np.linalg.norm(found - one.targets) / np.linalg.norm(one.targets) for found, one in pairs])


@pytest.fixture(scope="module")
def burgers():
    problem = make_problem("burgers", resolution=64)
    samples = problem.generate(7, range(16))
    data = Dataset.from_samples(samples, inputs=problem.inputs, targets=problem.targets, periods=problem.periods)
    return gola.fit(data.select(range(6)), "fitted_evolution", progress=False), data.select(range(6, 16))


def test_the_equation_of_burgers_is_found_from_six_samples(burgers):
    surrogate, others = burgers
    assert error(surrogate, others) < 1e-3
    found = surrogate.provenance["settings"]["coefficients"]
    assert found["diffusion"] == pytest.approx(0.01, rel=0.01)


def test_the_error_of_held_out_samples_is_that_of_others():
    train, test = dataset(fronts, 6, 0), dataset(fronts, 6, 1)
    surrogate = gola.fit(train, "fitted_evolution", progress=False)
    actual = error(surrogate, test)
    assert actual < 0.01
    assert surrogate.scores["cv_error"] < 5.0 * actual


def test_what_no_equation_of_the_family_explains_has_a_large_error():
    """Solutions of inputs in another order have nothing to do with them."""
    train = dataset(lambda start: np.sort(start), 6, 0)
    surrogate = gola.fit(train, "fitted_evolution", progress=False)
    assert surrogate.scores["cv_error"] > 0.1


def test_a_saved_equation_predicts_the_same(burgers, tmp_path):
    surrogate, others = burgers
    surrogate.save(tmp_path / "x.gola")
    loaded = gola.Surrogate.load(tmp_path / "x.gola")
    np.testing.assert_array_equal(loaded.predict_sample(others[0]), surrogate.predict_sample(others[0]))


def test_samples_of_a_batch_do_not_see_each_other(burgers):
    surrogate, others = burgers
    np.testing.assert_allclose(surrogate.predict(others)[3], surrogate.predict_sample(others[3]), rtol=1e-10)


def test_an_input_far_larger_than_the_training_samples_takes_smaller_steps(burgers):
    surrogate, others = burgers
    sample = others[0]
    with pytest.warns(UserWarning, match="is a guess"):
        found = surrogate.predict(sample.points, 5.0 * sample.inputs)
    assert np.abs(found).max() < 1.1 * np.abs(5.0 * sample.inputs).max()


def test_gradients_to_inputs_and_places_are_right(burgers):
    surrogate, others = burgers
    module, sample = surrogate.differentiable(), others[0]
    points, inputs = torch.from_numpy(sample.points), torch.from_numpy(sample.inputs)
    at = torch.tensor([[0.33], [0.71]], dtype=torch.float64, requires_grad=True)
    few = inputs[:4].clone().requires_grad_()

    def predicted(part, places):
        return module(points, torch.cat([part, inputs[4:]]), torch.empty(0, dtype=torch.float64), places)

    assert gradcheck(predicted, (few, at), eps=1e-5, atol=1e-4, rtol=1e-3)


def test_what_it_cannot_do_is_said():
    starts = states(4, 0)
    two = Dataset.from_arrays(NODES[:, None], starts, [np.stack([one, one], axis=1) for one in starts], periods=(1.0,))
    scattered = Dataset.from_arrays([np.random.default_rng(seed).random((48, 1)) for seed in range(4)], starts, starts)
    for data, reason in ((two, "one function on a line"), (scattered, "periodic")):
        with pytest.raises(ValueError, match=reason):
            gola.fit(data, "fitted_evolution", progress=False)


def test_auto_takes_the_equation_where_the_data_obey_one():
    train = dataset(fronts, 8, 0)
    config = AutoConfig(members=("periodic_kernel", "fitted_evolution", "spectral"))
    surrogate = gola.fit(train, config, progress=False)
    assert set(surrogate.operator.config.chosen) == {"fitted_evolution"}
    assert "Nothing is left for networks" in surrogate.provenance["choice"]["why"]
