import copy

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from gola.data.dataset import Dataset
from gola.data.sample import Channel, Sample
from gola.operators.scaling import Scaling
from gola.surrogate.fit import fit
from gola.surrogate.surrogate import Surrogate
from tests.operators.test_battery import GIVEN, NAMES, ready_operator

NUM_POINTS = 24
# The library's Fourier transforms keep single precision.
STEPS = {"fno": 3e-3}


def sample_of(operator, seed):
    rng, config = np.random.default_rng(seed), operator.config
    return Sample(
        points=rng.random((NUM_POINTS, 2)),
        inputs=1.0 + rng.random((NUM_POINTS, config.num_inputs)),
        targets=rng.random((NUM_POINTS, config.num_outputs)),
        parameters=1.0 + rng.random(config.num_parameters),
    )


def surrogate_of(name):
    """A surrogate that predicts something, whatever it is."""
    # Inputs of this one are numbers.
    given = "parameters" if name == "pod_rbf" else "fields and parameters"
    operator = copy.deepcopy(ready_operator(name, given)).eval()
    samples = [sample_of(operator, seed) for seed in range(4)]
    names = {"inputs": GIVEN[given]["num_inputs"], "parameters": GIVEN[given]["num_parameters"], "targets": 3}
    channels = {what: tuple(Channel(name=f"{what}_{i}") for i in range(count)) for what, count in names.items()}
    scaling = Scaling.fit(samples, normalised=operator.normalised)
    return Surrogate(operator=operator, scaling=scaling, **channels), samples[0]


def tensors_of(sample, at):
    given = (sample.inputs, sample.parameters, at)
    return [torch.from_numpy(one).clone().requires_grad_(one.size > 0) for one in given]


@pytest.fixture(params=NAMES, scope="module")
def case(request):
    surrogate, sample = surrogate_of(request.param)
    return surrogate, sample, 0.1 + 0.8 * np.random.default_rng(1).random((3, 2))


def test_values_are_those_of_predict(case):
    surrogate, sample, at = case
    module = surrogate.differentiable()
    points, (inputs, parameters, places) = torch.from_numpy(sample.points), tensors_of(sample, at)
    for asked, where in ((None, None), (at, places)):
        expected = surrogate.predict_sample(sample, at=asked)
        found = module(points, inputs, parameters, where).detach().numpy()
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())


def test_gradients_to_inputs_parameters_and_places_are_right(case):
    surrogate, sample, at = case
    module = surrogate.differentiable(dtype=torch.float64)
    points = torch.from_numpy(sample.points)

    def predicted(*given):
        return module(points, *given)

    step = STEPS.get(surrogate.operator.name, 1e-6)
    assert gradcheck(predicted, tensors_of(sample, at), eps=step, atol=1e-4, rtol=1e-3)


def test_the_surrogate_keeps_its_precision_and_its_numbers(case):
    surrogate, _, _ = case
    before = {name: tensor.clone() for name, tensor in surrogate.operator.state_dict().items()}
    module = surrogate.differentiable(dtype=torch.float64)
    assert not [one for one in module.parameters() if one.requires_grad]
    for name, tensor in surrogate.operator.state_dict().items():
        assert tensor.dtype == before[name].dtype
        assert torch.equal(tensor, before[name])


def square_mesh():
    axis = np.linspace(0.0, 1.0, 5)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    lower = np.array([5 * row + column for row in range(4) for column in range(4)])
    cells = np.concatenate([[[i, i + 1, i + 5], [i + 1, i + 5, i + 6]] for i in lower])
    return points, cells


def test_finite_elements_have_their_gradient_inside_cells():
    points, cells = square_mesh()
    loads = np.linspace(1.0, 2.0, 6)
    targets = [load * (points[:, 0] + 2.0 * points[:, 1]) for load in loads]
    data = Dataset.from_arrays(points, targets=targets, parameters={"load": loads}, cells=cells)
    module = fit(data, "pod_gp").differentiable()
    at = torch.tensor([[0.11, 0.07], [0.6, 0.84]], dtype=torch.float64, requires_grad=True)
    load = torch.tensor([1.3], dtype=torch.float64, requires_grad=True)
    found = module(torch.from_numpy(points), None, load, at)
    slopes, change = torch.autograd.grad(found.sum(), (at, load))
    torch.testing.assert_close(slopes, 1.3 * torch.tensor([[1.0, 2.0]]).double().expand(2, 2), rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(change, (at[:, 0] + 2.0 * at[:, 1]).sum()[None].detach(), rtol=1e-2, atol=1e-2)


def test_moved_nodes_have_a_gradient_where_they_are_predicted():
    points, cells = square_mesh()
    stretched = [points * [1.0 + stretch, 1.0] for stretch in np.linspace(0.0, 0.5, 6)]
    targets = [places[:, 0] ** 2 for places in stretched]
    data = Dataset.from_arrays(stretched, targets=targets, cells=cells, correspondence="moved nodes")
    module = fit(data, "pod_gp").differentiable()
    stretch = torch.tensor(0.21, dtype=torch.float64, requires_grad=True)

    def predicted(value):
        return module(torch.from_numpy(points) * torch.stack([1.0 + value, torch.ones_like(value)]))

    assert gradcheck(predicted, stretch, atol=1e-4)
    with pytest.raises(ValueError, match="ask at places with a gradient"):
        module(torch.from_numpy(points).requires_grad_(), at=torch.rand(2, 2))


def test_trajectories_have_gradients_to_places_and_times():
    rng, times = np.random.default_rng(0), np.linspace(0.0, 1.0, 5)
    points, cells = square_mesh()
    rates = np.linspace(0.5, 1.5, 6)
    targets = [np.exp(-rate * times[:, None]) * points[:, 0] for rate in rates]
    data = Dataset.from_arrays(points, targets=targets, parameters={"rate": rates}, times=times, cells=cells)
    surrogate = fit(data, "pod_gp")
    module = surrogate.differentiable()
    rate, when = torch.tensor([0.9]).double(), torch.tensor([0.33, 0.7]).double()
    at = torch.from_numpy(0.1 + 0.8 * rng.random((3, 2)))
    expected = surrogate.predict(points, parameters=[float(rate)], at=at.numpy(), times=when.numpy())
    given = [one.clone().requires_grad_() for one in (rate, at, when)]
    found = module(torch.from_numpy(points), None, *given)
    assert found.detach().numpy() == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert module(torch.from_numpy(points), None, rate).shape == (5, 25, 1)
    assert gradcheck(lambda *given: module(torch.from_numpy(points), None, *given), given, atol=1e-4)
