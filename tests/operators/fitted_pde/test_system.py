"""Discretised equations, their solutions and derivatives."""

import numpy as np
import pytest
import torch

from gola.operators.fitted_pde.arrival import Arrival
from gola.operators.fitted_pde.elements import Elements
from gola.operators.fitted_pde.inputs import Load, features_of
from gola.operators.fitted_pde.law import Law
from gola.operators.fitted_pde.residual import Residual
from gola.operators.fitted_pde.sparse import factorised, plain_solution
from gola.operators.fitted_pde.system import System
from tests.geometry.shapes import plate

BOX = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


def random_values(points, seed=0):
    return 1.0 + torch.from_numpy(np.random.default_rng(seed).random((len(points), 3)))


def system_of(num_components, points=None):
    points = torch.from_numpy(plate(radius=0.2, spacing=0.12) if points is None else points)
    values = random_values(points)
    loads = (
        Load(kind="constant", channels=(), scale=1.0),
        Load(kind="scalar", channels=(0,), scale=2.0),
        Load(kind="vector", channels=(1, 2), scale=1.0),
        Load(kind="tensor", channels=(0, 1, 1, 2), scale=1.0),
    )
    law = Law(dim=2, num_components=num_components, features=features_of(values, [0, 1]), loads=loads)
    return System.of(law, Elements.of(points, BOX), values)


def coefficients_of(law):
    random = torch.from_numpy(np.random.default_rng(1).random(law.num_coefficients))
    found = 0.1 + 0.3 * random
    # Beyond resonances nonlinear equations may have no solution.
    found[law.place("growth")] *= 0.05
    return found


@pytest.mark.parametrize("num_components", [1, 2])
def test_derivatives_by_coefficients_are_those_of_the_solution(num_components):
    system = system_of(num_components)
    coefficients = coefficients_of(system.law)
    solution, slopes = system.linearised(coefficients, torch.eye(len(coefficients), dtype=torch.float64))
    torch.testing.assert_close(solution, system.solution(coefficients))
    step = 1e-5 * torch.from_numpy(np.random.default_rng(2).normal(size=len(coefficients)))
    change = (system.solution(coefficients + step) - system.solution(coefficients - step)) / 2.0
    torch.testing.assert_close(slopes @ step, change, rtol=1e-5, atol=1e-10)


@pytest.mark.parametrize("num_components", [1, 2])
def test_the_sparse_solution_is_the_dense_one_and_leaves_no_residual(num_components):
    system = system_of(num_components)
    coefficients = coefficients_of(system.law)
    solution = system.solution(coefficients)
    plain = system.law.without_nonlinear_terms(coefficients)
    dense = plain_solution(system.entries(plain), system.right_side(plain), *system.pattern())
    torch.testing.assert_close(system.solution(plain), system.at_points(dense))
    count = system.law.num_shapes
    residual = system.residual(coefficients[:count], solution, coefficients[count:])
    assert residual.abs().max() < 1e-10


def test_nonlinear_terms_matter_and_without_them_a_law_is_linear():
    system = system_of(1)
    coefficients = coefficients_of(system.law)
    plain = system.law.without_nonlinear_terms(coefficients)
    assert system.law.is_linear(plain)
    assert not system.law.is_linear(coefficients)
    assert (system.solution(plain) - system.solution(coefficients)).abs().max() > 1e-3


def test_gradients_of_a_nonlinear_solution_are_right():
    system = system_of(1)
    coefficients = coefficients_of(system.law).requires_grad_()
    (slope,) = torch.autograd.grad(system.solution(coefficients).sum(), coefficients)
    _, slopes = system.linearised(coefficients.detach(), torch.eye(len(coefficients), dtype=torch.float64))
    torch.testing.assert_close(slope, slopes.sum(dim=(0, 1)), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("num_components", [1, 2])
def test_a_solution_has_no_equation_error_and_the_derivatives_of_that_are_right(num_components):
    system = system_of(num_components)
    coefficients = coefficients_of(system.law)
    solution = system.solution(coefficients)
    torch.testing.assert_close(Residual(system, solution).solution(coefficients), solution, rtol=1e-7, atol=1e-9)
    off = Residual(system, 0.5 * solution.square())
    _, slopes = off.linearised(coefficients, torch.eye(len(coefficients), dtype=torch.float64))
    step = 1e-5 * torch.from_numpy(np.random.default_rng(2).normal(size=len(coefficients)))
    change = (off.solution(coefficients + step) - off.solution(coefficients - step)) / 2.0
    torch.testing.assert_close(slopes @ step, change, rtol=1e-5, atol=1e-9)


def test_a_singular_matrix_has_no_solution_instead_of_an_error():
    ones, rows = np.ones(4), np.array([0, 0, 1, 1])
    assert np.isnan(factorised(ones, rows, rows[[0, 2, 1, 3]], 3).solve(np.ones(3))).all()


def test_a_law_and_an_arrival_survive_json():
    law = system_of(2).law
    assert Law.from_dict(law.to_dict()) == law
    arrival = Arrival(source=(0.1, 0.2), features=law.features, num_neighbours=12)
    assert Arrival.from_dict(arrival.to_dict()) == arrival


def test_points_that_occur_twice_have_one_solution():
    points = plate(radius=0.2, spacing=0.12)
    system = system_of(1, np.concatenate([points, points[:1]]))
    solution = system.solution(coefficients_of(system.law))
    assert solution[0] == solution[-1]
    torch.testing.assert_close(solution[:-1].isfinite().all(), torch.tensor(True))


def test_each_side_of_a_box_is_a_part_and_so_are_holes():
    elements = system_of(1, plate(radius=0.2, spacing=0.04)).elements
    lengths = torch.zeros(6, dtype=torch.float64).index_add(0, elements.parts, elements.areas)
    torch.testing.assert_close(lengths[:5], torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0], dtype=torch.float64))
    assert float(lengths[5]) == pytest.approx(0.4 * np.pi, rel=0.05)


def test_an_equation_without_a_solution_is_solved_with_weaker_nonlinear_terms():
    system = system_of(1)
    coefficients = torch.zeros(system.law.num_coefficients, dtype=torch.float64)
    coefficients[system.law.place("mass")] = 1e-4
    coefficients[system.law.place("exchange")] = 0.99
    coefficients[system.law.num_shapes :] = 1.0
    # Where −Δu = f + u², like an explosion, has a large source, there is no solution.
    coefficients[system.law.place("reaction")] = torch.tensor([-1.0, 0.0], dtype=torch.float64)
    assert system.solution(coefficients).isnan().all()
    found = system.weakened_solution(coefficients)
    plain = system.solution(system.law.without_nonlinear_terms(coefficients))
    assert found.isfinite().all()
    assert not torch.allclose(found, plain, rtol=1e-3)
