"""One simulation: what it was given, numbers and functions, and its solution, known at the same scattered points."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A named component of the inputs or targets, or a named parameter, with its physical unit.

    Attributes:
        name: What users select it by, for instance ``"temperature"``.
        unit: For display only, for instance ``"K"``; empty where there is none.
    """

    name: str
    unit: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not isinstance(self.unit, str):
            raise ValueError(f"Name and unit of a channel are texts; got {self.name!r} and {self.unit!r}.")

    def __str__(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    @staticmethod
    def parse(text: str) -> "Channel":
        """Read a name, or a name with its unit in brackets.

        >>> Channel.parse("conductivity [W/m/K]")
        Channel(name='conductivity', unit='W/m/K')
        """
        name, _, unit = text.strip().removesuffix("]").partition("[")
        return Channel(name=name.strip(), unit=unit.strip())


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """One (f, u) pair on its own points.

    Attributes:
        points: Coordinates.
        inputs: The input function f at the points, one column per channel; no columns where parameters or the shape of
            the domain decide alone.
        targets: The solution u at the points, one column per channel; no columns where it is not known.
        boundary: Which points lie on the boundary, where it is known.
        cells: Simplices (lines, triangles or tetrahedra) over the points, where the data came from a mesh.
        weights: Quadrature weights of the points, where they are known.
        parameters: Numbers of the whole sample, such as a Reynolds number, a load or a thickness.
    """

    points: Float[np.ndarray, "point dim"]
    inputs: Float[np.ndarray, "point input_channel"]
    targets: Float[np.ndarray, "point target_channel"]
    boundary: Bool[np.ndarray, " point"] | None = None
    cells: Int[np.ndarray, "cell vertex"] | None = None
    weights: Float[np.ndarray, " point"] | None = None
    parameters: Float[np.ndarray, " parameter"] = field(default_factory=lambda: np.empty(0))

    @property
    def num_points(self) -> int:
        """Number of points of this sample."""
        return len(self.points)

    @property
    def dim(self) -> int:
        """Number of coordinates of a point."""
        return self.points.shape[1]

    def select(self, rows: Int[np.ndarray, " kept"]) -> "Sample":
        """Return the sample at some of its points; cells and weights, which belong to all points, stay behind."""
        return Sample(
            points=self.points[rows],
            inputs=self.inputs[rows],
            targets=self.targets[rows],
            boundary=None if self.boundary is None else self.boundary[rows],
            parameters=self.parameters,
        )
