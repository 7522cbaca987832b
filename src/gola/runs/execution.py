"""Do a run: fit to the training samples, evaluate on the test samples."""

import time
import traceback
from datetime import UTC, datetime
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from gola.data.dataset import Dataset
from gola.protocol import Session
from gola.runs.channels import channel_errors
from gola.runs.config import RunConfig
from gola.runs.evaluations import as_record
from gola.runs.fingerprints import code_version, fingerprint_of
from gola.runs.folder import RunFolder
from gola.runs.result import Outcome, RunFailure, RunResult
from gola.surrogate.evaluation import evaluate
from gola.surrogate.surrogate import Surrogate


def execute(run: RunConfig, session: Session | None = None, folder: RunFolder | None = None) -> RunResult:
    """Fit to the training samples and evaluate on the test samples, or on the fold that is held out.

    Args:
        run: The settings, which decide the result.
        session: How to run the training, for networks.
        folder: Where to keep the surrogate and its errors, once :meth:`RunFolder.begin` was called; nowhere by default.

    Raises:
        ValueError: If the settings and the data do not go together, or a prediction is not a finite number.
    """
    # Before anything takes long: the files may change meanwhile, and the loaded code does not.
    code = code_version(run.operator)
    start = time.perf_counter()
    session = session or Session()
    train, test_by_points = run.samples_by_points()
    surrogate = run.fit(train, session=session) if folder is None else folder.fit(run, train, session)
    session.on_stage("evaluating on test samples")
    evaluations = {
        number: evaluate(surrogate, data.in_memory(), progress=False) for number, data in test_by_points.items()
    }
    for number, data in test_by_points.items():
        _require_finite(evaluations[number].errors, data)
    if folder is not None:
        folder.keep_evaluation(as_record(evaluations, data=run.data, seed=run.seed + 1))
    errors = {number: tuple(evaluation.errors.tolist()) for number, evaluation in evaluations.items()}
    test: dict[str, Any] = evaluations[run.num_points].to_dict()
    names = [channel.name for channel in surrogate.targets]
    return RunResult(
        run=run,
        data=fingerprint_of(run.data),
        errors=errors[run.num_points],
        channels=channel_errors(names, test["channels"], test["variation"]),
        errors_by_points={number: errors[number] for number in run.test_points},
        scores=surrogate.scores,
        operator=surrogate.operator.config.to_dict(),
        why=surrogate.provenance.get("choice", {}).get("why", ""),
        num_parameters=surrogate.operator.num_parameters,
        fit_seconds=fit_seconds(surrogate),
        predict_seconds=evaluations[run.num_points].seconds,
        seconds=time.perf_counter() - start,
        num_threads=torch.get_num_threads(),
        versions=surrogate.provenance["versions"],
        code_version=code,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def attempt(run: RunConfig, session: Session | None = None) -> Outcome:
    """Do a run, and return its result or why it has none."""
    try:
        return execute(run, session)
    except Exception as error:  # whatever it is, it should not take the other runs down with it
        message = " ".join(str(error).split())
        kind = "" if isinstance(error, ValueError) and message else f"{type(error).__name__}: "
        return RunFailure(run=run, message=kind + message, details=traceback.format_exc())


def fit_seconds(surrogate: Surrogate) -> float:
    """Return the time to fit; the history of a resumed training knows the time before the interruption."""
    history = surrogate.provenance.get("history", ())
    return max(float(surrogate.provenance["seconds"]), *(epoch["seconds"] for epoch in history[-1:]), 0.0)


def _require_finite(errors: Float[np.ndarray, " sample"], data: Dataset) -> None:
    bad = np.flatnonzero(~np.isfinite(errors))
    if len(bad):
        raise ValueError(
            f"The predictions of {len(bad)} of {len(data)} test samples, the first of them number {bad[0]}, are not"
            " finite. Look at the data with `gola inspect`, and train with a lower learning rate."
        )
