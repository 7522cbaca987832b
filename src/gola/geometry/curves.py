"""Closed curves: by fractions of their length, and matched to each other."""

import numpy as np
from jaxtyping import Float

# Where along a curve another may start is tried at so many places, and around the best
_STARTS = 128
# by so many, again and again, until they are as near as this, in units of the length.
_REFINED, _LEAST_STEP = 9, 1e-9


def fractions(curve: Float[np.ndarray, "corner 2"]) -> Float[np.ndarray, " corner"]:
    """Return how much of the length of a closed curve lies before each of its corners."""
    lengths = np.linalg.norm(np.roll(curve, -1, axis=0) - curve, axis=1)
    return np.concatenate([[0.0], np.cumsum(lengths)[:-1]]) / lengths.sum()


def along(curve: Float[np.ndarray, "corner 2"], places: Float[np.ndarray, " place"]) -> Float[np.ndarray, "place 2"]:
    """Return the points of a closed curve that have these fractions of its length before them, modulo 1.

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> along(square, np.array([0.125, 1.5])).tolist()
    [[0.5, 0.0], [1.0, 1.0]]
    """
    known = np.append(fractions(curve), 1.0)
    closed = np.concatenate([curve, curve[:1]])
    return np.stack([np.interp(places % 1.0, known, closed[:, axis]) for axis in range(2)], axis=1)


def matched(
    curve: Float[np.ndarray, "corner 2"],
    reference: Float[np.ndarray, "place 2"],
    places: Float[np.ndarray, " place"],
) -> Float[np.ndarray, "place 2"]:
    r"""Return the points of a curve that correspond to those of a reference curve.

    They have the same fractions of the length between them. Where the curve starts is what brings both together, less
    the centres of the points: :math:`\min_s \sum_i \lVert (c(t_i + s) - \bar c) - (r_i - \bar r) \rVert^2`.

    Args:
        curve: Corners of a closed curve, in the same sense of rotation.
        reference: Points of the reference curve.
        places: Fractions of its length before them.
    """
    centred = reference - reference.mean(axis=0)

    def distances(starts: Float[np.ndarray, " start"]) -> Float[np.ndarray, " start"]:
        found = along(curve, (starts[:, None] + places).ravel()).reshape(len(starts), *reference.shape)
        return np.square(found - found.mean(axis=1, keepdims=True) - centred).sum(axis=(1, 2))

    step, best = 1.0 / _STARTS, 0.0
    starts = np.arange(_STARTS) * step
    while step > _LEAST_STEP:
        best = float(starts[np.argmin(distances(starts))])
        starts = best + step * np.linspace(-1.0, 1.0, _REFINED)
        step *= 2.0 / (_REFINED - 1)
    return along(curve, places + best)
