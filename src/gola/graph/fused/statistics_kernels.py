"""The compiled loops behind :mod:`gola.graph.fused.statistics`.

The innermost loop runs over the channels of a row, which are contiguous and become vector instructions. LLVM has to
compare the addresses of the rows that such a loop writes and reads, to know that they do not overlap, and gives up
beyond eight comparisons. That is why there are several short loops.
"""

import functools
import math
from typing import Any, no_type_check

from gola.graph.fused.threads import array, claim, compiled, is_sound, lists, part_within, refuse, size, subroutine


@functools.cache
def forward_loop(dtype: Any, epsilon: float) -> Any:
    """Over receivers: values -> mean, max, min, std."""

    # The constants are variables of the enclosing function, because then the copy on disk is kept apart by them.
    @no_type_check
    def forward(arguments):
        ranges, offsets, senders, num_senders = lists(arguments)
        num_receivers, width = len(offsets) - 1, size(arguments, 0)
        values = array(arguments, 0, (num_senders, width), dtype)
        mean = array(arguments, 1, (num_receivers, width), dtype)
        largest = array(arguments, 2, (num_receivers, width), dtype)
        smallest = array(arguments, 3, (num_receivers, width), dtype)
        std = array(arguments, 4, (num_receivers, width), dtype)
        claimed = claim(arguments)
        while claimed < len(ranges) - 1:
            for i in range(ranges[claimed], ranges[claimed + 1]):
                start, stop = offsets[i], offsets[i + 1]
                if not is_sound(senders, start, stop, num_senders):
                    refuse(arguments)
                    continue
                _clear(i, mean)
                _clear(i, largest)
                _clear(i, smallest)
                _clear(i, std)
                if start < stop:
                    share = dtype(1 / (stop - start))
                    _mean(i, start, stop, senders, values, share, mean)
                    _std(i, start, stop, senders, values, mean, share, dtype(epsilon), std)
                    _extremes(i, start, stop, senders, values, mean, largest, smallest)
            claimed = claim(arguments)

    return compiled(forward)


@functools.cache
def coefficients_loop(dtype: Any) -> Any:
    """Over receivers: values, max, min, std and the gradients of these -> what a neighbour gets of the gradients."""

    @no_type_check
    def coefficients(arguments):
        ranges, offsets, senders, num_senders = lists(arguments)
        num_receivers, width = len(offsets) - 1, size(arguments, 0)
        values = array(arguments, 0, (num_senders, width), dtype)
        largest = array(arguments, 1, (num_receivers, width), dtype)
        smallest = array(arguments, 2, (num_receivers, width), dtype)
        std = array(arguments, 3, (num_receivers, width), dtype)
        grad_largest = array(arguments, 4, (num_receivers, width), dtype)
        grad_smallest = array(arguments, 5, (num_receivers, width), dtype)
        grad_std = array(arguments, 6, (num_receivers, width), dtype)
        to_largest = array(arguments, 7, (num_receivers, width), dtype)
        to_smallest = array(arguments, 8, (num_receivers, width), dtype)
        to_deviation = array(arguments, 9, (num_receivers, width), dtype)
        claimed = claim(arguments)
        while claimed < len(ranges) - 1:
            for i in range(ranges[claimed], ranges[claimed + 1]):
                start, stop = offsets[i], offsets[i + 1]
                if start < stop:
                    _share_between_equals(i, start, stop, senders, values, largest, grad_largest, to_largest)
                    _share_between_equals(i, start, stop, senders, values, smallest, grad_smallest, to_smallest)
                    share = dtype(1 / (stop - start))
                    for c in range(width):
                        to_deviation[i, c] = grad_std[i, c] * share / std[i, c]
            claimed = claim(arguments)

    return compiled(coefficients)


@functools.cache
def backward_loop(dtype: Any) -> Any:
    """Over senders: values, mean, max, min, the gradient of the mean and the coefficients -> gradient of the values."""

    @no_type_check
    def backward(arguments):
        ranges, offsets, senders, num_senders = lists(arguments)
        num_receivers, width = len(offsets) - 1, size(arguments, 0)
        values = array(arguments, 0, (num_senders, width), dtype)
        mean = array(arguments, 1, (num_receivers, width), dtype)
        largest = array(arguments, 2, (num_receivers, width), dtype)
        smallest = array(arguments, 3, (num_receivers, width), dtype)
        grad_mean = array(arguments, 4, (num_receivers, width), dtype)
        to_largest = array(arguments, 5, (num_receivers, width), dtype)
        to_smallest = array(arguments, 6, (num_receivers, width), dtype)
        to_deviation = array(arguments, 7, (num_receivers, width), dtype)
        grad_values = array(arguments, 8, (num_senders, width), dtype)
        zero = dtype(0)
        claimed = claim(arguments)
        while claimed < len(ranges) - 1:
            first, last = ranges[claimed], ranges[claimed + 1]
            for j in range(first, last):
                _clear(j, grad_values)
            for i in range(num_receivers):
                start, stop = part_within(senders, offsets[i], offsets[i + 1], first, last)
                share = dtype(1 / (offsets[i + 1] - offsets[i]))
                for edge in range(start, stop):
                    j = senders[edge]
                    for c in range(width):
                        value = values[j, c]
                        gradient = share * grad_mean[i, c] + to_deviation[i, c] * (value - mean[i, c])
                        gradient += to_largest[i, c] if value == largest[i, c] else zero
                        gradient += to_smallest[i, c] if value == smallest[i, c] else zero
                        grad_values[j, c] += gradient
            claimed = claim(arguments)

    return compiled(backward)


@subroutine
@no_type_check
def _clear(i, rows):
    for c in range(rows.shape[1]):
        rows[i, c] = 0


@subroutine
@no_type_check
def _mean(i, start, stop, senders, values, share, mean):
    # Differences to the first neighbour are added up: exact where neighbours agree, and small where they nearly do.
    first = senders[start]
    for edge in range(start + 1, stop):
        j = senders[edge]
        for c in range(values.shape[1]):
            mean[i, c] += values[j, c] - values[first, c]
    for c in range(values.shape[1]):
        mean[i, c] = values[first, c] + mean[i, c] * share


@subroutine
@no_type_check
def _std(i, start, stop, senders, values, mean, share, epsilon, std):
    for edge in range(start, stop):
        j = senders[edge]
        for c in range(values.shape[1]):
            deviation = values[j, c] - mean[i, c]
            std[i, c] += deviation * deviation
    for c in range(values.shape[1]):
        std[i, c] = math.sqrt(std[i, c] * share + epsilon)


@subroutine
@no_type_check
def _extremes(i, start, stop, senders, values, mean, largest, smallest):
    first = senders[start]
    for c in range(values.shape[1]):
        largest[i, c] = smallest[i, c] = values[first, c]
    for edge in range(start + 1, stop):
        j = senders[edge]
        for c in range(values.shape[1]):
            value = values[j, c]
            largest[i, c] = value if value > largest[i, c] else largest[i, c]
            smallest[i, c] = value if value < smallest[i, c] else smallest[i, c]
    for c in range(values.shape[1]):
        # A NaN fails every comparison, so it comes from the mean.
        largest[i, c] = largest[i, c] if mean[i, c] == mean[i, c] else mean[i, c]
        smallest[i, c] = smallest[i, c] if mean[i, c] == mean[i, c] else mean[i, c]


@subroutine
@no_type_check
def _share_between_equals(i, start, stop, senders, values, extreme, gradient, share):
    """Divide the gradient of an extreme by the number of neighbours that reach it."""
    zero, one = values.dtype.type(0), values.dtype.type(1)
    for c in range(values.shape[1]):
        share[i, c] = zero
    for edge in range(start, stop):
        j = senders[edge]
        for c in range(values.shape[1]):
            share[i, c] += one if values[j, c] == extreme[i, c] else zero
    for c in range(values.shape[1]):
        share[i, c] = gradient[i, c] / share[i, c]
