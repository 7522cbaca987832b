"""Which runs belong to which table or figure. A cell that stands in two of them is one run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gola.fitting.configs import preset
from gola.protocol import TrainingConfig
from gola.runs import RunConfig
from paper.budgets import Budget, Density
from paper.contenders import Contender
from paper.protocol import Protocol, split_resolution

Settings = tuple[tuple[str, Any], ...]
"""Names and values, which can be hashed."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One number of a table or figure, whatever the seed.

    Attributes:
        problem: Name of the problem.
        operator: Name of the operator, and preset where it is not the default.
        num_train: Training samples.
        num_points: Points of each sample; None for the full grid.
        settings: Changes to the preset.
        training: How to train, where not as the budget says.
        variant: What is done in a way that no setting describes, see :mod:`paper.ablation.other_trainings`.
        known_points: Whether a sample is known at its ``num_points`` points only, also where the protocol draws points
            again in every epoch.
    """

    problem: str
    operator: str
    num_train: int
    num_points: int | None
    settings: Settings = ()
    training: TrainingConfig | None = None
    variant: str = ""
    known_points: bool = False


def _table1(protocol: Protocol, _: Budget) -> list[Cell]:
    cells = [
        cell_at(problem, contender, protocol.few, num_points, protocol)
        for problem in protocol.compared
        for contender in protocol.of_target("table1")
        for num_points in places_of(contender, protocol)
    ]
    return _with_known_points(cells, protocol)


def _table2(protocol: Protocol, _: Budget) -> list[Cell]:
    cells = _grid(protocol, "table2", (protocol.many,), (protocol.num_points,), protocol.compared)
    return _with_known_points(cells, protocol)


def _with_known_points(cells: Iterable[Cell], protocol: Protocol) -> list[Cell]:
    """Add the stricter protocol's cells: the same operators, with samples known at their points only."""
    cells = list(cells)
    return [*cells, *(known_points(cell) for cell in cells if cell.operator in protocol.strict)]


def known_points(cell: Cell) -> Cell:
    """Return the same cell in the stricter protocol."""
    return replace(cell, known_points=True)


def _table3(protocol: Protocol, _: Budget) -> list[Cell]:
    return _grid(protocol, "table3", (protocol.many,), protocol.densities)


def _table4(protocol: Protocol, _: Budget) -> list[Cell]:
    return _grid(protocol, "table4", (protocol.many,), (protocol.num_points,))


def _table5(protocol: Protocol, _: Budget) -> list[Cell]:
    return _grid(protocol, "table5", protocol.dense_sizes, (protocol.dense,))


def _curves(protocol: Protocol, _: Budget) -> list[Cell]:
    return [
        curve_cell(problem, contender, num_train, protocol)
        for problem in protocol.problems
        for contender in protocol.of_target("curves")
        for num_train in protocol.sizes
    ]


def curve_cell(problem: str, contender: Contender, num_train: int, protocol: Protocol) -> Cell:
    """Return the cell of an operator on a curve."""
    place = places_of(contender, protocol)[0]
    return cell_at(protocol.on_curves(problem, contender), contender, num_train, place, protocol)


def _heatmaps(protocol: Protocol, budget: Budget) -> list[Cell]:
    return _grid(protocol, "heatmaps", budget.grid_sizes, budget.grid_densities)


def _densities(protocol: Protocol, budget: Budget) -> list[Cell]:
    return _grid(protocol, "densities", budget.grid_sizes, budget.grid_densities)


def _capacity(protocol: Protocol, _: Budget) -> list[Cell]:
    study = protocol.capacity
    if study.problem not in protocol.problems:
        return []
    usual = Cell(
        problem=study.problem, operator=study.operator, num_train=protocol.many, num_points=protocol.num_points
    )
    by_points = [replace(usual, num_points=number) for number in study.num_points]
    changed = [capacity_cell(usual, name, value) for name, value in study.changes()]
    return [*by_points, *changed]


TARGETS: dict[str, Callable[[Protocol, Budget], list[Cell]]] = {
    "table1": _table1,
    "table2": _table2,
    "table3": _table3,
    "table4": _table4,
    "table5": _table5,
    "curves": _curves,
    "heatmaps": _heatmaps,
    "densities": _densities,
    "capacity": _capacity,
}
"""Cells of each table and figure."""


def cells_of(targets: Iterable[str], protocol: Protocol, budget: Budget) -> list[Cell]:
    """Return the cells of some tables and figures, each once."""
    return list(dict.fromkeys(cell for target in targets for cell in TARGETS[target](protocol, budget)))


def places_of(contender: Contender, protocol: Protocol) -> tuple[int | None, ...]:
    """Return where Table 1 looks at an operator: as in the paper first, then at the same points as all others."""
    return (None, protocol.num_points) if contender.on_grid else (protocol.num_points,)


def cell_at(problem: str, contender: Contender, num_train: int, num_points: int | None, protocol: Protocol) -> Cell:
    """Return the cell of an operator at some points, or on the full grid with the neighbours that it has there."""
    settings: Settings = ()
    if num_points is None and contender.grid_radius is not None:
        resolution = protocol.law_of(problem).parameters["resolution"]
        settings = (("radius", contender.grid_radius / (resolution - 1)),)
    return Cell(
        problem=problem,
        operator=contender.operator,
        num_train=num_train,
        num_points=num_points,
        settings=settings,
    )


def capacity_cell(usual: Cell, name: str, value: int) -> Cell:
    """Return a cell with one setting changed; without the change where the preset says the same."""
    same = getattr(preset(usual.operator), name) == value
    return usual if same else replace(usual, settings=((name, value),))


def run_of(cell: Cell, protocol: Protocol, budget: Budget, data: Path, seed: int) -> RunConfig:
    """Return the run that fills a cell.

    Args:
        cell: The cell.
        protocol: Data and sizes.
        budget: How to train.
        data: Folder of the data sets.
        seed: Which repetition.
    """
    problem, _ = split_resolution(cell.problem)
    training = cell.training or budget.training_of(
        cell.operator, problem, num_train=cell.num_train, density=_density_of(cell, protocol)
    )
    redrawn = protocol.redraws(cell.operator) and not cell.known_points and cell.num_points is not None
    in_step = None if cell.num_points is None else budget.points_in_step(cell.operator, cell.num_points)
    return RunConfig(
        data=str(data / f"{cell.problem}.h5"),
        operator=cell.operator,
        settings={**budget.settings_of(cell.operator, cell.num_points), **dict(cell.settings)},
        # With known points, too, a step may see some of them.
        training=replace(training, points_per_epoch=in_step) if redrawn or in_step != cell.num_points else training,
        num_train=cell.num_train,
        num_test=protocol.num_test,
        num_points=cell.num_points,
        whole_training=redrawn,
        test_points=_test_points(cell, protocol),
        seed=seed,
    )


def _density_of(cell: Cell, protocol: Protocol) -> Density:
    if cell.num_points is None or cell.num_points == protocol.num_points:
        return "usual"
    return "sparse" if cell.num_points < protocol.num_points else "dense"


def seeds_of(cell: Cell, protocol: Protocol, budget: Budget) -> range:
    """Return the seeds that a budget asks for: several for the main lines of Tables 1 and 2."""
    contender = next((contender for contender in protocol.contenders if contender.operator == cell.operator), None)
    if contender is None:
        return range(budget.num_seeds)
    in_table = cell.num_train in (protocol.few, protocol.many) and cell.num_points in (None, protocol.num_points)
    in_table = in_table and not cell.settings and not cell.known_points and cell.problem in protocol.problems
    return budget.seeds_of(contender, in_table=in_table)


def _test_points(cell: Cell, protocol: Protocol) -> tuple[int, ...]:
    """Return the numbers of points of Table 4 for its cells, which Tables 2 and 3 share, and nothing for others."""
    usual = replace(cell, problem="", operator="") == Cell(
        problem="", operator="", num_train=protocol.many, num_points=protocol.num_points
    )
    listed = any(contender.operator == cell.operator for contender in protocol.of_target("table4"))
    return protocol.test_points if usual and listed else ()


def _grid(
    protocol: Protocol,
    target: str,
    sizes: Iterable[int],
    densities: Iterable[int],
    problems: Iterable[str] | None = None,
) -> list[Cell]:
    return [
        Cell(problem=problem, operator=contender.operator, num_train=num_train, num_points=num_points)
        for problem in problems or protocol.problems
        for contender in protocol.of_target(target)
        for num_train in sizes
        for num_points in densities
    ]
