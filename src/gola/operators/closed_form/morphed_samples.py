"""Samples on a reference shape: their own shapes become one mesh whose nodes move."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.frame import Frame
from gola.data.mirror import Components, Mirror
from gola.geometry.interpolation import interpolation_weights
from gola.geometry.shape import Shape
from gola.geometry.symmetry import Symmetry
from gola.operators.cloud import Cloud
from gola.representation.reference_shape import ReferenceShape, shape_of


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ShapedSample:
    """A sample, or the image of one under a symmetry, with the shape that its points fill.

    Attributes:
        shape: The shape.
        values: Input function and, where it is known, solution at the points.
        parameters: Numbers of the sample.
    """

    shape: Shape
    values: Float[Tensor, "point channel"]
    parameters: Float[Tensor, " parameter"]

    def at_nodes(self, reference: ReferenceShape) -> tuple[Float[Tensor, "node dim"], Float[Tensor, "node channel"]]:
        """Return the nodes of a reference shape in this one, and the values there."""
        nodes = reference.moved_nodes(self.shape)
        rows, weights = interpolation_weights(self.shape.points, nodes)
        shares = torch.from_numpy(weights)
        return torch.from_numpy(nodes), torch.einsum("nk,nkc->nc", shares, self.values[torch.from_numpy(rows)])


def shaped(cloud: Cloud, targets: Float[Tensor, "point channel"] | None = None) -> list[ShapedSample]:
    """Find the shapes of the samples of a cloud.

    Raises:
        ValueError: If the points of a sample fill no shape that can be matched to others.
    """
    values = cloud.values.double()
    known = values if targets is None else torch.cat([values, targets.double()], dim=1)
    found = []
    for number, (points, numbers) in enumerate(
        zip(cloud.points.detach().double().split(cloud.sizes), known.split(cloud.sizes), strict=True)
    ):
        shape = shape_of(points.cpu().numpy())
        if shape is None:
            raise ValueError(
                f"The points of sample {number} fill no shape that can be matched to others: its boundary touches"
                " itself, or in space has holes that go through; use another operator, like kernel."
            )
        found.append(ShapedSample(shape=shape, values=numbers, parameters=cloud.parameters[number].double()))
    return found


def as_cloud(
    nodes: Sequence[Float[Tensor, "node dim"]], values: Sequence[Tensor], parameters: Sequence[Tensor]
) -> Cloud:
    """Return the cloud of samples at the nodes of a reference shape."""
    return Cloud.collate([Cloud.of(*sample) for sample in zip(nodes, values, parameters, strict=True)])


@final
@dataclass(frozen=True, kw_only=True)
class ShapeCopies:
    """Makes the images of samples under symmetries of the box around them.

    Attributes:
        mirror: How channels turn with the axes.
    """

    mirror: Mirror

    @staticmethod
    def of(sides: Sequence[float], *channels: Components) -> "ShapeCopies":
        """Take the box from the origin with some sides, and components of inputs, targets and parameters."""
        frame = Frame(origin=(0.0,) * len(sides), extent=(1.0,) * len(sides), sides=tuple(sides))
        inputs, targets, parameters = channels
        return ShapeCopies(mirror=Mirror(frame=frame, inputs=inputs, targets=targets, parameters=parameters))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        parts = {name: getattr(self.mirror, name).names for name in ("inputs", "targets", "parameters")}
        return {"sides": list(self.mirror.frame.sides), **parts}

    @staticmethod
    def from_dict(known: dict[str, Any]) -> "ShapeCopies":
        """Undo ``to_dict``."""
        channels = [
            Components(tuple((name, tuple(axes)) for name, axes in known[part]))
            for part in ("inputs", "targets", "parameters")
        ]
        return ShapeCopies.of(known["sides"], *channels)

    def image(self, sample: ShapedSample, symmetry: Symmetry) -> ShapedSample:
        """Return the image of a sample."""
        if symmetry == Symmetry.identity(symmetry.dim):
            return sample
        channels = Components((*self.mirror.inputs.names, *(_own(one) for one in self.mirror.targets.names)))
        return ShapedSample(
            shape=self._image_of_shape(sample.shape, symmetry),
            values=torch.from_numpy(channels.turned(sample.values.numpy(), symmetry)),
            parameters=torch.from_numpy(self.mirror.parameters.turned(sample.parameters[None].numpy(), symmetry)[0]),
        )

    def _image_of_shape(self, shape: Shape, symmetry: Symmetry) -> Shape:
        box = self.mirror.frame
        points = symmetry.images_in_box(shape.points, box.lower, np.array(box.sides))
        return shape.moved(points, symmetry.is_reflection)


def _own(component: tuple[str, tuple[int, ...]]) -> tuple[str, tuple[int, ...]]:
    """Return a name for a component of a target that no input has."""
    return f"target {component[0]}", component[1]
