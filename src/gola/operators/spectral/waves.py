r"""Waves: cosines and sines of whole numbers of periods on a box.

On a box with sides :math:`L_a`, the wave numbers :math:`k = (k_1, …, k_d)` give the functions

.. math:: \sqrt2 \cos(2 \pi \langle k / L, x \rangle), \quad \sqrt2 \sin(2 \pi \langle k / L, x \rangle),

of which k = 0 gives 1 and 0. All cosines are listed first, then all sines, in the order of the wave numbers. They are
orthonormal for the mean over the box.
"""

from collections.abc import Sequence
from functools import cache, reduce

import numpy as np
import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor


@cache
def wave_numbers(num_modes: int, dim: int) -> Int[np.ndarray, "mode dim"]:
    """Return the wave numbers with entries up to num_modes, one of each pair ±k, the longest wave first.

    >>> wave_numbers(1, dim=2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, -1], [1, 1]]
    """
    axis = np.arange(-num_modes, num_modes + 1)
    numbers = np.stack([one.ravel() for one in np.meshgrid(*[axis] * dim, indexing="ij")], axis=1)
    # The first half of the list mirrors the second.
    half = numbers[len(numbers) // 2 :]
    return half[np.argsort((half**2).sum(axis=1), kind="stable")]


def amplitudes(numbers: Int[np.ndarray, "mode dim"]) -> Float[np.ndarray, " mode"]:
    """Return the factor of each wave: 1 for the constant and √2 for the others."""
    return np.where(numbers.any(axis=1), np.sqrt(2.0), 1.0)


def evaluate_waves(
    points: Float[np.ndarray, "point dim"], numbers: Int[np.ndarray, "mode dim"], sides: Sequence[float]
) -> Float[np.ndarray, "point wave"]:
    r"""Evaluate every wave at every point.

    By :math:`e^{i \langle \omega_k, x \rangle} = \prod_a e^{i \omega_{k_a} x_a}` a few sines and cosines along each
    axis are enough, instead of one for every point and wave.
    """
    largest = int(np.abs(numbers).max(initial=0))
    angles = 2.0 * np.pi * points / np.array(sides)
    along_axes = np.exp(1j * angles[:, :, None] * np.arange(-largest, largest + 1))
    waves = amplitudes(numbers) * reduce(
        np.multiply, [along_axes[:, axis, numbers[:, axis] + largest] for axis in range(numbers.shape[1])]
    )
    return np.concatenate([waves.real, waves.imag], axis=1)


def waves_at(
    points: Float[Tensor, "point dim"], numbers: Int[np.ndarray, "mode dim"], sides: Sequence[float]
) -> Float[Tensor, "point wave"]:
    """Evaluate every wave at every point, as :func:`evaluate_waves` does; differentiable in the points."""
    rates = torch.from_numpy(2.0 * np.pi * numbers / np.array(sides)).to(points.device)
    angles = points.double() @ rates.T
    return torch.cat([angles.cos(), angles.sin()], dim=1) * torch.from_numpy(np.tile(amplitudes(numbers), 2)).to(angles)


def wave_gradients(
    points: Float[np.ndarray, "point dim"], numbers: Int[np.ndarray, "mode dim"], sides: Sequence[float]
) -> Float[np.ndarray, "dim point wave"]:
    """Evaluate the derivatives of every wave along every axis at every point."""
    rates = 2.0 * np.pi * numbers / np.array(sides)
    cosines, sines = np.split(evaluate_waves(points, numbers, sides), 2, axis=1)
    return np.stack([np.concatenate([-rate * sines, rate * cosines], axis=1) for rate in rates.T])


def wave_gram(
    transform: Complex[np.ndarray, "*axes"], numbers: Int[np.ndarray, "mode dim"]
) -> Float[np.ndarray, "wave wave"]:
    r"""Return the mean over a domain of all products of two waves.

    With :math:`E(q)`, the mean over the domain of :math:`e^{2 \pi i \langle q / L, x \rangle}`, a product of two waves
    has the mean :math:`2 \cos k \cos l \to \mathrm{Re} (E(k - l) + E(k + l))`, and so on.

    Args:
        transform: E for all q with entries from −2K to 2K, where K is the largest wave number.
        numbers: Wave numbers of the waves.
    """
    difference = _looked_up(transform, numbers[:, None] - numbers)
    total = _looked_up(transform, numbers[:, None] + numbers)
    mixed = total.imag - difference.imag
    products = np.block([[difference.real + total.real, mixed], [mixed.T, difference.real - total.real]])
    scale = np.tile(amplitudes(numbers), 2)
    return 0.5 * scale[:, None] * scale * products


def _looked_up(
    transform: Complex[np.ndarray, "*axes"], numbers: Int[np.ndarray, "mode mode dim"]
) -> Complex[np.ndarray, "mode mode"]:
    places = numbers + transform.shape[0] // 2
    return transform[tuple(np.moveaxis(places, -1, 0))]
