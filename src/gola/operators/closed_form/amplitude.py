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
        scalars: What describes the samples, with about unit spread.
        norms: The size of each channel of the solutions; none is 0.
    """
    logarithms = norms.log()
    return _exponents(scalars - scalars.mean(dim=0), logarithms - logarithms.mean(dim=0), len(scalars))


def _exponents(
    scalars: Float[Tensor, "*fit sample scalar"], logarithms: Float[Tensor, "*fit sample channel"], count: int
) -> Float[Tensor, "*fit scalar channel"]:
    """Fit to centred samples, of which this number is not zero."""
    values, vectors = torch.linalg.eigh(scalars.mT @ scalars)
    rotated = scalars @ vectors
    projected = rotated.mT @ logarithms
    scores, exponents = [], []
    for ridge in _RIDGES:
        shrunk = projected / (values.clamp(min=0.0) + ridge * count)[..., None]
        leverages = (rotated.square() / (values.clamp(min=0.0) + ridge * count)[..., None, :]).sum(dim=-1)
        # The constant is fitted too, and takes a share of each sample.
        freedom = (1.0 - 1.0 / count - leverages).clamp(min=1e-6)
        residuals = (logarithms - rotated @ shrunk) / freedom[..., None]
        scores.append(residuals.square().sum(dim=(-2, -1)))
        exponents.append(vectors @ shrunk)
    best = torch.stack(scores).argmin(dim=0)
    return torch.stack(exponents).movedim(0, -1).take_along_dim(best[..., None, None, None], dim=-1)[..., 0]


def power_law(
    scalars: Float[Tensor, "*fit sample scalar"], exponents: Float[Tensor, "*fit scalar channel"]
) -> Float[Tensor, "*fit sample channel"]:
    """Return the factor of each sample's solution."""
    return (scalars @ exponents).clamp(-_LARGEST_EXPONENT, _LARGEST_EXPONENT).exp()


def laws_without(
    scalars: Float[Tensor, "sample scalar"], norms: Float[Tensor, "sample channel"]
) -> Float[Tensor, "held_out sample channel"]:
    """Return the factors of all samples by the law fitted without each of them."""
    count = len(scalars)
    others = 1.0 - torch.eye(count, dtype=scalars.dtype)
    numbers, logarithms = (_centred_without(rows, others) for rows in (scalars, norms.log()))
    fitted = _exponents(numbers * others[..., None], logarithms * others[..., None], count - 1)
    return power_law(numbers, fitted)


def _centred_without(
    rows: Float[Tensor, "sample number"], others: Float[Tensor, "held_out sample"]
) -> Float[Tensor, "held_out sample number"]:
    return rows - (others @ rows / others.sum(dim=1, keepdim=True))[:, None]
