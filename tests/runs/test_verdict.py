import pytest

from gola.runs import summarise, verdict
from tests.runs.examples import made_failure, made_results


def said(*groups):
    return verdict(summarise([outcome for group in groups for outcome in group]))


def test_a_clear_winner_is_named_with_its_numbers():
    sentence = said(
        made_results("gola", [0.30, 0.31, 0.32], fit_seconds=40.0),
        made_results("linear", [0.06, 0.07, 0.08], fit_seconds=2.0),
    )
    assert sentence == (
        "Use linear: its error 0.0700 ± 0.0100 is below gola's 0.3100 ± 0.0100 in all 3 seeds,"
        " and it fits 20 times faster."
    )


def test_a_winner_that_costs_more_is_named_with_what_it_costs():
    sentence = said(made_results("gola", [0.1, 0.1], fit_seconds=9.0), made_results("linear", [0.2, 0.2]))
    assert sentence.startswith("Use gola:")
    assert sentence.endswith("though linear fits 9.0 times faster.")


def test_of_operators_that_seeds_cannot_distinguish_the_cheaper_is_preferred():
    sentence = said(
        made_results("gola", [0.09, 0.12, 0.10], fit_seconds=40.0),
        made_results("linear", [0.10, 0.10, 0.12], fit_seconds=2.0),
    )
    assert sentence.startswith(
        "Use linear: its error 0.1067 ± 0.0115 and gola's 0.1033 ± 0.0153 cannot be distinguished"
    )
    assert "fits 20 times faster" in sentence


def test_of_equals_that_cost_about_the_same_the_one_with_the_lower_error_is_preferred():
    sentence = said(made_results("kernel", [0.1, 0.2], fit_seconds=1.1), made_results("linear", [0.2, 0.11]))
    assert sentence.startswith("Use kernel:")
    assert "both take about as long to fit" in sentence


def test_differences_are_taken_seed_by_seed():
    # The seeds differ far more than the operators, which does not matter: one is better with each of them.
    assert "in all 3 seeds" in said(made_results("a", [0.1, 0.5, 0.9]), made_results("b", [0.15, 0.56, 0.94]))


def test_one_seed_is_no_proof():
    sentence = said(made_results("gola", [0.3]), made_results("linear", [0.1]))
    assert sentence.startswith("linear looks best: its error 0.1000 is below gola's 0.3000")
    assert "one seed" in sentence


@pytest.mark.parametrize("errors", [[0.3, 0.2], [0.1, 0.3]])
def test_operators_that_do_not_beat_the_mean_have_learned_nothing(errors):
    assert "nothing was learned" in said(made_results("gola", errors), made_results("mean", [0.2, 0.21]))


def test_operators_that_beat_the_mean_have_learned_something():
    assert "nothing" not in said(made_results("gola", [0.1, 0.1]), made_results("mean", [0.2, 0.21]))


def test_an_operator_with_failed_runs_is_not_considered_and_that_is_said():
    sentence = said(
        made_results("linear", [0.2, 0.2]), made_results("nearest", [0.3, 0.3]), [made_failure("gkn", seed=1)],
        made_results("gkn", [0.01]),
    )  # fmt: skip
    assert sentence.startswith("Use linear:")
    assert sentence.endswith("Not considered, because of failed runs: gkn.")
    assert "none can be recommended" in said([made_failure("gkn")])


def test_a_single_operator_is_not_compared_with_nothing():
    assert "compare it with other operators" in said(made_results("linear", [0.2, 0.2]))


def test_runs_are_summarised():
    (summary,) = summarise(
        made_results("linear", [0.1, 0.3], scores={"cv_error": 0.2}, num_parameters=7, fit_seconds=3.0)
    )
    assert summary.mean == pytest.approx(0.2)
    assert summary.spread == pytest.approx(0.1 * 2**0.5)
    assert (summary.estimate, summary.estimate_kind) == (pytest.approx(0.2), "cv error")
    assert (summary.num_parameters, summary.fit_seconds) == (7, 3.0)
