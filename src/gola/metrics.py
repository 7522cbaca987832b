"""How far predictions are from the truth."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor


def relative_l2(
    predictions: Float[Tensor, "point channel"],
    targets: Float[Tensor, "point channel"],
    sizes: Sequence[int],
    scales: Sequence[float] | None = None,
) -> Float[Tensor, " sample"]:
    r"""Return the relative L2 error of each sample, :math:`\|p - u\| / \|u\|` over its points and channels.

    The paper's loss and measure (section 3.7).

    Args:
        predictions: Of all samples, one after the other.
        targets: The truth at the same points.
        sizes: Number of points of each sample.
        scales: Typical size of each channel, which makes channels of different units count alike.

    >>> relative_l2(torch.tensor([[1.0], [0.0], [3.0]]), torch.tensor([[2.0], [0.0], [2.0]]), [2, 1]).tolist()
    [0.5, 0.5]
    """
    if scales is not None:
        units = targets.new_tensor(scales)
        predictions, targets = predictions / units, targets / units
    errors = (predictions - targets).split(list(sizes))
    truths = targets.split(list(sizes))
    return torch.stack([error.norm() / _size(truth) for error, truth in zip(errors, truths, strict=True)])


def _size(truth: Float[Tensor, "point channel"]) -> Float[Tensor, ""]:
    # A target that vanishes has no relative error: the absolute one stands in, as a mean over points and channels.
    norm = truth.norm()
    return torch.where(norm > 0.0, norm, truth.numel() ** 0.5)
