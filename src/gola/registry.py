"""What can be selected by name: operators, problems, file readers and writers, metrics.

Each registry holds what is built in, what a program has registered, and what installed packages offer as entry points:

.. code-block:: toml

    [project.entry-points."gola.operators"]
    my_operator = "my_package.operators:MyOperator"

Nothing is imported before it is asked for by name.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar, final

Thing = TypeVar("Thing")


@final
class Registry(Generic[Thing]):
    """Things by name.

    Args:
        what: What one of them is called, in messages.
        group: The group of entry points by which packages offer more of them.
        builtin: Where the built-in ones are, each as ``"module:name"``.
    """

    def __init__(self, what: str, *, group: str, builtin: Mapping[str, str]) -> None:
        self.what = what
        self.group = group
        self._builtin = dict(builtin)
        self._added: dict[str, Thing] = {}

    def add(self, name: str, thing: Thing) -> None:
        """Add something under a name that is still free; the same thing may be added again."""
        if self._added.get(name, thing) is not thing or name in self._builtin:
            raise ValueError(f"There is {_a(self.what)} {name!r} already; choose another name.")
        self._added[name] = thing

    def remove(self, name: str) -> None:
        """Remove something that was added."""
        del self._added[name]

    def added(self) -> dict[str, Thing]:
        """Return what this program has added, which another process does not know of."""
        return dict(self._added)

    def __getitem__(self, name: str) -> Thing:
        """Return what has this name.

        Raises:
            ValueError: If nothing has it, with the nearest name that there is; or if it cannot be imported.
        """
        if name in self._added:
            return self._added[name]
        if name in self._builtin:
            return _imported(self._builtin[name])
        for point in entry_points(group=self.group):
            if point.name == name:
                return self._loaded(point)
        raise ValueError(unknown(self.what, name, self.names()))

    def get(self, name: str, default: Thing) -> Thing:
        """Return what has this name, or something else if nothing has it."""
        return self[name] if name in self.names() else default

    def names(self) -> list[str]:
        """Return all names: built-in ones first, then added ones, then those of installed packages."""
        offered = (point.name for point in entry_points(group=self.group))
        return list(dict.fromkeys([*self._builtin, *self._added, *offered]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def values(self) -> list[Thing]:
        """Return all things, in the order of their names."""
        return [self[name] for name in self]

    def items(self) -> list[tuple[str, Thing]]:
        """Return names and things."""
        return [(name, self[name]) for name in self]

    def _loaded(self, point: Any) -> Thing:
        try:
            thing: Thing = point.load()
        except Exception as error:  # whatever a foreign package raises when it is imported
            raise ValueError(
                f"The {self.what} {point.name!r} is offered by {point.value}, which cannot be imported: {error!r}."
                " Update or remove that package."
            ) from error
        return thing


def unknown(what: str, name: str, names: Iterable[str]) -> str:
    """Say that nothing has this name, and which is nearest.

    >>> unknown("operator", "liner", ["linear", "kernel"])
    "There is no operator 'liner'; did you mean 'linear'? There are linear, kernel."
    """
    names = list(names)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"There is no {what} {name!r}{hint} There are {', '.join(names)}."


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


OPERATORS: Registry[Any] = Registry(
    "operator",
    group="gola.operators",
    builtin={
        "auto": "gola.fitting.auto.auto:Auto",
        "gola": "gola.operators.gola:Gola",
        "spectral": "gola.operators.spectral:Spectral",
        "gkn": "gola.operators.baselines.gkn:Gkn",
        "gcn": "gola.operators.baselines.gcn:Gcn",
        "fno": "gola.operators.baselines.fno:Fno",
        "deeponet": "gola.operators.baselines.deeponet:DeepONet",
        "linear": "gola.operators.linear:Linear",
        "kernel": "gola.operators.closed_form.kernel:Kernel",
        "periodic_kernel": "gola.operators.closed_form.periodic_kernel:PeriodicKernel",
        "pod_gp": "gola.operators.closed_form.pod_gp:PodGp",
        "morphed_gp": "gola.operators.closed_form.morphed_gp:MorphedGp",
        "fitted_evolution": "gola.operators.fitted_evolution:FittedEvolution",
        "fitted_pde": "gola.operators.fitted_pde:FittedPde",
        "multi_fidelity": "gola.operators.multi_fidelity:MultiFidelity",
        "pod_rbf": "gola.operators.closed_form.pod_rbf:PodRbf",
        "nearest": "gola.operators.closed_form.nearest:Nearest",
        "mean": "gola.operators.closed_form.mean:Mean",
    },
)
"""Classes derived from :class:`gola.operators.Operator`."""

PROBLEMS: Registry[Any] = Registry(
    "problem",
    group="gola.problems",
    builtin={
        "darcy": "gola.problems.darcy:Darcy",
        "advection": "gola.problems.advection:Advection",
        "eikonal": "gola.problems.eikonal:Eikonal",
        "nonlinear_diffusion": "gola.problems.nonlinear_diffusion:NonlinearDiffusion",
        "perforated_darcy": "gola.problems.perforated_darcy:PerforatedDarcy",
        "plate_elasticity": "gola.problems.plate_elasticity:PlateElasticity",
        "heat_sink": "gola.problems.heat_sink:HeatSink",
        "block_heat": "gola.problems.block_heat:BlockHeat",
        "flow_past_body": "gola.problems.flow_past_body:FlowPastBody",
        "deforming_channel": "gola.problems.deforming_channel:DeformingChannel",
        "moving_source": "gola.problems.moving_source:MovingSource",
        "burgers": "gola.problems.burgers:Burgers",
        "vorticity": "gola.problems.vorticity:Vorticity",
        "finned_cooler": "gola.problems.finned_cooler:FinnedCooler",
    },
)
"""Classes derived from :class:`gola.problems.Problem`."""

READERS: Registry[Any] = Registry(
    "file reader",
    group="gola.readers",
    builtin={
        ".npz": "gola.data.formats.tables:read_npz",
        ".csv": "gola.data.formats.tables:read_table",
        ".tsv": "gola.data.formats.tables:read_table",
        ".pvd": "gola.data.formats.series:read_pvd",
        ".series": "gola.data.formats.series:read_series",
        ".xdmf": "gola.data.formats.series:read_xdmf",
        ".xmf": "gola.data.formats.series:read_xdmf",
    },
)
"""By the ending of file names: functions from a path to a list of :class:`gola.data.formats.Case`. Files with any other
ending are read as meshes."""

WRITERS: Registry[Any] = Registry(
    "file writer",
    group="gola.writers",
    builtin={
        ".vtu": "gola.data.formats.exporting:write_mesh",
        ".vtk": "gola.data.formats.exporting:write_mesh",
        ".npz": "gola.data.formats.exporting:write_npz",
        ".csv": "gola.data.formats.exporting:write_table",
        ".pvd": "gola.data.formats.exporting:write_collection",
    },
)
"""By the ending of file names: functions of a path, a sample, its columns by name, and their units."""

METRICS: Registry[Any] = Registry(
    "metric",
    group="gola.metrics",
    builtin={
        "relative_l2": "gola.metrics:relative_l2",
        "relative_l1": "gola.metrics:relative_l1",
        "variation_error": "gola.metrics:variation_error",
        "rmse": "gola.metrics:rmse",
        "max_error": "gola.metrics:max_error",
        "r2": "gola.metrics:r2",
    },
)
"""Functions of predictions and targets, both (points, channels), that return one number."""


def register_operator(name: str, operator: Any) -> None:
    """Let an operator be selected by name: a class derived from :class:`gola.operators.Operator`."""
    OPERATORS.add(name, operator)


def register_problem(name: str, problem: Any) -> None:
    """Let a problem be selected by name: a class derived from :class:`gola.problems.Problem`."""
    PROBLEMS.add(name, problem)


def register_reader(suffix: str, read: Any) -> None:
    """Read files with this ending, like ``".dat"``, by a function from a path to a list of cases."""
    READERS.add(_suffix(suffix), read)


def register_writer(suffix: str, write: Any) -> None:
    """Write files with this ending by a function of a path, a sample, its columns and their units."""
    WRITERS.add(_suffix(suffix), write)


def register_metric(name: str, metric: Any) -> None:
    """Let a metric be selected by name: a function of predictions and targets, both (points, channels)."""
    METRICS.add(name, metric)


def _suffix(text: str) -> str:
    if not text.startswith("."):
        raise ValueError(f"The ending of file names starts with a dot, like '.dat'; got {text!r}.")
    return text.lower()
