import numpy as np
import pytest
import torch

import gola
from gola.representation.nodal import NodalSpace


def fields(count=5, num_points=60, seed=0):
    rng = np.random.default_rng(seed)
    points = torch.from_numpy(rng.random((num_points, 2)))
    rates = rng.uniform(1.0, 4.0, (count, 2))
    values = [torch.sin(points @ torch.from_numpy(np.diag(rate))) for rate in rates]
    return points, values, torch.from_numpy(rates)


def test_functions_at_the_nodes_are_what_they_are_to_rounding():
    points, values, _ = fields()
    space = NodalSpace.spanning(points, values)
    coefficients = space.coefficients([points] * 5, values)
    assert coefficients.shape == (5, 10, 2)
    for found, wanted in zip(coefficients, values, strict=True):
        torch.testing.assert_close(space.values(points, found), wanted, rtol=1e-12, atol=1e-12)


def test_nodes_in_another_order_are_recognised_and_other_places_interpolated():
    points, values, rates = fields(num_points=400)
    space = NodalSpace.spanning(points, values)
    found = space.coefficients([points], values[:1])[0]
    order = torch.randperm(400, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(space.values(points[order], found), values[0][order], rtol=1e-12, atol=1e-12)
    between = 0.5 * (points[:50] + points[50:100]).clamp(0.1, 0.9)
    torch.testing.assert_close(space.values(between, found), torch.sin(between * rates[0]), rtol=0.0, atol=0.01)


def test_other_points_cannot_be_projected():
    points, values, _ = fields()
    with pytest.raises(ValueError, match="must have the nodes of the training samples"):
        NodalSpace.spanning(points, values).coefficients([points.flip(0)], values[:1])


@pytest.mark.parametrize("operator", ["kernel", "mean", "nearest", "pod_gp", "pod_rbf"])
def test_operators_on_one_mesh_keep_solutions_that_no_cosines_can_express(operator, tmp_path):
    rng = np.random.default_rng(1)
    points = rng.random((300, 2))
    jumps = np.sign(points[:, 0] - 0.5) + np.sign(points[:, 1] - 0.3)
    loads = rng.uniform(1.0, 2.0, 12)
    data = gola.Dataset.from_arrays(points, [np.full(300, load) for load in loads], [load * jumps for load in loads])
    surrogate = gola.fit(data, operator, progress=False)
    predicted = surrogate.predict(points, np.full(300, 1.5))
    size = float(predicted[:, 0] @ jumps / (jumps @ jumps))
    np.testing.assert_allclose(predicted[:, 0], size * jumps, atol=1e-9)
    surrogate.save(tmp_path / "x.gola")
    loaded = gola.Surrogate.load(tmp_path / "x.gola")
    assert np.array_equal(loaded.predict(points, np.full(300, 1.5)), predicted)
