"""A page that explains itself: text, tables and pictures in one HTML file that needs nothing else."""

import platform
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import version
from os import cpu_count
from pathlib import Path

from gola.files import replacing

_STYLE = """
:root { --ink: #1c2026; --soft: #5a6270; --line: #d9dde3; --tint: #f5f6f8; --mark: #1f5f99; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 74rem; padding: 1.5rem 1rem 4rem; color: var(--ink); background: #fff;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: .5rem 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
p { margin: .6rem 0; max-width: 46rem; }
.lead { font-size: 1.1rem; color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .8rem 0 .3rem; font-size: .94rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; background: var(--tint); white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.2rem; margin: .8rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1.2rem 0; }
img { max-width: 100%; height: auto; display: block; }
figcaption, .caption { color: var(--soft); font-size: .92rem; max-width: 46rem; margin-top: .3rem; }
pre { background: var(--tint); border: 1px solid var(--line); padding: .8rem 1rem; overflow-x: auto; }
code { font: .92em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
strong { color: var(--mark); }
@media screen and (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; }
  .wide img { max-width: none; width: 56rem; } }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } h2 { break-after: avoid; }
  figure, table, pre { break-inside: avoid; } }
"""


@dataclass(frozen=True)
class Text:
    """A paragraph; ``code`` stands in backticks and **what matters** between double asterisks."""

    words: str

    def to_html(self) -> str:
        """Return it as HTML."""
        return f"<p>{_inline(self.words)}</p>"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table; numbers come as they should be read.

    Attributes:
        heading: Names of the columns.
        rows: As many cells each; the first column names the row.
        caption: What the numbers are.
    """

    heading: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.heading):
                raise ValueError(f"The table has {len(self.heading)} columns and a row {len(row)} cells: {list(row)}.")

    def to_html(self) -> str:
        """Return it as HTML."""
        heading = "".join(f'<th scope="col">{_inline(cell)}</th>' for cell in self.heading)
        body = "".join("<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>\n" for row in self.rows)
        caption = f'<p class="caption">{_inline(self.caption)}</p>' if self.caption else ""
        table = f"<table><thead><tr>{heading}</tr></thead>\n<tbody>\n{body}</tbody></table>"
        return f'<div class="scroll">{table}</div>{caption}'


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture, kept in the page itself.

    Attributes:
        png: The content of a PNG file, see :func:`gola.plotting.style.as_png`.
        caption: What to see in it.
        description: What it shows, for those who cannot see it.
        wide: Whether it has panels side by side, which a narrow screen should scroll through instead of shrinking.
    """

    png: bytes
    caption: str
    description: str
    wide: bool = False

    def to_html(self) -> str:
        """Return it as HTML."""
        source = f"data:image/png;base64,{b64encode(self.png).decode()}"
        image = f'<img src="{source}" alt="{escape(self.description)}">'
        image = f'<div class="scroll wide">{image}</div>' if self.wide else image
        return f"<figure>{image}<figcaption>{_inline(self.caption)}</figcaption></figure>"


@dataclass(frozen=True)
class Code:
    """Lines of code, as they are to be typed."""

    lines: str

    def to_html(self) -> str:
        """Return it as HTML."""
        return f"<pre><code>{escape(self.lines.strip())}</code></pre>"


@dataclass(frozen=True)
class Facts:
    """Names and what they stand for: settings, versions, times."""

    entries: Mapping[str, str]

    def to_html(self) -> str:
        """Return it as HTML."""
        entries = "".join(
            f"<dt>{_inline(name)}</dt><dd>{_inline(value)}</dd>\n" for name, value in self.entries.items()
        )
        return f"<dl>\n{entries}</dl>"


Block = Text | Table | Picture | Code | Facts


@dataclass(frozen=True)
class Section:
    """A part of a report with a heading."""

    title: str
    blocks: Sequence[Block]

    def to_html(self) -> str:
        """Return it as HTML."""
        return "\n".join(
            [f"<section>\n<h2>{_inline(self.title)}</h2>", *(block.to_html() for block in self.blocks)]
        ) + ("\n</section>")


@dataclass(frozen=True, kw_only=True)
class Report:
    """A page of sections.

    Attributes:
        title: What it is about.
        lead: What came out, in a sentence or two.
        sections: From what matters most to the details.
    """

    title: str
    lead: str
    sections: Sequence[Section] = field(default_factory=tuple)

    def to_html(self) -> str:
        """Return the whole page, which refers to no other file."""
        sections = "\n".join(section.to_html() for section in self.sections)
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
            f'<h1>{_inline(self.title)}</h1>\n<p class="lead">{_inline(self.lead)}</p>\n{sections}\n</body>\n</html>\n'
        )

    def save(self, path: str | Path) -> None:
        """Write the page, which appears whole or not at all."""
        with replacing(path) as temporary:
            temporary.write_text(self.to_html(), encoding="utf-8")


def versions() -> str:
    """Return the versions of what decides the numbers, and what machine they come from."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("gola", "torch", "numpy", "scipy"))
    return (
        f"{packages}; Python {platform.python_version()}, {platform.system()} {platform.machine()}, {cpu_count()} cores"
    )


def _inline(text: str) -> str:
    """Escape text, and give its two marks their meaning.

    >>> _inline("**a < b** in `code`")
    '<strong>a &lt; b</strong> in <code>code</code>'
    """
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", marked)
