from base64 import b64decode
from html.parser import HTMLParser

import pytest

from gola.report.page import Code, Facts, Picture, Report, Section, Table, Text, versions

PNG = b"\x89PNG not really a picture"
VOID = {"meta", "img", "br", "hr"}


class Page(HTMLParser):
    """Collects what a page holds, and checks that its elements are closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    @property
    def references(self):
        """What the page would load or lead to."""
        names = {"src", "href", "srcset", "data", "action", "poster"}
        return [value for _, attributes in self.elements for name, value in attributes.items() if name in names]


def make_report():
    blocks = [
        Text("Where **a < b** holds, type `gola demo` & wait."),
        Table(heading=("operator", "error"), rows=[("linear", "0.03"), ("gola", "0.23")], caption="Errors."),
        Picture(png=PNG, caption="Look at <this>.", description='A "picture"', wide=True),
        Code("if a < b:\n    print(a)"),
        Facts({"seed": "0", "versions": versions()}),
    ]
    return Report(title="A & B", lead="It works.", sections=[Section("Result", blocks)])


def test_the_page_is_well_formed_and_needs_no_other_file():
    page = Page(make_report().to_html())
    assert page.references
    assert all(reference.startswith("data:image/png;base64,") for reference in page.references)
    html = make_report().to_html()
    assert "http" not in html
    assert "url(" not in html
    assert "@import" not in html


def test_pictures_are_kept_whole_with_a_description():
    (image,) = Page(make_report().to_html()).all("img")
    assert b64decode(image["src"].partition(",")[2]) == PNG
    assert image["alt"] == 'A "picture"'


def test_text_is_shown_as_it_was_written():
    page = Page(make_report().to_html())
    assert "Where a < b holds, type gola demo & wait." in page.text
    assert "if a < b: print(a)" in page.text
    assert "Look at <this>." in page.text
    assert page.all("strong")


def test_it_reads_on_a_phone():
    page = Page(make_report().to_html())
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all("meta")
    assert {"class": "scroll"} in page.all("div")
    assert {"class": "scroll wide"} in page.all("div")


def test_what_was_run_names_the_versions():
    assert "gola " in versions()
    assert "torch " in versions()
    assert "Python " in versions()


def test_a_row_that_does_not_fit_the_table_is_refused():
    with pytest.raises(ValueError, match="2 columns and a row 3 cells"):
        Table(heading=("a", "b"), rows=[("1", "2", "3")])


def test_the_page_is_written_in_utf8(tmp_path):
    Report(title="−∇·(a∇u) = f", lead="").save(tmp_path / "page.html")
    assert "−∇·(a∇u) = f" in (tmp_path / "page.html").read_bytes().decode("utf-8")
