"""Target channels that are predicted apart: one that cannot be learned must not spoil the choice for the others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from gola.data.mirror import Components
from gola.data.sample import Channel, Sample
from gola.metrics import relative_l2_errors
from gola.operators.operator import HeldOut
from gola.operators.scaling import Scaling
from gola.protocol import FitTask

# Channels whose errors differ by more than this factor are chosen for apart; one may hide how well another could do.
_GAP = 2.0
# Errors below this share of a channel's spread are none.
_SMALLEST = 1e-9


def channel_groups(errors: Float[np.ndarray, " channel"], channels: Sequence[Channel]) -> list[tuple[int, ...]]:
    """Return groups of target channels with errors of about the same size; components of a vector stay together.

    >>> names = [Channel(name=name) for name in ("pressure", "noise", "flow_x", "flow_y")]
    >>> channel_groups(np.array([0.002, 0.9, 0.002, 0.004]), names)
    [(0, 2, 3), (1,)]

    Args:
        errors: Of each channel on held-out samples, relative to its spread.
        channels: The channels; their names tell components of vectors and tensors.
    """
    fields: dict[str, list[int]] = {}
    for number, (name, _) in enumerate(Components.of(channels).names):
        fields.setdefault(name, []).append(number)
    sizes = {name: max(float(errors[numbers].mean()), _SMALLEST) for name, numbers in fields.items()}
    ordered = sorted(fields, key=sizes.__getitem__)
    groups, previous = [list(fields[ordered[0]])], ordered[0]
    for name in ordered[1:]:
        if sizes[name] > _GAP * sizes[previous]:
            groups.append([])
        groups[-1] += fields[name]
        previous = name
    return sorted(tuple(sorted(group)) for group in groups)


def task_of_channels(task: FitTask, channels: Sequence[int]) -> FitTask:
    """Return the task of fitting some of the target channels; checkpoints of each group have a folder of their own."""
    numbers = list(channels)
    session, folder = task.session, task.session.folder
    if folder is not None:
        folder = folder / f"channels-{'-'.join(map(str, numbers))}"
        folder.mkdir(parents=True, exist_ok=True)
        session = replace(session, folder=folder)
    return replace(
        task,
        samples=[_with_targets(sample, numbers) for sample in task.samples],
        targets=tuple(task.targets[number] for number in numbers),
        session=session,
        provenance={**task.provenance, "channels": numbers},
    )


def _with_targets(sample: Sample, numbers: list[int]) -> Sample:
    return replace(sample, targets=sample.targets[:, numbers])


def joined_held_out(parts: Sequence[HeldOut], groups: Sequence[Sequence[int]]) -> HeldOut:
    """Put held-out predictions of groups of channels together."""
    order = np.argsort([number for channels in groups for number in channels])
    predictions = [
        np.concatenate(columns, axis=1)[:, order] for columns in zip(*(part.predictions for part in parts), strict=True)
    ]
    return HeldOut(predictions=predictions, method=" and ".join(sorted({part.method for part in parts})))


def joined_choice(
    choices: Sequence[Mapping[str, Any]],
    groups: Sequence[Sequence[int]],
    task: FitTask,
    held_out: HeldOut,
    scaling: Scaling,
) -> dict[str, Any]:
    """Describe the choices for groups of channels as one, ready for JSON."""
    sizes = [sample.num_points for sample in task.samples]
    found, wanted = (
        torch.from_numpy(np.concatenate(values))
        for values in (held_out.predictions, [sample.targets for sample in task.samples])
    )
    errors = relative_l2_errors(found, wanted, sizes, scaling.targets.scale)
    names = [", ".join(task.targets[number].name for number in channels) for channels in groups]
    reasons = [f"For {name}: {choice['why']}" for name, choice in zip(names, choices, strict=True)]
    members = tuple(dict.fromkeys(member for choice in choices for member in choice["members"]))
    return {
        "members": members,
        "weights": (),
        "error": float(errors.mean()),
        "spread": float(errors.std()) / len(errors) ** 0.5,
        "candidates": {},
        "why": " ".join(["Target channels are predicted apart, as some are far harder than others.", *reasons]),
        "summary": "; ".join(f"{name}: {choice['summary']}" for name, choice in zip(names, choices, strict=True)),
        "groups": [{"channels": list(channels), **choice} for channels, choice in zip(groups, choices, strict=True)],
    }
