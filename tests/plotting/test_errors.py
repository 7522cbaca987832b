import numpy as np

from gola.plotting.errors import draw_errors
from gola.plotting.style import as_png


def test_every_sample_is_counted_once_and_all_operators_share_the_scale():
    rng = np.random.default_rng(0)
    errors = {"linear": 0.03 * rng.lognormal(size=100), "gola": 0.3 * rng.lognormal(size=100)}
    figure = draw_errors(errors, title="100 samples")
    for axes in figure.axes:
        assert sum(bar.get_height() for bar in axes.patches) == 100
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["linear", "gola"]


def test_mean_and_median_are_marked():
    axes = draw_errors({"gola": np.array([0.1, 0.2, 0.6])}, title="3 samples").axes[0]
    assert [line.get_label() for line in axes.lines] == ["mean 0.3", "median 0.2"]


def test_errors_of_nothing_at_all_can_be_drawn():
    for errors in ([0.0, 0.0], [0.0, 0.5], [0.5]):
        figure = draw_errors({"gola": np.array(errors)}, title="")
        assert as_png(figure)
        assert sum(bar.get_height() for bar in figure.axes[0].patches) == len(errors)
