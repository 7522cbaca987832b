"""A law fitted to some target channels of all training samples, with held-out predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.fitted_pde.arrival import Arrival, Arrivals
from gola.operators.fitted_pde.elements import Elements
from gola.operators.fitted_pde.flow import Flow
from gola.operators.fitted_pde.gauss_newton import Example, Linearised, examples_of, fitted
from gola.operators.fitted_pde.law import Law
from gola.operators.fitted_pde.residual import Residual
from gola.operators.fitted_pde.system import System

# Few coefficients are first sought on a few samples, from each start; then more and more of them; then all of them, and
# at last on all samples, in so many steps at most.
_LAST_STEPS = 3
# These few samples are at least and at most so many, and between that as many as have so many values together.
_LEAST_SAMPLES, _MOST_SAMPLES, _ENOUGH_VALUES = 3, 6, 12_000
# Fewer coefficients are compared with all of them if their error on the first samples is at most this times as large.
_ALIKE = 1.5
# Terms beyond the plain equation are tried if its error on these is larger than this, and kept if they lower it to this
# share; with less than the other share they are kept alone.
_EXPLAINED, _HELPS, _CLEAR = 0.03, 0.7, 0.3
# They are not tried where these few have more values: in space, and with Newton steps, that would take minutes.
_MOST_VALUES = {2: 30_000, 3: 6_000}
# Equation errors are computed of so many samples: with few, solutions of others may be beyond another resonance.
_SEVERAL = 16
# If all samples have errors so many times as large as the few, steps go on with all of them.
_WORSE = 2.0
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
        scales: What solutions have to be multiplied by, for each channel.
        coefficients: Of the law.
        free: How they follow from those that were free.
        solutions: Of each training sample, not multiplied by the scale.
        held_out: The same by coefficients that have not seen the sample.
        error: Mean relative error of the latter.
    """

    law: Law | Flow | Arrival
    channels: tuple[int, ...]
    scales: tuple[float, ...]
    coefficients: Float[Tensor, " coefficient"]
    free: Float[Tensor, "coefficient free"]
    solutions: list[Float[Tensor, "_ component"]]
    held_out: list[Float[Tensor, "_ component"]]
    error: float


def fit_law(
    law: Law | Flow | Arrival,
    channels: tuple[int, ...],
    meshes: Sequence[Elements],
    inputs: Sequence[Float[Tensor, "_ input"]],
    targets: Sequence[Float[Tensor, "_ target"]],
    num_steps: int,
) -> FittedLaw:
    """Fit the coefficients of a law to solutions.

    Args:
        law: The family.
        channels: Target channels.
        meshes: Of each sample.
        inputs: Of each sample.
        targets: Of each sample, with all channels.
        num_steps: The largest number of steps from each start.
    """
    wanted = [one[:, list(channels)] for one in targets]
    scale = float(torch.cat(wanted).square().mean().sqrt()) or 1.0
    systems = [system_of(law, mesh, values) for mesh, values in zip(meshes, inputs, strict=True)]
    wanted, about = [one / scale for one in wanted], (law, channels, (scale,) * len(channels))
    examples = examples_of(systems, wanted)
    few = examples[: _enough(wanted)]
    paths, error = _trials(law, few, examples[:_SEVERAL], meshes[0].dim, num_steps)
    steps = (0, 0) if error > _HOPELESS else (num_steps, min(num_steps, _LAST_STEPS))
    fits = [_judged(about, systems, wanted, path, _refined(law, path, few, examples, steps)) for path in paths]
    return min(fits, key=lambda fit: fit.error)


def with_pressure(
    fit: FittedLaw,
    channel: int,
    meshes: Sequence[Elements],
    inputs: Sequence[Float[Tensor, "_ input"]],
    targets: Sequence[Float[Tensor, "_ target"]],
    num_steps: int,
) -> FittedLaw:
    """Fit on to a flow whose pressure is a target, too: velocities alone do not tell all that it depends on."""
    assert isinstance(fit.law, Flow)
    columns = [one[:, channel] for one in targets]
    scales = (*fit.scales, float(torch.cat(columns).square().mean().sqrt()) or 1.0)
    wanted = [one[:, [*fit.channels, channel]] / one.new_tensor(scales) for one in targets]
    systems = [system_of(fit.law, mesh, values) for mesh, values in zip(meshes, inputs, strict=True)]
    examples = examples_of(systems, wanted)
    unit = float(torch.cat([one[:, -1] for one in fit.solutions]).square().mean().sqrt()) or 1.0
    free = torch.cat([fit.free, fit.law.pressure_unit], dim=1)
    path = fit.law.with_pressure_unit(fit.coefficients, unit), free
    refined = _refined(fit.law, path, examples[: _enough(wanted)], examples, (num_steps, num_steps))
    return _judged((fit.law, (*fit.channels, channel), scales), systems, wanted, path, refined)


def _judged(
    about: tuple[Law | Flow | Arrival, tuple[int, ...], tuple[float, ...]],
    systems: Sequence[System | Arrivals],
    wanted: Sequence[Float[Tensor, "_ component"]],
    path: "Path",
    refined: tuple[Float[Tensor, " coefficient"], Linearised],
) -> FittedLaw:
    """Predict samples that were not fitted to, and those that were held out."""
    (law, channels, scales), (coefficients, solved) = about, refined
    rest = [system.solution(coefficients) for system in systems[len(solved.solutions) :]]
    held_out = [*solved.held_out(), *rest]
    pairs = zip(held_out, wanted, strict=True)
    errors = [_relative_error(one[:, : truth.shape[1]], truth) for one, truth in pairs]
    return FittedLaw(
        law=law,
        channels=channels,
        scales=scales,
        coefficients=coefficients,
        free=path[1],
        solutions=[*solved.solutions, *rest],
        held_out=held_out,
        error=sum(errors) / len(errors),
    )


Path = tuple[Float[Tensor, " coefficient"], Float[Tensor, "coefficient free"]]


def _trials(
    law: Law | Flow | Arrival, first: Sequence[Example], several: Sequence[Example], dim: int, num_steps: int
) -> tuple[list[Path], float]:
    """Fit to a few samples, with few coefficients first, and return the least error.

    Returned are all coefficients of the plain equation, and fewer if they do nearly as well; with each comes which of
    them are free. Where the plain equation does not explain the samples, further terms are tried, and returned if they
    help.
    """
    levels = law.coarse()
    starts = [fitted(law, first, start, num_steps, levels[0]) for start in law.starts()]
    known = [min(starts, key=lambda trial: trial[1].squares)]
    for free in levels[1 : max(1, len(levels) - 1)]:
        known.append(fitted(law, first, known[-1][0], num_steps, free))
    least = known[-1][1].squares
    simplest = [solved.squares <= _ALIKE**2 * least for _, solved in known].index(True)
    paths = [(known[-1][0], levels[-1])]
    if levels[simplest].shape != levels[-1].shape and least <= len(first) * _HOPELESS**2:
        paths.insert(0, (known[simplest][0], levels[simplest]))
    best = known[-1]
    is_small = sum(one.targets.numel() for one in first) <= _MOST_VALUES[dim]
    if is_small and isinstance(law, Law) and least > len(first) * _EXPLAINED**2:
        start, free = _by_residual(law, several, num_steps)
        trial = fitted(law, first, start, num_steps, free)
        if trial[1].squares < _HELPS**2 * best[1].squares:
            best = trial
            paths = [*(paths if trial[1].squares > _CLEAR**2 * least else []), (start, free)]
    for free in law.further() if is_small else []:
        if best[1].squares <= len(first) * _EXPLAINED**2:
            break
        trial = fitted(law, first, best[0], num_steps, free)
        if trial[1].squares < _HELPS**2 * best[1].squares:
            best = trial
            paths = [*(paths if trial[1].squares > _CLEAR**2 * least else []), (trial[0], free)]
    return paths, (best[1].squares / len(first)) ** 0.5


def _by_residual(law: Law, examples: Sequence[Example], num_steps: int) -> Path:
    """Find linear terms by equation errors, which cost little, and then by solutions of the same samples."""
    start, free = law.by_residual()
    residuals = [
        replace(one, system=Residual(one.system, one.targets)) for one in examples if isinstance(one.system, System)
    ]
    found, solved = fitted(law, residuals, start, 2 * num_steps, free)
    if solved.squares > len(examples) * _HOPELESS**2:
        return found, free
    return fitted(law, examples, found, num_steps, free)[0], free


def _refined(
    law: Law | Flow | Arrival, path: Path, few: Sequence[Example], every: Sequence[Example], num_steps: tuple[int, int]
) -> tuple[Float[Tensor, " coefficient"], Linearised]:
    """Fit on from a trial to more samples, and to all that are affordable."""
    start, free = path
    many = every[: _affordable(free.shape[1], [one.targets for one in every])]
    coefficients, solved = fitted(law, few, start, num_steps[0], free)
    if len(many) == len(few):
        return coefficients, solved
    found = fitted(law, many, coefficients, num_steps[1], free)
    if found[1].squares / len(many) > _WORSE**2 * solved.squares / len(few):
        # Few samples with numbers of their own are explained by wrong coefficients, too.
        tries = [fitted(law, many, other, num_steps[0], free) for other in (found[0], start)]
        found = min(tries, key=lambda one: one[1].squares)
    return found


def system_of(law: Law | Flow | Arrival, mesh: Elements, values: Float[Tensor, "point input"]) -> System | Arrivals:
    """Return what solves the equation of a sample."""
    return law.system(mesh, values) if isinstance(law, Arrival) else System.of(law, mesh, values)


def law_from_dict(values: Mapping[str, Any]) -> Law | Flow | Arrival:
    """Return a law from its plain values."""
    kinds: dict[str, type[Law | Flow | Arrival]] = {one.kind: one for one in (Law, Flow, Arrival)}
    return kinds[values["kind"]].from_dict(values)


def _enough(targets: Sequence[Float[Tensor, "_ component"]]) -> int:
    """Return on how many samples coefficients are first sought."""
    sizes = torch.tensor([one.numel() for one in targets]).cumsum(0)
    wanted = int((sizes < _ENOUGH_VALUES).sum()) + 1
    return min(max(wanted, _LEAST_SAMPLES), _MOST_SAMPLES, len(targets))


def _affordable(num_free: int, targets: Sequence[Float[Tensor, "_ component"]]) -> int:
    """Return to how many samples so many coefficients are fitted."""
    sizes = torch.tensor([one.numel() * num_free for one in targets]).cumsum(0)
    return max(min(3, len(targets)), int((sizes <= _MOST_DERIVATIVES).sum()))


def _relative_error(found: Float[Tensor, "point component"], truth: Float[Tensor, "point component"]) -> float:
    size = float(truth.norm())
    return float((found - truth).norm()) / (size if size > 0.0 else 1.0)
