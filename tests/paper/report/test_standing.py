from paper.report.standing import standing
from tests.paper.examples import made_store, plausible, without


def won(errors, **options):
    """What is said of each table and problem."""
    table, *_ = standing(made_store(errors, **options))
    return {row[0]: dict(zip(table.heading[1:], row[1:], strict=True)) for row in table.rows}


def lost(errors):
    """The cells that are not won."""
    _, *tables = standing(made_store(errors))
    return [row for table in tables for row in table.rows]


def errors_with(own):
    return lambda cell, seed: own(cell, seed) if cell.operator == "auto" else plausible(cell, seed)


def test_the_lowest_of_all_wins_every_cell():
    said = won(errors_with(lambda _cell, _seed: 0.001))
    assert {text for by_problem in said.values() for text in by_problem.values()} == {"1 of 1", "3 of 3", "5 of 5"}
    assert said["Table 4"]["Eikonal"] == "5 of 5"
    assert lost(errors_with(lambda _cell, _seed: 0.001)) == []


def test_who_is_below_is_named_with_the_column_and_both_errors():
    def own(cell, _seed):
        return 0.1 if cell.problem == "eikonal" and cell.num_points == 20 else 0.001

    def errors(cell, seed):
        return 0.04 if cell.operator == "kernel" else errors_with(own)(cell, seed)

    assert won(errors)["Table 3"]["Eikonal"] == "2 of 3"
    assert won(errors)["Table 3"]["Darcy flow"] == "3 of 3"
    assert lost(errors) == [["Table 3", "Eikonal", "20 points", "kernel (closed form)", "0.0400", "0.1000"]]


def test_an_error_within_its_error_bar_is_level():
    # A twentieth of the error: the errors of 100 test samples scatter by half of their mean.
    own = errors_with(lambda cell, seed: 1.04 * plausible(cell, seed) * 0.2 / 3.0)
    assert won(own)["Table 2"]["Darcy flow"] == "1 of 1"
    clearly_above = errors_with(lambda cell, seed: 1.06 * plausible(cell, seed) * 0.2 / 3.0)
    assert won(clearly_above)["Table 2"]["Darcy flow"] == "0 of 1"
    assert ["Table 2", "Darcy flow", "Darcy flow", "linear (closed form)"] in [row[:4] for row in lost(clearly_above)]


def test_the_papers_numbers_are_rivals_too():
    first, *_ = lost(lambda cell, _seed: 0.4 if cell.operator == "auto" else 0.9)
    assert first == ["Table 1", "Darcy flow", "Darcy flow", "the paper's GOLA", "0.1554", "0.4000"]


def test_only_seeds_that_both_have_are_compared():
    def errors(cell, seed):
        if cell.operator == "auto":
            return 0.009 if seed == 0 else 0.05
        return 0.01 if cell.operator == "linear" and seed == 0 else None

    assert won(errors)["Table 2"]["Advection"] == "1 of 1"


def test_cells_that_are_missing_are_counted():
    store = without(made_store(errors_with(lambda _cell, _seed: 0.001)), operator="auto", num_points=4000, num_train=20)
    (table,) = standing(store)
    assert next(row for row in table.rows if row[0] == "Table 5")[1] == "4 of 4, 1 missing"


def test_nothing_is_said_without_results():
    assert standing(made_store(lambda _cell, _seed: None)) == []
