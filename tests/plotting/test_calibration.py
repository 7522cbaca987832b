from gola.plotting.calibration import draw_calibration
from gola.surrogate.calibration_study import calibration
from tests.surrogate.uncertainty.test_bands import KERNEL, waves


def test_coverage_widths_and_maps_are_drawn():
    figure = draw_calibration(calibration(waves(16), KERNEL, num_train=10, num_splits=2), title="waves")
    titles = [panel.get_title() for panel in figure.axes if panel.get_title()]
    assert titles[0] == "how often bands hold"
    assert titles[1].startswith("test samples; rank correlation")
    assert [title.split(",")[0] for title in titles[2:]] == ["half-width of the band", "absolute error"]
