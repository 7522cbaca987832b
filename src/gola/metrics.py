"""How far predictions are from the truth."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

Fields = Float[Tensor, "*batch point channel"]
"""Values at the points of a sample, or of several samples with as many points each."""
Numbers = Float[Tensor, "*batch"]

_SAMPLE = (-2, -1)


def relative_l2(predictions: Fields, targets: Fields) -> Numbers:
    r"""Return the relative L2 error of a sample, :math:`\|p - u\|_2 / \|u\|_2` over its points and channels.

    >>> float(relative_l2(torch.tensor([[1.0], [0.0]]), torch.tensor([[2.0], [0.0]])))
    0.5
    """
    return _norm(predictions - targets) / size_of(targets)


def relative_l1(predictions: Fields, targets: Fields) -> Numbers:
    r"""Return the relative L1 error of a sample, :math:`\|p - u\|_1 / \|u\|_1`."""
    total = targets.abs().sum(dim=_SAMPLE)
    return (predictions - targets).abs().sum(dim=_SAMPLE) / torch.where(total > 0.0, total, _count(targets))


def rmse(predictions: Fields, targets: Fields) -> Numbers:
    """Return the root mean square error, in the unit of the targets."""
    return _norm(predictions - targets) / _count(targets) ** 0.5


def max_error(predictions: Fields, targets: Fields) -> Numbers:
    """Return the largest error at any point, in the unit of the targets."""
    return (predictions - targets).abs().amax(dim=_SAMPLE)


def r2(predictions: Fields, targets: Fields) -> Numbers:
    r"""Return the coefficient of determination :math:`R^2 = 1 - \|p - u\|^2 / \|u - \bar u\|^2` of a sample.

    The mean of the sample itself is what the prediction has to beat. A constant target has no variation to explain:
    there it is 1 for a perfect prediction and 0 otherwise.
    """
    left, variation = _norm(predictions - targets), _norm(targets - targets.mean(dim=-2, keepdim=True))
    return torch.where(variation > 0.0, 1.0 - (left / variation) ** 2, (left == 0.0).to(left))


def variation_error(predictions: Fields, targets: Fields) -> Numbers:
    r"""Return the L2 error relative to how the target varies, :math:`\|p - u\|_2 / \|u - \bar u\|_2`.

    Where a target has a large constant part, the relative L2 error is small whatever is predicted of the rest; this
    one is not.
    """
    return _norm(predictions - targets) / size_of(targets - targets.mean(dim=-2, keepdim=True))


def relative_l2_errors(
    predictions: Float[Tensor, "point channel"],
    targets: Float[Tensor, "point channel"],
    sizes: Sequence[int],
    scales: Sequence[float] | None = None,
) -> Float[Tensor, " sample"]:
    """Return the relative L2 error of each of several samples: the paper's loss and measure (section 3.7).

    Args:
        predictions: Of all samples, one after the other.
        targets: The truth at the same points.
        sizes: Number of points of each sample.
        scales: Typical size of each channel, which makes channels of different units count alike.

    >>> relative_l2_errors(torch.tensor([[1.0], [0.0], [3.0]]), torch.tensor([[2.0], [0.0], [2.0]]), [2, 1]).tolist()
    [0.5, 0.5]
    """
    units = 1.0 if scales is None else targets.new_tensor(scales)
    pairs = zip(predictions.split(list(sizes)), targets.split(list(sizes)), strict=True)
    return torch.stack([relative_l2(found / units, truth / units) for found, truth in pairs])


def size_of(targets: Fields) -> Numbers:
    """Return the norm of a target; where it vanishes, what turns its error into a root mean square instead."""
    norm = _norm(targets)
    return torch.where(norm > 0.0, norm, _count(targets) ** 0.5)


def _norm(values: Fields) -> Numbers:
    # Squares of numbers above 1e154 or below 1e-154 leave the range of double precision, so the largest comes first.
    rows = values.flatten(-2)
    largest = rows.detach().abs().amax(dim=-1, keepdim=True)
    largest = torch.where(largest > 0.0, largest, 1.0)
    return (rows / largest).norm(dim=-1) * largest[..., 0]


def _count(values: Fields) -> float:
    return float(values.shape[-2] * values.shape[-1])
