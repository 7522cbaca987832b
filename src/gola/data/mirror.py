"""Samples reflected and turned: points move, and with them the components of vectors and tensors."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from gola.data.frame import Frame
from gola.data.sample import Channel, Sample
from gola.geometry.symmetry import AXES, Symmetry


@dataclass(frozen=True)
class Components:
    """Which channels are components of vectors and tensors, by the axes at the end of their names.

    ``velocity_x`` belongs to a vector, ``stress_xy`` to a symmetric tensor; every other channel is a scalar.

    Attributes:
        names: For each channel the name of what it belongs to, and the axes of the component.
    """

    names: tuple[tuple[str, tuple[int, ...]], ...]

    @staticmethod
    def of(channels: Sequence[Channel]) -> "Components":
        """Read the names of channels."""
        return Components(tuple(_component(channel.name) for channel in channels))

    def allow(self, symmetry: Symmetry) -> bool:
        """Whether all components are there that a symmetry turns into each other."""
        return all(self._source(name, axes, symmetry) in self.names for name, axes in self.names)

    def turned(
        self, values: Float[np.ndarray, "point channel"], symmetry: Symmetry
    ) -> Float[np.ndarray, "point channel"]:
        """Return the values that the image of a field has at the images of the points.

        >>> flow = Components.of([Channel(name="flow_x"), Channel(name="flow_y")])
        >>> flow.turned(np.array([[1.0, 2.0]]), Symmetry.parse("-yx")).tolist()
        [[-2.0, 1.0]]
        """
        if not any(axes for _, axes in self.names):
            return values
        sources = [self.names.index(self._source(name, axes, symmetry)) for name, axes in self.names]
        flips = [sum(symmetry.flips[axis] for axis in axes if axis < symmetry.dim) for _, axes in self.names]
        return values[:, sources] * (-1.0) ** np.array(flips)

    @staticmethod
    def _source(name: str, axes: tuple[int, ...], symmetry: Symmetry) -> tuple[str, tuple[int, ...]]:
        """Return the component that becomes this one; what points out of the plane goes on to do so."""
        return name, tuple(sorted(symmetry.axes[axis] if axis < symmetry.dim else axis for axis in axes))


@dataclass(frozen=True, kw_only=True)
class Mirror:
    """Makes the images of samples under symmetries of the box around them.

    Attributes:
        frame: The box.
        inputs: How input channels turn with the axes.
        targets: The same of target channels.
        parameters: The same of parameters, which may be components of a load.
    """

    frame: Frame
    inputs: Components
    targets: Components
    parameters: Components = field(default_factory=lambda: Components(()))

    @staticmethod
    def of(
        frame: Frame, inputs: Sequence[Channel], targets: Sequence[Channel], parameters: Sequence[Channel] = ()
    ) -> "Mirror":
        """Make a mirror for samples with these channels; scalars, where none are named."""
        return Mirror(
            frame=frame,
            inputs=Components.of(inputs),
            targets=Components.of(targets),
            parameters=Components.of(parameters),
        )

    def allows(self, symmetry: Symmetry) -> bool:
        """Whether samples have all channels that it takes to turn them."""
        return all(components.allow(symmetry) for components in (self.inputs, self.targets, self.parameters))

    def image(self, sample: Sample, symmetry: Symmetry) -> Sample:
        """Return the image of a sample, at the images of its points."""
        sides = np.array(self.frame.sides)
        return Sample(
            points=symmetry.images_in_box(sample.points, self.frame.lower, sides),
            inputs=self.inputs.turned(sample.inputs, symmetry),
            targets=self.targets.turned(sample.targets, symmetry),
            parameters=self.parameters.turned(sample.parameters[None], symmetry)[0],
        )


def _component(name: str) -> tuple[str, tuple[int, ...]]:
    found = re.fullmatch(f"(.+[_ ])([{AXES}]{{1,2}})", name)
    return (found[1], tuple(sorted(AXES.index(axis) for axis in found[2]))) if found else (name, ())
