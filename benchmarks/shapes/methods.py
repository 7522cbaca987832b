"""What is compared: operators of this library, and what else runs here."""

import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import gola
from benchmarks.engineering.cases import Split
from benchmarks.engineering.rasters import from_raster, on_raster
from benchmarks.engineering.references import by_pod, features, splines
from benchmarks.error_against_time import ours, peers

# Networks that are trained for so many seconds, whatever the problem.
LIBRARIES = ("neuralop_gino", "pyg_meshgraphnet")
# The automatic choice may take so many seconds of wall time.
TIME_LIMIT = 600.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What a method makes of the samples.

    Attributes:
        predictions: Of the test samples.
        seconds: Processor time of the fit.
        estimate: What the fit says about its error, if anything.
        chosen: What it is made of, where that was its own choice.
    """

    predictions: list[np.ndarray]
    seconds: float
    estimate: float | None = None
    chosen: str | None = None


def fitted(split: Split, method: str, budget: float) -> Outcome | None:
    """Fit a method by its name; None where it does not apply.

    Args:
        split: The samples.
        method: An operator, a network of a library, or ``pod_raster``: POD and thin-plate splines on a raster.
        budget: Seconds to train a network for.
    """
    if method in LIBRARIES or method in ours.NETWORKS:
        train = peers.network if method in LIBRARIES else _network
        found = train(split, method, budget=budget)
        return None if found is None else Outcome(predictions=found[0], seconds=found[1])
    return _pod_raster(split) if method == "pod_raster" else operator(split, method)


def operator(split: Split, method: Any) -> Outcome:
    """Fit an operator, by its name or config."""
    start = time.process_time()
    limit = TIME_LIMIT if method == "auto" else None
    surrogate = gola.fit(split.train, method, time_limit=limit, progress=False)
    seconds = time.process_time() - start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unusual test samples
        predictions = surrogate.predict(split.test)
    return Outcome(
        predictions=predictions,
        seconds=seconds,
        estimate=surrogate.scores.get("cv_error"),
        chosen=surrogate.provenance.get("choice", {}).get("summary"),
    )


def _network(split: Split, method: str, budget: float) -> tuple[list[np.ndarray], float] | None:
    return ours.fitted(split, method, budget)


def _pod_raster(split: Split) -> Outcome | None:
    """POD of solutions on a raster over the box, and thin-plate splines of the principal components of the inputs."""
    if not split.train.inputs:
        return None
    start = time.process_time()
    train, test = on_raster(split.train, split.test)
    raster = replace(split, train=train, test=test)
    given = features(raster, logarithmic=False)
    assert given is not None
    model = partial(by_pod, splines("thin_plate_spline"))
    found = model(given[0], raster.snapshots(train), given[1])
    values = [row.reshape(test[0].targets.shape) * raster.scales for row in found]
    return Outcome(predictions=from_raster(values, test, split.test), seconds=time.process_time() - start)
