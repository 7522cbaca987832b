import numpy as np
import pytest

from gola.problems.random_shapes import StarShape, draw_separate_shapes, draw_star_shape

PARAMETERS = np.linspace(0.0, 1.0, 200)


def draw_crowd(seed: int) -> list[StarShape]:
    rng = np.random.default_rng(seed)
    return draw_separate_shapes(rng, num_shapes=12, radii=(0.04, 0.12), roughness=0.5, side=1.0, gap=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_shapes_keep_the_gap_between_each_other_and_to_the_sides(seed: int) -> None:
    outlines = [shape.outline(PARAMETERS) for shape in draw_crowd(seed)]
    assert len(outlines) > 1
    for index, outline in enumerate(outlines):
        assert outline.min() >= 0.05
        assert outline.max() <= 0.95
        for other in outlines[:index]:
            assert np.linalg.norm(outline[:, None] - other, axis=2).min() > 0.05


def test_a_crowded_square_gets_fewer_shapes_instead_of_an_endless_search() -> None:
    rng = np.random.default_rng(0)
    shapes = draw_separate_shapes(rng, num_shapes=100, radii=(0.1, 0.2), roughness=0.3, side=1.0, gap=0.05)
    assert 1 <= len(shapes) < 20


def test_an_outline_is_closed_and_turns_counter_clockwise() -> None:
    shape = draw_star_shape(np.random.default_rng(0), np.array([2.0, 3.0]), 0.5, 0.4)
    outline = shape.outline(PARAMETERS)
    np.testing.assert_allclose(outline[0], outline[-1], atol=1e-12)
    x, y = outline.T
    assert 0.5 * np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]) > 0.0


def test_an_outline_stays_within_its_roughness_and_uses_much_of_it() -> None:
    shapes = [draw_star_shape(np.random.default_rng(seed), np.zeros(2), 1.0, 0.4) for seed in range(50)]
    radii = np.array([np.linalg.norm(shape.outline(PARAMETERS), axis=1) for shape in shapes])
    assert radii.min() >= 0.6
    assert radii.max() <= 1.4
    assert radii.max(axis=1).mean() > 1.2


def test_a_shape_without_roughness_is_a_circle() -> None:
    circle = StarShape.circle(np.array([0.5, 0.5]), 0.25)
    np.testing.assert_allclose(np.linalg.norm(circle.outline(PARAMETERS) - 0.5, axis=1), 0.25)
