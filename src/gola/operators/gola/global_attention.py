"""Attention over all points of a sample, linear in their number (section 3.5 of the paper)."""

from typing import Literal, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from gola.operators.layers import sample_matmul, sample_products, sample_rows
from gola.operators.onednn import linear, matmul

Normalisation = Literal["instance", "channel"]

# Added to the variances, as in torch's own normalisations.
NORM_EPSILON = 1e-5


@final
class GlobalAttention(nn.Module):
    r"""Let every point read from a summary of all points of its sample.

    .. math::
        q^h_i = Q_h h_i, \quad k^h_j &= \mathrm{Norm}(K_h h_j), \quad v^h_j = \mathrm{Norm}(V_h h_j) \\
        G_h &= \sum_j w_j \, k^h_j {v^h_j}^\top \\
        \hat h_i &= P \big( W [{q^1_i}^\top G_1, \dots, {q^H_i}^\top G_H] + b_W \big) + b_P

    All of it is linear in :math:`h_i` once the :math:`G_h` are known, so the heads collapse into one matrix for each
    sample, :math:`\hat h_i = P W \sum_h G_h^\top Q_h h_i` in short.

    ``"instance"`` normalises each channel over the points of a sample, with the weights w in mean and variance. Then
    keys and values are never built: with the covariance Σ of the features,
    :math:`G_h = D_K^{-1} K_h \Sigma V_h^\top D_V^{-1}`, where the squares of the diagonal :math:`D_K` are the diagonal
    of :math:`K_h \Sigma K_h^\top` (and a small constant). ``"channel"`` normalises over the channels of a head at
    each point, as neuraloperator's attention does.

    Args:
        width: Channels of h, and of each head.
        num_heads: Number of heads H.
        normalisation: ``"instance"`` or ``"channel"``.
    """

    def __init__(self, *, width: int, num_heads: int, normalisation: Normalisation) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.normalisation = normalisation
        self.query = nn.Linear(width, num_heads * width, bias=False)
        self.key = nn.Linear(width, num_heads * width, bias=False)
        self.value = nn.Linear(width, num_heads * width, bias=False)
        self.output = nn.Linear(num_heads * width, width)
        self.projection = nn.Linear(width, width)

    def forward(
        self, features: Float[Tensor, "point width"], weights: Float[Tensor, " point"], sizes: list[int]
    ) -> Float[Tensor, "point width"]:
        """Attend within each sample; ``sizes`` are the samples' numbers of points."""
        summarise = {"instance": self._instance_summaries, "channel": self._channel_summaries}[self.normalisation]
        summaries = summarise(features, weights, sizes)
        queries = torch.unflatten(self.query.weight, 0, (self.num_heads, -1))
        readout = matmul(self.projection.weight, self.output.weight)
        collapsed = matmul(matmul(queries.mT, summaries).transpose(1, 2).flatten(2), readout.mT)
        return sample_matmul(features, collapsed, sizes) + self.projection(self.output.bias)

    def _instance_summaries(
        self, features: Float[Tensor, "point width"], weights: Float[Tensor, " point"], sizes: list[int]
    ) -> Float[Tensor, "sample head key value"]:
        means = sample_products(weights[:, None], features, sizes)
        # Centred first: the difference of second moment and squared mean would cancel.
        centred = features - sample_rows(means[:, 0], sizes)
        covariance = sample_products(weights[:, None] * centred, centred, sizes)
        keys = matmul(self.key.weight, covariance)
        values = matmul(self.value.weight, covariance)
        keys = keys / _deviations(keys, self.key.weight)
        values = self.value.weight / _deviations(values, self.value.weight)
        heads = (self.num_heads, -1)
        return matmul(torch.unflatten(keys, 1, heads), torch.unflatten(values, 1, heads).mT)

    def _channel_summaries(
        self, features: Float[Tensor, "point width"], weights: Float[Tensor, " point"], sizes: list[int]
    ) -> Float[Tensor, "sample head key value"]:
        heads = []
        for key, value in zip(
            self.key.weight.chunk(self.num_heads), self.value.weight.chunk(self.num_heads), strict=True
        ):
            keys = layer_norm(linear(features, key), key.shape[:1], eps=NORM_EPSILON)
            values = layer_norm(linear(features, value), value.shape[:1], eps=NORM_EPSILON)
            heads.append(sample_products(weights[:, None] * keys, values, sizes))
        return torch.stack(heads, dim=1)


def _deviations(
    times_covariance: Float[Tensor, "sample channel width"], matrix: Float[Tensor, "channel width"]
) -> Float[Tensor, "sample channel 1"]:
    """Standard deviation of each channel of ``matrix @ features``, given ``matrix @ covariance``."""
    # Rounding may leave a vanishing variance below zero.
    variances = (times_covariance * matrix).sum(dim=2, keepdim=True).clamp(min=0.0)
    return (variances + NORM_EPSILON).sqrt()
