r"""How large solutions are, as a power law of what describes a sample.

.. math:: \log \lVert u \rVert \approx a_0 + \sum_j a_j z_j

where z are parameters or their logarithms, for which this is :math:`\prod_j p_j^{a_j}`. Many solutions scale with some
powers of their parameters: a temperature rise inversely with conductivities, a pressure drop with viscosity. What is
divided by such a law varies less, and a relative error counts alike wherever the solution is small.
"""

import torch
from jaxtyping import Float
from torch import Tensor

# Ridges, in units of the number of samples. The largest leaves nothing of the law.
_RIDGES = tuple(10.0**power for power in range(-6, 4))
# Factors beyond e^±this are no help to anyone.
_LARGEST_EXPONENT = 30.0


def fit_power_law(
    scalars: Float[Tensor, "sample scalar"], norms: Float[Tensor, "sample channel"]
) -> Float[Tensor, "scalar channel"]:
    """Return the exponents of each channel, by ridge regression with the ridge that leave-one-out finds best.

    Args:
        scalars: What describes the samples, centred, with unit spread.
        norms: The size of each channel of the solutions; none is 0.
    """
    logarithms = norms.log()
    centred = logarithms - logarithms.mean(dim=0)
    left, strengths, right = torch.linalg.svd(scalars, full_matrices=False)
    scored = []
    for ridge in _RIDGES:
        gains = strengths**2 / (strengths**2 + ridge * len(scalars))
        shrunk = left * gains
        # The constant is fitted too, and takes a share of each sample.
        freedom = 1.0 - 1.0 / len(scalars) - (shrunk * left).sum(dim=1)
        residuals = (centred - shrunk @ (left.T @ centred)) / freedom.clamp(min=1e-6)[:, None]
        exponents = right.T @ ((strengths / (strengths**2 + ridge * len(scalars)))[:, None] * (left.T @ centred))
        scored.append((float(residuals.square().sum()), exponents))
    return min(scored, key=lambda one: one[0])[1]


def power_law(
    scalars: Float[Tensor, "sample scalar"], exponents: Float[Tensor, "scalar channel"]
) -> Float[Tensor, "sample channel"]:
    """Return the factor of each sample's solution."""
    return (scalars @ exponents).clamp(-_LARGEST_EXPONENT, _LARGEST_EXPONENT).exp()
