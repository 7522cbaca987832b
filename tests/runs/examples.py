"""Runs and results that took no time."""

from gola.problems import make_problem
from gola.problems.generation import generate
from gola.protocol import TrainingConfig
from gola.runs import RunConfig, RunFailure, RunResult

TINY = {"width": 8, "num_modes": 8, "num_blocks": 1, "num_heads": 1}


def small_file(folder, num_samples=12):
    path = folder / "data.h5"
    generate(make_problem("eikonal", resolution=16), path, num_samples=num_samples, num_workers=1)
    return path


def small_run(data, operator="nearest", **settings):
    given = {"num_train": 6, "num_points": 60, "training": TrainingConfig(num_epochs=1), **settings}
    if operator == "gola":
        given.setdefault("settings", TINY)
    return RunConfig(data=str(data), operator=operator, **given)


def made_result(operator="linear", error=0.1, seed=0, **facts):
    run = facts.pop("run", None) or RunConfig(
        data="data.h5", operator=operator, num_train=30, num_points=1000, seed=seed
    )
    usual = {
        "data": "fingerprint",
        "errors": (error - 0.01, error + 0.01),
        "num_parameters": 1000,
        "fit_seconds": 1.0,
        "predict_seconds": 0.01,
        "seconds": 2.0,
        "code_version": "code",
        "finished": "2026-01-01T00:00:00+00:00",
    }
    return RunResult(run=run, **{**usual, **facts})


def made_results(operator, errors, **facts):
    return [made_result(operator, error, seed, **facts) for seed, error in enumerate(errors)]


def made_failure(operator="gkn", seed=0, message="it broke"):
    return RunFailure(run=RunConfig(data="data.h5", operator=operator, seed=seed), message=message)
