"""Many small decompositions are quickest on one thread: to wake others for each takes longer than the work."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch compute on one thread for a while; on a busy machine several are up to twenty times slower."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(num_threads)
