"""The compiled loops behind :mod:`gola.graph.fused.attention`.

Rows are read in blocks of four neighbours and two heads, so that each number loaded takes part in several products. At
the end of a list, or with an odd number of heads, a block repeats the last one, with weight zero where it would count.
"""

import functools
import math
from typing import Any, no_type_check

import numpy as np

from gola.graph.fused.threads import array, claim, compiled, is_sound, lists, part_within, refuse, size, subroutine


@functools.cache
def forward_loop(dtype: Any) -> Any:
    """Over receivers: queries, values -> attention, weighted sums."""

    @no_type_check
    def forward(arguments):
        ranges, offsets, senders, num_senders = lists(arguments)
        num_receivers, num_heads, width = len(offsets) - 1, size(arguments, 0), size(arguments, 1)
        queries = array(arguments, 0, (num_receivers, num_heads, width), dtype)
        values = array(arguments, 1, (num_senders, width), dtype)
        attention = array(arguments, 2, (len(senders), num_heads), dtype)
        result = array(arguments, 3, (num_receivers, num_heads, width), dtype)
        claimed = claim(arguments)
        while claimed < len(ranges) - 1:
            for i in range(ranges[claimed], ranges[claimed + 1]):
                start, stop = offsets[i], offsets[i + 1]
                if not is_sound(senders, start, stop, num_senders):
                    refuse(arguments)
                    continue
                _products(i, start, stop, senders, queries, values, attention)
                _softmax(start, stop, attention)
                _weighted_sums(i, start, stop, senders, attention, values, result)
            claimed = claim(arguments)

    return compiled(forward)


@functools.cache
def queries_loop(dtype: Any) -> Any:
    """Over receivers: values, attention, gradients -> gradients of the scores, gradients of the queries."""

    @no_type_check
    def backward(arguments):
        ranges, offsets, senders, num_senders = lists(arguments)
        num_receivers, num_heads, width = len(offsets) - 1, size(arguments, 0), size(arguments, 1)
        values = array(arguments, 0, (num_senders, width), dtype)
        attention = array(arguments, 1, (len(senders), num_heads), dtype)
        gradients = array(arguments, 2, (num_receivers, num_heads, width), dtype)
        grad_scores = array(arguments, 3, (len(senders), num_heads), dtype)
        grad_queries = array(arguments, 4, (num_receivers, num_heads, width), dtype)
        claimed = claim(arguments)
        while claimed < len(ranges) - 1:
            for i in range(ranges[claimed], ranges[claimed + 1]):
                start, stop = offsets[i], offsets[i + 1]
                _products(i, start, stop, senders, gradients, values, grad_scores)
                _softmax_backward(start, stop, attention, grad_scores)
                _weighted_sums(i, start, stop, senders, grad_scores, values, grad_queries)
            claimed = claim(arguments)

    return compiled(backward)


@functools.cache
def values_loop(dtype: Any) -> Any:
    """Over senders: queries, attention, gradients, gradients of the scores -> gradients of the values."""

    @no_type_check
    def backward(arguments):
        ranges, offsets, senders, num_senders = lists(arguments)
        num_receivers, num_heads, width = len(offsets) - 1, size(arguments, 0), size(arguments, 1)
        queries = array(arguments, 0, (num_receivers, num_heads, width), dtype)
        attention = array(arguments, 1, (len(senders), num_heads), dtype)
        gradients = array(arguments, 2, (num_receivers, num_heads, width), dtype)
        grad_scores = array(arguments, 3, (len(senders), num_heads), dtype)
        grad_values = array(arguments, 4, (num_senders, width), dtype)
        claimed = claim(arguments)
        while claimed < len(ranges) - 1:
            first, last = ranges[claimed], ranges[claimed + 1]
            for j in range(first, last):
                for c in range(width):
                    grad_values[j, c] = 0
            for i in range(num_receivers):
                start, stop = part_within(senders, offsets[i], offsets[i + 1], first, last)
                for edge in range(start, stop):
                    _add_to_sender(i, edge, senders[edge], queries, attention, gradients, grad_scores, grad_values)
            claimed = claim(arguments)

    return compiled(backward)


@subroutine
@no_type_check
def _products(i, start, stop, senders, queries, values, products):
    """Inner products of the receiver's rows, one for each head, with the rows of its neighbours."""
    num_heads = queries.shape[1]
    for e0 in range(start, stop, 4):
        e1, e2, e3 = min(e0 + 1, stop - 1), min(e0 + 2, stop - 1), min(e0 + 3, stop - 1)
        j0, j1, j2, j3 = senders[e0], senders[e1], senders[e2], senders[e3]
        for h0 in range(0, num_heads, 2):
            h1 = min(h0 + 1, num_heads - 1)
            p0 = p1 = p2 = p3 = q0 = q1 = q2 = q3 = values.dtype.type(0)
            for c in range(values.shape[1]):
                p, q = queries[i, h0, c], queries[i, h1, c]
                p0 += p * values[j0, c]
                p1 += p * values[j1, c]
                p2 += p * values[j2, c]
                p3 += p * values[j3, c]
                q0 += q * values[j0, c]
                q1 += q * values[j1, c]
                q2 += q * values[j2, c]
                q3 += q * values[j3, c]
            products[e0, h0], products[e1, h0], products[e2, h0], products[e3, h0] = p0, p1, p2, p3
            products[e0, h1], products[e1, h1], products[e2, h1], products[e3, h1] = q0, q1, q2, q3


@subroutine
@no_type_check
def _softmax(start, stop, scores):
    for h in range(scores.shape[1]):
        largest = scores.dtype.type(-np.inf)
        for edge in range(start, stop):
            largest = max(largest, scores[edge, h])
        total = scores.dtype.type(0)
        for edge in range(start, stop):
            scores[edge, h] = math.exp(scores[edge, h] - largest)
            total += scores[edge, h]
        for edge in range(start, stop):
            scores[edge, h] /= total


@subroutine
@no_type_check
def _softmax_backward(start, stop, attention, gradients):
    """Turn the gradients of the attention into those of the scores, in place."""
    for h in range(attention.shape[1]):
        average = attention.dtype.type(0)
        for edge in range(start, stop):
            average += attention[edge, h] * gradients[edge, h]
        for edge in range(start, stop):
            gradients[edge, h] = attention[edge, h] * (gradients[edge, h] - average)


@subroutine
@no_type_check
def _weighted_sums(i, start, stop, senders, weights, values, sums):
    width, zero = values.shape[1], values.dtype.type(0)
    for h in range(weights.shape[1]):
        for c in range(width):
            sums[i, h, c] = zero
    for e0 in range(start, stop, 4):
        e1, e2, e3 = min(e0 + 1, stop - 1), min(e0 + 2, stop - 1), min(e0 + 3, stop - 1)
        j0, j1, j2, j3 = senders[e0], senders[e1], senders[e2], senders[e3]
        for h in range(weights.shape[1]):
            w0 = weights[e0, h]
            w1 = weights[e1, h] if e1 > e0 else zero
            w2 = weights[e2, h] if e2 > e1 else zero
            w3 = weights[e3, h] if e3 > e2 else zero
            for c in range(width):
                sums[i, h, c] += (w0 * values[j0, c] + w1 * values[j1, c]) + (w2 * values[j2, c] + w3 * values[j3, c])


@subroutine
@no_type_check
def _add_to_sender(i, edge, j, queries, attention, gradients, grad_scores, grad_values):
    """Add what one receiver gives to the gradient of one of its neighbours."""
    num_heads, zero = attention.shape[1], grad_values.dtype.type(0)
    for h0 in range(0, num_heads, 2):
        h1 = min(h0 + 1, num_heads - 1)
        a0, s0 = attention[edge, h0], grad_scores[edge, h0]
        a1 = attention[edge, h1] if h1 > h0 else zero
        s1 = grad_scores[edge, h1] if h1 > h0 else zero
        for c in range(grad_values.shape[1]):
            grad_values[j, c] += (a0 * gradients[i, h0, c] + a1 * gradients[i, h1, c]) + (
                s0 * queries[i, h0, c] + s1 * queries[i, h1, c]
            )
