from dataclasses import replace

import pytest

from gola.runs import code_version
from paper import versions


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """A file of short runs of its own."""
    monkeypatch.setattr(versions, "RUNS", replace(versions.RUNS, path=tmp_path / "short_runs.csv"))
    versions.current_versions.cache_clear()
    yield versions.RUNS
    versions.current_versions.cache_clear()


def test_versions_with_the_same_error_after_a_short_run_are_current(runs):
    for name, error in {code_version("gola"): 0.5, "same": 0.500001, "other": 0.51}.items():
        runs.append("gola", name, error)
    runs.append("gkn", "of another operator", 0.5)
    assert versions.current_versions("gola") == {code_version("gola"), "same"}


def test_without_a_short_run_only_the_present_version_is_current(runs):
    runs.append("gola", "some", 0.5)
    assert versions.current_versions("gola") == {code_version("gola")}


@pytest.mark.usefixtures("runs")
def test_the_short_runs_are_of_all_networks_of_the_tables_and_done_once(monkeypatch):
    tried = []
    monkeypatch.setattr(versions, "short_error", lambda operator: tried.append(operator) or 0.25)
    versions.main()
    versions.main()
    assert tried == versions.networks() == ["gcn", "deeponet", "fno", "gkn", "gola/paper", "gola"]


def test_a_short_run_repeats_itself():
    assert versions.short_error("gola") == pytest.approx(versions.short_error("gola"), rel=1e-6)
