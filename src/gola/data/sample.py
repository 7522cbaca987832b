"""One simulation: what it was given, numbers and functions, and its solution, known at the same scattered points.

A transient simulation is one sample too: a trajectory, whose solution is known at several times.
"""

import math
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
            the domain decide alone. In a trajectory it may have one such table for each time.
        targets: The solution u at the points, one column per channel; no columns where it is not known. In a trajectory
            there is one such table for each time.
        boundary: Which points lie on the boundary, where it is known.
        cells: Simplices (lines, triangles or tetrahedra) over the points, where the data came from a mesh.
        weights: Quadrature weights of the points, where they are known.
        parameters: Numbers of the whole sample, such as a Reynolds number, a load or a thickness.
        times: The times of a trajectory, ascending; None for a sample without time.
    """

    points: Float[np.ndarray, "point dim"]
    inputs: Float[np.ndarray, "*input_time point input_channel"]
    targets: Float[np.ndarray, "*time point target_channel"]
    boundary: Bool[np.ndarray, " point"] | None = None
    cells: Int[np.ndarray, "cell vertex"] | None = None
    weights: Float[np.ndarray, " point"] | None = None
    parameters: Float[np.ndarray, " parameter"] = field(default_factory=lambda: np.empty(0))
    times: Float[np.ndarray, " _"] | None = None

    @property
    def num_points(self) -> int:
        """Number of points of this sample."""
        return len(self.points)

    @property
    def dim(self) -> int:
        """Number of coordinates of a point."""
        return self.points.shape[1]

    @property
    def has_time(self) -> bool:
        """Whether this is a trajectory."""
        return self.times is not None

    @property
    def has_inputs_per_time(self) -> bool:
        """Whether this is a trajectory whose input function changes with time."""
        return self.inputs.ndim == 3

    def select(self, rows: Int[np.ndarray, " kept"]) -> "Sample":
        """Return the sample at some of its points; cells and weights, which belong to all points, stay behind."""
        return Sample(
            points=self.points[rows],
            inputs=self.inputs[..., rows, :],
            targets=self.targets[..., rows, :],
            boundary=None if self.boundary is None else self.boundary[rows],
            parameters=self.parameters,
            times=self.times,
        )


def as_rows(values: Float[np.ndarray, "*time point channel"]) -> Float[np.ndarray, "row channel"]:
    """Return the tables of all times below each other, in one table; the values are not copied if they lie so."""
    return values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
