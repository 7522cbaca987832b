import pytest
import torch

from gola.representation.function_space import FunctionSpace
from gola.representation.held_out_points import HeldOutPoints, held_out_errors, lower_products, variation
from gola.representation.smoothness import growth


def random_points(count):
    return torch.rand(count, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def wavy(points, wave):
    return torch.sin(wave * points[:, :1] + 1.0) * torch.cos(wave * points[:, 1:] - 0.5)


def held_out(space, points, values, count):
    return HeldOutPoints(space=space, points=points, values=values, count=count, squares=variation(values))


@pytest.mark.parametrize("num_modes", [25, 60])
def test_held_out_points_are_predicted_as_if_the_fit_were_made_without_them(num_modes):
    points = random_points(30)
    values = wavy(points, 4.0)
    values = values - values.mean()
    space = FunctionSpace.around(points, padding=1.25, num_modes=num_modes)
    strengths = torch.tensor([0.03, 1e-4], dtype=torch.float64)
    found = held_out_errors(space, growth(space, 2.0), strengths, points, values)
    for strength, errors in zip(strengths, found, strict=True):
        penalties = strength * growth(space, 2.0)
        for row in range(30):
            others = torch.arange(30) != row
            functions = space.functions(points[others])
            matrix = functions.T @ functions + penalties.diag()
            coefficients = torch.linalg.solve(matrix, functions.T @ values[others])
            predicted = space.functions(points[row : row + 1]) @ coefficients
            torch.testing.assert_close(errors[row], (values[row] - predicted)[0], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("num_modes", [25, 60])
@pytest.mark.parametrize("count", [1, 12, 30])
def test_the_last_points_have_the_errors_that_a_decomposition_gives(num_modes, count):
    points = random_points(30)
    values = torch.cat([wavy(points, 4.0), wavy(points, 7.0)], dim=1)
    space = FunctionSpace.around(points, padding=1.25, num_modes=num_modes)
    strengths = torch.tensor([0.03, 1e-4], dtype=torch.float64)
    expected = held_out_errors(space, growth(space, 2.0), strengths, points, values)[:, -count:]
    errors = held_out(space, points, values, count).under(growth(space, 2.0))
    found = torch.stack([errors(float(strength)) for strength in strengths])
    torch.testing.assert_close(found, expected, rtol=1e-7, atol=1e-9)


def test_where_rounding_takes_over_errors_are_infinite():
    points = random_points(5).repeat(4, 1)
    space = FunctionSpace.around(points, padding=1.25, num_modes=30)
    errors = held_out(space, points, wavy(points, 4.0), 10).under(growth(space, 2.0))
    assert errors(0.0).isinf().all()


def test_products_of_rows_are_whole_below_the_diagonal():
    rows = torch.randn(37, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.testing.assert_close(lower_products(rows).tril(), (rows @ rows.T).tril())
