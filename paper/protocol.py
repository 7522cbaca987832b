"""How the paper's experiments are done here: data, sizes, operators. Everything that a test may want to make tiny."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from paper import published
from paper.contenders import CONTENDERS, Contender

TITLES = {
    "darcy": "Darcy flow",
    "advection": "Advection",
    "eikonal": "Eikonal",
    "nonlinear_diffusion": "Nonlinear diffusion",
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
class Protocol:
    """Data and sizes of the paper's tables and figures.

    Attributes:
        problems: In the order of the paper's tables.
        parameters: Of these problems, where not their defaults; problems on meshes, in the ablation, have none.
        num_samples: Of each data set; each run draws its training and test samples from them.
        data_seed: Of the generator. Presets were chosen on samples of seed 0, so none of those may be a test sample.
        num_test: Test samples.
        few: Training samples of Table 1.
        many: Training samples of Tables 2, 3 and 4.
        num_points: Points of Tables 1 and 2.
        densities: Numbers of points of Table 3.
        test_points: Numbers of points that Table 4 evaluates at.
        dense: Points of Table 5.
        dense_sizes: Training samples of Table 5.
        sizes: Training samples of the curves.
        contenders: The operators.
        capacity: The study of capacity.
    """

    problems: tuple[str, ...] = published.PROBLEMS
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"resolution": 128})
    num_samples: int = 200
    data_seed: int = 1
    num_test: int = 100
    few: int = 30
    many: int = 100
    num_points: int = 1000
    densities: tuple[int, ...] = (20, 500, 1000)
    test_points: tuple[int, ...] = (100, 500, 1000, 2000, 4000)
    dense: int = 4000
    dense_sizes: tuple[int, ...] = (20, 40, 60, 80, 100)
    sizes: tuple[int, ...] = published.SIZES
    contenders: tuple[Contender, ...] = CONTENDERS
    capacity: Capacity = field(default_factory=Capacity)

    def parameters_of(self, problem: str) -> Mapping[str, Any]:
        """Return the parameters of a problem."""
        return self.parameters if problem in self.problems else {}

    def of_target(self, target: str) -> list[Contender]:
        """Return the operators that stand in a table or figure."""
        return [contender for contender in self.contenders if target in contender.targets]

    def title_of(self, operator: str) -> str:
        """Return what tables call an operator."""
        return next((contender.title for contender in self.contenders if contender.operator == operator), operator)
