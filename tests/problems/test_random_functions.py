import numpy as np

from gola.problems.random_fields import gaussian_process
from gola.problems.random_functions import draw_smooth_function


def test_scattered_values_agree_with_the_field_on_a_grid() -> None:
    axis = np.linspace(0.0, 1.0, 7)
    field = gaussian_process((0.25, 0.25))
    expected = field.evaluate(field.draw([np.random.default_rng(5)]), axis, axis)[0]
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    values = draw_smooth_function(np.random.default_rng(5), 0.25)(grid)
    np.testing.assert_allclose(values, expected.ravel(), atol=1e-12)
