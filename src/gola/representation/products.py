"""Products of large matrices by NumPy where nobody asks for gradients or records operations.

PyTorch's products of two matrices in double precision take up to twice as long as NumPy's on some processors, and as
long on others. On several threads, on other devices and of many small matrices its own are kept.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gola.recording import is_recorded

# Rows of a symmetric matrix are computed in parts of so many, each up to the diagonal: half is left out.
# What has fewer rows is one part.
_PART = 100


def product(left: Float[Tensor, "*batch row inner"], right: Float[Tensor, "inner column"]) -> Float[Tensor, "*_"]:
    """Return ``left @ right``.

    >>> product(torch.eye(2), torch.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if left.requires_grad or right.requires_grad or left.device.type != "cpu" or is_recorded():
        return left @ right
    return torch.from_numpy(left.numpy() @ right.numpy())


def symmetric_product(
    left: Float[Tensor, "row inner"], right: Float[Tensor, "inner row"], out: Float[Tensor, "row row"]
) -> None:
    """Write ``left @ right``, which has to be symmetric, to a matrix."""
    for start in range(0, len(left), _PART):
        end = min(start + _PART, len(left))
        out[start:end, :end] = product(left[start:end], right[:, :end])
        out[:start, start:end] = out[start:end, :start].T
