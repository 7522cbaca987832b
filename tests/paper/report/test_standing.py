from paper.report.standing import standing
from tests.paper.examples import made_store, plausible, without

TABLES = tuple(f"table{number}" for number in range(1, 6))


def tables_of(errors):
    """What is said: in how many cells `auto` is lowest, by table and problem, and the other cells."""
    return read(standing(made_store(errors, targets=TABLES)))


def read(tables):
    won, *others = tables
    counts = {row[0]: dict(zip(won.heading[1:], row[1:], strict=True)) for row in won.rows}
    return counts, [row for table in others for row in table.rows]


def errors_with(own):
    return lambda cell, seed: own(cell, seed) if cell.operator == "auto" else plausible(cell, seed)


def test_the_lowest_of_all_wins_every_cell():
    won, lost = tables_of(errors_with(lambda _cell, _seed: 0.001))
    assert {text for by_problem in won.values() for text in by_problem.values()} == {"1 of 1", "3 of 3", "5 of 5"}
    assert won["Table 4"]["Eikonal"] == "5 of 5"
    assert lost == []


def test_a_lower_error_is_named_with_its_operator_column_and_both_errors():
    def own(cell, _seed):
        return 0.1 if cell.problem == "eikonal" and cell.num_points == 20 else 0.001

    won, lost = tables_of(lambda cell, seed: 0.04 if cell.operator == "kernel" else errors_with(own)(cell, seed))
    assert won["Table 3"]["Eikonal"] == "2 of 3"
    assert won["Table 3"]["Darcy flow"] == "3 of 3"
    assert lost == [["Table 3", "Eikonal", "20 points", "kernel (closed form)", "0.0400", "0.1000"]]


def test_an_error_within_its_error_bar_of_the_lowest_wins():
    # A twentieth of the error: the errors of 100 test samples scatter by half of their mean.
    won, _ = tables_of(errors_with(lambda cell, seed: 1.04 * plausible(cell, seed) * 0.2 / 3.0))
    assert won["Table 2"]["Darcy flow"] == "1 of 1"
    won, lost = tables_of(errors_with(lambda cell, seed: 1.06 * plausible(cell, seed) * 0.2 / 3.0))
    assert won["Table 2"]["Darcy flow"] == "0 of 1"
    assert ["Table 2", "Darcy flow", "Darcy flow", "linear (closed form)"] in [row[:4] for row in lost]


def test_the_papers_numbers_are_compared_with_too():
    _, (first, *_) = tables_of(lambda cell, _seed: 0.4 if cell.operator == "auto" else 0.9)
    assert first == ["Table 1", "Darcy flow", "Darcy flow", "the paper's GOLA", "0.1554", "0.4000"]


def test_only_seeds_that_both_have_are_compared():
    def errors(cell, seed):
        if cell.operator == "auto":
            return 0.009 if seed == 0 else 0.05
        return 0.01 if cell.operator == "linear" and seed == 0 else None

    won, _ = tables_of(errors)
    assert won["Table 2"]["Advection"] == "1 of 1"


def test_cells_that_are_missing_are_counted():
    store = made_store(errors_with(lambda _cell, _seed: 0.001), targets=TABLES)
    won, _ = read(standing(without(store, operator="auto", num_points=20)))
    assert won["Table 3"]["Darcy flow"] == "2 of 2, 1 missing"


def test_nothing_is_said_without_results():
    assert standing(made_store(lambda _cell, _seed: None)) == []
