"""Bring the pictures of ``results/paper``, which lie outside the documentation, into the site."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_PICTURES = Path(__file__).parents[2] / "results" / "paper"


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pictures."""
    for picture in sorted(_PICTURES.glob("*.png")):
        files.append(File.generated(config, f"pictures/{picture.name}", abs_src_path=str(picture)))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Point to where they lie in the site."""
    return markdown.replace("../results/paper/", "pictures/") if page.file.src_uri == "results.md" else markdown
