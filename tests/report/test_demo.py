import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.report.demo import OWN_DATA
from gola.report.demo_result import PUBLISHED, Entry, beside_the_paper, channel_rows, headline, reason, result_rows
from gola.runs import RunConfig, channel_errors
from gola.surrogate.evaluation import evaluate
from gola.surrogate.surrogate import Surrogate
from paper.published import TABLE_1
from tests.fits import small_data, small_surrogate
from tests.runs.examples import made_result


def entry(operator, errors, **settings):
    run = RunConfig(data="darcy.h5", operator=operator, **{"num_train": 30, "num_points": 1000, **settings})
    return Entry(result=made_result(run=run, errors=tuple(errors)), surrogate=small_surrogate("mean"))


@pytest.fixture(scope="module")
def entries():
    return {
        "linear": entry("linear", [0.02, 0.5, 0.04]),
        "gola": entry("gola", [0.1, 0.1, 0.1]),
        "good": entry("linear", [0.02, 0.02, 0.04]),
        "median": entry("gola", [0.16, 0.16, 0.16]),
    }


def test_the_headline_names_the_operator_with_the_lower_error_whichever_it_is(entries):
    first = headline([entries["good"], entries["gola"]])
    assert first.startswith("linear looks best: its error 0.0267 is below gola's 0.1000")
    assert first.endswith("linear has the lower error on 3 of 3 test samples.")
    second = headline([entries["linear"], entries["gola"]])
    assert second.startswith("gola looks best: its error 0.1000")
    assert second.endswith("gola has the lower error on 1 of 3 test samples.")
    assert "loses this advantage" in reason([entries["good"], entries["gola"]])
    assert "surprising" in reason([entries["linear"], entries["gola"]])


def test_published_numbers_are_those_of_the_paper():
    assert {name: TABLE_1["darcy"][name] for name in PUBLISHED} == PUBLISHED


def test_published_numbers_are_attributed_to_the_paper(entries):
    assert "linear is above both and gola is below both" in beside_the_paper([entries["linear"], entries["gola"]])
    text = beside_the_paper([entries["good"], entries["median"]])
    assert "paper reports 0.1554 for its GOLA at 1000 points and 0.1678 for an FNO that sees the full" in text
    assert "linear is below both and gola is between the two" in text
    assert "one draw of training samples" in text
    assert "not the same task" in beside_the_paper([entry("linear", [0.1], num_train=10), entries["gola"]])


def test_operators_that_the_paper_does_not_have_get_a_dash(entries):
    linear, gola, fno = result_rows([entries["linear"], entries["gola"]])
    assert (linear[2], gola[2], fno[1:3]) == ("–", "0.1554", ["–", "0.1678"])
    assert linear[1] == f"{np.mean([0.02, 0.5, 0.04]):.4f} ± {np.std([0.02, 0.5, 0.04]):.4f}"


def test_errors_by_channel_are_shown_where_they_say_more():
    def with_channels(*errors):
        result = made_result(channels=channel_errors(*errors))
        return [Entry(result=result, surrogate=small_surrogate("mean"))]

    assert channel_rows(with_channels(["u"], [0.1], [0.1])) == []
    assert channel_rows(with_channels(["T"], [0.01], [0.4])) == [["linear", "T", "0.0100", "0.4000"]]
    assert [row[1:] for row in channel_rows(with_channels(["u", "v"], [0.1, 0.2]))] == [
        ["u", "0.1000", "–"],
        ["v", "0.2000", "–"],
    ]


def test_the_code_for_the_users_own_data_runs(tmp_path, monkeypatch, capsys):
    small_data(num_samples=34, num_points=40).save(tmp_path / "my.h5")
    monkeypatch.chdir(tmp_path)
    exec(OWN_DATA, {})
    surrogate = Surrogate.load("my.gola")
    assert surrogate.provenance["data"]["num_samples"] == 30
    _, test = Dataset.load("my.h5").split(num_train=30, seed=0)
    assert float(capsys.readouterr().out) == pytest.approx(evaluate(surrogate, test).mean)
