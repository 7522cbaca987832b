"""What the numbers say about the paper's claims: computed from the results, and silent where there are none."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from gola.report.page import Table
from gola.runs import RunConfig
from gola.runs.comparison import clearly_below
from paper.cells import Cell, cell_at, places_of
from paper.contenders import Contender
from paper.protocol import TITLES
from paper.store import Store

UNKNOWN = "not known yet"


def findings(store: Store) -> list[Table]:
    """Return who is lowest, and for each network that stands in all tables whether the paper's claims hold here."""
    few = store.protocol.few
    overall = [
        ["lowest of all", *_each(store, _lowest)],
        ["lowest of the networks", *_each(store, _lowest_network)],
        ["networks not below `mean`", *_each(store, _idle)],
    ]
    tables = [_table(store, f"{few} samples", overall, _OVERALL)]
    tables += [_table(store, contender.title, _claims(store, contender), _CLAIMS) for contender in _claimants(store)]
    return [table for table in tables if table.rows]


_OVERALL = (
    "Means over the seeds that there are. `mean` predicts the mean of the training solutions, whatever the input."
)
_CLAIMS = (
    "Whether what the paper claims of its GOLA holds here, with the numbers that decide. FNO sees the full grid. Along"
    " Table 3 points become more, along Table 4 test points, along Table 5 samples. Where both have two or more seeds,"
    " a difference that is not the same in all of them, or smaller than it scatters, is not clear."
)


def _table(store: Store, corner: str, rows: Sequence[Sequence[str]], caption: str) -> Table:
    known = [row for row in rows if any(cell != UNKNOWN for cell in row[1:])]
    return Table(
        heading=[corner, *(TITLES[problem] for problem in store.protocol.problems)], rows=known, caption=caption
    )


def _claims(store: Store, contender: Contender) -> list[list[str]]:
    protocol = store.protocol
    few, many, points = protocol.few, protocol.many, protocol.num_points
    rows = []
    for rival in (other for other in protocol.of_target("table1") if other.operator in ("fno", "gkn")):
        place = places_of(rival, protocol)[0]
        row = [
            _below(store, _cell(problem, contender, few, points), cell_at(problem, rival, few, place, protocol))
            for problem in protocol.problems
        ]
        rows.append([f"below {rival.title}, {few} samples", *row])
    row = [
        _below(store, _cell(problem, contender, many, points), _cell(problem, "gkn", many, points))
        for problem in protocol.problems
    ]
    rows.append([f"below GKN, {many} samples", *row])
    return [*rows, *_trends(store, contender)]


def _trends(store: Store, contender: Contender) -> list[list[str]]:
    """Return whether the error falls along Tables 3, 4 and 5."""
    protocol = store.protocol
    few_points, few_test_points, few_samples = [], [], []
    for problem in protocol.problems:
        usual = _cell(problem, contender, protocol.many, protocol.num_points)
        cells = {number: _cell(problem, contender, protocol.many, number) for number in protocol.densities}
        few_points.append(falling({number: store.errors(cell) for number, cell in cells.items()}))
        few_test_points.append(falling({number: store.errors(usual, number) for number in protocol.test_points}))
        dense = {size: _cell(problem, contender, size, protocol.dense) for size in protocol.dense_sizes}
        few_samples.append(falling({size: store.errors(cell) for size, cell in dense.items()}))
    return [
        ["falls along Table 3", *few_points],
        ["falls along Table 4", *few_test_points],
        ["falls along Table 5", *few_samples],
    ]


def _below(store: Store, ours: Cell, theirs: Cell) -> str:
    """Say whether one error is below another."""
    first, second = store.errors(ours), store.errors(theirs)
    if not first or not second:
        return UNKNOWN
    left, right = statistics.fmean(first.values()), statistics.fmean(second.values())
    several = len(set(first) & set(second)) > 1
    if several and not (clearly_below(first, second) or clearly_below(second, first)):
        return f"not clear, {left:.4f}, {right:.4f}"
    return f"yes, {left:.4f} < {right:.4f}" if left < right else f"no, {left:.4f} ≥ {right:.4f}"


def falling(errors: Mapping[int, Mapping[int, float]]) -> str:
    """Say whether the mean error falls from each size to the next.

    >>> falling({100: {0: 0.3}, 500: {0: 0.2}}), falling({100: {0: 0.2}, 500: {0: 0.3}}), falling({100: {}})
    ('yes, 0.3000 → 0.2000', 'no, up from 100 to 500', 'not known yet')
    """
    means = {size: statistics.fmean(by_seed.values()) for size, by_seed in errors.items() if by_seed}
    if len(means) < len(errors) or len(means) < 2:
        return UNKNOWN
    rises = [f"{small} to {large}" for small, large in pairwise(means) if means[large] >= means[small]]
    values = list(means.values())
    return f"no, up from {', '.join(rises)}" if rises else f"yes, {values[0]:.4f} → {values[-1]:.4f}"


def _lowest(store: Store, problem: str) -> str:
    return _name_lowest(store, problem, store.protocol.of_target("table1"))


def _lowest_network(store: Store, problem: str) -> str:
    networks = [contender for contender in store.protocol.of_target("table1") if _is_network(contender)]
    return _name_lowest(store, problem, networks)


def _idle(store: Store, problem: str) -> str:
    """Name the networks whose error is not below that of the mean of the training solutions."""
    protocol = store.protocol
    level = store.errors(_cell(problem, "mean", protocol.few, protocol.num_points))
    networks = [contender for contender in protocol.of_target("table1") if _is_network(contender)]
    means = _means(store, problem, networks)
    if not level or not means:
        return UNKNOWN
    bar = statistics.fmean(level.values())
    return ", ".join(name for name, error in means.items() if error >= bar) or "none"


def _means(store: Store, problem: str, contenders: Sequence[Contender]) -> dict[str, float]:
    """Return the mean errors at few samples, by operator and place, where they are known."""
    found = {}
    for contender in contenders:
        for place in places_of(contender, store.protocol):
            errors = store.errors(cell_at(problem, contender, store.protocol.few, place, store.protocol))
            if errors:
                title = f"{contender.title} on the grid" if place is None else contender.title
                found[title] = statistics.fmean(errors.values())
    return found


def _name_lowest(store: Store, problem: str, contenders: Sequence[Contender]) -> str:
    means = _means(store, problem, contenders)
    if not means:
        return UNKNOWN
    name = min(means, key=lambda title: means[title])
    num_wanted = sum(len(places_of(contender, store.protocol)) for contender in contenders)
    so_far = "" if len(means) == num_wanted else f" ({len(means)} of {num_wanted} done)"
    return f"{name}, {means[name]:.4f}{so_far}"


def _each(store: Store, say: Callable[[Store, str], str]) -> list[str]:
    return [say(store, problem) for problem in store.protocol.problems]


def _claimants(store: Store) -> list[Contender]:
    """Return the networks that stand in all tables."""
    in_all = [
        contender
        for contender in store.protocol.of_target("table1")
        if {"table3", "table4", "table5"} <= {*contender.targets}
    ]
    return [contender for contender in in_all if _is_network(contender)]


def _is_network(contender: Contender) -> bool:
    return RunConfig(data="", operator=contender.operator).heeds("training")


def _cell(problem: str, contender: Contender | str, num_train: int, num_points: int) -> Cell:
    operator = contender if isinstance(contender, str) else contender.operator
    return Cell(problem=problem, operator=operator, num_train=num_train, num_points=num_points)
