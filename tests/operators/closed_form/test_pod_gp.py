from dataclasses import replace

import numpy as np
import pytest
import torch

import gola
from gola.fitting.configs import config_for
from gola.operators.closed_form.amplitude import fit_power_law, power_law
from gola.operators.closed_form.covariance import Covariance, Groups, Pairs
from gola.operators.closed_form.pod_gp import PodGp
from gola.representation.fitted import as_bytes
from gola.representation.nodal import NodalSpace

_OF_OLD_FILES = ("layout", "covariance", "ridge")
POINTS = np.random.default_rng(5).random((80, 2))


def rods(count, seed=0):
    """A temperature that is linear in two loads and inverse to a conductivity, with a shape that depends on it."""
    rng = np.random.default_rng(seed)
    parameters = np.column_stack([10.0 ** rng.uniform(-1, 1, count), rng.uniform(-1, 1, (count, 2))])
    x, y = POINTS.T
    targets = [(a * np.sin(3 * x) + b * np.exp(y * np.tanh(np.log(k)))) / k for k, a, b in parameters]
    return gola.Dataset.from_arrays(POINTS, None, targets, parameters=parameters, parameter_names=["k", "a", "b"])


def error_of(surrogate, data):
    return gola.evaluate(surrogate, data, progress=False).mean


def test_it_finds_loads_logarithms_and_the_power_law():
    surrogate = gola.fit(rods(30), "pod_gp", progress=False)
    layout = surrogate.operator.layout
    assert layout.is_linear == (False, True, True)
    assert layout.logs[0]
    assert not layout.is_affine
    assert error_of(surrogate, rods(20, seed=1)) < 0.01
    assert surrogate.scores["cv_error"] < 0.01


def test_without_loads_there_is_nothing():
    surrogate = gola.fit(rods(30), "pod_gp", progress=False)
    assert np.abs(surrogate.predict(POINTS, parameters=[2.0, 0.0, 0.0])).max() < 1e-12


def test_leave_one_out_is_refitting_without_the_sample():
    surrogate = gola.fit(rods(12), "pod_gp", progress=False)
    operator = surrogate.operator
    kept = [row for row in range(12) if row != 5]
    data = rods(12).select(kept)
    clouds = [surrogate.scaling.cloud(s.points, s.inputs, torch.float64, parameters=s.parameters) for s in data]
    held_out = torch.split(operator.leave_one_out(), 80)[5]
    operator.refit(gola.Cloud.collate(clouds), torch.cat([torch.from_numpy(sample.targets) for sample in data]))
    sample = rods(12)[5]
    cloud = surrogate.scaling.cloud(sample.points, sample.inputs, torch.float64, parameters=sample.parameters)
    torch.testing.assert_close(operator(cloud), held_out, rtol=1e-5, atol=1e-7)


def moved(count, seed=0):
    """A function on a mesh whose nodes move with two numbers that nobody tells."""
    rng = np.random.default_rng(seed)
    points, targets = [], []
    for a, b in rng.uniform(-0.2, 0.2, (count, 2)):
        bump = np.exp(-5.0 * ((POINTS - 0.5) ** 2).sum(axis=1))
        points.append(POINTS + np.stack([a * bump, b * POINTS[:, 0] * bump], axis=1))
        targets.append(np.sin(4 * POINTS[:, 0] * (1 + a)) + b * POINTS[:, 1])
    return gola.Dataset.from_arrays(points, None, targets)


def test_the_shape_of_a_moved_mesh_is_an_input():
    train = moved(25)
    assert train.correspondence == "moved nodes"
    surrogate = gola.fit(train, "pod_gp", progress=False)
    assert error_of(surrogate, moved(10, seed=1)) < 0.01


def test_the_shape_is_left_out_where_parameters_say_it():
    plain = moved(12)
    numbers = np.random.default_rng(0).uniform(-0.2, 0.2, (12, 2))
    told = gola.Dataset.from_arrays(
        [sample.points for sample in plain], targets=[sample.targets for sample in plain], parameters=numbers
    )
    assert told.correspondence == "moved nodes"
    operator = gola.fit(told, "pod_gp", progress=False).operator
    assert len(operator.layout.is_linear) == 2


def test_between_moved_nodes_solutions_are_interpolated_where_they_lie_now():
    surrogate = gola.fit(moved(25), "pod_gp", progress=False)
    sample = moved(1, seed=2)[0]
    nodes = surrogate.predict(sample.points)
    np.testing.assert_allclose(surrogate.predict(sample.points, at=sample.points[7:9]), nodes[7:9], rtol=1e-9)
    between = sample.points[:20] + 1e-4
    np.testing.assert_allclose(surrogate.predict(sample.points, at=between), nodes[:20], atol=0.01)


def test_a_mesh_of_other_nodes_is_refused():
    surrogate = gola.fit(moved(10), "pod_gp", progress=False)
    with pytest.raises(ValueError, match="must have the nodes of the training samples, moved: 80 points"):
        surrogate.predict(POINTS[:50])


def test_a_parameter_that_was_positive_must_stay_so():
    surrogate = gola.fit(rods(30), "pod_gp", progress=False)
    with pytest.warns(UserWarning, match="k is"), pytest.raises(ValueError, match="logarithm of parameters or fields"):
        surrogate.predict(POINTS, parameters={"k": -1.0, "a": 0.5, "b": 0.5})


def test_fields_at_the_nodes_may_be_given_elsewhere():
    rng = np.random.default_rng(0)
    x, y = POINTS.T
    fields = [a * np.sin(2 * x) + b * y for a, b in rng.uniform(0.5, 1.5, (20, 2))]
    data = gola.Dataset.from_arrays(POINTS, fields, [f**2 for f in fields])
    surrogate = gola.fit(data, "pod_gp", progress=False)
    finer = rng.random((300, 2))
    found = surrogate.predict(finer, 1.1 * np.sin(2 * finer[:, 0]) + 0.9 * finer[:, 1], at=POINTS)
    wanted = (1.1 * np.sin(2 * x) + 0.9 * y) ** 2
    assert np.linalg.norm(found[:, 0] - wanted) / np.linalg.norm(wanted) < 0.02


def test_it_is_saved_with_all_that_it_found(tmp_path):
    surrogate = gola.fit(rods(20), "pod_gp", progress=False)
    surrogate.save(tmp_path / "rod.gola")
    loaded = gola.Surrogate.load(tmp_path / "rod.gola")
    parameters = {"a": 0.3, "b": -0.2, "k": 2.0}
    np.testing.assert_array_equal(
        loaded.predict(POINTS, parameters=parameters), surrogate.predict(POINTS, parameters=parameters)
    )


def test_likely_covariances_that_are_linear_in_the_same_groups_are_averaged():
    operator = gola.fit(rods(10), "pod_gp", progress=False).operator
    settings = [process.settings for process in operator.members]
    assert len(settings) > 1
    assert sum(one.weight for one in settings) == pytest.approx(1.0)
    assert {one.layout.is_linear for one in settings} == {operator.layout.is_linear}
    assert all(settings[0].weight >= one.weight for one in settings)


def test_a_file_with_one_covariance_is_read():
    """As all were before covariances were averaged."""
    surrogate = gola.fit(rods(30), "pod_gp", progress=False)
    operator = surrogate.operator
    first = operator.members[0]
    first.settings = replace(first.settings, weight=1.0)
    operator.members, operator.choice = torch.nn.ModuleList([first]), {"members": [first.settings.to_dict()]}
    state = {name.replace("members.0.", ""): value for name, value in operator.state_dict().items()}
    state["_extra_state"] = as_bytes({name: operator.choice["members"][0][name] for name in _OF_OLD_FILES})
    loaded = PodGp(operator.config)
    loaded.load_state_dict(state)
    sample = rods(1, seed=3)[0]
    cloud = surrogate.scaling.cloud(sample.points, sample.inputs, torch.float64, parameters=sample.parameters)
    assert torch.equal(loaded(cloud), operator(cloud))


def test_the_covariance_is_its_formula():
    rows = torch.tensor([[0.3], [0.9]], dtype=torch.float64)
    groups = Groups(smooth=[rows, 2 * rows], linear=[rows, 2 * rows])
    covariance = Covariance(is_linear=(False, True), scales=(2.0, 0.5), trend=0.1, is_affine=False)
    distance = 5**0.5 * 0.6 / 2.0
    matern = (1 + distance + distance**2 / 3) * np.exp(-distance)
    wanted = (matern + 0.1 * 0.3 * 0.9) * 0.5 * (2 * 0.3) * (2 * 0.9)
    assert float(covariance(Pairs.of(groups, groups))[0, 1]) == pytest.approx(wanted, rel=1e-9)


def test_a_power_law_is_found_and_noise_is_not():
    generator = torch.Generator().manual_seed(0)
    scalars = torch.randn(30, 3, generator=generator, dtype=torch.float64)
    scalars = scalars - scalars.mean(dim=0)
    law = torch.tensor([[0.7], [-1.0], [0.0]], dtype=torch.float64)
    found = fit_power_law(scalars, 3.0 * power_law(scalars, law, scalars))
    torch.testing.assert_close(found, law, atol=1e-3, rtol=0.0)
    noise = torch.randn(30, 1, generator=generator, dtype=torch.float64).exp()
    assert float(fit_power_law(scalars, noise).norm()) < 0.4


def fronts(count, width, num_points=400):
    """The height and the slope of a front, at points of each sample's own."""
    rng = np.random.default_rng(7)
    parameters = rng.uniform(0.5, 2.0, (count, 2))
    points = rng.random((count, num_points, 2))
    targets = [a * np.tanh((x - 0.5) / width) + b * y for (x, y), (a, b) in zip(points.mT, parameters, strict=True)]
    return gola.Dataset.from_arrays(list(points), targets=targets, parameters=parameters)


def test_a_steep_front_at_scattered_points_is_expressed_by_more():
    data = fronts(16, width=0.12)
    train, test = data.select(range(10)), data.select(range(10, 16))
    errors, spaces = [], []
    for refines in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PodGp, "refines", refines)
            surrogate = gola.fit(train, config_for(train, "pod_gp", num_modes=80), progress=False)
        errors.append(error_of(surrogate, test))
        spaces.append(surrogate.operator.solutions)
    assert spaces[0].num_modes == 80
    assert isinstance(spaces[1], NodalSpace) or spaces[1].num_modes > 80
    assert errors[1] < 0.5 * errors[0]


def test_smooth_solutions_get_no_more_functions_than_asked_for():
    train = fronts(10, width=5.0)
    surrogate = gola.fit(train, config_for(train, "pod_gp", num_modes=200), progress=False)
    assert surrogate.operator.solutions.num_modes == 200


def tips(count, num_points=200):
    """A peak like that of stresses at a notch, at points of each sample's own that are dense around it."""
    rng = np.random.default_rng(3)
    parameters = rng.random((count, 2))
    samples = []
    for a, b in parameters:
        around, angle = 0.25 * rng.random(num_points) ** 2 + 0.002, 2 * np.pi * rng.random(num_points)
        points = 0.5 + around[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        points = np.concatenate([points, rng.random((num_points, 2))])
        away = points - 0.5
        peak = (1 + a) / np.sqrt(np.hypot(*away.T) + 0.01) * np.cos(np.arctan2(*away.T) + b)
        samples.append((points, peak + 2 * b * points[:, 0]))
    points, targets = zip(*samples, strict=True)
    return gola.Dataset.from_arrays(list(points), targets=list(targets), parameters=parameters)


def test_where_points_are_dense_at_a_peak_solutions_are_known_at_common_nodes(tmp_path):
    data = tips(20)
    train, test = data.select(range(12)), data.select(range(12, 20))
    surrogate = gola.fit(train, "pod_gp", progress=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PodGp, "refines", False)
        coarse = gola.fit(train, "pod_gp", progress=False)
    assert bool(surrogate.operator.solutions.gathers)
    assert error_of(surrogate, test) < 0.2 * error_of(coarse, test)
    assert surrogate.scores["cv_error"] == pytest.approx(error_of(surrogate, test), rel=1.0)
    surrogate.save(tmp_path / "tips.gola")
    again, one = gola.Surrogate.load(tmp_path / "tips.gola"), test[0]
    np.testing.assert_array_equal(again.predict_sample(one), surrogate.predict_sample(one))
