"""A small part of ``python -m benchmarks.fuzz``, in this process."""

import pytest

from benchmarks.fuzz.__main__ import table
from benchmarks.fuzz.cases import Outcome, run_case
from benchmarks.fuzz.damage import BYTE_DAMAGES
from benchmarks.fuzz.specimens import make_specimens
from benchmarks.fuzz.workers import run_cases

_NUM_CASES = 198
_NUM_KINDS = 9


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    specimens = make_specimens(tmp_path_factory.mktemp("valid"))
    expected = [specimen.read(specimen.path) for specimen in specimens]
    found = [run_case(specimens, expected, case, 7, tmp_path_factory.mktemp("damaged")) for case in range(_NUM_CASES)]
    return specimens, found


def test_no_damage_leads_to_a_traceback_or_passes_unnoticed(outcomes):
    _, found = outcomes
    assert [outcome for outcome in found if outcome.is_failure] == []
    assert {outcome.kind for outcome in found if outcome.verdict == "clean error"} == {
        "h5", "gola", "checkpoint", "run", "npz", "csv", "vtu", "vtk", "xdmf",
    }  # fmt: skip
    assert {*BYTE_DAMAGES, "edit", "forged"} == {outcome.damage for outcome in found}


def test_the_table_counts_every_case_once(outcomes):
    rows = table(outcomes[1])
    assert rows[-1][:2] == ["all", _NUM_CASES]
    assert sum(row[1] for row in rows[1:-1]) == _NUM_CASES


def test_a_process_with_limits_gives_the_same_outcomes(outcomes):
    specimens, found = outcomes
    again = list(run_cases(specimens, range(_NUM_KINDS), 7, 60.0))
    assert [(one.kind, one.damage, one.verdict) for one in again] == [
        (one.kind, one.damage, one.verdict) for one in found[:_NUM_KINDS]
    ]


def test_what_is_forged_may_differ_and_what_is_damaged_may_not():
    def outcome(kind, damage):
        return Outcome(case=0, kind=kind, damage=damage, verdict="different")

    assert outcome("gola", "flips").is_failure
    assert outcome("run", "edit").is_failure
    assert not outcome("run", "forged").is_failure
    assert not outcome("csv", "flips").is_failure
    assert Outcome(case=0, kind="csv", damage="flips", verdict="traceback").is_failure
