import pytest
import torch

from gola.representation.function_space import FunctionSpace, MeanPrior


def random_points(count, dim=2, seed=0):
    return torch.rand(count, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def space_with(points, num_modes, penalty, padding=1.25):
    space = FunctionSpace.around(points, padding=padding, num_modes=num_modes)
    return space.with_penalties(torch.full((num_modes,), penalty, dtype=torch.float64))


def test_a_function_of_the_space_is_recovered_from_scattered_points():
    for dim in (1, 2, 3):
        points = 3.0 * random_points(150, dim) - 1.0
        space = space_with(points, 20, penalty=1e-12, padding=1.0)
        wanted = torch.randn(20, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        found = space.coefficients([points], [space.values(points, wanted)])[0]
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-8)


def test_a_constant_stays_exactly_constant_however_strong_the_penalty():
    points = random_points(50)
    space = space_with(points, 20, penalty=100.0)
    found = space.coefficients([points], [torch.full((50, 1), 7.0, dtype=torch.float64)])[0]
    torch.testing.assert_close(space.values(random_points(30, seed=1), found), torch.full((30, 1), 7.0).double())


def test_padding_makes_smooth_functions_with_a_slope_at_the_boundary_representable():
    points, elsewhere = random_points(300), random_points(300, seed=1)

    def error(padding):
        space = space_with(points, 100, penalty=1e-6, padding=padding)
        found = space.coefficients([points], [points[:, :1].exp()])[0]
        return (space.values(elsewhere, found) - elsewhere[:, :1].exp()).norm()

    assert error(padding=1.25) < 0.1 * error(padding=1.0)


def test_the_order_of_points_does_not_matter():
    points = random_points(60)
    values = torch.sin(5.0 * points)
    space = space_with(points, 40, penalty=1e-3)
    order = torch.randperm(60, generator=torch.Generator().manual_seed(0))
    straight, shuffled = space.coefficients([points], [values]), space.coefficients([points[order]], [values[order]])
    torch.testing.assert_close(straight, shuffled, rtol=1e-9, atol=1e-9)


def test_samples_that_share_points_are_fitted_as_if_they_did_not():
    first, second = random_points(60), random_points(50, seed=1)
    values = [torch.sin(3.0 * first), torch.cos(3.0 * first), torch.sin(second)]
    space = space_with(first, 40, penalty=1e-3)
    together = space.coefficients([first, first.clone(), second], values)
    alone = [space.coefficients([points], [one])[0] for points, one in zip([first, first, second], values, strict=True)]
    torch.testing.assert_close(together, torch.stack(alone))


def test_threads_change_nothing_and_gradients_pass_through_them():
    points = [random_points(400, seed=seed) for seed in range(3)]
    values = [random_points(400, 1, seed=seed).requires_grad_() for seed in range(3, 6)]
    space = space_with(points[0], 300, penalty=1.0)
    alone = space.coefficients(points, values)
    torch.set_num_threads(2)
    together, fits = space.coefficients(points, values), space.fits(points, values)
    torch.set_num_threads(1)
    assert torch.equal(alone, together)
    assert torch.equal(alone, torch.stack([fit.coefficients for fit in fits]))
    together.sum().backward()
    assert all(one.grad.abs().sum() > 0.0 for one in values)


def test_points_on_a_line_are_fine():
    points = random_points(40)
    points[:, 1] = 0.5
    space = space_with(points, 30, penalty=1e-6)
    found = space.coefficients([points], [points[:, :1]])[0]
    torch.testing.assert_close(space.values(points, found), points[:, :1], rtol=0, atol=1e-2)


def test_many_points_are_taken_in_portions():
    points = random_points(40_000)
    space = space_with(points, 10, penalty=1e-6)
    functions = space.functions(points)
    torch.testing.assert_close(space.gram(points), functions.T @ functions)
    torch.testing.assert_close(space.moments(points, points), functions.T @ points)
    coefficients = torch.ones(10, 1, dtype=torch.float64)
    torch.testing.assert_close(space.values(points, coefficients), functions @ coefficients)


def rough_samples(count, *, spread):
    """Functions of high frequency, at points of their own; their means scatter by so much."""
    points = [random_points(60, seed=number) for number in range(count)]
    generator = torch.Generator().manual_seed(0)
    means = spread * torch.randn(count, generator=generator, dtype=torch.float64)
    shifts = 6.0 * torch.rand(count, 2, generator=generator, dtype=torch.float64)
    waves = 2.0 * torch.pi * torch.tensor([3.0, 2.0], dtype=torch.float64)
    values = [
        (torch.cos(places * waves + shift).sum(dim=1, keepdim=True) + mean)
        for places, shift, mean in zip(points, shifts, means, strict=True)
    ]
    return points, values, means


@pytest.mark.parametrize("padding", [1.0, 1.3])
def test_averages_are_means_over_the_bounding_box(padding):
    points = random_points(50)
    space = FunctionSpace.around(points, padding=padding, num_modes=30)
    axis = (torch.arange(300, dtype=torch.float64) + 0.5) / 300
    places = space.lower + space.sides * torch.cartesian_prod(axis, axis)
    torch.testing.assert_close(space.averages, space.functions(places).mean(dim=0), rtol=0.0, atol=1e-4)


def test_functions_with_one_mean_are_held_to_it():
    points, values, _ = rough_samples(20, spread=0.0)
    space = space_with(torch.cat(points), 60, penalty=0.5)
    prior = MeanPrior.of(space.fits(points, values))
    plain, held = (space.coefficients(points, values, means) for means in (None, prior))
    before, after = (torch.einsum("m,smc->sc", space.averages, found).std(dim=0) for found in (plain, held))
    assert after < 0.5 * before


def test_functions_with_many_means_stay_as_they_are():
    points, values, means = rough_samples(20, spread=10.0)
    space = space_with(torch.cat(points), 60, penalty=0.5)
    prior = MeanPrior.of(space.fits(points, values))
    assert prior.variance[0].sqrt() == pytest.approx(float(means.std()), rel=0.1)
    plain, held = (space.coefficients(points, values, one) for one in (None, prior))
    torch.testing.assert_close(held, plain, rtol=0.0, atol=0.02)


def test_a_known_mean_is_met_by_the_likeliest_function():
    points, values, _ = rough_samples(1, spread=0.0)
    space = space_with(points[0], 20, penalty=0.5)
    known = MeanPrior(mean=torch.tensor([0.3]).double(), variance=torch.zeros(1).double(), noise=torch.ones(1).double())
    found = space.coefficients(points, values, known)[0]
    functions, averages = space.functions(points[0]), space.averages[:, None]
    # The penalised least squares under the constraint, with a multiplier; the constant carries the mean of the values.
    system = torch.zeros(21, 21, dtype=torch.float64)
    system[:20, :20] = functions.T @ functions + torch.diag(space.penalties)
    system[:20, 20:], system[20:, :20] = averages, averages.T
    centre = values[0].mean()
    right = torch.cat([functions.T @ (values[0] - centre), (0.3 - centre * averages[0]).view(1, 1)])
    expected = torch.linalg.solve(system, right)[:20]
    expected[0] += centre
    torch.testing.assert_close(found, expected)


def test_functions_through_a_lattice_are_those_fitted_to_its_nodes():
    space = space_with(torch.tensor([[-1.0, 0.0], [2.0, 5.0]]).double(), 12, 1e-3)
    axes = [torch.linspace(0.0, 1.0, 6).double(), torch.linspace(0.0, 1.0, 5).double() ** 2]
    nodes = space.lower + space.sides * torch.cartesian_prod(*axes)
    values = torch.randn(len(nodes), 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = space.through_lattice(axes, values)
    torch.testing.assert_close(found, space.coefficients([nodes], [values])[0])
    torch.testing.assert_close(space.values_on_lattice(axes, found), space.values(nodes, found))
