r"""Errors against numbers of samples: a power law with a floor, and what it says of more samples.

.. math:: e(n) = c \bigl( (1 - \varphi) (n / N)^{-b} + \varphi \bigr)

N is the largest number that an error is known for, and c the error there. Few errors do not determine the exponent b
and the floor's share :math:`\varphi`, so all pairs of a grid are kept, each with the weight that the known errors give
it (Bayesian model averaging; Viering and Loog, arXiv 2103.10948, on the shapes of learning curves).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

# Exponents and floors that are weighed, and the weight beforehand of curves without a floor.
_EXPONENTS = np.geomspace(0.05, 6.0, 40)
_FLOORS = np.concatenate([np.zeros(1), np.linspace(0.05, 0.95, 19)])
_WITHOUT_FLOOR = 0.9
# Exponents are usually near this one, within this factor.
_USUAL, _FACTOR = 1.0, 4.0
# How far errors leave the law that continues them, as standard deviations of their logarithm: for twice the samples,
# and as a share of what the law says that they fall by. Operators that learn a structure from enough samples, or reach
# what they cannot represent, make curves bend. Chosen on development data, with the three settings above.
_LEAST_LEAVE, _LEAVE = 0.25, 0.35
# No error is known better than this, relatively: other samples would have given another.
_LEAST_DOUBT = 0.03


@dataclass(frozen=True, kw_only=True, eq=False)
class PowerLaw:
    """Weighed power laws.

    Attributes:
        largest: The number N.
        exponents: Exponent of each law.
        floors: Share of the error at N that more samples do not remove.
        levels: Logarithm of the error at N.
        doubts: Standard deviation of that logarithm.
        weights: How plausible each law is; they sum to 1.
    """

    largest: float
    exponents: Float[np.ndarray, " law"]
    floors: Float[np.ndarray, " law"]
    levels: Float[np.ndarray, " law"]
    doubts: float
    weights: Float[np.ndarray, " law"]

    @staticmethod
    def fitted(
        sizes: Float[np.ndarray, " size"], errors: Float[np.ndarray, " size"], doubts: Float[np.ndarray, " size"]
    ) -> "PowerLaw":
        """Weigh all laws by known errors.

        Args:
            sizes: Numbers of samples.
            errors: The error of each.
            doubts: Relative standard error of each.
        """
        exponents, floors = (grid.ravel() for grid in np.meshgrid(_EXPONENTS, _FLOORS, indexing="ij"))
        precisions = 1.0 / np.maximum(doubts, _LEAST_DOUBT) ** 2
        largest, logs = float(sizes.max()), np.log(errors)
        shapes = _shapes(sizes / largest, exponents, floors)
        levels = ((logs - shapes) * precisions).sum(axis=1) / precisions.sum()
        misfits = ((logs - shapes - levels[:, None]) ** 2 * precisions).sum(axis=1)
        usual = (np.log(exponents / _USUAL) / np.log(_FACTOR)) ** 2
        prior = np.where(floors == 0.0, _WITHOUT_FLOOR, (1.0 - _WITHOUT_FLOOR) / (len(_FLOORS) - 1))
        chances = prior * np.exp(-0.5 * (misfits - misfits.min() + usual))
        return PowerLaw(
            largest=largest,
            exponents=exponents,
            floors=floors,
            levels=levels,
            doubts=float(precisions.sum() ** -0.5),
            weights=chances / chances.sum(),
        )

    def quantiles(self, size: float, shares: Float[np.ndarray, " share"]) -> Float[np.ndarray, " share"]:
        """Return what the error of a number of samples stays below, with these probabilities."""
        shapes = _shapes(np.array([size / self.largest]), self.exponents, self.floors)[:, 0]
        # Each law is blurred by how well the level of all is known, and beyond the known errors by how far curves leave
        # any such law.
        beyond = max(0.0, float(np.log2(size / self.largest)))
        spreads = np.sqrt(self.doubts**2 + (_LEAST_LEAVE * beyond) ** 2 + (_LEAVE * shapes * (beyond > 0.0)) ** 2)
        steps = np.linspace(-2.4, 2.4, 9)
        blurred = (self.levels + shapes)[:, None] + spreads[:, None] * steps
        weights = np.outer(self.weights, np.exp(-0.5 * steps**2)).ravel()
        order = np.argsort(blurred.ravel())
        totals = np.cumsum(weights[order])
        return np.exp(np.interp(shares, (totals - 0.5 * weights[order]) / totals[-1], blurred.ravel()[order]))


def _shapes(
    ratios: Float[np.ndarray, " size"], exponents: Float[np.ndarray, " law"], floors: Float[np.ndarray, " law"]
) -> Float[np.ndarray, "law size"]:
    """Return the logarithm of each law at numbers of samples relative to N, where it is 0."""
    falling = ratios[None] ** -exponents[:, None]
    return np.asarray(np.log((1.0 - floors[:, None]) * falling + floors[:, None]))
