"""What the left-hand side of an equation sees of the inputs of a sample."""

from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.fitted_pde.elements import Elements
from gola.operators.fitted_pde.inputs import Feature, Load


@runtime_checkable
class Sighted(Protocol):
    """What says which inputs the left-hand side of an equation sees."""

    @property
    def dim(self) -> int:
        """Number of coordinates."""

    @property
    def features(self) -> tuple[Feature, ...]:
        """Of media."""

    @property
    def vectors(self) -> tuple[Load, ...]:
        """Inputs that a solution drifts along."""

    @property
    def tensors(self) -> tuple[Load, ...]:
        """Inputs that may be the matrix between gradient and flux."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Given:
    """What the left-hand side sees of the inputs of a sample.

    Attributes:
        features: Of media in each cell.
        facet_features: The same on each facet.
        vectors: Inputs to drift along, in each cell.
        tensors: Inputs that may be the matrix between gradient and flux, in each cell.
    """

    features: Float[Tensor, "cell feature"]
    facet_features: Float[Tensor, "facet feature"]
    vectors: Float[Tensor, "cell vector dim"]
    tensors: Float[Tensor, "cell tensor dim dim"]

    @staticmethod
    def of(law: Sighted, elements: Elements, values: Float[Tensor, "point channel"]) -> "Given":
        """Take means over the corners of cells and facets."""
        columns = [feature.of(values) for feature in law.features]
        features = torch.stack(columns, dim=1) if columns else values.new_zeros(len(values), 0)
        vectors = [load.of(values, elements.points) for load in law.vectors]
        along = torch.stack(vectors, dim=1) if vectors else values.new_zeros(len(values), 0, law.dim)
        tensors = [load.of(values, elements.points).unflatten(1, (law.dim, law.dim)) for load in law.tensors]
        matrices = torch.stack(tensors, dim=1) if tensors else values.new_zeros(len(values), 0, law.dim, law.dim)
        return Given(
            features=features[elements.cells].mean(dim=1),
            facet_features=features[elements.facets].mean(dim=1),
            vectors=along[elements.cells].mean(dim=1),
            tensors=matrices[elements.cells].mean(dim=1),
        )
