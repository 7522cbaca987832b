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


def lattice(num_cells, *, centres):
    line = (torch.arange(num_cells) + 0.5) / num_cells if centres else torch.linspace(0.0, 1.0, num_cells + 1)
    return torch.cartesian_prod(line.double(), line.double())


def bumps(points, count=6):
    """Smooth functions that vanish on the boundary of the unit square, where they are steep."""
    rng = np.random.default_rng(0)
    across = torch.sin(torch.pi * points).prod(dim=1, keepdim=True)
    return [across * torch.cos(points @ torch.from_numpy(rng.uniform(-4.0, 4.0, (2, 1)))) for _ in range(count)]


def test_smooth_functions_go_on_from_cell_centres_to_the_boundary():
    centres, corners = lattice(16, centres=True), lattice(16, centres=False)
    space = NodalSpace.spanning(centres, bumps(centres))
    assert int(space.degree) == 2
    found, wanted = space.coefficients([centres], bumps(centres)[:1])[0], bumps(corners)[0]
    error = float((space.values(corners, found) - wanted).norm() / wanted.norm())
    space.degree = torch.tensor(1)
    assert error < 0.5 * float((space.values(corners, found) - wanted).norm() / wanted.norm()) < 0.005


def test_rough_functions_are_continued_by_lower_splines():
    centres, rng = lattice(16, centres=True), np.random.default_rng(0)
    noise = [torch.from_numpy(rng.standard_normal((256, 1))) for _ in range(6)]
    assert int(NodalSpace.spanning(centres, noise).degree) == 1


def test_a_file_that_knows_no_degree_is_read():
    centres = lattice(8, centres=True)
    space = NodalSpace.spanning(centres, bumps(centres))
    state = {name: value for name, value in space.state_dict().items() if name != "degree"}
    loaded = NodalSpace()
    loaded.load_state_dict(state)
    assert int(loaded.degree) == 1
    found = space.coefficients([centres], bumps(centres)[:1])[0]
    torch.testing.assert_close(loaded.values(centres, found), space.values(centres, found))


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
