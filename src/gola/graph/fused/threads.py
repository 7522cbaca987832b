"""Run compiled loops over neighbour lists on the threads that torch already has.

A second pool of threads would cost more than it gives: torch's OpenMP threads go on spinning for milliseconds after
each of their loops, and the newcomers wait for a free core. So Numba compiles a loop to a plain C function, and the
OpenMP runtime that torch loaded runs it as it runs torch's own loops: on the same threads, as many as
``torch.set_num_threads`` says. Where that runtime cannot be found (Windows), the loop runs on one thread.

The function takes an array of addresses: of a few integers, of the ranges of rows to work on, of the neighbour lists,
and of the tensors it reads and writes. Every thread claims one range after the other until none is left. The result of
a row does not depend on who computes it, so the number of threads changes nothing, to the last bit.
"""

import ctypes
import functools
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, no_type_check

import numba
import numpy as np
import torch
from jaxtyping import Int
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic
from torch import Tensor

from gola.graph.neighbourhood import Neighbourhood

Ranges = Int[Tensor, " range_plus_one"]
"""Where each range of rows starts, and the number of rows at the end."""

# Sums may be reordered and products fused with additions, so that loops over channels become vector instructions.
# NaN and infinity keep their meaning.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": False, "fastmath": {"contract", "nsz", "reassoc"}}

# Below this much work (edges times channels) waking the threads takes longer than the loop.
_WORTH_SHARING = 2**15
# Several, so that a thread with long lists or on a busy core does not keep the others waiting.
_RANGES_PER_THREAD = 8


def subroutine(function: Callable[..., Any]) -> Any:
    """Compile a function that loops call.

    Numba infers types by itself. Functions for it are marked ``@no_type_check``, by which the shape checker of the
    tests knows not to wrap them.
    """
    return numba.njit(**_OPTIONS)(function)


def compiled(loop: Callable[[Any], None]) -> Any:
    """Compile a loop over claimed ranges to a C function, kept on disk for the next start."""
    # Numba drops its copy on disk when the file of the loop changes; by this name also when this file does.
    loop.__qualname__ += f"_{zlib.crc32(Path(__file__).read_bytes()):08x}"
    signature = types.void(types.CPointer(types.voidptr))  # type: ignore[no-untyped-call]
    try:
        return numba.cfunc(signature, cache=True, **_OPTIONS)(loop)
    except RuntimeError:
        # There is no place to keep it, neither beside this file nor in the user's cache directory.
        return numba.cfunc(signature, **_OPTIONS)(loop)


def scalar_type(values: Tensor) -> Any:
    """Return NumPy's scalar of the tensor's precision, single or double."""
    return {torch.float32: np.float32, torch.float64: np.float64}[values.dtype]


def launch(
    loop: Any, neighbourhood: Neighbourhood, ranges: Ranges, tensors: Sequence[Tensor], sizes: Sequence[int]
) -> None:
    """Run a compiled loop on all ranges.

    Args:
        loop: What :func:`compiled` returned.
        neighbourhood: The lists.
        ranges: Rows to work on: receivers or senders.
        tensors: What the loop reads and writes, contiguous and on the CPU.
        sizes: Further integers that the loop needs.
    """
    offsets = neighbourhood.offsets.to(torch.int64).contiguous()
    senders = neighbourhood.senders.to(torch.int64).contiguous()
    num_ranges = len(ranges) - 1
    lengths = neighbourhood.num_receivers, neighbourhood.num_edges, neighbourhood.num_senders
    integers = np.array([0, 0, num_ranges, *lengths, *sizes], dtype=np.int64)
    addresses = [tensor.data_ptr() for tensor in (ranges, offsets, senders, *tensors)]
    arguments = (ctypes.c_void_p * (1 + len(addresses)))(integers.ctypes.data, *addresses)
    num_threads = min(torch.get_num_threads(), num_ranges)
    parallel = _parallel()
    if num_threads > 1 and parallel is not None:
        parallel(ctypes.c_void_p(loop.address), arguments, ctypes.c_uint(num_threads), ctypes.c_uint(0))
    else:
        loop.ctypes(arguments)
    if integers[1]:
        raise ValueError(
            "Neighbour lists must lie within the edges and name existing senders in ascending order, and"
            f" {integers[1]} of {neighbourhood.num_receivers} do not. Build them with gola.graph.radius_neighbourhood"
            " or its siblings, or sort each list."
        )


def receiver_ranges(neighbourhood: Neighbourhood, width: int) -> Ranges:
    """Divide the receivers into ranges with about equally many edges."""
    return _balanced(neighbourhood.offsets, _num_ranges(neighbourhood, width, _RANGES_PER_THREAD))


def sender_ranges(neighbourhood: Neighbourhood, width: int) -> Ranges:
    """Divide the senders into one range per thread, few because each is looked for in the lists of all receivers."""
    num_ranges = _num_ranges(neighbourhood, width, 1)
    if neighbourhood.num_senders == neighbourhood.num_receivers:
        # Most likely symmetric, and then a point sends as often as it hears.
        return _balanced(neighbourhood.offsets, num_ranges)
    return torch.arange(num_ranges + 1) * neighbourhood.num_senders // num_ranges


def _num_ranges(neighbourhood: Neighbourhood, width: int, per_thread: int) -> int:
    if neighbourhood.num_edges * width < _WORTH_SHARING:
        return 1
    return per_thread * torch.get_num_threads()


def _balanced(offsets: Int[Tensor, " row_plus_one"], num_ranges: int) -> Ranges:
    ranges = torch.searchsorted(offsets, torch.arange(num_ranges + 1) * offsets[-1] // num_ranges)
    ranges[0], ranges[-1] = 0, len(offsets) - 1
    return ranges


@functools.cache
def _parallel() -> Any:
    """Return the entry of torch's OpenMP runtime: that of GNU, which the runtimes of LLVM and Intel offer as well."""
    if sys.platform == "win32" or not torch.backends.openmp.is_available():
        return None
    return getattr(ctypes.CDLL(None), "GOMP_parallel", None)


@intrinsic
@no_type_check
def _fetch_and_add_one(_, address, position):
    """Add one to an integer in an array and return what it was, whoever else does so at the same time."""

    def code(context, builder, signature, arguments):  # noqa: ARG001 (Numba passes all four)
        integer = context.get_value_type(types.int64)
        first = builder.bitcast(arguments[0], integer.as_pointer())
        return builder.atomic_rmw("add", builder.gep(first, [arguments[1]]), integer(1), "monotonic")

    return types.int64(address, position), code


@subroutine
@no_type_check
def claim(arguments):
    """Return the number of a range that nobody has claimed yet; beyond the last one there is nothing left to do."""
    return _fetch_and_add_one(arguments[0], 0)


@subroutine
@no_type_check
def refuse(arguments):
    """Report a list that cannot be used."""
    _fetch_and_add_one(arguments[0], 1)


@subroutine
@no_type_check
def lists(arguments):
    """Return ranges, offsets, senders and the number of senders."""
    sizes = carray(arguments[0], (6,), np.int64)
    return (
        carray(arguments[1], (sizes[2] + 1,), np.int64),
        carray(arguments[2], (sizes[3] + 1,), np.int64),
        carray(arguments[3], (sizes[4],), np.int64),
        sizes[5],
    )


@subroutine
@no_type_check
def size(arguments, position):
    """Return one of the sizes that were passed to :func:`launch`."""
    return carray(arguments[0], (7 + position,), np.int64)[6 + position]


@subroutine
@no_type_check
def array(arguments, position, shape, dtype):
    """Return one of the tensors that were passed to :func:`launch`."""
    return carray(arguments[4 + position], shape, dtype)


@subroutine
@no_type_check
def is_sound(senders, start, stop, num_senders):
    """Whether a list can be followed without leaving memory, and searched for a range of senders."""
    if start < 0 or stop < start or stop > senders.shape[0]:
        return False
    previous = 0
    for edge in range(start, stop):
        if senders[edge] < previous or senders[edge] >= num_senders:
            return False
        previous = senders[edge]
    return True


@subroutine
@no_type_check
def part_within(senders, start, stop, first, last):
    """Return where in an ascending list the senders from ``first`` up to, but without, ``last`` stand."""
    while start < stop and senders[start] < first:
        start += 1
    while start < stop and senders[stop - 1] >= last:
        stop -= 1
    return start, stop
