import pytest

from gola.operators import Gola
from gola.registry import PROBLEMS
from paper import published


@pytest.mark.parametrize("problem", published.PROBLEMS)
def test_the_error_reductions_follow_from_the_columns_beside_them(problem):
    row = published.TABLE_2[problem]
    # Two errors with four decimals leave about this much open.
    assert 1 - row["gola"] / row["gkn"] == pytest.approx(published.ERROR_REDUCTIONS[problem], abs=1e-4)


@pytest.mark.parametrize("problem", published.PROBLEMS)
def test_tables_agree_where_they_show_the_same_run(problem):
    assert published.TABLE_2[problem]["gola"] == published.TABLE_3[problem][1000] == published.TABLE_4[problem][1000]


@pytest.mark.parametrize("problem", published.PROBLEMS)
def test_the_paper_claims_that_gola_is_lowest_and_falls_with_points_and_samples(problem):
    assert min(published.TABLE_1[problem], key=published.TABLE_1[problem].get) == "gola"
    for table in (published.TABLE_3, published.TABLE_4, published.TABLE_5):
        errors = [table[problem][size] for size in sorted(table[problem])]
        assert errors == sorted(errors, reverse=True)


def test_every_table_has_all_problems_and_all_of_them_can_be_generated():
    tables = (
        *(published.TABLE_1, published.TABLE_2, published.TABLE_3, published.TABLE_4, published.TABLE_5),
        *(published.ERROR_REDUCTIONS, published.PPI_NO_FNO),
    )
    assert all(tuple(table) == published.PROBLEMS for table in tables)
    assert set(published.PROBLEMS) <= set(PROBLEMS)


def test_the_grid_of_the_figures_is_4_by_8_by_18():
    assert (len(published.PROBLEMS), len(published.SIZES), len(published.DENSITIES)) == (4, 8, 18)


def test_the_preset_paper_has_as_many_parameters_as_printed():
    assert Gola(Gola.presets["paper"]).num_parameters == published.NUM_PARAMETERS
