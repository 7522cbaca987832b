import itertools

import pytest
import torch

from gola.geometry.symmetry import Symmetry, candidates
from gola.representation.cosines import lowest_waves
from gola.representation.function_space import FunctionSpace
from gola.representation.symmetry import Symmetries, composed, whole_shells

SWAP = Symmetry(axes=(1, 0), flips=(False, False))
MIRROR = Symmetry(axes=(0, 1), flips=(True, False))
TURN = Symmetry(axes=(0, 1), flips=(True, True), input_sign=-1)


def random_matrix(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def random_points(count, dim, seed=0):
    return torch.rand(count, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def space_of(dim, num_modes=60):
    """A space on a box that is no cube."""
    corners = torch.stack([torch.full((dim,), -1.0), torch.arange(1.0, dim + 1.0)]).double()
    space = FunctionSpace.around(corners, padding=1.25, num_modes=whole_shells(num_modes, dim))
    return space.with_penalties(1e-6 * (1.0 + space.frequencies**2))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_coefficients_are_those_of_the_function_at_the_images_of_the_points(dim):
    space = space_of(dim)
    coefficients, fractions = random_matrix(space.num_modes, 2), random_points(30, dim)
    for one in candidates(dim):
        places = space.lower + space.sides * fractions
        images = space.lower + space.sides * torch.from_numpy(one.images(fractions.numpy()))
        found = composed(one, space, coefficients.T).T
        torch.testing.assert_close(space.values(places, found), space.values(images, coefficients))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_coefficients_are_those_of_a_fit_at_the_transformed_points(dim):
    space = space_of(dim)
    fractions, values = random_points(80, dim), random_matrix(80, 1)
    fitted = space.coefficients([space.lower + space.sides * fractions], [values])[0]
    for one in candidates(dim):
        # The function f∘g has at g⁻¹(x) the value of f at x.
        places = space.lower + space.sides * torch.from_numpy(one.inverse.images(fractions.numpy()))
        expected = space.coefficients([places], [values])[0]
        torch.testing.assert_close(composed(one, space, fitted.T).T, expected, rtol=1e-7, atol=1e-7)


def test_copies_have_their_signs_and_the_samples_themselves_come_first():
    space, group = space_of(2), Symmetries((Symmetry.identity(2), TURN))
    inputs, solutions = random_matrix(3, 2, space.num_modes), random_matrix(3, space.num_modes, 1, seed=1)
    copies, targets = group.inputs(space, inputs), group.solutions(space, solutions)
    assert torch.equal(copies[:3], inputs)
    assert torch.equal(targets[:3], solutions)
    assert torch.equal(copies[3:], -composed(TURN, space, inputs))
    assert torch.equal(targets[3:], composed(TURN, space, solutions.mT).mT)
    assert group.groups(3).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert Symmetries.none(2).groups(3) is None


def test_nodes_of_a_lattice_go_to_their_images():
    axis = torch.tensor([0.0, 0.2, 0.8, 1.0], dtype=torch.float64)
    for dim in (1, 2, 3):
        nodes = torch.cartesian_prod(*[axis] * dim).reshape(-1, dim)
        group = Symmetries((Symmetry.identity(dim), *candidates(dim)))
        for one, images in zip(group.elements, group.node_images(4, dim), strict=True):
            torch.testing.assert_close(nodes[images], torch.from_numpy(one.images(nodes.numpy())))


def test_axes_that_are_swapped_are_tied():
    assert Symmetries.none(3).tied_axes == [(0,), (1,), (2,)]
    assert Symmetries((Symmetry.identity(2), SWAP)).tied_axes == [(0, 1)]
    swap_of_two = Symmetry(axes=(0, 2, 1), flips=(True, False, False))
    assert Symmetries((Symmetry.identity(3), swap_of_two)).tied_axes == [(0,), (1, 2)]


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_whole_shells_hold_every_permutation_of_their_waves(dim):
    for asked in (1, 2, 10, 40, 41):
        count = whole_shells(asked, dim)
        waves = lowest_waves(count, dim).tolist()
        assert 0 < count <= asked
        assert all(list(other) in waves for wave in waves for other in itertools.permutations(wave))
