"""Whether PyTorch has to see every operation on tensors, as whoever records them for export needs it to.

What is quicker than PyTorch's own operations (compiled loops, other libraries) works on numbers in memory: a recording
would keep its results for one input as constants, or name what the reader of the recording does not have.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

_own_only = ContextVar("_own_only", default=False)


@contextmanager
def own_operations() -> Iterator[None]:
    """Use PyTorch's own operations only."""
    token = _own_only.set(True)
    try:
        yield
    finally:
        _own_only.reset(token)


def is_recorded() -> bool:
    """Whether only PyTorch's own operations may be used, here or because a compiler looks on."""
    return _own_only.get() or torch.compiler.is_compiling()
