"""The paper's figures, drawn from our results."""

import statistics
from collections.abc import Iterable, Mapping

from gola.plotting.heatmap import Shares, draw_heatmaps
from gola.plotting.panels import Curve, Panel, draw_panels
from gola.plotting.style import as_png
from gola.report.page import Picture
from gola.runs.comparison import spread
from paper.cells import Cell, capacity_cell, curve_cell
from paper.complexity import SYMBOLS, Complexity
from paper.contenders import OURS, Contender
from paper.protocol import TITLES
from paper.published import TABLE_1, TABLE_2
from paper.store import Store

_SIZES = "training samples"
_ERROR = "relative L2 error"
_THE_PAPERS = "the paper's: hollow"


def curves(store: Store) -> Picture:
    """Draw the error of all operators against the number of training samples, a panel for each problem."""
    panels = [
        Panel(
            title=TITLES[problem],
            across=_SIZES,
            up=_ERROR,
            curves=[
                *(_over_sizes(store, problem, contender) for contender in store.protocol.of_target("curves")),
                *_printed(store, problem),
            ],
        )
        for problem in store.protocol.problems
    ]
    return Picture(
        png=as_png(draw_panels(panels, num_columns=2)),
        caption="Test error against the number of training samples. GCN, DeepONet and FNO see the full grid"
        f"{_nodes(store)}, the others {store.protocol.num_points} points. Bars are standard deviations over seeds."
        " Hollow marks are the paper's numbers for the operator with that mark (its Tables 1 and 2).",
        description="Four panels of curves, error against training samples, both on logarithmic scales.",
        wide=True,
    )


def densities(store: Store) -> Picture:
    """Draw GOLA's error against the number of training samples, a curve for each number of points."""
    (contender, *_) = store.protocol.of_target("densities")
    panels = [
        Panel(
            title=TITLES[problem],
            across=_SIZES,
            up=_ERROR,
            curves=[
                _curve(
                    f"{number} points",
                    {
                        size: store.errors(_grid_cell(problem, contender.operator, size, number))
                        for size in _grid_sizes(store)
                    },
                )
                for number in store.budget.grid_densities
            ],
        )
        for problem in store.protocol.problems
    ]
    return Picture(
        png=as_png(draw_panels(panels, num_columns=2, ordered=True)),
        caption=f"{contender.title}: test error against the number of training samples, at several numbers of points in"
        " training and testing.",
        description="Four panels of curves, one curve for each number of points, the darker the more.",
        wide=True,
    )


def heatmaps(store: Store) -> Picture:
    """Draw by how much GOLA's error is below that of GKN, over sizes and densities."""
    tables = {
        TITLES[problem]: Shares(
            rows=_grid_sizes(store), columns=store.budget.grid_densities, values=_reductions(store, problem)
        )
        for problem in store.protocol.problems
    }
    return Picture(
        png=as_png(draw_heatmaps(tables, across="points", up=_SIZES, label="error reduction")),
        caption="Error reduction of GOLA (preset default) over GKN in per cent: one minus the ratio of their errors,"
        " over the seeds that both have. Blue: GOLA's error is lower; red: GKN's is; grey: missing.",
        description="A table of colours for each problem, training samples against points.",
        wide=True,
    )


def capacity(store: Store) -> Picture:
    """Draw training and test error against points, modes and width."""
    protocol, study = store.protocol, store.protocol.capacity
    usual = _grid_cell(study.problem, study.operator, protocol.many, protocol.num_points)
    varied = {"points": {n: _grid_cell(study.problem, study.operator, protocol.many, n) for n in study.num_points}}
    for name, values in study.settings.items():
        varied[name.removeprefix("num_")] = {value: capacity_cell(usual, name, value) for value in values}
    panels = [
        Panel(
            title=f"{TITLES[study.problem]}, {protocol.many} training samples",
            across=name,
            up=_ERROR,
            curves=[
                _curve("test samples", {size: store.errors(cell) for size, cell in cells.items()}),
                _curve("training samples", {size: _training_errors(store, cell) for size, cell in cells.items()}),
            ],
        )
        for name, cells in varied.items()
    ]
    return Picture(
        png=as_png(draw_panels(panels)),
        caption="The paper's section 4 says that the error can be made as small as one likes with enough points, modes"
        " and capacity. Each panel lets one of them grow and leaves the others at the preset's value. The claim is"
        " about what the operator can represent, so the error on training samples shows it; the error on test samples"
        " shows what that is worth.",
        description="Three panels of curves: error against points, modes and width.",
        wide=True,
    )


def complexity(measured: Complexity) -> Picture:
    """Draw measured time and memory of a training step, with lines of slope 1 and 2."""
    costs = {"seconds": "seconds per step", "mebibytes": "memory added, MiB"}
    panels = [
        Panel(
            title=_slope_title(measured, varied, cost),
            across=f"{symbol}, {varied.removeprefix('num_')}",
            up=costs[cost],
            curves=[
                Curve(label="measured", values=measured.curve(varied, cost)),
                *_slopes(measured.curve(varied, cost), (1, 2) if varied == "width" else (1,)),
            ],
        )
        for cost in costs
        for varied, symbol in SYMBOLS.items()
    ]
    return Picture(
        png=as_png(draw_panels(panels, num_columns=len(SYMBOLS))),
        caption="Time and memory of forward and backward on one thread, one size varied at a time, with the slope of a"
        " straight line through all marks.",
        description="Eight panels: time and memory against points, modes, channels and neighbours.",
        wide=True,
    )


def _over_sizes(store: Store, problem: str, contender: Contender) -> Curve:
    errors = {size: store.errors(curve_cell(problem, contender, size, store.protocol)) for size in store.protocol.sizes}
    return _curve(contender.title, errors, wide=contender.operator == OURS)


def _nodes(store: Store) -> str:
    nodes = store.protocol.curve_resolution
    return "" if nodes is None else f" of {nodes} × {nodes} points"


def _printed(store: Store, problem: str) -> list[Curve]:
    """Return the paper's numbers as marks, each in the colour of the first operator that they belong to."""
    owners: dict[str, str] = {}
    for contender in store.protocol.of_target("curves"):
        if contender.published is not None:
            owners.setdefault(contender.published, contender.title)
    found = []
    for name, title in owners.items():
        tables = {store.protocol.few: TABLE_1, store.protocol.many: TABLE_2}
        numbers = {size: table.get(problem, {}).get(name) for size, table in tables.items()}
        values = {float(size): error for size, error in numbers.items() if error is not None}
        found.append(Curve(label=_THE_PAPERS, values=values, look="marks", like=title))
    return found


def _curve(label: str, errors: Mapping[int, Mapping[int, float]], *, wide: bool = False) -> Curve:
    """Return a curve of means over seeds, with their spread."""
    known = {float(size): list(by_seed.values()) for size, by_seed in errors.items() if by_seed}
    return Curve(
        label=label,
        values={size: statistics.fmean(values) for size, values in known.items()},
        spreads={size: spread(values) or 0.0 for size, values in known.items()},
        wide=wide,
    )


def _reductions(store: Store, problem: str) -> dict[tuple[int, int], float]:
    found = {}
    for size in _grid_sizes(store):
        for number in store.budget.grid_densities:
            ours = store.errors(_grid_cell(problem, "gola", size, number))
            base = store.errors(_grid_cell(problem, "gkn", size, number))
            common = set(ours) & set(base)
            if common:
                found[size, number] = 1.0 - sum(ours[seed] for seed in common) / sum(base[seed] for seed in common)
    return found


def _training_errors(store: Store, cell: Cell) -> dict[int, float]:
    return {
        seed: row.scores["training_error"] for seed, row in store.of(cell).items() if "training_error" in row.scores
    }


def _slopes(curve: Mapping[float, float], exponents: Iterable[int]) -> list[Curve]:
    """Return straight lines through the largest size, to compare with."""
    if not curve:
        return []
    last = max(curve)
    return [
        Curve(
            label=f"slope {exponent}",
            values={size: curve[last] * (size / last) ** exponent for size in curve},
            look="dashed",
        )
        for exponent in exponents
    ]


def _slope_title(measured: Complexity, varied: str, cost: str) -> str:
    slope = measured.slope(varied, cost)
    return "not measured" if slope is None else f"slope {slope:.2f}"


def _grid_cell(problem: str, operator: str, num_train: int, num_points: int) -> Cell:
    return Cell(problem=problem, operator=operator, num_train=num_train, num_points=num_points)


def _grid_sizes(store: Store) -> tuple[int, ...]:
    return store.budget.grid_sizes
