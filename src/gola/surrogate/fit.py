"""From samples to a surrogate: settings from the data, one way to fit, and a record of what was done."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import torch

from gola.data.dataset import Dataset
from gola.data.trajectories import TimeAxis, in_space_time
from gola.display import Display
from gola.fitting.configs import config_for, kind_of
from gola.fitting.training import train
from gola.mapped import Mapped
from gola.operators.operator import FitResult, OperatorConfig
from gola.protocol import FitTask, Progress, Session, TrainingConfig
from gola.surrogate.coverage import Coverage
from gola.surrogate.surrogate import Surrogate
from gola.surrogate.uncertainty.calibration import FEWEST_SAMPLES, Calibration
from gola.surrogate.uncertainty.case import Case
from gola.surrogate.uncertainty.spread import held_out_spreads
from gola.surrogate.units import in_units, units_of
from gola.threads import one_thread


def fit(
    data: Dataset,
    operator: str | OperatorConfig = "auto",
    *,
    training: TrainingConfig | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    session: Session | None = None,
    progress: bool = True,
) -> Surrogate:
    """Fit an operator to training samples.

    Args:
        data: The training samples. Keep test samples away: ``train, test = data.split(num_train=30)``. Trajectories are
            fitted as functions of space and time.
        operator: Its name (``"linear"``), its name and a preset (``"gola/paper"``), or a config. The data decide on
            dimension and channels and, unless a config is given, on the radius of neighbours. By default closed forms
            and networks are compared on held-out training samples, and the best of them or their blend is kept.
        training: How to train, for networks that are named.
        seed: Random seed of the initial parameters and of everything else that is random.
        time_limit: Seconds that the automatic choice may take; as many as it needs by default. What comes out is the
            best that was found by then, and ``provenance["choice"]["why"]`` says what more time might bring.
        session: How to run the training: devices, checkpoints, progress.
        progress: Whether to show on standard error how far it is, if it takes more than a second.
    """
    if not isinstance(data, Dataset):
        raise ValueError(
            f"fit needs a Dataset; got {type(data).__name__}. Make one with Dataset.from_arrays(points, inputs,"
            " targets), or read a file with Dataset.load(path)."
        )
    data = data.in_memory()
    training = training or TrainingConfig()
    fingerprint, coverage = data.fingerprint(), Coverage.of(list(data), training.points_per_epoch)
    time_axis = TimeAxis.of(data) if data.has_time else None
    data = in_space_time(data, time_axis)
    config = config_for(data, operator, num_points=training.points_per_epoch)
    if time_limit is not None:
        config = config.limited_to(time_limit)
    # All operators see numbers of ordinary size: what they square must not leave the range of double precision.
    inputs = units_of([sample.inputs for sample in data])
    targets = units_of([sample.targets for sample in data])
    parameters = units_of([sample.parameters[None] for sample in data])
    task = FitTask.of(
        data,
        training=training,
        seed=seed,
        session=session or Session(),
        provenance={"data": fingerprint},
        train=train,
    )
    if {*inputs, *targets, *parameters} != {1.0}:
        task = replace(task, samples=[in_units(sample, inputs, targets, parameters) for sample in data])
    start = time.perf_counter()
    # What is random follows from the seed alone, and the random numbers of the caller's program are left as they were.
    kind = kind_of(config)
    title = f"Fitting {kind.name} to {len(data)} samples"
    watches = session is not None  # who brings a session watches it
    with (
        torch.random.fork_rng(devices=range(torch.cuda.device_count())),
        shown(title, task.session, enabled=progress and not watches) as watched,
    ):
        torch.manual_seed(seed)
        result = kind(config).fit(replace(task, session=watched))
    return Surrogate(
        operator=result.operator.eval(),
        scaling=replace(result.scaling, input_units=inputs, target_units=targets, parameter_units=parameters),
        inputs=data.inputs,
        targets=data.targets,
        parameters=data.parameters,
        correspondence=data.correspondence,
        time_axis=time_axis,
        coverage=coverage,
        calibration=_calibration(result, task, shares_domain=len(coverage.points) > 0),
        scores=dict(result.scores),
        provenance={
            **result.details,
            "seed": seed,
            "seconds": time.perf_counter() - start,
            "data": {**data.provenance, "fingerprint": fingerprint, "num_samples": len(data)},
            "versions": {name: version(name) for name in ("gola", "torch", "numpy")},
        },
    )


@one_thread()
def _calibration(result: FitResult, task: FitTask, *, shares_domain: bool) -> Calibration | None:
    """Compare the held-out predictions of a fit with the truth, where it gave any."""
    if result.held_out is None or len(task.samples) < FEWEST_SAMPLES:
        return None
    scales = np.array(result.scaling.targets.scale)
    moves = task.correspondence == "moved nodes"
    return Calibration.of(
        Mapped(lambda sample: Case.of(sample, result.scaling), task.samples),
        Mapped(lambda found: found / scales, result.held_out.predictions),
        Mapped(lambda sample: sample.targets / scales, task.samples),
        spreads=held_out_spreads(result.operator, result.scaling, task.samples),
        shape="moved nodes" if moves else "fixed" if shares_domain or task.correspondence == "same points" else "free",
        nodes_correspond=task.correspondence != "none",
        method=result.held_out.method,
    )


@contextmanager
def shown(title: str, session: Session, *, enabled: bool = True) -> Iterator[Session]:
    """Show the progress of a fit; yields the session to run it with.

    Args:
        title: What is fitted.
        session: How to run it; its own listeners are told too.
        enabled: False to show nothing.
    """
    stage = ""

    with Display(title, enabled=enabled) as display:

        def on_stage(text: str) -> None:
            nonlocal stage
            stage = text
            display.update(stage)
            session.on_stage(text)

        def on_progress(now: Progress) -> None:
            errors = "" if now.last is None else f"training error {now.last.training_error:.4f}"
            display.update("; ".join(filter(None, [stage, errors])), now.step, now.num_steps)
            session.on_progress(now)

        yield replace(session, on_stage=on_stage, on_progress=on_progress)
