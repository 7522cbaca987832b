"""One block of the spectral operator: waves over the whole domain, neighbours nearby, and each point by itself."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu

from gola.operators.cloud import Cloud
from gola.operators.gola.attention_message_passing import AttentionMessagePassing
from gola.operators.gola.message_passing import MessagePassing
from gola.operators.onednn import Linear, matmul
from gola.operators.spectrum import Spectrum, by_basis


@final
class SpectralMixing(nn.Module):
    r"""Filter the waves of the features: a complex number for each wave and channel, then a mix of the channels.

    .. math:: h' = \Psi \, T^\top \big( z \odot (T A h) \big) M^\top

    :math:`T A h` are the integrals over the domain of the features times each wave, where cosine and sine make a
    complex number; :math:`\Psi T^\top` sums waves at the points. A matrix between the channels for each wave,
    C times as many parameters, overfits thirty samples.

    Filters start as those of smooth kernels, :math:`z_k \sim N(0, 1/4) / (1 + |\omega_k|^2)`: what thirty samples do
    not decide stays as it started, and white noise would be a kernel that ties every point to every other.

    Args:
        frequencies: Frequency |ω| of each pair of cosine and sine, in waves per unit length.
        width: Channels of h.
    """

    def __init__(self, *, frequencies: Float[Tensor, " mode"], width: int) -> None:
        super().__init__()
        spread = 0.5 / (1.0 + frequencies.square())[:, None]
        self.real = nn.Parameter(_scaled_noise(spread, width))
        self.imaginary = nn.Parameter(_scaled_noise(spread, width))
        self.mix = nn.Linear(width, width, bias=False)

    def forward(
        self, features: Float[Tensor, "point width"], spectra: Sequence[Spectrum], sizes: list[int]
    ) -> Float[Tensor, "point width"]:
        """Update the features of every sample by its own waves."""
        parts = list(torch.split(features, sizes))
        for rows in by_basis(spectra):
            coefficients = torch.stack([matmul(spectra[row].analysis, parts[row]) for row in rows], dim=1)
            filtered = self._filtered(coefficients, spectra[rows[0]].waves)
            for row, own in zip(rows, filtered.unbind(dim=1), strict=True):
                parts[row] = matmul(spectra[row].functions, own)
        return torch.cat(parts)

    def _filtered(
        self, coefficients: Float[Tensor, "function sample width"], waves: Float[Tensor, "wave function"]
    ) -> Float[Tensor, "function sample width"]:
        num_samples = coefficients.shape[1]
        cosines, sines = matmul(waves, coefficients.flatten(1)).unflatten(1, (num_samples, -1)).chunk(2)
        real, imaginary = self.real[:, None], self.imaginary[:, None]
        turned = torch.cat([cosines * real - sines * imaginary, sines * real + cosines * imaginary])
        return self.mix(matmul(waves.mT, turned.flatten(1)).unflatten(1, (num_samples, -1)))


@final
class LocalMixing(nn.Module):
    """GOLA's two layers on neighbours, one after the other: message passing and attention (sections 3.4 and 3.6)."""

    def __init__(self, *, dim: int, num_inputs: int, width: int, num_heads: int, radius: float) -> None:
        super().__init__()
        self.messages = MessagePassing(dim=dim, num_inputs=num_inputs, width=width, scale=radius)
        self.attention = AttentionMessagePassing(
            dim=dim, num_inputs=num_inputs, width=width, num_heads=num_heads, scale=radius
        )

    def forward(
        self, features: Float[Tensor, "point width"], attributes: Float[Tensor, "point attribute"], cloud: Cloud
    ) -> Float[Tensor, "point width"]:
        """Return what every point hears from its neighbours."""
        assert cloud.neighbourhood is not None
        heard = gelu(self.messages(features, attributes, cloud.neighbourhood))
        return self.attention(heard, attributes, cloud.neighbourhood)


@final
class SpectralBlock(nn.Module):
    r"""Add to the features what waves, neighbours and the point itself have to say.

    .. math:: h' = h + W_2 \, \mathrm{gelu} \big( W_1 \, \mathrm{gelu}(S h + L h + W h + b) + b_1 \big) + b_2

    with the spectral mixing S and, if there is one, the local mixing L.
    """

    def __init__(self, *, frequencies: Float[Tensor, " mode"], width: int, local: LocalMixing | None) -> None:
        super().__init__()
        self.spectral = SpectralMixing(frequencies=frequencies, width=width)
        self.local = local
        self.pointwise = Linear(width, width)
        self.mlp = nn.Sequential(Linear(width, 2 * width), nn.GELU(), Linear(2 * width, width))

    def forward(
        self, features: Float[Tensor, "point width"], attributes: Float[Tensor, "point attribute"], cloud: Cloud
    ) -> Float[Tensor, "point width"]:
        """Update the features of all points; ``attributes`` are the coordinates and the input function there."""
        assert cloud.spectra is not None
        mixed = self.spectral(features, cloud.spectra, cloud.sizes) + self.pointwise(features)
        if self.local is not None:
            mixed = mixed + self.local(features, attributes, cloud)
        return features + self.mlp(gelu(mixed))


def _scaled_noise(spread: Float[Tensor, "wave 1"], width: int) -> Float[Tensor, "wave width"]:
    # Noise is drawn on the device that the module is made on, which may be one without numbers.
    noise = torch.randn(len(spread), width)
    return spread.to(noise.device) * noise
