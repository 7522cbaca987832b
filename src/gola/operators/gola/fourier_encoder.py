"""The Fourier encoder (section 3.3 of the paper): from the input function to features at every point."""

import math
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.operators.layers import sample_matmul, sample_products


@final
class FourierEncoder(nn.Module):
    r"""Project a function onto learnable waves, filter, and return to the points.

    .. math::
        \varphi_m(x) &= e^{2 \pi i \langle \omega_m, x \rangle} \\
        \hat u_{cm} &= \sum_i w_i f_c(x_i) \overline{\varphi_m(x_i)} \\
        \hat v_{om} &= \sum_c \hat u_{cm} W_{com} \\
        h_o(x_i) &= \mathrm{Re} \sum_m \hat v_{om} \varphi_m(x_i)

    The weights :math:`w_i` of a sample sum to 1; the paper's are :math:`1/N`. With quadrature weights the sum
    approximates the mean of :math:`f \overline{\varphi_m}` over the domain, however the points are spread.

    The arithmetic is real: a cosine and a sine for each wave. The complex coefficients W are stored as pairs of
    real numbers, because fused optimisers and changes of precision do not take complex parameters.

    Args:
        dim: Number of coordinates.
        num_inputs: Channels of f.
        width: Channels of h.
        num_modes: Number of waves M.
        frequency_scale: Standard deviation of the initial frequencies, in waves per unit length.
    """

    def __init__(self, *, dim: int, num_inputs: int, width: int, num_modes: int, frequency_scale: float) -> None:
        super().__init__()
        self.frequencies = nn.Parameter(frequency_scale * torch.randn(num_modes, dim))
        self.coefficients = nn.Parameter(torch.randn(num_inputs, width, num_modes, 2) / math.sqrt(num_inputs))

    def forward(
        self,
        points: Float[Tensor, "point dim"],
        values: Float[Tensor, "point input"],
        weights: Float[Tensor, " point"],
        sizes: list[int],
    ) -> Float[Tensor, "point width"]:
        """Encode the values of each sample; ``sizes`` are the samples' numbers of points."""
        angles = 2 * math.pi * points @ self.frequencies.mT
        waves = torch.cat([angles.cos(), angles.sin()], dim=1)
        spectrum = self._filter(sample_products(weights[:, None] * values, waves, sizes))
        return sample_matmul(waves, spectrum, sizes)

    def _filter(self, projection: Float[Tensor, "sample input two_modes"]) -> Float[Tensor, "sample two_modes width"]:
        """Multiply û = p − i s by W = a + i b; return what belongs to the cosines, then to the sines, in Re(v̂ φ)."""
        num_samples = len(projection)
        # One product per wave, of rows p and s with columns a and b; laid out for it, or it is done row by row.
        rows = torch.cat(projection.chunk(2, dim=2)).permute(2, 0, 1).contiguous()
        columns = self.coefficients.permute(2, 0, 3, 1).flatten(2)
        p, s = (rows @ columns).split(num_samples, dim=1)
        (pa, pb), (sa, sb) = p.chunk(2, dim=2), s.chunk(2, dim=2)
        return torch.cat([pa + sb, sa - pb]).transpose(0, 1)
