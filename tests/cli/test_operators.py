import json
import re

import pytest
from typer.testing import CliRunner

from gola.cli import app
from gola.cli.operators import summary_of
from gola.registry import OPERATORS


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_operators_are_listed_with_what_they_need():
    printed = run("operators").output
    assert all(name in printed for name in OPERATORS)
    assert "neighbours" in printed


def test_info_counts_the_parameters_of_the_papers_preset():
    printed = run("info", "--operator", "gola/paper").output
    assert "2,900,249" in printed
    assert "blocks.0.global_attention.key" in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("info", "--operator", "gol"), "no operator 'gol'; did you mean 'gola'"),
        (("info", "--operator", "gola/papre"), "no preset of gola 'papre'; did you mean 'paper'"),
    ],
)
def test_an_unknown_name_comes_with_the_nearest(words, message):
    assert message in str(run(*words).exception)


def test_info_says_where_the_number_of_parameters_depends_on_the_data():
    assert "depends on the data" in run("info", "--operator", "linear").output


def test_info_is_printed_for_scripts():
    facts = json.loads(run("info", "--operator", "linear", "--json").output)
    assert facts["name"] == "linear"
    assert "mean" in facts["settings"]["steps"]


@pytest.mark.parametrize("name", OPERATORS)
def test_titles_leave_the_article_to_the_sentence(name):
    assert not re.match(r"(the|an?|this) ", OPERATORS[name].title, flags=re.IGNORECASE)


@pytest.mark.parametrize("name", OPERATORS)
def test_summaries_are_plain_text(name):
    summary = summary_of(OPERATORS[name].__doc__)
    assert summary.endswith(".")
    assert not {":", "`"} & set(re.sub(r": ", " ", summary)), summary
