from dataclasses import replace

import numpy as np
import pytest

from gola.data.sample import Channel
from gola.plotting.style import as_png
from gola.plotting.surrogate import candidate_errors, channel_table, draw_surrogate, surrogate_facts
from tests.fits import small_surrogate

CHOICE = {
    "members": ["linear", "kernel"],
    "weights": [0.75, 0.25],
    "error": 0.031,
    "spread": 0.004,
    "candidates": {"linear": 0.04, "kernel": 0.35, "blend": 0.031},
    "why": "The blend has the lowest error.",
    "summary": "0.75 linear + 0.25 kernel",
}


@pytest.fixture(scope="module")
def surrogate():
    return small_surrogate("linear")


def with_choice(surrogate, **choice):
    return replace(surrogate, provenance={**surrogate.provenance, "choice": {**CHOICE, **choice}})


def panels(figure):
    return {axes.get_title(): axes for axes in figure.axes if axes.get_title()}


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_facts_tell_scores_choice_reason_and_number_of_samples(surrogate):
    facts = surrogate_facts(with_choice(surrogate))
    assert facts["operator"] == "linear in 2D"
    assert facts["cross-validation error"] == f"{surrogate.scores['cv_error']:.4g}"
    assert facts["choice"] == "0.75 linear + 0.25 kernel"
    assert facts["why"] == CHOICE["why"]
    assert facts["training samples"] == "8"
    assert facts["points of a sample"] == "60 or more"


def test_channels_have_units_ranges_and_an_estimated_error(surrogate):
    shown = replace(surrogate, inputs=(Channel(name="speed", unit="m/s"),))
    (low,), (high,) = surrogate.coverage.lower, surrogate.coverage.upper
    assert channel_table(shown) == [
        ("input", "speed", "m/s", f"{low:.4g} to {high:.4g}", ""),
        ("target", surrogate.targets[0].name, "–", "", f"{surrogate.scores['cv_error']:.4g}"),
    ]


def test_channels_that_were_fitted_apart_have_errors_and_candidates_of_their_own(surrogate):
    groups = [{**CHOICE, "channels": [1], "error": 0.5}, {**CHOICE, "channels": [0], "error": 0.01}]
    apart = with_choice(surrogate, weights=(), candidates={}, groups=groups, summary="u: linear; v: kernel")
    apart = replace(apart, targets=(Channel(name="u"), Channel(name="v")))
    assert [row[-1] for row in channel_table(apart)[1:]] == ["0.01 ± 0.004", "0.5 ± 0.004"]
    assert candidate_errors(apart.provenance["choice"])["group 2: kernel"] == 0.35
    assert surrogate_facts(apart)["choice"] == "u: linear; v: kernel"


def test_the_picture_holds_the_facts_the_training_points_and_a_bar_for_each_candidate(surrogate):
    figure = draw_surrogate(with_choice(surrogate), title="mine.gola")
    assert as_png(figure)
    assert {"operator", "linear in 2D", "why", CHOICE["why"]} <= set(texts(figure))
    shown = panels(figure)
    points = surrogate.coverage.points
    (marks,) = shown[f"{len(points)} of the training points"].lines
    np.testing.assert_allclose(marks.get_xydata(), points)
    assert sorted(bar.get_width() for bar in shown["candidates"].patches) == [0.031, 0.04, 0.35]


def test_a_surrogate_that_knows_nothing_of_its_origin_can_be_drawn(surrogate):
    bare = replace(surrogate, coverage=None, scores={}, provenance={})
    figure = draw_surrogate(bare, title="old.gola")
    assert as_png(figure)
    assert list(panels(figure)) == ["box around the training points"]
    assert channel_table(bare)[1][-1] == "–"


def test_names_are_shown_as_they_are_written(surrogate):
    odd = replace(surrogate, inputs=(Channel(name=r"$\frac$", unit="$"),))
    assert as_png(draw_surrogate(odd, title=r"$\frac$.gola"))
