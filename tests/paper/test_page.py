import re

import pytest

from paper.complexity import SYMBOLS, Complexity, Size, Step
from paper.page import write_pages
from tests.paper.examples import BRIEF, TINY, made_store
from tests.test_report import Page

MEASURED = Complexity(
    steps={
        name: tuple(Step(size=Size(**{name: size}), seconds=size / 1000, mebibytes=2.0 * size**2) for size in (10, 20))
        for name in SYMBOLS
    },
    num_threads=1,
)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "docs").mkdir()
    (folder / "docs" / "findings.md").write_text("## By hand\n\nSee [this](there.md).\n")
    store = made_store(protocol=TINY, budget=BRIEF)
    write_pages(store, MEASURED, out=folder / "results", page=folder / "docs" / "results.md")
    return folder


def test_the_markdown_page_has_all_five_tables_and_its_pictures_are_there(written):
    page = (written / "docs" / "results.md").read_text()
    for number in range(1, 6):
        assert re.search(rf"^## Table {number}: .*\n\n(.+\n\n)?\| ", page, flags=re.MULTILINE)
    pictures = re.findall(r"!\[.*\]\((.*)\)", page)
    assert [path.split("/")[-1] for path in pictures] == [
        *("curves.png", "heatmaps.png", "densities.png", "capacity.png", "complexity.png")
    ]
    assert all((written / "docs" / path).read_bytes().startswith(b"\x89PNG") for path in pictures)


def test_what_people_write_becomes_part_of_both_pages(written):
    assert "## By hand\n\nSee [this](there.md)." in (written / "docs" / "results.md").read_text()
    assert "See this." in Page((written / "results" / "report.html").read_text()).text


def test_the_html_page_needs_no_other_file(written):
    page = Page((written / "results" / "report.html").read_text())
    assert len(page.all("img")) == 5
    assert all(reference.startswith("data:image/png;base64,") for reference in page.references)


def test_old_code_is_counted_and_slopes_are_those_of_the_measurements(written):
    page = (written / "docs" / "results.md").read_text()
    assert re.search(r"Another version of the code than the present one made \d+ of the results", page)
    assert "| N, points | 10, 20 | 1.00 | [1] | 2.00 |" in page


def test_the_same_results_make_the_same_page(written, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "findings.md").write_text((written / "docs" / "findings.md").read_text())
    store = made_store(protocol=TINY, budget=BRIEF)
    write_pages(store, MEASURED, out=tmp_path / "results", page=tmp_path / "docs" / "results.md")
    for name in ("docs/results.md", "results/results.csv", "results/curves.png", "results/heatmaps.png"):
        assert (tmp_path / name).read_bytes() == (written / name).read_bytes()


def test_the_list_has_a_row_for_every_number(written):
    lines = (written / "results" / "results.csv").read_text().splitlines()
    assert "darcy,nearest,,8,60,120," in "\n".join(lines)
    assert len(lines) == len(set(lines))


def test_a_page_without_any_result_can_be_written(tmp_path):
    store = made_store(lambda _cell, _seed: None, protocol=TINY, budget=BRIEF)
    write_pages(store, None, out=tmp_path, page=tmp_path / "results.md")
    page = (tmp_path / "results.md").read_text()
    assert "Not measured yet" in page
    assert "missing, ≈ 1 min" in page
