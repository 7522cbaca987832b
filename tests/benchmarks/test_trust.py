"""The studies of bands, suggestions and forecasts: cells that are measured once, and a page about them."""

import pytest

from benchmarks.trust import bands, cases, forecasts, suggestions
from benchmarks.trust.forecast_tables import forecast_tables
from benchmarks.trust.report import page
from benchmarks.trust.suggestion_tables import needed_samples, suggestion_tables
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
    shown = page(rows, [], [])
    assert "| `kernel` | 10 | 1 |" in shown
    assert "| darcy | 10 | 1 |" in shown


def test_suggested_samples_are_compared_with_random_ones_from_the_same_start(tmp_path, monkeypatch):
    monkeypatch.setattr(suggestions, "samples_of", lambda *_: waves(34, num_points=30))
    for name, number in {"START": 8, "BATCH": 4, "LAST": 12, "NUM_POOL": 24, "NUM_TEST": 10}.items():
        monkeypatch.setattr(suggestions, name, number)
    runs = suggestions.suggestions_in(tmp_path)
    for _ in range(2):
        suggestions.compare_suggestions(runs, "darcy", 0, 0)
    rows = runs.finished()
    assert [(row["how"], row["samples"]) for row in rows] == [
        (how, size) for how in ("random", "suggested") for size in ("8", "12")
    ]
    assert rows[0]["error"] == rows[2]["error"]


def test_the_samples_that_an_error_takes_are_read_off_a_curve():
    curve = {10: [0.4], 20: [0.2], 40: [0.1]}
    assert needed_samples(curve, 0.1) == pytest.approx(40.0)
    assert needed_samples(curve, 0.2 * 0.5**0.5) == pytest.approx(30.0)
    assert needed_samples(curve, 0.01) == 40.0
    rows = [
        {"problem": "darcy", "split": "0", "how": how, "samples": str(size), "error": str(error)}
        for how, errors in {"random": (0.4, 0.2, 0.1), "suggested": (0.4, 0.1, 0.05)}.items()
        for size, error in zip((10, 30, 40), errors, strict=True)
    ]
    assert "| darcy | 1 | 0.2 | 0.1 | 0.50 ×÷ 1.00 | 20, 67 % |" in suggestion_tables(rows)


def test_a_forecast_is_compared_with_what_comes_true(tmp_path, monkeypatch):
    monkeypatch.setattr(forecasts, "samples_of", lambda *_: waves(34, num_points=30))
    runs = forecasts.forecasts_in(tmp_path)
    for _ in range(2):
        forecasts.compare_forecast(runs, "darcy", 12, 0, 0)
    assert len(runs.finished()) == 1
    known = {"problem": "darcy", "samples": "12", "forecast": "1", "lower": "0.8", "upper": "1.5", "error": "1.2"}
    table = forecast_tables([{**known, "error_now": "2", "estimated_now": "3"}])
    assert "| darcy | 1 | 100 % | 0 % | 100 % | 0.83 |" in table


def test_all_problems_are_studied():
    from gola.registry import PROBLEMS

    assert set(cases.PROBLEMS) == set(PROBLEMS)
