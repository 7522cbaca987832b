import numpy as np
import pytest

from gola.plotting.bands import draw_bands, has_bands, middle_line
from gola.surrogate.fit import fit
from tests.surrogate.uncertainty.test_bands import KERNEL, waves


@pytest.fixture(scope="module")
def surrogate():
    return fit(waves(12), KERNEL, progress=False)


def test_error_width_and_a_line_are_drawn_for_each_channel(surrogate):
    figure = draw_bands(surrogate, waves(3, seed=2)[1], label="sample 1")
    titles = [panel.get_title() for panel in figure.axes if panel.get_title()]
    assert titles.count("through the middle of the domain") == 2
    assert "half-width of the band: u" in titles


def test_bands_are_drawn_where_the_samples_support_them(surrogate):
    assert has_bands(surrogate)
    assert not has_bands(fit(waves(6), KERNEL, progress=False))


def test_the_line_goes_through_the_middle_along_the_longest_side():
    line = middle_line(np.array([[0.0, 0.0], [1.0, 4.0]]))
    np.testing.assert_allclose(line[:, 0], 0.5)
    np.testing.assert_allclose([line[0, 1], line[-1, 1]], [0.0, 4.0])
