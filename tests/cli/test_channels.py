"""Errors by channel, in tables that a terminal of 80 columns shows whole and for files with any name."""

import json

import numpy as np
import pytest

from gola.cli import console
from gola.data.dataset import Dataset
from tests.cli.runs import failure, run, success

TRAIN = ("--num-train", 8, "--operator", "nearest")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder, whose name looks like markup, with a data set of a small variation on a large offset and of noise."""
    folder = tmp_path_factory.mktemp("data") / "[bold]" / "["
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    points = rng.random((40, 2))
    inputs = 1.0 + rng.random((12, 1)) * np.sin(3.0 * points[:, 0])
    targets = np.stack([300.0 + inputs**2, rng.standard_normal(inputs.shape)], axis=-1)
    names = {"input_channels": ["k"], "target_channels": ["temperature_at_the_outer_wall", "noise"]}
    Dataset.from_arrays(points, inputs[..., None], targets, **names).save(folder / "x].h5")
    Dataset.from_arrays(points, inputs[..., None], input_channels=["k"]).save(folder / "inputs.h5")
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    out = folder / "run]"
    return out, success("train", folder / "x].h5", *TRAIN, "--out", out)


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch):
    monkeypatch.setattr(console.output, "width", 80)


def line_with(printed, *words):
    return next(line for line in printed.splitlines() if all(word in line for word in words))


def test_a_run_tells_the_errors_by_channel_and_then_the_overall_one(trained):
    _, printed = trained
    rows = [line.strip("│ ") for line in printed.splitlines() if "error" in line]
    (noise,) = [place for place, row in enumerate(rows) if row.startswith("test error of noise")]
    (overall,) = [place for place, row in enumerate(rows) if row.startswith("test error  ")]
    assert noise < overall
    assert "of its variation" in printed
    assert "of its variation" not in rows[noise]


def test_json_has_the_errors_by_channel(trained):
    out, _ = trained
    found = json.loads(success("evaluate", out, "--json"))
    (row,) = found["evaluations"]
    assert found["targets"] == ["temperature_at_the_outer_wall", "noise"]
    assert row["variation"][0] > 100 * row["channels"][0]
    assert np.allclose(np.mean(row["channel_errors"], axis=0), row["channels"])


def test_no_number_is_cut_at_80_columns(trained):
    out, _ = trained
    printed = success("evaluate", out, "--metrics", "rmse,r2", "--num-points", "20,40")
    assert "…" not in printed
    tables = [line for line in printed.splitlines() if not line.startswith(("Median", "Estimated"))]
    assert max(map(len, tables)) <= 80
    assert "±" in line_with(printed, "noise", "20")
    assert "±" in line_with(printed, "overall", "40")
    assert "Variation: mean error relative to" in printed


def test_operators_are_compared_by_channel(folder, tmp_path):
    words = ("compare", folder / "x].h5", "--operators", "nearest,mean", "--num-train", 8, "--num-workers", 1)
    words = (*words, "--num-seeds", 2, "--out", tmp_path)
    printed = success(*words)
    assert "…" not in printed
    assert printed.index("noise") < printed.index("seeds")
    summaries = json.loads(success(*words, "--json"))["summaries"]
    for summary in summaries:
        temperature, noise = summary["channels"]
        assert temperature["error"] < summary["error"] < noise["error"]
        assert f"{noise['error']:.4f}" in line_with(printed, summary["operator"], "noise")


def test_predictions_tell_the_errors_by_channel(folder, trained, tmp_path):
    out, _ = trained
    words = ("predict", out, folder / "x].h5", "--out", tmp_path / "[b].npz")
    assert ", noise " in success(*words)
    assert ", overall " in success(*words)
    (channels,) = json.loads(success(*words, "--json"))["channels"]
    assert [channel["name"] for channel in channels] == ["temperature_at_the_outer_wall", "noise"]
    assert channels[0]["variation"] > channels[0]["error"]


def test_names_that_look_like_markup_are_printed_as_they_are(folder, trained):
    assert "[bold]" in success("inspect", folder / "x].h5").replace("\n", "")
    assert f"gola evaluate '{folder / 'run]'}'" in trained[1]
    again = run("train", folder / "x].h5", *TRAIN, "--out", folder / "run]")
    assert "holds a finished run" in str(again.exception)


def test_data_without_targets_are_named(folder, tmp_path):
    message = failure("train", folder / "inputs.h5", "--out", tmp_path / "run")
    assert "inputs.h5 has no target channels" in message
    assert "--targets" in message
    assert not (tmp_path / "run").exists()
