import re

import pytest

from paper.complexity import SYMBOLS, Complexity, Size, Step
from paper.report.page import write_pages
from tests.paper.examples import BRIEF, TINY, made_store

MEASURED = Complexity(
    steps={
        name: tuple(Step(size=Size(**{name: size}), seconds=size / 1000, mebibytes=2.0 * size**2) for size in (10, 20))
        for name in SYMBOLS
    },
    num_threads=1,
)


def write(folder):
    (folder / "docs").mkdir()
    (folder / "docs" / "findings.md").write_text("## By hand\n\nSee [this](there.md).\n")
    store = made_store(protocol=TINY, budget=BRIEF)
    write_pages(store, store, MEASURED, work=folder / "work", pages=folder / "docs", pictures=folder / "results")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    write(folder)
    return folder


def test_the_markdown_page_has_all_five_tables_and_its_picture_is_there(written):
    page = (written / "docs" / "results.md").read_text()
    for number in range(1, 6):
        assert re.search(rf"^## Table {number}: .*\n\n(.+\n\n)?\| ", page, flags=re.MULTILINE)
    assert re.findall(r"!\[.*\]\((.*)\)", page) == ["../results/curves.png"]
    assert (written / "results" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_figures_that_are_only_in_the_report_are_named_on_the_markdown_page(written):
    page = (written / "docs" / "results.md").read_text()
    assert "“Error reduction of GOLA over GKN”" in page
    assert "## Error reduction of GOLA over GKN" not in page


def test_comments_become_part_of_both_pages(written):
    assert "## By hand\n\nSee [this](there.md)." in (written / "docs" / "results.md").read_text()
    assert "See this." in (written / "work" / "report.html").read_text()


def test_the_html_page_has_all_six_figures_and_needs_no_other_file(written):
    sources = re.findall(r'<img src="([^"]{22})', (written / "work" / "report.html").read_text())
    assert sources == ["data:image/png;base64,"] * 6


def test_results_of_older_code_are_counted_and_slopes_are_those_of_the_measurements(written):
    page = (written / "docs" / "results.md").read_text()
    assert re.search(r"An older version of the code made \d+ of the results", page)
    assert "| N, points | 10, 20 | 1.00 | [1] | 2.00 |" in page


def test_the_same_results_make_the_same_page(written, tmp_path):
    write(tmp_path)
    for name in ("docs/results.md", "results/curves.png"):
        assert (tmp_path / name).read_bytes() == (written / name).read_bytes()


def test_a_page_without_any_result_can_be_written(tmp_path):
    store = made_store(lambda _cell, _seed: None, protocol=TINY, budget=BRIEF)
    write_pages(store, store, None, work=tmp_path, pages=tmp_path, pictures=tmp_path)
    page = (tmp_path / "results.md").read_text()
    assert "Not measured yet" in page
    assert "Not drawn yet: 0 of" in page
    assert "Not run yet:" in page
