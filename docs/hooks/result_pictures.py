"""Bring the pictures of ``results``, which are outside the documentation, into the site."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_RESULTS = Path(__file__).parents[2] / "results"
_PAGE = "results.md"


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pictures."""
    for picture in sorted(_RESULTS.glob("*/*.png")):
        place = picture.relative_to(_RESULTS).as_posix()
        files.append(File.generated(config, f"pictures/{place}", abs_src_path=str(picture)))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Point to where they are in the site."""
    return markdown.replace("](../results/", "](pictures/") if page.file.src_uri == _PAGE else markdown
