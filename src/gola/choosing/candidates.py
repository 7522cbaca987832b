"""Operators to choose from, and how they predict training samples that they have not seen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from gola.choosing.blend import best_weights, blended_errors, errors_of, relative_error, residual_products
from gola.choosing.views import Predictions
from gola.data.sample import Sample


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was chosen, and why.

    Attributes:
        members: Names of the operators that predict.
        weights: Their weights in the sum.
        error: Mean relative L2 error on training samples left out.
        spread: Standard error of that mean.
        candidates: The same mean of everything that was compared, by name.
        why: The reason in a sentence.
    """

    members: tuple[str, ...]
    weights: tuple[float, ...]
    error: float
    spread: float
    candidates: dict[str, float]
    why: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Operators by name, and what each predicts for samples left out.

    Attributes:
        samples: The training samples.
        scale: The size of each target channel, so that errors of all can be added up.
        left_out: Predictions of all samples by each operator.
    """

    samples: Sequence[Sample]
    scale: Float[np.ndarray, " channel"]
    left_out: dict[str, Predictions] = field(default_factory=dict)

    def best(self, rows: Sequence[int] | None = None) -> tuple[str, Float[np.ndarray, " sample"]]:
        """Return the name of the best candidate on some samples, by default all, and its errors there."""
        errors = _single_errors(self._products(list(self.left_out.values()), rows))
        number = int(errors.mean(axis=0).argmin())
        return list(self.left_out)[number], errors[:, number]

    def best_error(self, rows: Sequence[int]) -> float:
        """Return the mean error of the best candidate on some samples."""
        return float(self.best(rows)[1].mean())

    def mean_error(self, found: Predictions) -> float:
        """Return the mean error of predictions of some samples."""
        errors = [relative_error(values, self.samples[row].targets, self.scale) for row, values in found.items()]
        return float(np.mean(errors))

    def blended_error(self, found: Predictions) -> float:
        """Return the mean error of the best sum of all candidates and of further predictions of some samples."""
        products = self._products([*self.left_out.values(), found], sorted(found))
        return float(errors_of(products, best_weights(products.sum(axis=0))).mean())

    def choice(self, *remarks: str) -> Choice:
        """Choose the best single candidate, or the blend of all if it is clearly better.

        Args:
            remarks: Further sentences for the reason.
        """
        names = list(self.left_out)
        products = self._products(list(self.left_out.values()))
        single = _single_errors(products)
        means = dict(zip(names, single.mean(axis=0).tolist(), strict=True))
        best = int(single.mean(axis=0).argmin())
        blended = blended_errors(products)
        gains = single[:, best] - blended
        is_blend = len(names) > 1 and float(gains.mean()) > _standard_error(gains)
        weights = best_weights(products.sum(axis=0)) if is_blend else np.eye(len(names))[best]
        errors = blended if is_blend else single[:, best]
        return Choice(
            members=tuple(name for name, weight in zip(names, weights, strict=True) if weight > 0),
            weights=tuple(weights[weights > 0].tolist()),
            error=float(errors.mean()),
            spread=_standard_error(errors),
            candidates=means | {"blend": float(blended.mean())},
            why=" ".join([_compared(means, float(blended.mean()), is_blend=is_blend), *filter(None, remarks)]),
        )

    def _products(
        self, predictions: Sequence[Predictions], rows: Sequence[int] | None = None
    ) -> Float[np.ndarray, "sample member member"]:
        return np.stack(
            [
                residual_products([found[row] for found in predictions], self.samples[row].targets, self.scale)
                for row in (range(len(self.samples)) if rows is None else rows)
            ]
        )


def _compared(means: dict[str, float], blended: float, *, is_blend: bool) -> str:
    parts = [f"{name} {error:.4f}" for name, error in means.items()]
    best = min(means, key=means.__getitem__)
    verdict = "the blend is clearly better" if is_blend else f"{best} is best"
    if len(means) > 1:
        parts.append(f"blended {blended:.4f}")
        if not is_blend and blended < means[best]:
            verdict += " up to chance"
    return f"Errors on training samples left out: {', '.join(parts)}; {verdict}."


def _single_errors(products: Float[np.ndarray, "sample member member"]) -> Float[np.ndarray, "sample member"]:
    return np.sqrt(np.diagonal(products, axis1=1, axis2=2))


def _standard_error(values: Float[np.ndarray, " sample"]) -> float:
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))
