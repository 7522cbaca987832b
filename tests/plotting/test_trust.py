import re

from gola import fit
from gola.plotting.trust import draw_trust
from tests.surrogate.uncertainty.test_bands import KERNEL, waves


def test_coverage_and_estimated_errors_of_all_test_samples_are_drawn():
    surrogate, test = fit(waves(12), KERNEL, progress=False), waves(7, seed=2)
    left, right = draw_trust(surrogate, test, title="kernel").axes
    assert left.get_title() == "how often bands hold"
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["as they should", "everywhere", "pointwise"]
    title = r"\d of 7 in their intervals of 90 %; rank correlation -?\d\.\d\d"
    assert re.fullmatch(title, right.get_title())
    assert right.get_legend() is None  # it would hide samples
