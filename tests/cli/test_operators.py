import pytest
from typer.testing import CliRunner

from gola.cli import app
from gola.registry import OPERATORS


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_operators_are_listed_with_what_they_need():
    printed = run("operators").output
    assert all(name in printed for name in OPERATORS)
    assert "neighbours" in printed


def test_info_counts_the_parameters_of_the_papers_preset():
    printed = run("info", "--operator", "gola", "--preset", "paper").output
    assert "2,900,249" in printed
    assert "blocks.0.global_attention.key" in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("info", "--operator", "gol"), "no operator 'gol'; did you mean 'gola'"),
        (("info", "--preset", "papre"), "no preset of gola 'papre'; did you mean 'paper'"),
    ],
)
def test_an_unknown_name_comes_with_the_nearest(words, message):
    assert message in str(run(*words).exception)


def test_info_says_that_a_closed_form_has_no_parameters_of_its_own():
    assert "the data decide" in run("info", "--operator", "linear").output
