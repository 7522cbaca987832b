"""Every problem has a section and a picture on the page of problems."""

from pathlib import Path

import pytest

from gola.registry import PROBLEMS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_has_a_section_and_a_picture(name):
    page = (DOCS / "problems.md").read_text()
    assert f"### `{name}`\n" in page
    assert f"](images/problems/{name}.png)" in page
    assert (DOCS / "images" / "problems" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
