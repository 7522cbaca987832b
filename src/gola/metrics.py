"""How far predictions are from the truth."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor


def relative_l2(
    predictions: Float[Tensor, "point channel"], targets: Float[Tensor, "point channel"], sizes: Sequence[int]
) -> Float[Tensor, " sample"]:
    r"""Return the relative L2 error of each sample, :math:`\|p - u\| / \|u\|` over its points and channels.

    The paper's loss and measure (section 3.7). Where several channels have different units, scale them first.

    Args:
        predictions: Of all samples, one after the other.
        targets: The truth at the same points.
        sizes: Number of points of each sample.

    >>> relative_l2(torch.tensor([[1.0], [0.0], [3.0]]), torch.tensor([[2.0], [0.0], [2.0]]), [2, 1]).tolist()
    [0.5, 0.5]
    """
    errors = (predictions - targets).split(list(sizes))
    truths = targets.split(list(sizes))
    return torch.stack([error.norm() / truth.norm() for error, truth in zip(errors, truths, strict=True)])
