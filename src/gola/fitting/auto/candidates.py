"""Operators to choose from, and how they predict training samples that they have not seen."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float

from gola.data.sample import Sample
from gola.fitting.auto.blend import best_weights, blended_errors, errors_of, residual_products
from gola.fitting.auto.preprocessed import Predictions
from gola.metrics import relative_l2
from gola.operators.operator import HeldOut

# From so many samples on, each is judged with weights that the others decide on.
_FEWEST_JUDGES = 3


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was chosen, and why.

    Attributes:
        members: Names of the operators that predict.
        weights: Their weights in the sum.
        error: Mean relative L2 error on held-out training samples.
        spread: Standard error of that mean.
        candidates: The same mean of everything that was compared, by name.
        why: The reason in a sentence.
        summary: What predicts, in a few words: ``"0.25 linear + 0.75 kernel"``.
    """

    members: tuple[str, ...]
    weights: tuple[float, ...]
    error: float
    spread: float
    candidates: dict[str, float]
    why: str
    summary: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Operators by name, and what each predicts for held-out samples.

    Attributes:
        samples: The training samples.
        scale: The size of each target channel, so that errors of all can be added up.
        held_out: Predictions of all samples by each operator.
        methods: How each of them held samples out.
    """

    samples: Sequence[Sample]
    scale: Float[np.ndarray, " channel"]
    held_out: dict[str, Predictions] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)

    def best(self, names: Iterable[str]) -> tuple[str, Float[np.ndarray, " sample"]]:
        """Return the best of some candidates, and its errors on all samples."""
        errors = {name: self._errors(self.held_out[name]) for name in names}
        best = min(errors, key=lambda name: float(errors[name].mean()))
        return best, errors[best]

    def best_error(self, rows: Sequence[int]) -> float:
        """Return the mean error of the best candidate on some samples."""
        return min(float(self._errors(found)[list(rows)].mean()) for found in self.held_out.values())

    def error(self, found: Float[np.ndarray, "point channel"], sample: Sample) -> float:
        """Return the relative L2 error of one prediction, all channels counting alike."""
        wanted = torch.from_numpy(sample.targets / self.scale)
        return float(relative_l2(torch.from_numpy(found / self.scale), wanted))

    def channel_errors(self, name: str) -> Float[np.ndarray, " channel"]:
        """Return the root mean square error of a candidate in each channel, in units of the channel's spread."""
        squares = [
            ((found - self.samples[row].targets) / self.scale) ** 2 for row, found in self.held_out[name].items()
        ]
        return np.sqrt(np.mean([square.mean(axis=0) for square in squares], axis=0))

    def mean_error(self, found: Predictions) -> float:
        """Return the mean error of predictions of some samples."""
        return float(self._errors(found).mean())

    def gains(self, found: Predictions) -> Float[np.ndarray, " sample"]:
        """Return by how much further predictions of some samples lower their errors, in sums with all candidates.

        The weights of each sum are the best ones for the other samples: a sample that has a say in the weights would
        find any further predictions useful. One or two samples cannot do without.
        """
        rows = sorted(found)
        products = self._products([*self.held_out.values(), found], rows)
        single = _single_errors(products)[:, :-1]
        best = single[:, single.mean(axis=0).argmin()]
        if len(products) < _FEWEST_JUDGES:
            return best - errors_of(products, best_weights(products.sum(axis=0)))
        return best - blended_errors(products)

    def are_clear(self, gains: Float[np.ndarray, " sample"], least: float) -> bool:
        """Whether the mean gain is larger than its standard error, and than a number."""
        doubt = _standard_error(gains) if len(gains) >= _FEWEST_JUDGES else 0.0
        return float(gains.mean()) > max(least, doubt)

    def blended(self, weights: Mapping[str, float]) -> HeldOut:
        """Return the weighted sum of the held-out predictions of some candidates."""
        predictions = [
            np.sum([weight * self.held_out[name][row] for name, weight in weights.items()], axis=0)
            for row in range(len(self.samples))
        ]
        return HeldOut(predictions=predictions, method=" and ".join(sorted({self.methods[name] for name in weights})))

    def choice(self, *remarks: str) -> Choice:
        """Choose the best single candidate, or the blend of all if it is clearly better.

        Args:
            remarks: Further sentences for the reason.
        """
        names = list(self.held_out)
        products = self._products(list(self.held_out.values()))
        single = _single_errors(products)
        means = dict(zip(names, single.mean(axis=0).tolist(), strict=True))
        best = int(single.mean(axis=0).argmin())
        blended = blended_errors(products)
        gains = single[:, best] - blended
        is_blend = len(names) > 1 and float(gains.mean()) > _standard_error(gains)
        weights = best_weights(products.sum(axis=0)) if is_blend else np.eye(len(names))[best]
        errors = blended if is_blend else single[:, best]
        members = {name: float(weight) for name, weight in zip(names, weights, strict=True) if weight > 0}
        return Choice(
            members=tuple(members),
            weights=tuple(members.values()),
            error=float(errors.mean()),
            spread=_standard_error(errors),
            candidates=means | {"blend": float(blended.mean())},
            why=" ".join([_compared(means, float(blended.mean()), is_blend=is_blend), *filter(None, remarks)]),
            summary=" + ".join(f"{weight:.2f} {name}" for name, weight in members.items()),
        )

    def _errors(self, found: Predictions) -> Float[np.ndarray, " sample"]:
        return np.array([self.error(values, self.samples[row]) for row, values in sorted(found.items())])

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
    return f"Errors on held-out training samples: {', '.join(parts)}; {verdict}."


def _single_errors(products: Float[np.ndarray, "sample member member"]) -> Float[np.ndarray, "sample member"]:
    return np.sqrt(np.diagonal(products, axis1=1, axis2=2))


def _standard_error(values: Float[np.ndarray, " sample"]) -> float:
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))
