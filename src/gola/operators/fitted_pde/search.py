"""Which target channels obey a law, and which follow from those that do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.fitted_pde.arrival import NUM_NEIGHBOURS, Arrival, arrival_of
from gola.operators.fitted_pde.channels import ChannelNames
from gola.operators.fitted_pde.elements import Elements
from gola.operators.fitted_pde.fitted_law import FittedLaw, fit_law, with_pressure
from gola.operators.fitted_pde.flow import Flow
from gola.operators.fitted_pde.readout import KINDS, Readout, fitted_readout, terms
from gola.operators.fitted_pde.system import System

# A channel that is explained with a smaller error needs no other explanation.
_GOOD = 0.1
# Vectors whose divergence is a smaller share of their gradients, in so many samples, may be the velocity of a flow.
_DIVERGENT, _PROBED = 0.3, 3
# So many other channels may be its pressure.
_MOST_PRESSURES = 3


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What explains all target channels.

    Attributes:
        laws: Equations.
        readouts: Channels that follow from the solution of one, in the order of these: the number of the law, the
            channel, and how.
        held_out: Predictions of each sample by coefficients that have not seen it.
    """

    laws: list[FittedLaw]
    readouts: list[tuple[int, int, Readout]]
    held_out: list[Float[Tensor, "_ channel"]]


def search(
    names: ChannelNames,
    meshes: Sequence[Elements],
    inputs: Sequence[Float[Tensor, "_ input"]],
    targets: Sequence[Float[Tensor, "_ target"]],
    num_steps: int,
) -> Found:
    """Find a law or a readout for every target channel, by errors on held-out samples.

    Vectors are taken for displacements first, and for unrelated scalars if that fails. Channels that follow from a
    solution found before are not given a law of their own.
    """
    laws: list[FittedLaw] = []
    readouts: list[tuple[FittedLaw, int, Readout]] = []
    explained: set[int] = set()
    for group in names.target_groups(meshes[0].dim):
        pending = [] if group[0] in explained else [group]
        while pending:
            channels = pending.pop(0)
            error, found = _best_readout(channels, laws, meshes, inputs, targets)
            if error < _GOOD:
                readouts += found
                continue
            fit = _best_law(names, channels, meshes, inputs, targets, num_steps)
            if len(channels) > 1 and fit.error > _GOOD:
                pending += [(channel,) for channel in channels]
            elif error < fit.error:
                readouts += found
            else:
                laws.append(_with_pressure(fit, len(targets[0][0]), meshes, inputs, targets, num_steps))
                explained |= {*laws[-1].channels}
    return _ordered(laws, readouts, len(targets[0][0]))


def _best_law(
    names: ChannelNames,
    channels: tuple[int, ...],
    meshes: Sequence[Elements],
    inputs: Sequence[Float[Tensor, "_ input"]],
    targets: Sequence[Float[Tensor, "_ target"]],
    num_steps: int,
) -> FittedLaw:
    """Return the elliptic equation of some channels, or that of first arrivals if it is better."""
    numbers = [
        channel
        for channel in range(inputs[0].shape[1])
        if all(bool((one[:, channel] == one[0, channel]).all()) for one in inputs)
    ]
    law = names.law(meshes[0].dim, len(channels), torch.cat(list(inputs)), numbers)
    columns = [one[:, channels[0]] for one in targets]
    arrival = arrival_of(meshes, columns, law.features) if len(channels) == 1 else None
    fits = []
    if arrival is not None:
        several = [arrival.with_neighbours(count) for count in NUM_NEIGHBOURS]
        fits = [fit_law(one, channels, meshes, inputs, targets, num_steps) for one in several]
    if len(channels) > 1 and _is_incompressible(meshes, [one[:, list(channels)] for one in targets]):
        fits = [fit_law(Flow(momentum=law), channels, meshes, inputs, targets, num_steps)]
    if not fits or min(fit.error for fit in fits) > _GOOD:
        fits.append(fit_law(law, channels, meshes, inputs, targets, num_steps))
    return min(fits, key=lambda fit: fit.error)


def _with_pressure(
    fit: FittedLaw,
    num_channels: int,
    meshes: Sequence[Elements],
    inputs: Sequence[Float[Tensor, "_ input"]],
    targets: Sequence[Float[Tensor, "_ target"]],
    num_steps: int,
) -> FittedLaw:
    """Return a flow with the target channel that is its pressure, if one is; other laws as they are."""
    if not isinstance(fit.law, Flow):
        return fit
    others = [channel for channel in range(num_channels) if channel not in fit.channels][:_MOST_PRESSURES]
    fits = [with_pressure(fit, channel, meshes, inputs, targets, num_steps) for channel in others]
    return min([one for one in fits if one.error < max(_GOOD, 2.0 * fit.error)], key=lambda one: one.error, default=fit)


def _is_incompressible(meshes: Sequence[Elements], vectors: Sequence[Float[Tensor, "_ component"]]) -> bool:
    """Whether vectors have hardly any divergence."""
    sizes, growths = 0.0, 0.0
    for mesh, values in list(zip(meshes, vectors, strict=True))[:_PROBED]:
        slopes = mesh.gradients(values)
        share = mesh.volumes / slopes.square().sum(dim=(1, 2)).mul(mesh.volumes).sum().clamp(min=1e-300)
        sizes += float((share[:, None, None] * slopes.square()).sum())
        growths += float((share * slopes.diagonal(dim1=1, dim2=2).sum(dim=1).square()).sum())
    return growths < _DIVERGENT**2 * sizes


def _best_readout(
    channels: Sequence[int],
    laws: Sequence[FittedLaw],
    meshes: Sequence[Elements],
    inputs: Sequence[Float[Tensor, "_ input"]],
    targets: Sequence[Float[Tensor, "_ target"]],
) -> tuple[float, list[tuple[FittedLaw, int, Readout]]]:
    """Return how channels follow from a solution with the least error, and that error."""
    best: tuple[float, list[tuple[FittedLaw, int, Readout]]] = (float("inf"), [])
    for fit in laws:
        if isinstance(fit.law, Arrival):
            continue
        systems = [System.of(fit.law, mesh, values) for mesh, values in zip(meshes, inputs, strict=True)]
        for kind in KINDS:
            given, held_out = (
                [terms(kind, system, fit.coefficients, one) for system, one in zip(systems, solutions, strict=True)]
                for solutions in (fit.solutions, fit.held_out)
            )
            wanted = [[one[:, channel] for one in targets] for channel in channels]
            found = [fitted_readout(kind, given, held_out, some) for some in wanted]
            known = [one for one in found if one is not None]
            if len(known) < len(channels):
                continue
            error = sum(_error(one.held_out, some) for one, some in zip(known, wanted, strict=True)) / len(channels)
            if error < best[0]:
                best = error, [(fit, channel, one) for channel, one in zip(channels, known, strict=True)]
    return best


def _ordered(laws: list[FittedLaw], readouts: list[tuple[FittedLaw, int, Readout]], num_channels: int) -> Found:
    """Put readouts in the order of their laws, and held-out predictions in that of the channels."""
    numbered = [(laws.index(law), channel, readout) for law, channel, readout in readouts]
    columns: list[list[Tensor]] = [[] for _ in range(num_channels)]
    for law in laws:
        for place, channel in enumerate(law.channels):
            columns[channel] = [law.scales[place] * one[:, place] for one in law.held_out]
    for _, channel, readout in numbered:
        columns[channel] = readout.held_out
    held_out = [torch.stack(list(rows), dim=1) for rows in zip(*columns, strict=True)]
    return Found(laws=laws, readouts=sorted(numbered, key=lambda one: one[:2]), held_out=held_out)


def _error(found: Sequence[Float[Tensor, " _"]], wanted: Sequence[Float[Tensor, " _"]]) -> float:
    tiny = torch.finfo(wanted[0].dtype).tiny
    errors = [(one - truth).norm() / truth.norm().clamp(min=tiny) for one, truth in zip(found, wanted, strict=True)]
    return float(torch.stack(errors).mean())
