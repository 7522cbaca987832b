import torch

from gola.representation.common_nodes import by_cosines, by_splines, common_nodes, error_between_points, through
from gola.representation.function_space import FunctionSpace
from gola.representation.nodal import NodalSpace


def samples(count=5, num_points=150):
    generator = torch.Generator().manual_seed(0)
    points = [torch.rand(num_points, 2, generator=generator, dtype=torch.float64) for _ in range(count)]
    return points, [torch.stack([x + 2 * y, (1 + k) * torch.sin(x)], dim=1) for k, (x, y) in
                    enumerate(one.T for one in points)]  # fmt: skip


def test_nodes_are_points_of_the_samples_and_always_the_same():
    points, _ = samples()
    nodes = common_nodes(points)
    assert len(nodes) == 300
    assert (nodes[:, None] == torch.cat(points)).all(dim=2).any(dim=1).all()
    torch.testing.assert_close(nodes, common_nodes(points), rtol=0, atol=0)


def test_linear_functions_are_told_between_points_exactly():
    points, values = samples()
    linear = [one[:, :1] for one in values]
    assert error_between_points(through(common_nodes(points), 1), points, linear) < 1e-10


def test_a_space_that_is_too_coarse_shows_between_points():
    points, values = samples()
    errors = [
        error_between_points(by_cosines(FunctionSpace.around(points[0], padding=1.25, num_modes=count).with_penalties(
            torch.full((count,), 1e-6, dtype=torch.float64))), points, values) for count in (3, 30)
    ]  # fmt: skip
    assert errors[1] < 0.2 * errors[0]


def test_functions_known_elsewhere_are_brought_to_the_nodes():
    points, values = samples()
    nodes = common_nodes(points)
    at_nodes = [by_splines(*one, nodes, 1) for one in zip(points, values, strict=True)]
    space = NodalSpace.spanning(nodes, at_nodes, gathering=1)
    found = space.coefficients(points, values)
    torch.testing.assert_close(torch.einsum("nm,smc->snc", space.modes, found), torch.stack(at_nodes))
    known = space.coefficients([nodes] * len(points), at_nodes)
    torch.testing.assert_close(known, found)
