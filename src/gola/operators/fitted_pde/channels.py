"""What the names of channels say: which are vectors and tensors, and so which laws and loads there may be."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.mirror import Components
from gola.operators.fitted_pde.inputs import Load, features_of
from gola.operators.fitted_pde.law import Law

# Loads by so many numbers of a sample may vary with the place.
_MOST_NUMBERS = 2


@final
class ChannelNames:
    """Vectors, tensors and scalars among the channels of inputs and targets.

    Attributes:
        inputs: Of the input channels, parameters included.
        targets: Of the target channels.
    """

    def __init__(self, inputs: Components, targets: Components) -> None:
        self.inputs, self.targets = inputs, targets

    def target_groups(self, dim: int) -> list[tuple[int, ...]]:
        """Return the channels of each vector, then each other channel by itself."""
        vectors = [found for name in _names(self.targets) if (found := _vector(self.targets, name, dim))]
        taken = {channel for vector in vectors for channel in vector}
        return [*vectors, *((channel,) for channel in range(len(self.targets.names)) if channel not in taken)]

    def law(
        self, dim: int, num_components: int, values: Float[Tensor, "row channel"], numbers: Sequence[int] = ()
    ) -> Law:
        """Return the family of laws for a target with some components.

        Args:
            dim: Number of coordinates.
            num_components: Of the target.
            values: The inputs of all samples.
            numbers: Input channels that are constant in each sample.
        """
        loads, scalars = [Load(kind="constant", channels=(), scale=1.0)], []
        taken: set[int] = set()
        for name in _names(self.inputs):
            if vector := _vector(self.inputs, name, dim):
                loads.append(Load(kind="vector", channels=vector, scale=_size(values, vector)))
            elif tensor := _tensor(self.inputs, name, dim):
                loads.append(Load(kind="tensor", channels=tensor, scale=_size(values, tensor)))
            taken |= {*vector, *(() if vector else _tensor(self.inputs, name, dim))}
        for channel in range(values.shape[1]):
            if channel not in taken:
                scalars.append(channel)
                loads.append(Load(kind="scalar", channels=(channel,), scale=_size(values, (channel,))))
        features = features_of(values, scalars)
        steady = [load for load in loads if load.kind == "constant" or load.channels[0] in numbers[:_MOST_NUMBERS]]
        loads += [replace(load, factors=factors) for load in steady for factors in _monomials(dim)]
        if num_components > 1:
            loads += [replace(load, axis=axis) for load in steady for axis in range(dim)]
        return Law(dim=dim, num_components=num_components, features=features, loads=tuple(loads))


def _monomials(dim: int) -> list[tuple[int, ...]]:
    """Return the coordinates and their squares."""
    return [(axis,) * power for axis in range(dim) for power in (1, 2)]


def _names(components: Components) -> list[str]:
    return list(dict.fromkeys(name for name, axes in components.names if axes))


def _vector(components: Components, name: str, dim: int) -> tuple[int, ...]:
    wanted = [(name, (axis,)) for axis in range(dim)]
    return _channels(components, wanted)


def _tensor(components: Components, name: str, dim: int) -> tuple[int, ...]:
    wanted = [(name, tuple(sorted(axes))) for axes in product(range(dim), repeat=2)]
    return _channels(components, wanted)


def _channels(components: Components, wanted: Sequence[tuple[str, tuple[int, ...]]]) -> tuple[int, ...]:
    """Return the channels of some components; none where one is missing."""
    if not all(one in components.names for one in wanted):
        return ()
    return tuple(components.names.index(one) for one in wanted)


def _size(values: Float[Tensor, "row channel"], channels: Sequence[int]) -> float:
    size = float(values[:, list(channels)].square().mean().sqrt())
    return size if size > torch.finfo(values.dtype).tiny else 1.0
