import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.data.sample import Sample
from gola.operators.cloud import Cloud
from gola.operators.scaling import Scaling


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    return [
        Sample(
            points=100.0 + 50.0 * rng.random((20, 2)),
            inputs=7.0 + rng.random((20, 2)),
            targets=1e-6 * rng.random((20, 1)),
        )
        for _ in range(3)
    ]


def test_an_operator_sees_normalised_values_in_the_unit_box(samples):
    scaling = Scaling.fit(samples)
    clouds = [scaling.cloud(sample.points, sample.inputs) for sample in samples]
    points = torch.cat([cloud.points for cloud in clouds])
    assert points.min() == 0.0
    assert points.max() == 1.0
    assert torch.cat([cloud.values for cloud in clouds]).std(dim=0).tolist() == pytest.approx([1.0, 1.0], rel=0.05)


def test_predictions_come_back_in_their_own_units(samples):
    scaling = Scaling.fit(samples)
    targets = samples[0].targets
    assert scaling.encode(targets).abs().max() > 0.1
    torch.testing.assert_close(scaling.decode(scaling.encode(targets, torch.float64)), torch.from_numpy(targets))


def test_values_stay_as_they_are_where_an_operator_wants_their_own_units(samples):
    scaling = Scaling.fit(samples, normalised=False)
    inputs, targets = samples[0].inputs, samples[0].targets
    assert scaling.cloud(samples[0].points, inputs, torch.float64).values.numpy() == pytest.approx(inputs, abs=0)
    assert scaling.decode(scaling.encode(targets, torch.float64)).numpy() == pytest.approx(targets, abs=0)
    assert scaling.targets.scale[0] == pytest.approx(np.std([sample.targets for sample in samples]), rel=1e-12)


def test_it_survives_json(samples):
    for scaling in (Scaling.fit(samples), Scaling.fit(samples, normalised=False)):
        assert Scaling.from_dict(json.loads(json.dumps(scaling.to_dict()))) == scaling


@pytest.mark.parametrize("normalised", [True, False])
def test_the_cloud_of_several_samples_is_that_of_their_clouds(samples, normalised):
    samples[1] = Sample(points=samples[1].points[:9], inputs=samples[1].inputs[:9], targets=samples[1].targets[:9])
    samples = [replace(sample, parameters=np.array([2.0, float(row)])) for row, sample in enumerate(samples)]
    scaling = Scaling.fit(samples, normalised=normalised)
    found = scaling.clouds(samples, torch.float64)
    parts = [scaling.cloud(one.points, one.inputs, torch.float64, parameters=one.parameters) for one in samples]
    expected = Cloud.collate(parts)
    for name in ("points", "values", "weights", "offsets", "parameters"):
        assert torch.equal(getattr(found, name), getattr(expected, name)), name
