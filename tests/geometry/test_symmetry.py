import itertools

import numpy as np
import pytest

from gola.geometry.symmetry import Symmetry, candidates, domain_symmetries, generated_group, largest_group

SWAP = Symmetry(axes=(1, 0), flips=(False, False))
MIRROR = Symmetry(axes=(0, 1), flips=(True, False))
TURN = Symmetry(axes=(0, 1), flips=(True, True), input_sign=-1)


def random_points(count, dim, seed=0):
    return np.random.default_rng(seed).random((count, dim))


@pytest.mark.parametrize(("dim", "count"), [(1, 1), (2, 7), (3, 47)])
def test_all_symmetries_of_the_cube_that_move_points_are_tried_with_three_pairs_of_signs(dim, count):
    found = candidates(dim)
    assert len({(one.axes, one.flips) for one in found}) == count
    assert len(set(found)) == len(found) == 3 * count
    points = random_points(4, dim)
    assert all(np.abs(one.images(points) - points).max() > 0.0 for one in found)
    assert all((one.input_sign, one.output_sign) != (-1, -1) for one in found)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_products_and_inverses_are_those_of_the_maps(dim):
    points = random_points(4, dim)
    for one, other in itertools.product(candidates(dim)[::5], repeat=2):
        np.testing.assert_allclose(one.after(other).images(points), one.images(other.images(points)))
        assert one.after(one.inverse) == one.inverse.after(one) == Symmetry.identity(dim)


def test_the_largest_group_has_all_its_products():
    group = largest_group([SWAP, TURN, SWAP.after(TURN)], dim=2, at_most=8)
    assert set(group) == {Symmetry.identity(2), SWAP, TURN, SWAP.after(TURN)}
    assert group[0] == Symmetry.identity(2)


def test_what_lacks_a_product_is_left_out():
    # Swap and mirror generate all eight symmetries of the square.
    assert largest_group([SWAP, MIRROR], dim=2, at_most=8) == (Symmetry.identity(2), SWAP)
    others = [TURN, SWAP.after(TURN)]
    assert len(largest_group([MIRROR, SWAP, *others], dim=2, at_most=8)) == 4
    assert len(largest_group([], dim=2, at_most=8)) == 1


def test_signs_that_contradict_each_other_make_no_group():
    unsigned = Symmetry(axes=TURN.axes, flips=TURN.flips)
    assert largest_group([unsigned, TURN], dim=2, at_most=8) == (Symmetry.identity(2), unsigned)


def test_a_group_may_be_no_larger_than_allowed():
    every = [one for one in candidates(3) if one.input_sign == one.output_sign == 1]
    assert len(largest_group(every, dim=3, at_most=48)) == 48
    assert 4 <= len(largest_group(every, dim=3, at_most=7)) <= 7
    assert len(largest_group(every, dim=3, at_most=1)) == 1


def test_a_group_is_all_products_of_its_generators():
    square = generated_group([SWAP, MIRROR], dim=2)
    assert square[0] == Symmetry.identity(2)
    assert set(square) == {Symmetry.identity(2), *(one for one in candidates(2) if one.input_sign == one.output_sign)}
    assert generated_group([], dim=3) == (Symmetry.identity(3),)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_what_is_written_is_read_again(dim):
    for one in candidates(dim):
        assert Symmetry.parse(str(one)) == Symmetry(axes=one.axes, flips=one.flips)


@pytest.mark.parametrize("text", ["", "x-", "xx", "y", "xz", "-x, y", "x y", "ab"])
def test_what_is_no_symmetry_is_told(text):
    with pytest.raises(ValueError, match="written as the image of xy or xyz"):
        Symmetry.parse(text)


def test_points_of_a_box_go_where_fractions_of_its_sides_say():
    lower, sides = np.array([1.0, -2.0]), np.array([4.0, 2.0])
    corner = np.array([[1.0, -1.5]])
    assert MIRROR.images_in_box(corner, lower, sides).tolist() == [[5.0, -1.5]]
    assert SWAP.images_in_box(corner, lower, sides).tolist() == [[2.0, -2.0]]


def test_a_domain_has_the_symmetries_that_leave_its_points_where_points_are():
    points = random_points(400, 2)
    assert len(domain_symmetries([points])) == 7
    assert {str(one) for one in domain_symmetries([points * [2.0, 1.0]])} == {"-xy", "x-y", "-x-y"}
    below = points[points[:, 1] < 0.8 * points[:, 0]]
    assert not domain_symmetries([below])
    left_notch = points[(points[:, 0] > 0.3) | (np.abs(points[:, 1] - 0.5) > 0.2)]
    assert [str(one) for one in domain_symmetries([left_notch])] == ["x-y"]


@pytest.mark.parametrize(
    ("text", "is_reflection"),
    [("xy", False), ("-xy", True), ("yx", True), ("-yx", False), ("yzx", False), ("yxz", True), ("-y-x-z", False)],
)
def test_reflections_are_told_from_rotations(text, is_reflection):
    assert Symmetry.parse(text).is_reflection == is_reflection
