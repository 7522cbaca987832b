from dataclasses import astuple, fields, replace
from pathlib import Path

import pytest

from gola.protocol import TrainingConfig
from gola.registry import OPERATORS
from gola.runs import RunConfig
from paper.ablation.other_trainings import OTHER_TRAININGS
from paper.ablation.variants import ablation_cells
from paper.data import DataRecord
from paper.plan import missing
from paper.protocol import BEFORE
from paper.rows import Errors, Row
from paper.table import COLUMNS, RunTable
from tests.paper.examples import made_row, made_store

ROOT = Path(__file__).parents[2]
STORED = RunTable(ROOT / "results" / "paper" / "ablation" / "runs.csv")
NETWORK = RunConfig(
    data="data/darcy.h5",
    operator="gola/paper",
    settings={"radius": 0.00944881889, "local": True},
    training=TrainingConfig(symmetries=("-xy", "yx"), num_epochs=3),
    num_train=30,
    num_test=100,
    test_points=(100, 1000, 500),
    seed=2,
)
CHOICE = RunConfig(data="data/eikonal.h5", operator="auto", settings={"members": ("linear",)}, num_train=5, num_test=4)


def test_rows_are_read_as_they_were_written(tmp_path):
    rows = [
        made_row(NETWORK, 0.125, finished="2027-01-01"),
        made_row(CHOICE, 0.25, why='It said: "a, b".', finished="2027-01-02"),
    ]
    table = RunTable(tmp_path / "new" / "runs.csv")
    assert table.rows() == []
    assert table.add(rows) == 2
    for written, read in zip(rows, table.rows(), strict=True):
        assert read.key == written.key
        assert (read.run.seed, read.why, read.data) == (written.run.seed, written.why, written.data)
        assert astuple(read.errors) == pytest.approx(astuple(written.errors), rel=1e-7)
        assert dict(read.scores) == written.scores
        assert (read.seconds, read.num_parameters) == (written.seconds, written.num_parameters)
        for number, errors in written.by_points.items():
            assert read.errors_at(number).mean == pytest.approx(errors.mean, rel=1e-7)


def test_what_was_not_recorded_stays_unknown(tmp_path):
    table = RunTable(tmp_path / "runs.csv")
    table.add([Row(run=replace(CHOICE, data="eikonal"), variant="by hand", errors=Errors(0.5))])
    (row,) = table.rows()
    assert (row.variant, row.num_parameters, row.code_version) == ("by hand", None, "")
    assert row.seconds != row.seconds


def test_a_row_is_added_once(tmp_path):
    table = RunTable(tmp_path / "runs.csv")
    rows = [made_row(replace(NETWORK, seed=seed), 0.1) for seed in range(3)]
    assert table.add(rows) == 3
    before = table.path.read_bytes()
    assert table.add(rows) == 0
    assert table.path.read_bytes() == before


def test_results_of_another_code_version_or_data_are_further_rows(tmp_path):
    table = RunTable(tmp_path / "runs.csv")
    table.add([made_row(NETWORK, 0.1)])
    assert table.add([made_row(NETWORK, 0.2)]) == 0
    assert table.add([made_row(NETWORK, 0.2, code_version="newer"), made_row(NETWORK, 0.3, data="other")]) == 2


def test_the_newest_row_comes_last(tmp_path):
    table = RunTable(tmp_path / "runs.csv")
    for day in (3, 1, 2):
        table.add([made_row(replace(NETWORK, seed=day), 0.1, finished=f"2027-01-0{day}")])
    assert [row.run.seed for row in table.rows()] == [1, 2, 3]


def test_a_row_that_cannot_be_read_is_named(tmp_path):
    table = RunTable(tmp_path / "runs.csv")
    table.add([made_row(NETWORK, 0.1), made_row(replace(NETWORK, seed=5), 0.1)])
    table.path.write_text(table.path.read_text().replace("num_epochs", "num_rounds"))
    with pytest.raises(ValueError, match=r"Row 1 of .*runs.csv cannot be read .*'num_rounds'.*delete it"):
        table.rows()


def test_the_stored_results_have_settings_that_there_are():
    for row in STORED.rows():
        config = OPERATORS[row.run.operator.partition("/")[0]].config_type
        assert set(row.run.settings) <= {field.name for field in fields(config)}
        assert row.variant in ("", *OTHER_TRAININGS)
        assert 0.0 < row.errors.mean < 5.0


def test_the_stored_results_fill_the_ablation():
    store = replace(
        made_store(lambda _cell, _seed: None, protocol=BEFORE),
        rows=tuple(STORED.rows()),
        fingerprints=DataRecord(path=STORED.path.with_name("data.json")).fingerprints(),
    )
    ablation = [cell for cell in ablation_cells(BEFORE) if (cell.num_train, cell.problem) == (30, "darcy")]
    assert missing(store.planned(ablation)) == []


def test_every_column_is_explained():
    page = (ROOT / "docs" / "reproducing.md").read_text()
    assert all(f"`{column}`" in page for column in COLUMNS)
