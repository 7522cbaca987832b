import numpy as np
import pytest
import torch

from gola.operators.baselines import gridding
from gola.operators.baselines.gridding import Lattice, from_lattice, lattice_of, onto_lattice


def tensor(points):
    return torch.from_numpy(points)


def shuffled(points, seed=0):
    return points[np.random.default_rng(seed).permutation(len(points))]


@pytest.mark.parametrize("shape", [(7,), (4, 4), (5, 3), (2, 16), (3, 4, 5)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_lattice_is_recognised_in_any_order(shape, dtype):
    wanted = Lattice(lower=(-2.0, 5.0, 0.3)[: len(shape)], upper=(1.0, 5.5, 9.0)[: len(shape)], shape=shape)
    points = tensor(shuffled(wanted.points())).to(dtype)
    found, rows = lattice_of(points)
    assert found.shape == wanted.shape
    np.testing.assert_allclose([found.lower, found.upper], [wanted.lower, wanted.upper], rtol=1e-6)
    np.testing.assert_allclose(points[rows], wanted.points(), rtol=1e-6)


def test_rounding_and_a_small_disturbance_do_not_hide_a_lattice():
    points = Lattice.unit(2, 128).points()
    disturbance = np.random.default_rng(0).uniform(-2e-4, 2e-4, points.shape) / 127
    assert lattice_of(tensor(points + disturbance)) is not None
    assert lattice_of(tensor(points).float() + 10.0) is not None


def test_what_is_almost_a_lattice_is_none():
    points = Lattice.unit(2, 6).points()
    assert lattice_of(tensor(points)) is not None
    moved, repeated = points.copy(), points.copy()
    moved[7, 0] += 0.01
    repeated[7] = points[8]
    stretched = points**2
    flat = points * [1.0, 0.0]
    random = np.random.default_rng(0).random((36, 2))
    for other in (points[:-1], points[:1], moved, repeated, stretched, flat, random):
        assert lattice_of(tensor(other)) is None


def test_interpolation_onto_a_lattice_meets_the_values_at_shared_points():
    lattice = Lattice.unit(2, 9)
    nodes = lattice.points()
    points = shuffled(np.concatenate([nodes, np.random.default_rng(1).random((50, 2))]))
    values = torch.from_numpy(np.sin(5.0 * points[:, :1]) * np.exp(points))
    found = onto_lattice(tensor(points), lattice)(values)
    np.testing.assert_allclose(found, np.sin(5.0 * nodes[:, :1]) * np.exp(nodes), atol=1e-6)


def test_interpolation_weights_are_found_once_for_the_same_points(monkeypatch):
    calls = []
    solve = gridding.interpolation_weights

    def counted(points, queries):
        calls.append(len(queries))
        return solve(points, queries)

    monkeypatch.setattr(gridding, "interpolation_weights", counted)
    points = torch.rand(30, 2, generator=torch.Generator().manual_seed(3))
    for resolution in (4, 4, 5, 4):
        onto_lattice(points.clone(), Lattice.unit(2, resolution))
    assert calls == [16, 25]
    onto_lattice(points.flip(0), Lattice.unit(2, 4))
    assert calls == [16, 25, 16]


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_interpolation_from_a_lattice_is_exact_for_products_of_linear_functions(dim):
    lattice = Lattice(lower=(-1.0,) * dim, upper=(2.0,) * dim, shape=(4, 3, 5)[:dim])
    queries = np.random.default_rng(0).uniform(-1.0, 2.0, (20, dim))

    def function(points):
        return np.prod(1.0 + 2.0 * points, axis=1, keepdims=True)

    found = from_lattice(lattice, tensor(queries))(tensor(function(lattice.points())))
    np.testing.assert_allclose(found, function(queries), rtol=1e-12)


def test_a_node_answers_with_its_own_value_despite_rounding():
    lattice = Lattice(lower=(0.1, 0.0), upper=(0.7, 1.0), shape=(128, 128))
    values = torch.randn(128 * 128, 1)
    found = from_lattice(lattice, tensor(lattice.points()).float())(values)
    assert torch.equal(found, values)


def test_beyond_a_wall_the_value_at_the_wall_continues():
    lattice = Lattice.unit(2, 3)
    values = tensor(lattice.points()[:, :1] + 10.0 * lattice.points()[:, 1:])
    queries = torch.tensor([[-3.0, 0.25], [0.25, 7.0], [4.0, 4.0]], dtype=torch.float64)
    np.testing.assert_allclose(from_lattice(lattice, queries)(values)[:, 0], [2.5, 10.25, 11.0])


def test_doubling_the_resolution_quarters_the_error_of_the_way_back():
    queries = torch.rand(500, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    wave = torch.sin(6.0 * queries).sum(1, keepdim=True)
    errors = []
    for resolution in (17, 33, 65):
        lattice = Lattice.unit(2, resolution)
        values = torch.sin(6.0 * tensor(lattice.points())).sum(1, keepdim=True)
        errors.append(float((from_lattice(lattice, queries)(values) - wave).norm()))
    assert errors[1] < errors[0] / 3.5
    assert errors[2] < errors[1] / 3.5


def test_a_lattice_around_points_spans_their_bounding_box():
    points = torch.tensor([[1.0, 5.0], [3.0, 4.0], [2.0, 4.5]])
    assert Lattice.around(points, 7) == Lattice(lower=(1.0, 4.0), upper=(3.0, 5.0), shape=(7, 7))


def test_one_point_fills_a_whole_lattice_with_its_value():
    point = torch.tensor([[0.3, 0.4]])
    lattice = Lattice.around(point, 3)
    nodes = onto_lattice(point, lattice)(torch.tensor([[2.5]]))
    torch.testing.assert_close(nodes, torch.full((9, 1), 2.5))
    torch.testing.assert_close(from_lattice(lattice, point)(nodes), torch.tensor([[2.5]]))
