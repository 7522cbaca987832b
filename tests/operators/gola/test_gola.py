from dataclasses import replace

import pytest
import torch

from gola.operators import Gola, GolaConfig
from gola.operators.cloud import Cloud
from tests.operators import literal
from tests.operators.clouds import assert_same_values_and_gradients, learnable, scattered_cloud

SMALL = GolaConfig(width=4, num_modes=3, num_heads=2, radius=0.3)


@pytest.mark.parametrize(
    "config",
    [
        replace(SMALL, num_blocks=1, edge_coordinates="absolute", encode_points=False, attention_residual=False),
        SMALL,
        replace(SMALL, normalisation="channel", num_outputs=2),
        replace(SMALL, dim=3, num_inputs=2, radius=0.6),
    ],
    ids=["paper", "default", "channel", "3d"],
)
def test_the_whole_operator_equals_the_equations_in_value_and_gradient(config):
    torch.manual_seed(0)
    cloud = scattered_cloud(14, dim=config.dim, num_inputs=config.num_inputs, radius=config.radius)
    operator = Gola(config).double()
    assert_same_values_and_gradients(operator(cloud), literal.gola(operator, cloud), learnable(operator))


def test_the_paper_preset_has_the_papers_number_of_parameters_in_every_part():
    operator = Gola(Gola.presets["paper"])
    counts = operator.parameter_counts()

    def size(*parts):
        return sum(count for name, count in counts.items() if name.startswith(parts))

    assert size("encoder.frequencies") == 24
    assert size("encoder.coefficients") == 3_072
    assert size("blocks.0.message_passing") == 592_384
    assert size("blocks.0.mlp") == 262_912
    attention = "blocks.0.global_attention"
    assert size(f"{attention}.query", f"{attention}.key", f"{attention}.value") == 786_432
    assert size(f"{attention}.output") == 262_400
    assert size(f"{attention}.projection") == 65_792
    neighbours = "blocks.0.attention_message_passing"
    assert size(f"{neighbours}.query", f"{neighbours}.key", f"{neighbours}.value") == 789_504
    assert size(f"{neighbours}.edge") == 6_144
    assert size(f"{neighbours}.root") == 65_792
    assert size(f"{neighbours}.skip") == 65_536
    assert size("output") == 257
    assert operator.num_parameters == 2_900_249


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"width": 0}, "width must be greater than 0; got 0"),
        ({"radius": -1.0}, "radius must be greater than 0; got -1.0"),
        ({"dim": 4}, "dim must be 1, 2 or 3, and one more with the time; got 4"),
    ],
)
def test_a_bad_setting_is_refused_with_its_name(setting, message):
    with pytest.raises(ValueError, match=message):
        GolaConfig.from_dict(GolaConfig().to_dict() | setting)


def test_isolated_points_have_finite_predictions_and_gradients():
    points = torch.tensor([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    cloud = Cloud.of(points, points[:, :1]).with_neighbours(0.1)
    operator = Gola(SMALL)
    predictions = operator(cloud)
    predictions.sum().backward()
    assert predictions.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in learnable(operator))


def test_relative_edges_make_message_passing_blind_to_where_the_cloud_lies():
    cloud = scattered_cloud(30)
    layer = Gola(SMALL).double().blocks[0].message_passing
    features = torch.randn(30, 4, dtype=torch.float64)
    here = layer(features, torch.cat([cloud.points, cloud.values], dim=1), cloud.neighbourhood)
    there = layer(features, torch.cat([cloud.points + 5.0, cloud.values], dim=1), cloud.neighbourhood)
    torch.testing.assert_close(here, there, rtol=1e-10, atol=1e-10)


def test_settings_saved_before_there_were_weights_mean_equal_ones():
    saved = {name: value for name, value in GolaConfig().to_dict().items() if name != "weights"}
    assert GolaConfig.from_dict(saved).weights == "equal"


def test_preparing_gives_points_the_weights_of_their_cells():
    cloud = Cloud.of(torch.tensor([[0.0, 0.0], [0.05, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), torch.ones(5, 1))
    weights = Gola(SMALL).prepare(cloud).weights
    assert weights.sum().item() == pytest.approx(1.0)
    assert weights[0] < weights[4]
    assert Gola(replace(SMALL, weights="equal")).prepare(cloud).weights.tolist() == pytest.approx([0.2] * 5)
