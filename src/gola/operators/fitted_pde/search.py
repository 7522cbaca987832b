"""Which target channels obey a law, and which follow from those that do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.fitted_pde.arrival import NUM_NEIGHBOURS, arrival_of
from gola.operators.fitted_pde.channels import ChannelNames
from gola.operators.fitted_pde.elements import Elements
from gola.operators.fitted_pde.fitted_law import FittedLaw, fit_law
from gola.operators.fitted_pde.law import Law
from gola.operators.fitted_pde.readout import KINDS, Readout, fitted_readout, terms
from gola.operators.fitted_pde.system import System

# A channel that is explained with a smaller error needs no other explanation.
_GOOD = 0.1


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
    for group in names.target_groups(meshes[0].dim):
        pending = [group]
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
                laws.append(fit)
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
    law = names.law(meshes[0].dim, len(channels), torch.cat(list(inputs)))
    columns = [one[:, channels[0]] for one in targets]
    arrival = arrival_of(meshes, columns, law.features) if len(channels) == 1 else None
    fits = []
    if arrival is not None:
        several = [arrival.with_neighbours(count) for count in NUM_NEIGHBOURS]
        fits = [fit_law(one, channels, meshes, inputs, targets, num_steps) for one in several]
    if not fits or min(fit.error for fit in fits) > _GOOD:
        fits.append(fit_law(law, channels, meshes, inputs, targets, num_steps))
    return min(fits, key=lambda fit: fit.error)


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
        if not isinstance(fit.law, Law):
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
            columns[channel] = [law.scale * one[:, place] for one in law.held_out]
    for _, channel, readout in numbered:
        columns[channel] = readout.held_out
    held_out = [torch.stack(list(rows), dim=1) for rows in zip(*columns, strict=True)]
    return Found(laws=laws, readouts=sorted(numbered, key=lambda one: one[:2]), held_out=held_out)


def _error(found: Sequence[Float[Tensor, " _"]], wanted: Sequence[Float[Tensor, " _"]]) -> float:
    tiny = torch.finfo(wanted[0].dtype).tiny
    errors = [(one - truth).norm() / truth.norm().clamp(min=tiny) for one, truth in zip(found, wanted, strict=True)]
    return float(torch.stack(errors).mean())
