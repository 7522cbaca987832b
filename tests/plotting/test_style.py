"""How pictures look."""

import pytest
from matplotlib.figure import Figure

from gola.plotting.style import use_log_scale


@pytest.mark.parametrize("lowest", [1e-10, 1e-6, 0.01, 0.4])
def test_a_logarithmic_axis_has_numbers_for_few_decades_and_many(lowest):
    axes = Figure().subplots()
    axes.plot([1.0, 2.0], [lowest, 0.5])
    use_log_scale(axes, "y")
    low, high = axes.get_ylim()
    shown = [mark for mark in axes.get_yticks() if low <= mark <= high]
    assert 2 <= len(shown) <= 14
