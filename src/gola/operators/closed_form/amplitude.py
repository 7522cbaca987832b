r"""How large solutions are, as a power law of what describes a sample.

.. math:: \log \lVert u \rVert \approx a_0 + \sum_j a_j z_j

where z are parameters or their logarithms, for which this is :math:`\prod_j p_j^{a_j}`. Many solutions scale with some
powers of their parameters: a temperature rise inversely with conductivities, a pressure drop with viscosity. What is
divided by such a law varies less, and a relative error counts alike wherever the solution is small.

A law is not trusted far beyond the sizes of the samples it was fitted to: of parameters over decades that are not seen
as logarithms, :math:`e^{a z}` would make any size of the next larger one.
"""

import torch
from jaxtyping import Float
from torch import Tensor

# Ridges, in units of the number of samples. The largest leaves nothing of the law.
_RIDGES = tuple(10.0**power for power in range(-6, 4))
# Factors beyond e^±this are no help to anyone.
_LARGEST_EXPONENT = 30.0
# A law may leave the range of the training samples by this share of the range, in logarithms.
BEYOND = 0.25


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
    scalars: Float[Tensor, "sample scalar"],
    exponents: Float[Tensor, "scalar channel"],
    known: Float[Tensor, "known_sample scalar"],
) -> Float[Tensor, "sample channel"]:
    """Return the factor of each sample's solution.

    Args:
        scalars: What describes the samples.
        exponents: The law.
        known: What describes the samples that it was fitted to.
    """
    lowest, highest = _trusted(known @ exponents, BEYOND)
    return (scalars @ exponents).clamp(lowest, highest).exp()


def _trusted(
    logarithms: Float[Tensor, "*fit sample channel"], beyond: float
) -> tuple[Float[Tensor, "*fit channel"], Float[Tensor, "*fit channel"]]:
    """Return between which logarithms a law is trusted that gives its own samples these."""
    lowest, highest = logarithms.amin(dim=-2), logarithms.amax(dim=-2)
    margin = beyond * (highest - lowest)
    return (lowest - margin).clamp(min=-_LARGEST_EXPONENT), (highest + margin).clamp(max=_LARGEST_EXPONENT)


def laws_without(
    scalars: Float[Tensor, "sample scalar"], norms: Float[Tensor, "sample channel"], beyond: float = BEYOND
) -> Float[Tensor, "held_out sample channel"]:
    """Return the factors of all samples by the law fitted without each of them.

    Args:
        scalars: What describes the samples.
        norms: The size of each channel of the solutions; none is 0.
        beyond: How far the law is trusted beyond the other samples, as a share of their range.
    """
    count = len(scalars)
    others = 1.0 - torch.eye(count, dtype=scalars.dtype)
    numbers, logarithms = (_centred_without(rows, others) for rows in (scalars, norms.log()))
    fitted = _exponents(numbers * others[..., None], logarithms * others[..., None], count - 1)
    sizes = numbers @ fitted
    # A sample that is held out has no say in how far the law is trusted: it gets the size of another one instead.
    own = torch.arange(count)
    of_others = sizes.clone()
    of_others[own, own] = sizes[own, (own + 1) % count]
    lowest, highest = _trusted(of_others, beyond)
    return sizes.clamp(lowest[:, None], highest[:, None]).exp()


def _centred_without(
    rows: Float[Tensor, "sample number"], others: Float[Tensor, "held_out sample"]
) -> Float[Tensor, "held_out sample number"]:
    return rows - (others @ rows / others.sum(dim=1, keepdim=True))[:, None]
