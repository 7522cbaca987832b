"""The equations of the paper's section 3, evaluated as they are written: point by point and edge by edge.

Slow on purpose. Each function takes a layer for its weights and one sample in float64, and uses none of the rewrites
that the layers use.
"""

import itertools
import math

import torch

from gola.graph.reductions import STD_EPSILON
from gola.operators.gola.global_attention import NORM_EPSILON


def neighbours(neighbourhood):
    """The senders of each receiver, as lists of integers."""
    offsets, senders = neighbourhood.offsets.tolist(), neighbourhood.senders.tolist()
    return [senders[start:stop] for start, stop in itertools.pairwise(offsets)]


def edge_attributes(edge, points, values, i, j):
    """e_ij = (x_i, x_j, f(x_i), f(x_j)), or with relative coordinates ((x_j − x_i) / scale, f(x_i), f(x_j))."""
    if edge.scale is None:
        return torch.cat([points[i], points[j], values[i], values[j]])
    return torch.cat([(points[j] - points[i]) / edge.scale, values[i], values[j]])


def fourier_encoder(encoder, points, values, weights):
    """Section 3.3, with complex numbers."""
    coefficients = torch.view_as_complex(encoder.coefficients)
    num_inputs, width, num_modes = coefficients.shape

    def wave(m, i):
        return torch.exp(2j * math.pi * (encoder.frequencies[m] * points[i]).sum())

    rows = []
    projections = [
        [sum(weights[i] * values[i, c] * wave(m, i).conj() for i in range(len(points))) for m in range(num_modes)]
        for c in range(num_inputs)
    ]
    for i in range(len(points)):
        row = []
        for o in range(width):
            total = 0
            for m in range(num_modes):
                filtered = sum(projections[c][m] * coefficients[c, o, m] for c in range(num_inputs))
                total = total + filtered * wave(m, i)
            row.append(total.real)
        rows.append(torch.stack(row))
    return torch.stack(rows)


def message_passing(layer, features, points, values, neighbourhood):
    """Section 3.4."""
    rows = []
    for i, senders in enumerate(neighbours(neighbourhood)):
        messages = []
        for j in senders:
            encoded = layer.edge.linear(edge_attributes(layer.edge, points, values, i, j))
            messages.append(layer.message(torch.cat([features[i], features[j], encoded])))
        heard = aggregates(messages) if messages else features.new_zeros(4 * features.shape[1])
        rows.append(layer.output(layer.update(torch.cat([features[i], heard]))))
    return torch.stack(rows)


def aggregates(messages):
    """Mean, max, min and standard deviation of a list of messages."""
    mean = sum(messages) / len(messages)
    variance = sum((message - mean) ** 2 for message in messages) / len(messages)
    largest, smallest = messages[0], messages[0]
    for message in messages[1:]:
        largest, smallest = torch.maximum(largest, message), torch.minimum(smallest, message)
    return torch.cat([mean, largest, smallest, torch.sqrt(variance + STD_EPSILON)])


def global_attention(layer, features, weights):
    """Section 3.5, for one sample, head by head."""
    width = features.shape[1]
    heads = []
    for h in range(layer.num_heads):
        rows = slice(h * width, (h + 1) * width)
        queries = [layer.query.weight[rows] @ feature for feature in features]
        keys = normalised([layer.key.weight[rows] @ feature for feature in features], weights, layer.normalisation)
        values = normalised([layer.value.weight[rows] @ feature for feature in features], weights, layer.normalisation)
        summary = sum(
            weight * torch.outer(key, value) for weight, key, value in zip(weights, keys, values, strict=True)
        )
        heads.append([query @ summary for query in queries])
    return torch.stack([layer.projection(layer.output(torch.cat(parts))) for parts in zip(*heads, strict=True)])


def normalised(vectors, weights, normalisation):
    """Norm(·): over the points of the sample, channel by channel; or over the channels, point by point."""
    if normalisation == "channel":
        return [(vector - vector.mean()) / torch.sqrt(vector.var(correction=0) + NORM_EPSILON) for vector in vectors]
    mean = sum(weight * vector for weight, vector in zip(weights, vectors, strict=True))
    variance = sum(weight * (vector - mean) ** 2 for weight, vector in zip(weights, vectors, strict=True))
    return [(vector - mean) / torch.sqrt(variance + NORM_EPSILON) for vector in vectors]


def attention_message_passing(layer, features, points, values, neighbourhood):
    """Section 3.6."""
    width = features.shape[1]
    rows = []
    for i, senders in enumerate(neighbours(neighbourhood)):
        row = layer.root(features[i]) + layer.skip(features[i])
        edges = {j: layer.edge.linear(edge_attributes(layer.edge, points, values, i, j)) for j in senders}
        for h in range(layer.num_heads if senders else 0):
            head = slice(h * width, (h + 1) * width)
            query = layer.query(features[i])[head]
            scores = torch.stack(
                [query @ (layer.key(features[j]) + edges[j])[head] / math.sqrt(width) for j in senders]
            )
            attention = torch.softmax(scores, dim=0)
            for alpha, j in zip(attention, senders, strict=True):
                row = row + alpha * (layer.value(features[j]) + edges[j])[head] / layer.num_heads
        rows.append(row)
    return torch.stack(rows)


def gola(operator, cloud):
    """The whole operator, for a cloud of one sample."""
    encoded = torch.cat([cloud.points, cloud.values], dim=1) if operator.encode_points else cloud.values
    features = fourier_encoder(operator.encoder, cloud.points, encoded, cloud.weights)
    for block in operator.blocks:
        features = message_passing(block.message_passing, features, cloud.points, cloud.values, cloud.neighbourhood)
        inner, activation, outer = block.mlp.layers
        features = torch.stack([feature + outer(activation(inner(feature))) for feature in features])
        attended = global_attention(block.global_attention, features, cloud.weights)
        features = features + attended if block.attention_residual else attended
        features = attention_message_passing(
            block.attention_message_passing, features, cloud.points, cloud.values, cloud.neighbourhood
        )
    return torch.stack([operator.output(feature) for feature in features])
