"""The same report as Markdown, with its pictures in files."""

import re
from collections.abc import Mapping, Sequence

from gola.report.page import Block, Code, Facts, Picture, Report, Table, Text


def to_markdown(report: Report, files: Mapping[Picture, str], inserted: str = "", *, place: int = 1) -> str:
    """Return a report as Markdown.

    Args:
        report: The report.
        files: Where its pictures are, as seen from the page; other pictures are left out.
        inserted: Markdown to stand between two sections.
        place: How many sections stand before it.
    """
    parts = [f"# {report.title}", report.lead]
    for number, section in enumerate(report.sections):
        if number == place and inserted:
            parts.append(inserted.strip())
        shown = [block for block in section.blocks if not isinstance(block, Picture) or block in files]
        parts += [f"## {section.title}", *(_block(block, files) for block in shown)]
    return "\n\n".join(parts) + "\n"


def paragraphs(markdown: str) -> list[str]:
    r"""Return simple Markdown as paragraphs of plain text: headings in bold, links without their target.

    >>> paragraphs("## One\n\nTwo [three](four.md).\n\n- five\n- six")
    ['**One**', 'Two three.', '– five', '– six']
    """
    plain = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", markdown)
    plain = re.sub(r"^#+ +(.*)$", r"**\1**\n", plain, flags=re.MULTILINE)
    plain = re.sub(r"^[-*] +", "\n– ", plain, flags=re.MULTILINE)
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", plain) if part.strip()]


def _block(block: Block, files: Mapping[Picture, str]) -> str:
    if isinstance(block, Text):
        return block.words
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Picture):
        return f"![{block.description}]({files[block]})\n\n{block.caption}"
    if isinstance(block, Code):
        return f"```text\n{block.lines.strip()}\n```"
    assert isinstance(block, Facts)
    return "\n".join(f"- {name}: {value}" for name, value in block.entries.items())


def _table(table: Table) -> str:
    caption = f"{table.caption}\n\n" if table.caption else ""
    rule = "|" + "|".join(["---", *["---:"] * (len(table.heading) - 1)]) + "|"
    rows = [_row(table.heading), rule, *(_row(row) for row in table.rows)]
    return caption + "\n".join(rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
