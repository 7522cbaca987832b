from gola import fit
from gola.plotting.trust import draw_trust
from tests.surrogate.uncertainty.test_bands import KERNEL, waves


def test_coverage_and_estimated_errors_of_all_test_samples_are_drawn():
    surrogate, test = fit(waves(12), KERNEL, progress=False), waves(7, seed=2)
    left, right = draw_trust(surrogate, test, title="kernel").axes
    assert left.get_title() == "how often bands hold"
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["as they should", "everywhere", "pointwise"]
    assert right.get_title().startswith("each test sample; rank correlation")
    labels = [text.get_text() for text in right.get_legend().get_texts()]
    assert any(label.startswith("90 % interval: ") and label.endswith("of 7 within") for label in labels)
