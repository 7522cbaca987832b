"""The report: every table and figure with the paper's numbers, as one HTML page and as Markdown."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gola.files import replacing
from gola.report.page import Block, Picture, Report, Section, Table, Text, versions
from paper import figures, tables
from paper.cells import TARGETS, cells_of
from paper.complexity import EXPONENTS, SYMBOLS, Complexity
from paper.costs import time_text
from paper.findings import findings
from paper.honesty import honesty
from paper.listing import write_listing
from paper.markdown import paragraphs, to_markdown
from paper.settings import differences, seeds_and_training
from paper.standing import standing
from paper.store import Store

_TITLES = {
    "table1": "Table 1: few samples, all operators",
    "table2": "Table 2: GOLA and GKN from many samples",
    "table3": "Table 3: few, some and many points",
    "table4": "Table 4: other points in testing than in training",
    "table5": "Table 5: many points, by the number of samples",
    "curves": "Error against the number of samples",
    "heatmaps": "Error reduction of GOLA over GKN",
    "densities": "Sizes and densities",
    "capacity": "Points, modes and width",
    "complexity": "Time and memory of a step",
}
_TABLES: dict[str, Callable[[Store], list[Table]]] = {
    "table1": tables.table1,
    "table2": tables.table2,
    "table3": tables.table3,
    "table4": tables.table4,
    "table5": tables.table5,
}
_FIGURES: dict[str, Callable[[Store], Picture]] = {
    "curves": figures.curves,
    "heatmaps": figures.heatmaps,
    "densities": figures.densities,
    "capacity": figures.capacity,
}


def section_of(target: str, store: Store, measured: Complexity | None) -> Section:
    """Return the part of the report that shows a target."""
    return Section(_TITLES[target], _blocks(target, store, measured))


def report_of(store: Store, measured: Complexity | None) -> Report:
    """Return the whole report."""
    return Report(
        title="The paper's tables and figures, done again",
        lead=_lead(store),
        sections=[
            Section("What the numbers say", [Text(_CLAIMS), *findings(store), *standing(store), *honesty(store)]),
            Section("How to read the tables", [Text(tables.EXPLANATION)]),
            *(section_of(target, store, measured) for target in _TITLES),
            Section("What differs from the paper, and why", [Text(text) for text in differences(store)]),
            Section("Seeds and training", [seeds_and_training(store)]),
        ],
    )


def write_pages(store: Store, measured: Complexity | None, *, out: Path, page: Path) -> list[Path]:
    """Write the report as HTML and Markdown, its figures, and a list of all numbers; return where.

    Args:
        store: The results.
        measured: Time and memory of a step, where they were measured.
        out: Folder of the HTML page and the figures.
        page: The Markdown page. What people write in ``findings.md`` beside it becomes part of it.
    """
    report = report_of(store, measured)
    comments = page.with_name("findings.md")
    written = comments.read_text(encoding="utf-8") if comments.exists() else ""
    out.mkdir(parents=True, exist_ok=True)
    page.parent.mkdir(parents=True, exist_ok=True)
    files = _write_pictures(report, out, page.parent)
    sections = [*report.sections, Section("Versions", [Text(f"Made by `gola reproduce` with {versions()}.")])]
    if written:
        sections.insert(0, Section("What we make of it", [Text(part) for part in paragraphs(written)]))
    replace(report, sections=sections).save(out / "report.html")
    with replacing(page) as temporary:
        temporary.write_text(to_markdown(report, files, written), encoding="utf-8")
    write_listing(store, out / "results.csv")
    return [out / "report.html", page, out / "results.csv"]


def _write_pictures(report: Report, out: Path, seen_from: Path) -> dict[Picture, str]:
    """Write the pictures, each named by its target, and return where they are seen from a folder."""
    files = {}
    targets = {title: target for target, title in _TITLES.items()}
    for section in report.sections:
        for picture in (block for block in section.blocks if isinstance(block, Picture)):
            path = out / f"{targets[section.title]}.png"
            with replacing(path) as temporary:
                temporary.write_bytes(picture.png)
            files[picture] = Path(os.path.relpath(path, seen_from)).as_posix()
    return files


_CLAIMS = (
    "The paper claims that GOLA's error is the lowest everywhere, below FNO and GKN on all four problems, and falls"
    " with more points and more samples. What follows is computed from our runs; conclusions are for people to draw."
)


def _lead(store: Store) -> str:
    cells = cells_of(TARGETS, store.protocol, store.budget)
    num_runs = len(store.runs(cells))
    num_missing = len(store.missing(cells))
    text = (
        "Ours beside the paper's, marked as such, all from `gola reproduce`. Budget"
        f" {store.budget.name}: {num_runs - num_missing} of {num_runs} runs are done"
    )
    left = f"; the others take {time_text(store.seconds_missing(cells))} on one core." if num_missing else "."
    outdated = store.num_outdated(cells)
    note = f" Another version of the code than the present one made {outdated} of the results." if outdated else ""
    return text + left + note


def _blocks(target: str, store: Store, measured: Complexity | None) -> list[Block]:
    if target in _TABLES:
        return list(_TABLES[target](store))
    if target in _FIGURES:
        return [_FIGURES[target](store), Text(_progress(target, store))]
    return _complexity_blocks(measured)


def _progress(target: str, store: Store) -> str:
    cells = cells_of([target], store.protocol, store.budget)
    num_runs, missing = len(store.runs(cells)), store.missing(cells)
    left = f"; the others take {time_text(store.costs.total(missing))} on one core." if missing else "."
    return f"{num_runs - len(missing)} of {num_runs} runs are done{left}"


def _complexity_blocks(measured: Complexity | None) -> list[Block]:
    if measured is None:
        return [Text("Not measured yet: `gola reproduce complexity` does.")]
    rows = [
        [
            f"{symbol}, {name.removeprefix('num_')}",
            _range(measured, name),
            _slope(measured, name, "seconds"),
            f"[{EXPONENTS[name]}]",
            _slope(measured, name, "mebibytes"),
        ]
        for name, symbol in SYMBOLS.items()
    ]
    table = Table(
        heading=["varied", "from, to", "slope of time", "the paper's formula", "slope of memory"],
        rows=rows,
        caption="Slopes on logarithmic scales: the exponents of power laws. The paper gives the time as"
        " O(MNC) + O(NkC²) + O(NkC), so each exponent depends on which term dominates; it gives no formula for memory."
        " Here messages and keys are combined per point instead of per edge, which is exact and makes the second term"
        " O(NC²).",
    )
    return [table, figures.complexity(measured)]


def _range(measured: Complexity, varied: str) -> str:
    sizes = list(measured.curve(varied, "seconds"))
    return f"{sizes[0]}, {sizes[-1]}" if sizes else "–"


def _slope(measured: Complexity, varied: str, cost: str) -> str:
    slope = measured.slope(varied, cost)
    return "–" if slope is None else f"{slope:.2f}"
