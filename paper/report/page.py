"""The report: every table and figure with the paper's numbers, as one HTML page and as Markdown."""

import os
from dataclasses import replace
from pathlib import Path

from gola.files import replacing
from gola.report.page import Picture, Report, Section, Text, versions
from paper.ablation.figure import ablation_picture
from paper.cells import TARGETS, cells_of
from paper.complexity import Complexity
from paper.plan import progress
from paper.report import tables
from paper.report.calibration import calibration
from paper.report.findings import findings
from paper.report.markdown import paragraphs, to_markdown
from paper.report.sections import TITLES, section_of
from paper.report.settings import differences, seeds_and_training
from paper.report.standing import standing
from paper.report.summary import summary
from paper.store import Store

REPORT = "report.html"
_ABLATION = "Ablation: what each step gains"
_READING = "How to read the tables"
# Pictures are kept under version control for this one figure only; the others are in the HTML report.
_DRAWN_ON_THE_PAGE = "curves"
_FIGURES_FIRST = ("curves", "heatmaps", "densities", "capacity")
_ONLY_IN_THE_REPORT = [TITLES[target] for target in ("heatmaps", "densities", "capacity")] + [_ABLATION]
_CLAIMS = (
    "The paper claims that GOLA has the lowest error everywhere, below FNO and GKN on all four problems, and that its"
    " error falls with more points and more samples. What follows is computed from our runs."
)


def report_of(store: Store, varied: Store, measured: Complexity | None) -> Report:
    """Return the whole report."""
    return Report(
        title="The paper's tables and figures, reproduced",
        lead=_lead(store),
        sections=[
            Section("Twenty numbers", summary(store)),
            *(section_of(target, store, measured) for target in _FIGURES_FIRST),
            Section(_READING, [Text(tables.EXPLANATION)]),
            *(section_of(target, store, measured) for target in TITLES if target not in _FIGURES_FIRST),
            Section("What the numbers say", [Text(_CLAIMS), *findings(store), *standing(store), *calibration(store)]),
            Section(_ABLATION, [ablation_picture(varied)]),
            Section("What differs from the paper, and why", [Text(text) for text in differences(store)]),
            Section("Seeds and training", [seeds_and_training(store)]),
        ],
    )


def write_pages(
    store: Store, varied: Store, measured: Complexity | None, *, work: Path, pages: Path, pictures: Path
) -> list[Path]:
    """Write the report as HTML and as Markdown; return where.

    Args:
        store: The results.
        varied: The results of the ablation.
        measured: Time and memory of a step, where they were measured.
        work: Folder of the HTML report, which has all figures in it.
        pages: Folder of the Markdown page, ``results.md``. Comments in ``findings.md`` beside it become part of both.
        pictures: Folder of the pictures of the Markdown page.
    """
    for folder in (work, pages, pictures):
        folder.mkdir(parents=True, exist_ok=True)
    comments = pages / "findings.md"
    findings_text = comments.read_text(encoding="utf-8") if comments.exists() else ""
    report, page = report_of(store, varied, measured), pages / "results.md"
    _with_comments(report, findings_text).save(work / REPORT)
    files = _write_pictures(report, pictures, pages)
    with replacing(page) as temporary:
        short = _short(report)
        text = to_markdown(short, files, findings_text, place=_place_of_comments(short))
        temporary.write_text(text, encoding="utf-8")
    return [work / REPORT, page]


def _with_comments(report: Report, comments: str) -> Report:
    """Insert our comments between figures and tables."""
    made_with = Section("Versions", [Text(f"Made by `make paper` with {versions()}.")])
    ours = [Section("Our conclusions", [Text(part) for part in paragraphs(comments)])] if comments else []
    place = _place_of_comments(report)
    return replace(report, sections=[*report.sections[:place], *ours, *report.sections[place:], made_with])


def _place_of_comments(report: Report) -> int:
    return next(place for place, section in enumerate(report.sections) if section.title == _READING)


def _short(report: Report) -> Report:
    """Leave the sections out that only show a figure of the HTML report, and say where they are."""
    names = ", ".join(f"“{title}”" for title in (*_ONLY_IN_THE_REPORT, TITLES["complexity"]))
    note = f"The figures {names} are in `runs/paper/{REPORT}`, which `make paper` builds."
    sections = [section for section in report.sections if section.title not in _ONLY_IN_THE_REPORT]
    return replace(report, sections=[*sections, Section("Further figures", [Text(note)])])


def _write_pictures(report: Report, pictures: Path, pages: Path) -> dict[Picture, str]:
    """Write the pictures of the Markdown page, and return where they are as seen from it."""
    path = pictures / f"{_DRAWN_ON_THE_PAGE}.png"
    section = next(section for section in report.sections if section.title == TITLES[_DRAWN_ON_THE_PAGE])
    drawn = [block for block in section.blocks if isinstance(block, Picture)]
    for picture in drawn:
        with replacing(path) as temporary:
            temporary.write_bytes(picture.png)
    return {picture: Path(os.path.relpath(path, pages)).as_posix() for picture in drawn}


def _lead(store: Store) -> str:
    cells = cells_of(TARGETS, store.protocol, store.budget)
    outdated = store.num_outdated(cells)
    note = f" An older version of the code made {outdated} of the results." if outdated else ""
    return (
        "Our numbers beside the paper's, which are marked as such, all from `make paper`. Budget"
        f" {store.budget.name}: {progress(store.planned(cells))}{note}"
    )
