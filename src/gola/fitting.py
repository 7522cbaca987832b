"""From samples to a surrogate: choose settings from the data, fit, and keep what was done."""

import difflib
import time
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

from gola.choosing import choose
from gola.data.cloud import Cloud
from gola.data.dataset import Dataset
from gola.data.frame import Frame
from gola.data.sample import Sample
from gola.data.scaling import Scaling
from gola.geometry.points import draw_rows
from gola.graph import radius_for
from gola.operators import OPERATORS, AutoConfig
from gola.operators.closed_form import ClosedForm
from gola.operators.operator import GraphConfig, Operator, OperatorConfig
from gola.surrogate import Surrogate
from gola.training import Epoch, Session, TrainingConfig, train

# As many as the radius 0.1 gives to 1000 random points in the unit square, with which the presets were chosen.
_NUM_NEIGHBOURS = 28


def fit(
    data: Dataset,
    operator: str | OperatorConfig = "auto",
    *,
    training: TrainingConfig | None = None,
    seed: int = 0,
    session: Session | None = None,
) -> Surrogate:
    """Fit an operator to training samples.

    Args:
        data: The training samples. Keep test samples away: ``train, test = data.split(num_train=30)``.
        operator: Its name (``"linear"``), its name and a preset (``"gola/paper"``), or a config. The data decide on
            dimension and channels and, unless a config is given, on the radius of neighbours. By default closed forms
            and networks are compared on training samples left out, and the best of them or their blend is kept.
        training: How to train, for networks that are named.
        seed: Decides the initial parameters and everything else that is random.
        session: How to run the training: devices, checkpoints, progress.
    """
    if not data.targets:
        raise ValueError("The data set has inputs only; fitting needs targets.")
    data = data.in_memory()
    training = training or TrainingConfig()
    config = config_for(data, operator, num_points=training.num_points)
    kind = kind_of(config)
    scaling = Scaling.fit(data, normalised=kind.normalised)
    torch.manual_seed(seed)
    made = kind(config)
    fingerprint = data.fingerprint()
    start = time.perf_counter()
    how: dict[str, Any] = {}
    settings: dict[str, Any] = {
        "seed": seed,
        "session": session,
        "provenance": {"data": fingerprint},
        "inputs": data.inputs,
        "targets": data.targets,
    }
    if isinstance(config, AutoConfig):
        made, choice = choose(config, list(data), scaling, **settings)
        scores = {"left_out_error": choice.error}
        how = {"choice": asdict(choice)}
    elif isinstance(made, ClosedForm):
        scores = _fit_closed_form(made, data, scaling)
    else:
        history = train(made, list(data), scaling, training, **settings)
        scores = _scores(history)
        how = {"training": training.to_dict(), "history": [asdict(epoch) for epoch in history]}
    return Surrogate(
        operator=made.eval(),
        scaling=scaling,
        inputs=data.inputs,
        targets=data.targets,
        scores=scores,
        provenance={
            **how,
            "seed": seed,
            "seconds": time.perf_counter() - start,
            "data": {**data.provenance, "fingerprint": fingerprint, "num_samples": len(data)},
            "versions": {name: version(name) for name in ("gola", "torch", "numpy")},
        },
    )


def config_for(
    data: Dataset, operator: str | OperatorConfig, *, num_points: int | None = None, **settings: Any
) -> OperatorConfig:
    """Return the config of an operator for a data set.

    Args:
        data: Decides on dimension and channels and, unless a config or a setting says otherwise, the radius.
        operator: Its name, its name and a preset, or a config.
        num_points: Points that the operator will see of each sample; all by default.
        settings: Changes to the preset.
    """
    config = preset(operator) if isinstance(operator, str) else operator
    known = [field.name for field in fields(config)]
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise ValueError(f"{kind_of(config).title} has no setting {', '.join(unknown)}; it has {', '.join(known)}.")
    if isinstance(config, GraphConfig) and isinstance(operator, str) and "radius" not in settings:
        settings["radius"] = _radius(data, num_points)
    facts = {"dim": data.dim, "num_inputs": len(data.inputs), "num_outputs": len(data.targets)}
    return replace(config, **facts, **settings)


def kind_of(config: OperatorConfig) -> type[Operator]:
    """Return the operator that a config belongs to."""
    return next(kind for kind in OPERATORS.values() if kind.config_type is type(config))


def preset(operator: str) -> OperatorConfig:
    """Return the preset with this name, ``"gola/paper"``, or the default of an operator, ``"gola"``."""
    name, _, variant = operator.partition("/")
    kind = OPERATORS[_known(name, list(OPERATORS), "operator")]
    return kind.presets[_known(variant or "default", list(kind.presets), f"preset of {name}")]


def _known(name: str, names: list[str], what: str) -> str:
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"There is no {what} {name!r}{hint} There are {', '.join(names)}.")
    return name


def _radius(data: Dataset, num_points: int | None) -> float:
    """Choose a radius from the spacing of the sample with the median number of points."""
    middle = int(np.argsort(data.num_points, kind="stable")[len(data) // 2])
    points = Frame.around(data).encode(data[middle].points)
    if num_points is not None and num_points < len(points):
        points = points[draw_rows(len(points), num_points, np.random.default_rng(0))]
    return radius_for(points, min(_NUM_NEIGHBOURS, (len(points) - 1) / 2))


def _fit_closed_form(operator: ClosedForm, data: Dataset, scaling: Scaling) -> dict[str, float]:
    samples: list[Sample] = list(data)
    clouds = [scaling.cloud(sample.points, sample.inputs, torch.float64) for sample in samples]
    targets = torch.cat([scaling.encode(sample.targets, torch.float64) for sample in samples])
    operator.fit(Cloud.collate(clouds), targets)
    return {"left_out_error": float(operator.left_out_error)}


def _scores(history: Sequence[Epoch]) -> dict[str, float]:
    validated = [epoch.validation_error for epoch in history if epoch.validation_error is not None]
    scores = {"training_error": history[-1].training_error}
    return {**scores, "validation_error": min(validated)} if validated else scores
