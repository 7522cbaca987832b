"""Matrix products at the machine's rate, on processors where torch's own stay at half of it.

torch multiplies matrices by Intel's MKL, which leaves the 512-bit registers of other makers' processors unused: a
product in single precision then takes twice as long as it must. oneDNN, which torch ships as well, takes the widest
instructions that there are, whoever made the processor. So products that are large enough go there, in single precision
on a CPU with these registers. All else takes torch's: small products, other precisions and devices, mixed precision,
and tracing.
"""

import functools
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.recording import is_recorded

# Below so many multiplications the call takes longer than it saves,
_WORTH_CALLING = 2**22
# and with fewer rows or columns than these a copy of a matrix does.
_WORTH_COPYING = 32


def matmul(
    left: Float[Tensor, "*left row inner"], right: Float[Tensor, "*right inner column"]
) -> Float[Tensor, "*both row column"]:
    """Return ``left @ right``; of leading axes one may have fewer, and those that both have are equally long.

    >>> matmul(torch.ones(2, 3), torch.ones(3, 1)).tolist()
    [[3.0], [3.0]]
    """
    if not _is_worth_calling(left, right):
        return left @ right
    num_axes = max(left.ndim, right.ndim)
    if num_axes == 2:
        product: Tensor = Product.apply(left, right, None)  # type: ignore[no-untyped-call]
        return product
    lefts = left.unbind() if left.ndim == num_axes else [left] * len(right)
    rights = right.unbind() if right.ndim == num_axes else [right] * len(left)
    return torch.stack([matmul(ours, theirs) for ours, theirs in zip(lefts, rights, strict=True)])


def linear(
    rows: Float[Tensor, "*row inner"],
    weight: Float[Tensor, "column inner"],
    bias: Float[Tensor, " column"] | None = None,
) -> Float[Tensor, "*row column"]:
    """Return ``torch.nn.functional.linear`` of the same arguments."""
    if rows.ndim != 2 or not _is_worth_calling(rows, weight.mT):
        return nn.functional.linear(rows, weight, bias)
    product: Tensor = Product.apply(rows, weight.mT, bias)  # type: ignore[no-untyped-call]
    return product


@final
class Linear(nn.Linear):
    """``torch.nn.Linear`` by these products."""

    def forward(self, input: Float[Tensor, "*row inner"]) -> Float[Tensor, "*row column"]:  # noqa: A002 (torch's name)
        """Map the last axis."""
        return linear(input, self.weight, self.bias)


@final
class Product(torch.autograd.Function):
    """The product by oneDNN, with gradients that are such products again."""

    @staticmethod
    def forward(
        ctx: Any,
        left: Float[Tensor, "row inner"],
        right: Float[Tensor, "inner column"],
        bias: Float[Tensor, " column"] | None,
    ) -> Float[Tensor, "row column"]:
        """Multiply, and add the bias to every row."""
        ctx.save_for_backward(left, right)
        # A left matrix whose rows do not lie in memory one after the other is copied: then rather the smaller of both.
        if bias is None and not left.is_contiguous() and (right.mT.is_contiguous() or left.numel() > right.numel()):
            return _by_onednn(right.mT, _without_gaps(left), None).mT
        return _by_onednn(left, _without_gaps(right).mT, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Float[Tensor, "row column"]) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """Return the gradients of what they are wanted of."""
        left, right = ctx.saved_tensors
        to_left, to_right, to_bias = ctx.needs_input_grad
        return (
            matmul(gradient, right.mT) if to_left else None,
            matmul(left.mT, gradient) if to_right else None,
            gradient.sum(0) if to_bias else None,
        )


def _without_gaps(matrix: Float[Tensor, "row column"]) -> Float[Tensor, "row column"]:
    """Return the matrix with its rows or its columns one after the other: oneDNN is slow where there are gaps."""
    if not _has_gaps(matrix):
        return matrix
    return matrix.mT.contiguous().mT if matrix.stride(0) == 1 else matrix.contiguous()


def _has_gaps(matrix: Float[Tensor, "*more row column"]) -> bool:
    rows, columns = matrix.shape[-2:]
    return matrix.stride()[-2:] not in {(columns, 1), (1, rows)}


def _by_onednn(
    rows: Float[Tensor, "row inner"], weight: Float[Tensor, "column inner"], bias: Float[Tensor, " column"] | None
) -> Float[Tensor, "row column"]:
    # What torch's compiler calls for a linear layer with nothing after it.
    product: Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")
    return product


def _is_worth_calling(left: Tensor, right: Tensor) -> bool:
    """Whether both are plain matrices in single precision and large, on a processor that it is for."""
    num_rows, num_columns = left.shape[-2], right.shape[-1]
    return (
        num_rows * left.shape[-1] * num_columns >= _WORTH_CALLING
        and left.dtype == right.dtype == torch.float32
        and all(matrix.device.type == "cpu" and type(matrix) in (Tensor, nn.Parameter) for matrix in (left, right))
        and (min(num_rows, num_columns) >= _WORTH_COPYING or not (_has_gaps(left) or _has_gaps(right)))
        and _has_wide_registers()
        and not torch.is_autocast_enabled("cpu")
        and not is_recorded()
    )


@functools.cache
def _has_wide_registers() -> bool:
    return (
        torch.backends.mkldnn.is_available()
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )
