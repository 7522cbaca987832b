"""Our numbers beside the paper's, as tables."""

from gola.report.page import Table
from paper.published import ERROR_REDUCTIONS, PPI_NO_FNO
from paper.report.sheets import MISSING, SHEETS, problem_titles, usual
from paper.store import Store

EXPLANATION = (
    "Mean relative L2 error on the test samples; where there are several seeds, their mean ± standard deviation, and in"
    " brackets how many seeds. Numbers in square brackets are the paper's, and the row below them is ours divided by"
    " the paper's: below 1 ours is lower. **Bold** is the lowest of ours in a column. “–” has not run yet, or is not"
    " in the paper. GOLA and GKN see points that are drawn again from a training sample's grid in every epoch, as in"
    " the code that the paper follows; “known points” is the stricter protocol, in which a training sample is known at"
    " its points only, drawn once."
)


def table1(store: Store) -> list[Table]:
    """Return Table 1: all operators at few samples, as in the paper and at the same points."""
    protocol = store.protocol
    (sheet,) = SHEETS["table1"](store)
    table = sheet.table()
    reference = [PPI_NO_FNO.get(problem, {}).get(protocol.few) for problem in protocol.compared]
    row = ["FNO of PPI-NO, full grid", *(_bracketed(error) for error in reference)]
    note = "PPI-NO (arXiv 2502.02682) is the same group's earlier work, at its best epoch on test samples."
    return [Table(heading=table.heading, rows=[*table.rows, row], caption=f"{table.caption.rstrip('.')}. {note}")]


def table2(store: Store) -> list[Table]:
    """Return Table 2: many samples, and by how much GOLA's error is below that of GKN."""
    protocol = store.protocol
    reductions = [
        [
            f"{contender.title}, over GKN",
            *(_share(reduction(store, problem, contender.operator)) for problem in protocol.problems),
        ]
        for contender in protocol.of_target("table2")
        if contender.operator != "gkn"
    ]
    printed = ["GOLA over GKN, the paper's", *(f"[{_share(ERROR_REDUCTIONS[name])}]" for name in protocol.problems)]
    return [
        *_plainly("table2", store),
        Table(
            heading=["error reduction", *problem_titles(store)],
            rows=[*(row for row in reductions if set(row[1:]) != {MISSING}), printed],
            caption="Error reduction: one minus the error divided by GKN's, over the seeds that both have.",
        ),
    ]


def table3(store: Store) -> list[Table]:
    """Return Table 3: fewer points, in training and testing, a table for each problem."""
    return _plainly("table3", store)


def table4(store: Store) -> list[Table]:
    """Return Table 4: other numbers of points in testing than in training, a table for each problem."""
    return _plainly("table4", store)


def table5(store: Store) -> list[Table]:
    """Return Table 5: many points, by the number of samples, a table for each problem."""
    return _plainly("table5", store)


def reduction(store: Store, problem: str, operator: str) -> float | None:
    """Return by what share an operator's error is below that of GKN, over the seeds that both have."""
    ours, base = (store.errors(usual(problem, name, store.protocol)) for name in (operator, "gkn"))
    common = sorted(set(ours) & set(base))
    if not common:
        return None
    return 1.0 - sum(ours[seed] for seed in common) / sum(base[seed] for seed in common)


def _plainly(target: str, store: Store) -> list[Table]:
    return [sheet.table() for sheet in SHEETS[target](store)]


def _bracketed(error: float | None) -> str:
    return MISSING if error is None else f"[{error:.4f}]"


def _share(share: float | None) -> str:
    return MISSING if share is None else f"{100 * share:.1f} %"
