"""What every operator must do, whatever it is."""

import copy
import json
from dataclasses import replace
from functools import cache

import pytest
import torch
from safetensors.torch import load, save

from gola.fitting.auto.auto import Auto, AutoConfig
from gola.fitting.auto.ensemble import NetworkEnsemble
from gola.operators import (
    ClosedForm,
    DeepONetConfig,
    FittedPde,
    FittedPdeConfig,
    FnoConfig,
    GcnConfig,
    GknConfig,
    GolaConfig,
    KernelConfig,
    LinearConfig,
    MeanConfig,
    MorphedGpConfig,
    MultiFidelityConfig,
    NearestConfig,
    PeriodicKernelConfig,
    PodGpConfig,
    PodRbfConfig,
    Queries,
    SpectralConfig,
)
from gola.operators.closed_form.samples import Mesh
from gola.operators.cloud import Cloud
from gola.registry import OPERATORS
from gola.representation.nodal import NodalSpace
from tests.operators.clouds import learnable, scattered_cloud

# A config of each operator that is quick, with two input and three output channels.
CONFIGS = {
    "auto": AutoConfig(num_inputs=2, num_outputs=3, members=("linear", "spectral")),
    "gola": GolaConfig(num_inputs=2, num_outputs=3, width=8, num_modes=6, num_heads=2, radius=0.3),
    # A kernel narrower than this can have nothing but dead ReLUs.
    "gkn": GknConfig(num_inputs=2, num_outputs=3, width=8, kernel_width=16, num_layers=2, radius=0.3),
    "gcn": GcnConfig(num_inputs=2, num_outputs=3, width=8, output_width=8, radius=0.3),
    "fno": FnoConfig(num_inputs=2, num_outputs=3, num_modes=3, width=4, num_layers=2, output_width=8, resolution=9),
    "deeponet": DeepONetConfig(num_inputs=2, num_outputs=3, num_sensors=5, width=8),
    "spectral": SpectralConfig(num_inputs=2, num_outputs=3, num_modes=3, width=8, num_blocks=2, local=True, radius=0.3),
    "linear": LinearConfig(num_inputs=2, num_outputs=3, num_modes=30, num_wide_modes=20),
    "kernel": KernelConfig(num_inputs=2, num_outputs=3, num_modes=30, num_input_modes=20),
    "periodic_kernel": PeriodicKernelConfig(num_inputs=2, num_outputs=3),
    "pod_gp": PodGpConfig(num_inputs=2, num_outputs=3, num_modes=30, num_input_modes=20),
    "morphed_gp": MorphedGpConfig(num_inputs=2, num_outputs=3, num_modes=30, num_input_modes=20),
    "fitted_pde": FittedPdeConfig(num_inputs=2, num_outputs=3, num_steps=1),
    "multi_fidelity": MultiFidelityConfig(
        num_inputs=2, num_outputs=3, base="gcn", settings={"width": 8, "output_width": 8, "radius": 0.3}
    ),
    "pod_rbf": PodRbfConfig(num_inputs=2, num_outputs=3, num_modes=30),
    "nearest": NearestConfig(num_inputs=2, num_outputs=3, num_modes=30, num_input_modes=20),
    "mean": MeanConfig(num_inputs=2, num_outputs=3, num_modes=30),
}

# Only operators for periodic boxes read it.
UNIT_PERIODS = Mesh(periods=torch.ones(2, dtype=torch.float64))

# What is made for one function on a line has tests of its own.
NAMES = [name for name, kind in OPERATORS.items() if kind.config_type.largest_dim > 1]

# What samples may be given: input functions, numbers, or both.
GIVEN = {
    "fields": {"num_inputs": 2, "num_parameters": 0},
    "fields and parameters": {"num_inputs": 1, "num_parameters": 2},
    "parameters": {"num_inputs": 0, "num_parameters": 2},
}


@pytest.fixture(params=GIVEN)
def given(request):
    return request.param


@pytest.fixture(params=NAMES)
def operator(request, given):
    return copy.deepcopy(ready_operator(request.param, given))


@cache
def ready_operator(name, given="fields"):
    """An operator that can predict: closed forms are fitted to a few samples, a learned one is as it starts."""
    torch.manual_seed(0)
    config = replace(CONFIGS[name], **GIVEN[given])
    if name == "auto":
        network = replace(CONFIGS["spectral"], **GIVEN[given])
        networks = [OPERATORS["spectral"](network) for _ in range(2)]
        members = {"linear": copy.deepcopy(ready_operator("linear", given))}
        ensembles = {"spectral": NetworkEnsemble(networks, num_channels=config.num_channels)}
        return Auto.of(config, members, ensembles, {"linear": 0.5, "spectral": 0.5})
    operator = OPERATORS[name](config)
    if isinstance(operator, FittedPde):
        operator.fit_cloud(*examples_for(operator))
    # Fitted ones may have parts of the same kind.
    for closed_form in [module for module in operator.modules() if isinstance(module, ClosedForm)]:
        closed_form.fit_cloud(*examples_for(operator), UNIT_PERIODS)
    return operator


def examples_for(operator):
    """A few samples, and targets that depend on all that is given."""
    cloud = Cloud.collate([cloud_of(operator, seed=seed) for seed in range(100, 106)])
    values = cloud.with_parameters_as_values().values[:, :2]
    return cloud, torch.cat([values, values.sum(dim=1, keepdim=True) * cloud.points[:, :1]], dim=1)


def cloud_of(operator, num_points=40, seed=0):
    config = operator.config
    cloud = scattered_cloud(
        num_points,
        dim=config.dim,
        num_inputs=config.num_inputs,
        num_parameters=config.num_parameters,
        seed=seed,
        dtype=torch.float32,
    )
    if operator.name == "pod_rbf":
        # Its inputs are parameters of a sample.
        return replace(cloud, values=cloud.values[:1].repeat(num_points, 1))
    return operator.prepare(cloud)


def test_it_predicts_every_output_channel_at_every_point(operator):
    cloud = cloud_of(operator)
    assert operator(cloud).shape == (cloud.num_points, operator.config.num_outputs)
    assert operator(cloud).dtype == torch.float32


def test_every_learnable_parameter_gets_a_gradient(operator):
    if isinstance(operator, ClosedForm | FittedPde):
        assert not learnable(operator)
        return
    operator(cloud_of(operator)).square().sum().backward()
    for name, parameter in operator.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, name
            assert parameter.grad.isfinite().all(), name
            assert parameter.grad.abs().max() > 0, name


def test_samples_of_a_batch_do_not_see_each_other(operator):
    clouds = [cloud_of(operator, num_points, seed=num_points) for num_points in (20, 50, 33)]
    alone = torch.cat([operator(cloud) for cloud in clouds])
    torch.testing.assert_close(operator(Cloud.collate(clouds)), alone, rtol=1e-6, atol=1e-6)


def test_samples_far_away_change_nothing(operator):
    cloud, other = cloud_of(operator), cloud_of(operator, seed=1)
    far = replace(other, points=other.points + 1e3, values=1e3 * other.values)
    together = operator(Cloud.collate([cloud, far]))[: cloud.num_points]
    torch.testing.assert_close(together, operator(cloud), rtol=1e-6, atol=1e-6)


def test_reordering_the_points_reorders_the_predictions(operator):
    cloud = cloud_of(operator)
    order = torch.randperm(cloud.num_points)
    reordered = Cloud.of(cloud.points[order], cloud.values[order], cloud.parameters[0])
    reordered = reordered.with_weights(cloud.weights[order])
    torch.testing.assert_close(operator(operator.prepare(reordered)), operator(cloud)[order], rtol=1e-5, atol=1e-5)


def test_asking_at_the_points_of_the_cloud_gives_the_plain_prediction(operator):
    clouds = [cloud_of(operator, num_points, seed=num_points) for num_points in (20, 50, 33)]
    batch = Cloud.collate(clouds)
    asked = operator(batch, at=Queries(points=batch.points, offsets=batch.offsets))
    torch.testing.assert_close(asked, operator(batch), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(operator(clouds[0], at=clouds[0].points), operator(clouds[0]), rtol=1e-5, atol=1e-5)


def test_asking_the_same_points_of_a_batch_answers_sample_by_sample(operator):
    clouds = [cloud_of(operator, num_points, seed=num_points) for num_points in (20, 50)]
    places = torch.rand(7, operator.config.dim)
    alone = torch.cat([operator(cloud, at=places) for cloud in clouds])
    torch.testing.assert_close(operator(Cloud.collate(clouds), at=places), alone, rtol=1e-5, atol=1e-5)


def test_a_config_tells_which_operator_it_is_of():
    assert len({operator.config_type for operator in OPERATORS.values()}) == len(OPERATORS)


def test_a_config_survives_json(operator):
    config = operator.config
    restored = operator.config_type.from_dict(json.loads(json.dumps(config.to_dict())))
    assert restored == config
    with pytest.raises(ValueError, match=r"no setting of \w+ 'colour'"):
        operator.config_type.from_dict({"colour": "red"})


def test_a_new_instance_with_the_saved_state_predicts_the_very_same(operator):
    other = type(operator)(operator.config)
    other.load_state_dict(load(save(operator.state_dict())))
    cloud = cloud_of(operator)
    assert torch.equal(other(cloud), operator(cloud))


def test_missing_structure_is_named_with_its_remedy(operator):
    bare = replace(cloud_of(operator), neighbourhood=None, radius=None, spectra=None)
    remedies = {"neighbours": r"cloud\.with_neighbours\(radius\)", "spectra": r"operator\.prepare\(cloud\)"}
    missing = [structure for structure in remedies if structure in operator.needs]
    for structure in missing:
        message = rf"{operator.title} needs {structure}; build them with {remedies[structure]}\."
        with pytest.raises(ValueError, match=message):
            operator(bare)
    if not missing:
        operator(bare)


def test_a_cloud_of_other_channels_or_coordinates_is_refused(operator):
    cloud = cloud_of(operator)
    with pytest.raises(ValueError, match=r"made for \d input channels and the cloud has \d"):
        operator(replace(cloud, values=torch.cat([cloud.values, cloud.points[:, :1]], dim=1)))
    with pytest.raises(ValueError, match=r"made for \d parameters and the cloud has \d"):
        operator(replace(cloud, parameters=torch.ones(1, operator.config.num_parameters + 1)))
    with pytest.raises(ValueError, match=r"made for \d coordinates and the cloud has 1"):
        operator(replace(cloud, points=cloud.points[:, :1]))


def test_parameters_of_one_sample_change_its_prediction_alone(operator):
    if not operator.config.num_parameters or operator.name == "mean":
        return
    clouds = [cloud_of(operator, seed=seed) for seed in (100, 103)]
    other = replace(clouds[1], parameters=1.5 * clouds[1].parameters)
    before, after = (torch.split(operator(Cloud.collate([clouds[0], one])), 40) for one in (clouds[1], other))
    torch.testing.assert_close(after[0], before[0], rtol=1e-6, atol=1e-6)
    if operator.name != "nearest":
        assert (after[1] - before[1]).abs().max() > 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_the_points_alone_may_make_the_difference(name):
    if name == "auto":
        return  # an operator of its own only once it is fitted
    operator = OPERATORS[name](replace(CONFIGS[name], num_inputs=0, num_outputs=1))
    clouds = [cloud_of(operator, num_points, seed=num_points) for num_points in (20, 50, 33, 40)]
    batch = Cloud.collate(clouds)
    if isinstance(operator, ClosedForm):
        operator.fit_cloud(batch, batch.points[:, :1], UNIT_PERIODS)
    if isinstance(operator, FittedPde):
        operator.fit_cloud(batch, batch.points[:, :1])
    assert operator(batch).isfinite().all()


def test_it_runs_on_any_device(operator):
    checks_inputs = operator.name in ("periodic_kernel", "pod_gp", "morphed_gp", "fitted_pde", "pod_rbf")
    if checks_inputs or isinstance(getattr(operator, "solutions", None), NodalSpace):
        pytest.skip("It looks at inputs or nodes, and the meta device has no numbers.")
    clouds = [cloud_of(operator, num_points, seed=num_points) for num_points in (20, 50)]
    predictions = operator.to("meta")(Cloud.collate(clouds).to("meta"))
    assert predictions.shape == (70, operator.config.num_outputs)
    assert predictions.device.type == "meta"


def test_it_counts_its_parameters(operator):
    counts = operator.parameter_counts()
    assert operator.num_parameters == sum(counts.values()) > 0
    stored = operator.state_dict()
    assert all(0 < count <= stored[name].numel() for name, count in counts.items())
