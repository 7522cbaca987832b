"""The study of bands: cells that are measured once, and a page about them."""

from benchmarks.trust import bands, cases
from benchmarks.trust.report import page
from gola.surrogate.calibration_study import KINDS
from tests.surrogate.uncertainty.test_bands import waves


def test_a_cell_is_measured_once_and_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(bands, "samples_of", lambda *_: waves(14, num_points=30))
    monkeypatch.setattr(bands, "NUM_TEST", 4)
    runs = bands.runs_in(tmp_path)
    for _ in range(2):
        bands.measure(runs, "darcy", 10, 3, ("pod_gp", "kernel"), 0)  # pod_gp does not suit one input function
    rows = runs.finished()
    assert [row["operator"] for row in rows] == ["kernel"]
    assert all(0.0 <= float(rows[0][f"{kind}_90"]) <= 1.0 for kind in KINDS)
    shown = page(rows)
    assert "| `kernel` | 10 | 1 |" in shown
    assert "| darcy | 10 | 1 |" in shown


def test_all_problems_are_studied():
    from gola.registry import PROBLEMS

    assert set(cases.PROBLEMS) == set(PROBLEMS)
