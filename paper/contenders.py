"""Which operators stand in which table: to add a column everywhere, add a line here."""

from dataclasses import dataclass

TABLES = ("table1", "table2", "table3", "table4", "table5", "curves")
"""Targets that put operators side by side; a new operator usually stands in all of them."""
OURS = "auto"
"""The operator that is to be the lowest everywhere."""


@dataclass(frozen=True, kw_only=True)
class Contender:
    """An operator of the comparison.

    Attributes:
        operator: Its name, or name and preset.
        title: What tables call it.
        targets: The tables and figures that it stands in.
        published: The name of the paper's numbers that it is set beside, in :mod:`paper.published`; None for none.
        on_grid: Whether the paper gives it the full grid; elsewhere it gets scattered points.
        grid_radius: Largest distance of neighbours on the full grid, in units of its spacing; None for the usual one.
        always_repeated: Whether even the standard budget repeats it with several seeds: what is cheap, and what the
            tables are about.
    """

    operator: str
    title: str
    targets: tuple[str, ...] = TABLES
    published: str | None = None
    on_grid: bool = False
    grid_radius: float | None = None
    always_repeated: bool = False

    @property
    def is_papers(self) -> bool:
        """Whether it stands for one of the paper's models; the default of GOLA does for its own."""
        return self.published == self.operator


CONTENDERS = (
    # A little more than the spacing gives the grid graph, four neighbours: as graph networks on a grid have.
    Contender(
        operator="gcn", title="GCN", targets=("table1", "curves"), published="gcn", on_grid=True, grid_radius=1.2
    ),
    Contender(operator="deeponet", title="DeepONet", targets=("table1", "curves"), published="deeponet", on_grid=True),
    Contender(operator="fno", title="FNO", targets=("table1", "curves"), published="fno", on_grid=True),
    Contender(operator="gkn", title="GKN", targets=("table1", "table2", "curves", "heatmaps"), published="gkn"),
    Contender(
        operator="gola/paper", title="GOLA, preset paper", targets=("table1", "table2", "table4"), published="gola"
    ),
    Contender(
        operator="gola",
        title="GOLA, preset default",
        targets=(*TABLES, "heatmaps", "densities"),
        published="gola",
        always_repeated=True,
    ),
    Contender(
        operator=OURS, title="auto (ours)", targets=("table1", "table2", "table3", "table4"), always_repeated=True
    ),
    Contender(operator="linear", title="linear (closed form)", always_repeated=True),
    Contender(operator="kernel", title="kernel (closed form)", always_repeated=True),
    Contender(operator="nearest", title="nearest (closed form)", always_repeated=True),
    Contender(operator="mean", title="mean (closed form)", always_repeated=True),
)
