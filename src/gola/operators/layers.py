"""What two or more layers share: sums over the points of each sample, and linear maps of edge attributes."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.operators.onednn import matmul


def sample_products(
    left: Float[Tensor, "point left"], right: Float[Tensor, "point right"], sizes: list[int]
) -> Float[Tensor, "sample left right"]:
    r"""Return :math:`\sum_{i \in b} l_i r_i^\top` for each sample b."""
    if len(set(sizes)) == 1:
        return matmul(_stacked(left, len(sizes)).mT, _stacked(right, len(sizes)))
    pairs = zip(torch.split(left, sizes), torch.split(right, sizes), strict=True)
    return torch.stack([matmul(ours.mT, theirs) for ours, theirs in pairs])


def sample_matmul(
    features: Float[Tensor, "point channel"], matrices: Float[Tensor, "sample channel output"], sizes: list[int]
) -> Float[Tensor, "point output"]:
    """Multiply the features of each sample by the sample's own matrix."""
    if len(set(sizes)) == 1:
        return matmul(_stacked(features, len(sizes)), matrices).flatten(0, 1)
    pairs = zip(torch.split(features, sizes), matrices, strict=True)
    return torch.cat([matmul(rows, matrix) for rows, matrix in pairs])


def sample_rows(rows: Float[Tensor, "sample channel"], sizes: list[int]) -> Float[Tensor, "point channel"]:
    """Give every point the row of its sample."""
    return torch.cat([row.expand(size, -1) for row, size in zip(rows, sizes, strict=True)])


def _stacked(rows: Float[Tensor, "point channel"], num_samples: int) -> Float[Tensor, "sample point_of_sample channel"]:
    return torch.unflatten(rows, 0, (num_samples, -1))


@final
class EdgeLinear(nn.Module):
    r"""A linear map of the edge attributes :math:`e_{ij} = (x_i, x_j, f(x_i), f(x_j))` (section 3.2).

    With :math:`z_i = (x_i, f(x_i))`, the attributes of a point, it is a sum over the two ends of the edge,
    :math:`E e_{ij} = R z_i + S z_j`, so nothing has to be computed edge by edge.

    Args:
        dim: Number of coordinates.
        num_inputs: Channels of f.
        width: Channels of the result.
        bias: Whether to add a learnable constant.
        scale: If given, the coordinates are relative and measured in this length:
            :math:`e_{ij} = ((x_j - x_i) / \text{scale}, f(x_i), f(x_j))`.
    """

    def __init__(self, *, dim: int, num_inputs: int, width: int, bias: bool, scale: float | None = None) -> None:
        super().__init__()
        self.scale = scale
        num_coordinates = dim if scale else 2 * dim
        self.linear = nn.Linear(num_coordinates + 2 * num_inputs, width, bias=bias)
        self._columns = [*[dim] * (num_coordinates // dim), num_inputs, num_inputs]

    @property
    def bias(self) -> Float[Tensor, " width"]:
        """The constant of the map."""
        return self.linear.bias

    def ends(self) -> tuple[Float[Tensor, "width attribute"], Float[Tensor, "width attribute"]]:
        """Return R and S, what the receiver's and the sender's attributes are multiplied by."""
        *coordinates, received, sent = torch.split(self.linear.weight, self._columns, dim=1)
        if self.scale:
            coordinates = [-coordinates[0] / self.scale, coordinates[0] / self.scale]
        return torch.cat([coordinates[0], received], dim=1), torch.cat([coordinates[1], sent], dim=1)
