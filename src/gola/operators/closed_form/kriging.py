r"""What a ridge regression knows of its own errors: it is the mean of a Gaussian process, which has a covariance too.

.. math:: \operatorname{cov}(z, z') = k(z, z') + \lambda \delta_{zz'} - b(z)^\top A^{-1} b(z'), \qquad
    A = \begin{pmatrix} K + \lambda I & P \\ P^\top & 0 \end{pmatrix}, \quad b(z) = \begin{pmatrix} k(z) \\ p(z)
    \end{pmatrix}

with free functions p (universal kriging). It does not depend on outputs, so it is known for simulations that are not
done yet. Rasmussen and Williams, Gaussian Processes for Machine Learning, sections 2.2 and 2.7.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def error_covariance(
    kernel: Float[Tensor, "sample sample"],
    cross: Float[Tensor, "row sample"],
    own: Float[Tensor, "row row"],
    penalty: float,
    *,
    is_affine: bool = True,
) -> Float[Tensor, "row row"]:
    """Return the covariance of the errors of new samples, each with noise of its own.

    Args:
        kernel: Between training samples.
        cross: Between new samples and training samples.
        own: Between new samples.
        penalty: The ridge λ.
        is_affine: Whether there is a free constant.
    """
    known, new = _bordered(kernel, penalty, is_affine=is_affine), cross
    if is_affine:
        new = torch.cat([cross, cross.new_ones(len(cross), 1)], dim=1)
    noise = penalty * torch.eye(len(own), dtype=own.dtype)
    return own + noise - new @ torch.linalg.solve(known, new.T)


def held_out_variances(
    kernel: Float[Tensor, "sample sample"], penalty: float, *, is_affine: bool = True
) -> Float[Tensor, " sample"]:
    """Return the variance of the error of each training sample, had it been held out: the same by leave-one-out."""
    inverse = torch.linalg.inv(_bordered(kernel, penalty, is_affine=is_affine))
    return 1.0 / inverse.diagonal()[: len(kernel)].clamp_min(torch.finfo(kernel.dtype).tiny)


def _bordered(kernel: Float[Tensor, "sample sample"], penalty: float, *, is_affine: bool) -> Float[Tensor, "_ _"]:
    count = len(kernel)
    shifted = kernel + penalty * torch.eye(count, dtype=kernel.dtype)
    if not is_affine:
        return shifted
    bordered = kernel.new_zeros(count + 1, count + 1)
    bordered[:count, :count] = shifted
    bordered[count, :count] = bordered[:count, count] = 1.0
    return bordered
