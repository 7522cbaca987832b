"""Input functions like those of the training samples, made from them, whose solutions nobody knows."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float

from gola.geometry.symmetry import domain_symmetries
from gola.operators.cloud import Cloud
from gola.operators.spectral.basis import box_around, box_basis
from gola.operators.spectral.projection import with_spectra
from gola.operators.spectrum import Spectrum

# Largest wave number of the functions that inputs and solutions are fitted with, by dimension; and where that would be
# more than a third as many functions as there are points, about so many points for each wave.
_MODES = {1: 32, 2: 8, 3: 4, 4: 2}
_POINTS_PER_WAVE = 7.0
_PADDING = 2.0


def other_inputs(clouds: Sequence[Cloud], *, count: int, seed: int) -> list[Cloud]:
    """Make input functions: mirror images where the domain is its own mirror image, mixtures elsewhere.

    Args:
        clouds: The training inputs, of one sample each.
        count: How many to make, at most.
        seed: Decides which.
    """
    images = mirror_images(clouds)
    if not images:
        return mixtures(clouds, count=count, seed=seed)
    order = np.random.default_rng([seed, count]).permutation(len(images))
    return [images[number] for number in order[:count]]


def mirror_images(clouds: Sequence[Cloud]) -> list[Cloud]:
    """Return the input functions reflected and turned in all ways that leave the domain of the points as it is."""
    points = [cloud.points.double().cpu().numpy() for cloud in clouds]
    lower, upper = (np.concatenate(points).min(axis=0), np.concatenate(points).max(axis=0))
    return [
        Cloud.of(
            torch.from_numpy(symmetry.images_in_box(own, lower, upper - lower)).to(cloud.points),
            cloud.values,
            cloud.parameters[0],
        )
        for symmetry in domain_symmetries(points)
        for own, cloud in zip(points, clouds, strict=True)
    ]


def mixtures(clouds: Sequence[Cloud], *, count: int, seed: int) -> list[Cloud]:
    r"""Mix input functions three by three, at the points of one more sample.

    The weights :math:`(1 + 2 \cos(\varphi + 2 \pi k / 3)) / 3`, k = 0, 1, 2, have the sum and the sum of squares 1,
    whatever the angle: the mixture has the mean and the covariance of inputs that are drawn independently.
    """
    fewest = min(cloud.num_points for cloud in clouds)
    spectra = [fine_spectrum(cloud, fewest) for cloud in clouds]
    if any(spectrum.basis is not spectra[0].basis for spectrum in spectra):
        raise ValueError(
            "A learned PDE residual needs samples that share their domain: input functions of one are mixed at the"
            " points of another. Train without it, residual_weight=0."
        )
    coefficients = torch.stack([one.analysis @ cloud.values for one, cloud in zip(spectra, clouds, strict=True)])
    parameters = torch.cat([cloud.parameters for cloud in clouds])
    rng = np.random.default_rng([seed, count])
    mixed = []
    for number in range(count):
        chosen = rng.choice(len(clouds), size=3, replace=len(clouds) < 3)
        angles = rng.uniform(0.0, 2.0 * math.pi) + 2.0 * math.pi / 3.0 * np.arange(3)
        weights = torch.from_numpy((1.0 + 2.0 * np.cos(angles)) / 3.0).to(coefficients)
        place = number % len(clouds)
        values = spectra[place].functions @ torch.tensordot(weights, coefficients[chosen], dims=1)
        mixed.append(Cloud.of(clouds[place].points, values, weights @ parameters[chosen]))
    return mixed


def fine_spectrum(cloud: Cloud, num_points: int | None = None) -> Spectrum:
    """Return the spectrum of a cloud of one sample with enough functions for slopes: its own, if it has those.

    Args:
        cloud: The cloud.
        num_points: With as many functions as so many points can tell apart; by default its own.
    """
    fitting = round(((num_points or cloud.num_points) / _POINTS_PER_WAVE) ** (1.0 / cloud.dim))
    num_modes = max(1, min(_MODES[cloud.dim], fitting))
    basis = box_basis(cloud.points.double().cpu().numpy(), num_modes=num_modes, padding=_PADDING)
    if cloud.spectra is not None and cloud.spectra[0].basis is basis:
        return cloud.spectra[0]
    spectra = with_spectra(cloud, num_modes=num_modes, padding=_PADDING).spectra
    assert spectra is not None
    return spectra[0]


def share_domain(points: Sequence[Float[np.ndarray, "_ dim"]]) -> bool:
    """Whether samples lie in the same box, so that input functions of one can be mixed at the points of another."""
    return len({box_around(own) for own in points}) == 1
