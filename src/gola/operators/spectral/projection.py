"""Exact projections: from values at scattered points to integrals over the domain, prepared once for each sample."""

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve

from gola.geometry import Domain
from gola.operators.cloud import Cloud
from gola.operators.spectral.basis import DomainBasis, box_basis
from gola.operators.spectrum import Spectrum


def with_spectra(
    cloud: Cloud,
    *,
    num_modes: int,
    padding: float = 2.0,
    smoothing: float = 1e-7,
    domain: Domain | None = None,
    box: tuple[float, ...] | None = None,
) -> Cloud:
    """Return the cloud with the waves of each sample's domain.

    Args:
        cloud: Its weights count in the fit.
        num_modes: Largest wave number on the padded box.
        padding: Size of the box on which waves are periodic, in units of the domain.
        smoothing: Weight λ of the penalty on roughness, beside a mean square error.
        domain: Where the points of all samples lie, in the coordinates of the cloud; by default a box.
        box: Its corners, one after the other; by default the box around the points of each sample.
    """
    known = DomainBasis.on(domain, num_modes=num_modes, padding=padding) if domain is not None else None
    spectra = []
    for points, weights in zip(
        torch.split(cloud.points.detach().cpu().double(), cloud.sizes),
        torch.split(cloud.weights.detach().cpu().double(), cloud.sizes),
        strict=True,
    ):
        basis = known or box_basis(points.numpy(), num_modes=num_modes, padding=padding, box=box)
        spectrum = spectrum_of(points.numpy(), weights.numpy(), basis, smoothing, cloud.points.dtype)
        spectra.append(spectrum.to(cloud.points.device))
    return replace(cloud, spectra=tuple(spectra))


def spectrum_of(
    points: Float[np.ndarray, "point dim"],
    weights: Float[np.ndarray, " point"],
    basis: DomainBasis,
    smoothing: float,
    dtype: torch.dtype = torch.float32,
) -> Spectrum:
    r"""Fit the functions of a basis at scattered points, for any values there.

    The coefficients :math:`b = A h` of values h minimise
    :math:`\sum_i w_i (\sum_j b_j \psi_j(x_i) - h_i)^2 + \lambda \, b^\top R b`, so

    .. math:: A = (\Psi^\top W \Psi + \lambda R)^{-1} \Psi^\top W.

    Values of a function in the span of the basis are met exactly, up to λ, however the points lie: unlike the sum
    :math:`\sum_i w_i h_i \phi_k(x_i)`, whose error is that of a Monte-Carlo integral.
    """
    functions = basis.evaluate(points)
    weighted = functions.T * weights
    analysis = cho_solve(cho_factor(weighted @ functions + smoothing * basis.roughness), weighted)
    return Spectrum(
        functions=torch.from_numpy(functions).to(dtype),
        analysis=torch.from_numpy(analysis).to(dtype),
        waves=basis.waves(dtype),
        basis=basis,
    )


def with_listeners(cloud: Cloud, spectra: tuple[Spectrum, ...], sizes: list[int]) -> Cloud:
    """Give a cloud, whose samples end with queries, the spectra of the cloud without them.

    Queries hear the waves and add nothing to them.

    Args:
        cloud: Points of each sample, followed by its queries.
        spectra: Of the points.
        sizes: Number of points of each sample, without the queries.
    """
    joined = []
    for spectrum, rows, size in zip(spectra, torch.split(cloud.points, cloud.sizes), sizes, strict=True):
        queries = rows[size:]
        heard = spectrum.basis.at(queries).to(spectrum.functions)
        silent = spectrum.analysis.new_zeros(len(spectrum.analysis), len(queries))
        joined.append(
            replace(
                spectrum,
                functions=torch.cat([spectrum.functions, heard]),
                analysis=torch.cat([spectrum.analysis, silent], dim=1),
            )
        )
    return replace(cloud, spectra=tuple(joined))
