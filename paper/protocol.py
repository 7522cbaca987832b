"""How the paper's experiments are done here: data, sizes, operators. Everything that a test may want to make tiny."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from paper import published
from paper.contenders import CONTENDERS, Contender

TITLES = {
    "darcy": "Darcy flow",
    "advection": "Advection",
    "eikonal": "Eikonal",
    "nonlinear_diffusion": "Nonlinear diffusion",
    "zero_mean_diffusion": "Nonlinear diffusion, zero-mean forcing",
    "perforated_darcy": "Perforated Darcy flow",
    "plate_elasticity": "Plate elasticity",
    "heat_sink": "Heat sink",
}
"""What tables call the problems."""


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """What grows in the study of capacity, one at a time (the paper's section 4).

    Attributes:
        problem: On which problem.
        operator: Of which operator.
        num_points: Numbers of points.
        settings: Values to try of the operator's settings.
    """

    problem: str = "darcy"
    operator: str = "gola"
    num_points: tuple[int, ...] = (100, 250, 500, 1000, 2000, 4000)
    settings: Mapping[str, tuple[int, ...]] = field(
        default_factory=lambda: {"num_modes": (4, 16, 64, 128, 256, 512), "width": (8, 16, 32, 64, 128)}
    )

    def changes(self) -> Iterator[tuple[str, int]]:
        """Return every setting with every value to try."""
        return ((name, value) for name, values in self.settings.items() for value in values)


@dataclass(frozen=True, kw_only=True)
class Law:
    """How the samples of a problem are drawn.

    Attributes:
        problem: The problem in the library.
        parameters: Its parameters, where not the defaults.
    """

    problem: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


LAWS = {
    # Mean and length of the forcing explain most of what is published: see the notes on the paper.
    "nonlinear_diffusion": Law(problem="nonlinear_diffusion", parameters={"mean_forcing": 2.0, "length_scale": 0.1}),
    "zero_mean_diffusion": Law(problem="nonlinear_diffusion"),
}
"""Laws of problems that are not simply the library's problem of that name."""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Data and sizes of the paper's tables and figures.

    Attributes:
        problems: In the order of the paper's tables.
        further_problems: Other laws of the same problems, for Tables 1 and 2.
        laws: How their samples are drawn, where not as the library's problem of that name does.
        parameters: Of all these problems, where not their defaults; problems on meshes, in the ablation, have none.
        redrawn: Operators that see points drawn again from a training sample's grid in every epoch, as the code that
            the paper follows does.
        strict: Those of them that have a second line in Tables 1 and 2, with points drawn once.
        num_samples: Of each data set; each run draws its training and test samples from them.
        data_seed: Of the generator. Presets were chosen on samples of seeds 0 and 5, and nobody has looked at these.
        num_test: Test samples.
        few: Training samples of Table 1.
        many: Training samples of Tables 2, 3 and 4.
        num_points: Points of Tables 1 and 2.
        densities: Numbers of points of Table 3.
        test_points: Numbers of points that Table 4 evaluates at.
        dense: Points of Table 5.
        dense_sizes: Training samples of Table 5.
        sizes: Training samples of the curves.
        curve_resolution: Grid points along each axis that operators on the full grid see in the curves, which is
            cheaper than the grid of the tables; None for that one.
        contenders: The operators.
        capacity: The study of capacity.
    """

    problems: tuple[str, ...] = published.PROBLEMS
    further_problems: tuple[str, ...] = ("zero_mean_diffusion",)
    laws: Mapping[str, Law] = field(default_factory=lambda: LAWS)
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"resolution": 128})
    redrawn: tuple[str, ...] = ("gkn", "gola/paper", "gola")
    strict: tuple[str, ...] = ("gkn", "gola")
    num_samples: int = 200
    data_seed: int = 18924
    num_test: int = 100
    few: int = 30
    many: int = 100
    num_points: int = 1000
    densities: tuple[int, ...] = (20, 500, 1000)
    test_points: tuple[int, ...] = (100, 500, 1000, 2000, 4000)
    dense: int = 4000
    dense_sizes: tuple[int, ...] = (20, 40, 60, 80, 100)
    sizes: tuple[int, ...] = published.SIZES
    curve_resolution: int | None = 64
    contenders: tuple[Contender, ...] = CONTENDERS
    capacity: Capacity = field(default_factory=Capacity)

    @property
    def compared(self) -> tuple[str, ...]:
        """The problems of Tables 1 and 2."""
        return (*self.problems, *self.further_problems)

    def law_of(self, problem: str) -> Law:
        """Return how the samples of a problem are drawn; ``"darcy_64"`` has 64 grid points along each axis."""
        name, resolution = split_resolution(problem)
        law = self.laws.get(name, Law(problem=name))
        if name not in self.compared:
            return law
        finer = {} if resolution is None else {"resolution": resolution}
        return replace(law, parameters={**self.parameters, **law.parameters, **finer})

    def on_curves(self, problem: str, contender: Contender) -> str:
        """Return the problem that an operator sees in the curves."""
        coarse = contender.on_grid and self.curve_resolution is not None
        return f"{problem}_{self.curve_resolution}" if coarse else problem

    def redraws(self, operator: str) -> bool:
        """Whether an operator sees points drawn again in every epoch."""
        return operator.removesuffix("/default") in self.redrawn

    def of_target(self, target: str) -> list[Contender]:
        """Return the operators that stand in a table or figure."""
        return [contender for contender in self.contenders if target in contender.targets]

    def title_of(self, operator: str) -> str:
        """Return what tables call an operator."""
        return next((contender.title for contender in self.contenders if contender.operator == operator), operator)


def split_resolution(problem: str) -> tuple[str, int | None]:
    """Return a problem's name and its own resolution, if it has one.

    >>> split_resolution("darcy_64"), split_resolution("nonlinear_diffusion")
    (('darcy', 64), ('nonlinear_diffusion', None))
    """
    name, _, resolution = problem.rpartition("_")
    return (name, int(resolution)) if resolution.isdigit() else (problem, None)


BEFORE = Protocol(further_problems=(), laws={}, redrawn=(), strict=(), curve_resolution=None, data_seed=1)
"""The first protocol, which the ablation was made with: points drawn once, and nonlinear diffusion with a zero-mean
forcing."""
