"""A law fitted to some target channels of all training samples, with held-out predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.fitted_pde.arrival import Arrival, Arrivals
from gola.operators.fitted_pde.elements import Elements
from gola.operators.fitted_pde.gauss_newton import examples_of, fitted
from gola.operators.fitted_pde.law import Law
from gola.operators.fitted_pde.system import System

# Few coefficients are first sought on so many samples, in so many steps, from each start; then all of them on more
# samples, and at last on all samples.
_FIRST_SAMPLES, _FIRST_STEPS = 3, 8
_MORE_SAMPLES, _MORE_STEPS, _LAST_STEPS = 6, 20, 5
# If the error on these few is larger, the law is none, and more steps would not make it one.
_HOPELESS = 0.5
# Derivatives that are kept at once, at most: more samples than that are predicted and not fitted to.
_MOST_DERIVATIVES = 3e7


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class FittedLaw:
    """A law with its coefficients.

    Attributes:
        law: The family.
        channels: Target channels that it is for.
        scale: What solutions have to be multiplied by.
        coefficients: Of the law.
        solutions: Of each training sample, not multiplied by the scale.
        held_out: The same by coefficients that have not seen the sample.
        error: Mean relative error of the latter.
    """

    law: Law | Arrival
    channels: tuple[int, ...]
    scale: float
    coefficients: Float[Tensor, " coefficient"]
    solutions: list[Float[Tensor, "_ component"]]
    held_out: list[Float[Tensor, "_ component"]]
    error: float


def fit_law(
    law: Law | Arrival,
    channels: tuple[int, ...],
    meshes: Sequence[Elements],
    inputs: Sequence[Float[Tensor, "_ input"]],
    targets: Sequence[Float[Tensor, "_ target"]],
) -> FittedLaw:
    """Fit the coefficients of a law to solutions.

    Args:
        law: The family.
        channels: Target channels.
        meshes: Of each sample.
        inputs: Of each sample.
        targets: Of each sample, with all channels.
    """
    wanted = [one[:, list(channels)] for one in targets]
    scale = float(torch.cat(wanted).square().mean().sqrt()) or 1.0
    wanted = [one / scale for one in wanted]
    systems = [system_of(law, mesh, values) for mesh, values in zip(meshes, inputs, strict=True)]
    examples = examples_of(systems, wanted)
    first, more = examples[:_FIRST_SAMPLES], examples[:_MORE_SAMPLES]
    trials = [fitted(law, first, start, _FIRST_STEPS, free) for start in law.starts() for free in law.coarse()]
    coefficients, _ = min(trials, key=lambda trial: trial[1].squares)
    coefficients, found = fitted(law, more, coefficients, _MORE_STEPS)
    hopeless = (found.squares / len(more)) ** 0.5 > _HOPELESS
    count = _affordable(law, wanted)
    if count > len(more):
        coefficients, found = fitted(law, examples[:count], coefficients, 0 if hopeless else _LAST_STEPS)
    rest = [system.solution(coefficients) for system in systems[len(found.solutions) :]]
    held_out = [*found.held_out(), *rest]
    errors = [_relative_error(one, truth) for one, truth in zip(held_out, wanted, strict=True)]
    return FittedLaw(
        law=law,
        channels=channels,
        scale=scale,
        coefficients=coefficients,
        solutions=[*found.solutions, *rest],
        held_out=held_out,
        error=sum(errors) / len(errors),
    )


def system_of(law: Law | Arrival, mesh: Elements, values: Float[Tensor, "point input"]) -> System | Arrivals:
    """Return what solves the equation of a sample."""
    return System.of(law, mesh, values) if isinstance(law, Law) else law.system(mesh, values)


def law_from_dict(values: Mapping[str, Any]) -> Law | Arrival:
    """Return a law from its plain values."""
    return Law.from_dict(values) if values["kind"] == Law.kind else Arrival.from_dict(values)


def _affordable(law: Law | Arrival, targets: Sequence[Float[Tensor, "_ component"]]) -> int:
    """Return to how many samples a law is fitted."""
    sizes = torch.tensor([one.numel() * law.num_coefficients for one in targets]).cumsum(0)
    return max(min(3, len(targets)), int((sizes <= _MOST_DERIVATIVES).sum()))


def _relative_error(found: Float[Tensor, "point component"], truth: Float[Tensor, "point component"]) -> float:
    size = float(truth.norm())
    return float((found - truth).norm()) / (size if size > 0.0 else 1.0)
