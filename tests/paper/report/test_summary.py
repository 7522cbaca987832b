from gola.report.page import Table
from paper.report.summary import summary
from tests.paper.examples import made_store, plausible


def test_the_first_table_has_the_numbers_of_tables_1_and_2_with_the_papers_and_their_ratio():
    table, _ = summary(made_store(plausible, targets=["table1"]))
    assert isinstance(table, Table)
    from_few = ["GCN, 30", "DeepONet, 30", "FNO, 30", "GKN, 30", "GOLA, preset default, 30"]
    assert [row[0] for row in table.rows] == [*from_few, "GKN, 100", "GOLA, preset default, 100"]
    assert {len(row) for row in table.rows} == {5}
    assert table.rows[-1][1] == "– [0.1147]"
    assert table.rows[4][1] == f"0.3150 [0.1554] {0.315 / 0.1554:.2f}"


def test_the_paragraph_counts_what_is_reached_and_what_is_missing():
    _, text = summary(made_store(lambda cell, _seed: 0.1 if cell.operator == "gola" else 0.2, targets=["table1"]))
    assert "reaches the paper's error on 2 of 4 problems from 30 samples" in text.words
    assert "on 0 of 0 problems (4 missing) from 100" in text.words
    assert "below our FNO on Darcy flow, Advection, Eikonal, Nonlinear diffusion" in text.words


def test_the_paragraph_says_how_many_comparisons_are_missing():
    errors = {"gola": 0.3, "fno": 0.2}
    store = made_store(
        lambda cell, _seed: errors.get(cell.operator) if cell.problem == "darcy" or cell.operator == "gola" else None,
        targets=["table1"],
    )
    _, text = summary(store)
    assert "below our FNO on none of 1 problems (3 missing)" in text.words


def test_a_ratio_of_at_most_one_is_bold():
    table, _ = summary(made_store(lambda _cell, _seed: 0.1, targets=["table1"]))
    assert table.rows[4][1:4] == ["0.1000 [0.1554] **0.64**", "0.1000 [0.3707] **0.27**", "0.1000 [0.0803] 1.25"]


def test_the_paragraph_says_where_closed_forms_are_below_all_networks():
    _, text = summary(made_store(lambda cell, _seed: 0.08 if cell.operator == "linear" else 0.5, targets=["table1"]))
    assert "is below all networks, ours and the paper's, on Darcy flow, Advection, Eikonal." in text.words


def test_what_has_not_run_is_a_dash_beside_the_papers_number():
    table, text = summary(made_store(lambda _cell, _seed: None))
    assert table.rows[2][1] == "– [0.1678]"
    assert "not compared with our GKN yet" in text.words
