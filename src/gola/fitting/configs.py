"""From a name to the settings of an operator, with what the data decide."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from gola.data.dataset import Dataset
from gola.data.frame import Frame
from gola.data.trajectories import in_space_time
from gola.geometry.points import draw_rows
from gola.operators.multi_fidelity import NO_APPROXIMATION, MultiFidelityConfig
from gola.operators.operator import Operator, OperatorConfig
from gola.registry import OPERATORS, unknown


def config_for(
    data: Dataset, operator: str | OperatorConfig, *, num_points: int | None = None, **settings: Any
) -> OperatorConfig:
    """Return the config of an operator for a data set.

    Args:
        data: Decides on dimension and channels and, unless a config or a setting says otherwise, the radius. The time
            of trajectories is a further dimension.
        operator: Its name, its name and a preset, or a config.
        num_points: Points that the operator will see of each sample; all by default.
        settings: Changes to the preset.
    """
    if not data.targets:
        raise ValueError("The data set has inputs only; fitting needs targets.")
    data = in_space_time(data)
    config = preset(operator) if isinstance(operator, str) else operator
    kind = kind_of(config)
    known = [one.name for one in fields(config)]
    for name in settings:
        if name not in known:
            raise ValueError(unknown(f"setting of the {kind.title}", name, known))
    facts = {
        "dim": data.dim,
        "has_time_axis": data.has_time_axis,
        "num_inputs": len(data.inputs),
        "num_outputs": len(data.targets),
        "num_parameters": len(data.parameters),
    }
    if isinstance(operator, str):
        frame = Frame.around(data)
        corners = [frame.encode(np.stack([one.points.min(axis=0), one.points.max(axis=0)])) for one in data]
        config = config.adapted_to(_typical_points(data, num_points)).within(np.stack(corners))
    return _with_approximations(data, replace(config, **{**facts, **settings}))


def _with_approximations(data: Dataset, config: OperatorConfig) -> OperatorConfig:
    """Return the config of an operator that learns the corrections of what approximates targets, if anything does."""
    if not data.low_fidelity or isinstance(config, MultiFidelityConfig):
        return config
    numbers = {channel.name: number for number, channel in enumerate(data.inputs)}
    given = [data.low_fidelity.get(channel.name) for channel in data.targets]
    return MultiFidelityConfig(
        dim=config.dim,
        has_time_axis=config.has_time_axis,
        num_inputs=config.num_inputs,
        num_outputs=config.num_outputs,
        num_parameters=config.num_parameters,
        base=kind_of(config).name,
        settings=config.to_dict(),
        approximations=tuple(NO_APPROXIMATION if name is None else numbers[name] for name in given),
    )


def kind_of(config: OperatorConfig) -> type[Operator]:
    """Return the operator that a config belongs to."""
    kind: type[Operator] | None = vars(type(config)).get("operator")
    if kind is None:
        known = [kind.config_type.__name__ for kind in OPERATORS.values()]
        raise ValueError(unknown("operator with the config", type(config).__name__, known))
    return kind


def preset(operator: str) -> OperatorConfig:
    """Return the preset with this name, ``"gola/paper"``, or the default of an operator, ``"gola"``."""
    name, _, variant = operator.partition("/")
    presets: dict[str, OperatorConfig] = OPERATORS[name].presets
    variant = variant or "default"
    if variant not in presets:
        raise ValueError(unknown(f"preset of {name}", variant, presets))
    return presets[variant]


def _typical_points(data: Dataset, num_points: int | None) -> np.ndarray:
    """Return the points of the sample with the median number of them, as operators see them."""
    middle = int(np.argsort(data.num_points, kind="stable")[len(data) // 2])
    points = Frame.around(data).encode(data[middle].points)
    if num_points is not None and num_points < len(points):
        points = points[draw_rows(len(points), num_points, np.random.default_rng(0))]
    return points
