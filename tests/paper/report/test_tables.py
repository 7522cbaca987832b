import pytest

from paper.published import TABLE_1, TABLE_4
from paper.report import tables
from tests.paper.examples import made_store, plausible


def rows(table):
    return {row[0]: row[1:] for row in table.rows}


def after(table, title):
    """The two rows behind the row of that title: the paper's, and the ratio."""
    titles = [row[0] for row in table.rows]
    place = titles.index(title)
    return table.rows[place + 1], table.rows[place + 2]


@pytest.fixture(scope="module")
def full():
    return made_store(plausible)


def test_ours_stand_with_their_spread_and_number_of_seeds(full):
    (table,) = tables.table1(full)
    assert table.heading[1:5] == ["Darcy flow", "Advection", "Eikonal", "Nonlinear diffusion"]
    # Seeds 0, 1 and 2 are 0.30, 0.315 and 0.33.
    assert rows(table)["GOLA, preset default"][0] == "0.3150 ± 0.0150 (3)"
    assert rows(table)["FNO, full grid"][0] == f"{0.3 * 0.8 * 16.384**-0.2:.4f} (1)"


def test_the_papers_numbers_are_marked_and_the_ratio_stands_below(full):
    (table,) = tables.table1(full)
    printed, ratio = after(table, "GOLA, preset default")
    assert printed == ["[the paper's]", *(f"[{TABLE_1[name]['gola']:.4f}]" for name in full.protocol.problems), "–"]
    assert ratio[1] == f"{0.315 / 0.1554:.2f}"


def test_operators_at_points_that_the_paper_did_not_give_them_have_no_paper_number(full):
    (table,) = tables.table1(full)
    titles = [row[0] for row in table.rows]
    assert titles[titles.index("FNO, 1000 points") + 1] == "GKN"


def test_the_lowest_of_ours_is_bold(full):
    (table,) = tables.table1(full)
    assert [row[0] for row in table.rows if row[1].startswith("**")] == ["linear (closed form)"]


def test_what_has_not_run_stands_beside_the_papers_numbers_without_a_ratio():
    store = made_store(lambda cell, seed: None if cell.operator == "gkn" else plausible(cell, seed), targets=["table1"])
    (table,) = tables.table1(store)
    assert rows(table)["GKN"] == ["–"] * 5
    printed, following = after(table, "GKN")
    assert printed[1] == "[0.2375]"
    assert following[0] != "ours ÷ the paper's"


def test_what_has_not_run_and_is_not_the_papers_is_named_below_the_table():
    store = made_store(lambda cell, seed: None if cell.operator == "mean" else plausible(cell, seed))
    (table,) = tables.table1(store)
    assert "mean (closed form)" not in rows(table)
    assert "Not run yet: mean (closed form)." in table.caption


def test_error_reductions_use_the_seeds_that_both_have(full):
    _, table = tables.table2(full)
    # GKN has one seed, so the others of GOLA stay out: 0.3 and 1.1 times 0.3 times (1000 / 300) to the power 0.3.
    expected = 1 - 1 / (1.1 * (1000 / 300) ** 0.3)
    assert rows(table)["GOLA, preset default, over GKN"][0] == f"{100 * expected:.1f} %"
    assert rows(table)["GOLA over GKN, the paper's"][0] == "[34.4 %]"


@pytest.mark.parametrize(("make", "num_columns"), [(tables.table3, 3), (tables.table4, 5), (tables.table5, 5)])
def test_the_other_tables_have_one_for_each_problem(full, make, num_columns):
    made = make(full)
    assert [table.heading[0] for table in made] == ["Darcy flow", "Advection", "Eikonal", "Nonlinear diffusion"]
    assert all(len(table.heading) == 1 + num_columns for table in made)
    assert all(cell != "–" for table in made for row in table.rows for cell in row)


def test_table_4_shows_the_error_at_each_number_of_test_points(full):
    (darcy, *_) = tables.table4(full)
    errors = [float(cell.split()[0].strip("*")) for cell in rows(darcy)["linear (closed form)"]]
    assert errors == sorted(errors, reverse=True)
    assert len(set(errors)) == 5
    printed, _ = after(darcy, "GOLA, preset paper")
    assert printed[1:] == [f"[{error:.4f}]" for error in TABLE_4["darcy"].values()]
