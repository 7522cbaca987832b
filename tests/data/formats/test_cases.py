import pytest

from gola.data.formats.cases import parse_numbers, read_cases
from gola.data.sample import Channel


def table(tmp_path, text):
    (tmp_path / "cases.csv").write_text(text)
    return read_cases(tmp_path / "cases.csv")


def test_columns_are_parameters_with_units(tmp_path):
    found = table(tmp_path, "Re,angle [deg]\n100,5\n200,7.5\n")
    assert found.channels == (Channel(name="Re"), Channel(name="angle", unit="deg"))
    assert found.values.tolist() == [[100.0, 5.0], [200.0, 7.5]]
    assert found.names is None
    assert found.rows_for(["a.vtu", "b.vtu"]) == [0, 1]


@pytest.mark.parametrize(
    "rows",
    [
        ["b.vtu", "a.vtu"],
        ["b", "a"],
        ["runs/b.vtu", "runs/a.vtu"],
    ],
)
def test_rows_are_matched_by_the_name_of_the_file(tmp_path, rows):
    found = table(tmp_path, f"file;load\n{rows[0]};2\n{rows[1]};1\n\n")
    assert found.channels == (Channel(name="load"),)
    assert found.rows_for(["/data/runs/a.vtu", "/data/runs/b.vtu"]) == [1, 0]


def test_a_folder_may_be_what_tells_simulations_apart(tmp_path):
    found = table(tmp_path, "design,load\nthick,2\nthin,1\n")
    assert found.rows_for(["thin/result.vtu", "thick/result.vtu"]) == [1, 0]
    with pytest.raises(ValueError, match=r"the row 'thin' fits thin/a\.vtu and thin/b\.vtu"):
        found.rows_for(["thin/a.vtu", "thin/b.vtu"])


def test_numbered_cases_are_matched_by_the_number_in_the_name(tmp_path):
    found = table(tmp_path, "case,load\n10,1\n2,3\n7,5\n")
    assert found.channels == (Channel(name="load"),)
    assert found.rows_for(["case_002.vtu", "case_010.vtu"]) == [1, 0]
    assert found.rows_for(["a.vtu", "b.vtu", "c.vtu"]) == [0, 1, 2]


def test_more_rows_than_files_are_fine_if_they_have_names(tmp_path):
    found = table(tmp_path, "name,load\na,1\nb,3\nc,5\n")
    assert found.rows_for(["c.vtu"]) == [2]
    assert found.row_named("b.vtu") == 1
    assert found.row_named("z.vtu") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file,load\na,1\na,2\n", "has 2 rows called 'a'"),
        ("file,load\na,heavy\nb,1\n", r"row 1, column 'load' is 'heavy'; a parameter is a number"),
        ("load\n1\nnan\n", r"row 2, column 'load' is nan; a parameter is a finite number"),
        ("load,load\n1,2\n2,3\n", "'load' comes 2 times"),
        ("load,angle\n1\n", r"row 1 has 1 entries; the first line names 2 columns"),
        ("load\n", "needs a first line that names the parameters, and a row for each"),
        ("file\na\nb\n", "names simulations and has no parameters"),
        ("design,material,load\nthin,steel,1\nthick,wood,2\n", "several columns of texts, design, material"),
        ("load,material\n1,steel\n2,steel\n", "'steel' in the column 'material', which is taken for the names of"),
        ("load;angle\n1,5;2\n2,5;3\n", "Numbers need a decimal point: 1.5, not 1,5"),
        ("load;angle\n1,5;2,5\n2;3,5\n", "Numbers need a decimal point: 1.5, not 1,5"),
    ],
)
def test_mistakes_are_named(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        table(tmp_path, text)


def test_files_and_rows_must_go_together(tmp_path):
    with pytest.raises(ValueError, match=r"has no row for c\.vtu \(1 of 2 files lack one\); its rows are called a, b"):
        table(tmp_path, "file,load\na,1\nb,2\n").rows_for(["a.vtu", "c.vtu"])
    with pytest.raises(ValueError, match="has 2 rows for 3 simulations"):
        table(tmp_path, "load\n1\n2\n").rows_for(["a.vtu", "b.vtu", "c.vtu"])
    with pytest.raises(ValueError, match="cannot be read as a table of parameters"):
        read_cases(tmp_path / "missing.csv")


def test_numbers_are_read_as_a_command_line_gives_them():
    expected = {Channel(name="Re"): 100.0, Channel(name="angle", unit="deg"): 5.0}
    assert parse_numbers(["Re=100", "angle [deg] = 5"]) == expected
    for text, message in (("Re", "like Re=120; got 'Re'"), ("Re=x", "The parameter Re is 'x'"), ("=3", "like Re=120")):
        with pytest.raises(ValueError, match=message):
            parse_numbers([text])
    with pytest.raises(ValueError, match="Re is given twice"):
        parse_numbers(["Re=1", "Re=2"])
