from functools import reduce

import numpy as np
import pytest

from gola.operators.linear.finite_elements import FiniteElements

SIDES = {1: np.array([2.0]), 2: np.array([1.0, 3.0]), 3: np.array([1.0, 2.0, 0.5])}
CELLS = {1: 40, 2: 24, 3: 10}


@pytest.fixture(params=[1, 2, 3])
def elements(request):
    return FiniteElements.on(SIDES[request.param], CELLS[request.param])


def random_values(count, seed=0):
    return np.random.default_rng(seed).standard_normal(count)


def test_a_known_solution_is_found(elements):
    sides = SIDES[elements.nodes.shape[1]]
    solution = np.prod(np.sin(np.pi * elements.nodes), axis=1)[:, None]
    medium = 2.5
    sources = medium * np.sum((np.pi / sides) ** 2) * solution
    solve = elements.solver(np.full(len(elements.cells), medium))
    found = elements.extended(solve(elements.loads(sources)))
    assert np.abs(found - solution).max() < 0.03


def test_integrals_are_those_of_the_box(elements):
    sides = SIDES[elements.nodes.shape[1]]
    mass = reduce(np.kron, elements.masses)
    assert mass.sum() == pytest.approx(sides.prod())
    sources = random_values(2 * len(elements.nodes)).reshape(-1, 2)
    np.testing.assert_allclose(elements.loads(sources), (mass @ sources)[elements.inside])
    np.testing.assert_allclose(elements.stiffness @ np.ones(elements.cells.shape[1]), 0.0, atol=1e-12)


def test_a_function_with_constant_slopes_is_known_at_any_point(elements):
    dim = elements.nodes.shape[1]
    slopes = random_values(dim)
    # The far corner of the box belongs to its last cell.
    fractions = np.vstack([np.random.default_rng(1).random((50, dim)), np.ones(dim)])
    corners, shares = elements.located(fractions)
    found = np.einsum("pc,pc->p", shares, (elements.nodes @ slopes)[corners])
    np.testing.assert_allclose(found, fractions @ slopes, atol=1e-12)


def test_a_jump_across_the_box_varies_by_its_height(elements):
    middle = elements.nodes[elements.cells].mean(axis=1)[:, 0]
    variation, _ = elements.variation(np.where(middle < 0.5, 0.0, 3.0), width=1e-9)
    assert variation == pytest.approx(3.0)


def test_the_solution_changes_with_the_medium_as_the_energies_say(elements):
    sources, watched = random_values(len(elements.nodes))[:, None], random_values(len(elements.inside), 1)[:, None]
    medium = np.exp(0.3 * random_values(len(elements.cells), 2))
    direction = random_values(len(elements.cells), 3)

    def observed(step):
        return float((watched * elements.solver(medium + step * direction)(elements.loads(sources))).sum())

    solve = elements.solver(medium)
    slope = -elements.energies(solve(watched), solve(elements.loads(sources))) @ direction
    assert slope == pytest.approx((observed(1e-5) - observed(-1e-5)) / 2e-5, rel=1e-5)


def test_the_gradient_of_the_variation_is_its_slope(elements):
    field, direction = random_values(len(elements.cells)), random_values(len(elements.cells), 1)
    _, gradient = elements.variation(field, width=0.1)
    up, down = (elements.variation(field + step * direction, width=0.1)[0] for step in (1e-5, -1e-5))
    assert gradient @ direction == pytest.approx((up - down) / 2e-5, rel=1e-6)
