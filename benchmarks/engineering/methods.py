"""What is compared: `auto`, and the references that apply to a problem."""

import resource
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import gola
from benchmarks.engineering.cases import Split
from benchmarks.engineering.copies import kernel_with_copies
from benchmarks.engineering.libraries import ezyrb_gpr, ezyrb_rbf, smt_kriging
from benchmarks.engineering.references import Regression, by_pod, features, gaussian_processes, splines
from gola.fitting.auto.auto import AutoConfig

CLOSED_FORMS = tuple(name for name in AutoConfig().members if name != "spectral")


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What a method makes of a split.

    Attributes:
        predictions: Of the test samples, in the units of the data.
        estimated_error: What the method says about its error; None where it says nothing.
        chosen: What it is made of, where that was its own choice.
    """

    predictions: list[np.ndarray]
    estimated_error: float | None = None
    chosen: str = ""


Method = Callable[[Split], Outcome | None]
"""Fits and predicts; None where it does not apply to the problem."""


def auto(split: Split, members: tuple[str, ...]) -> Outcome:
    """Let gola choose among these members."""
    surrogate = gola.fit(split.train, AutoConfig(members=members), progress=False)
    with warnings.catch_warnings():
        # Some test samples lie outside the range of ten training samples, for all methods alike.
        warnings.simplefilter("ignore")
        predictions = [surrogate.predict_sample(sample) for sample in split.test]
    return Outcome(
        predictions=predictions,
        estimated_error=surrogate.scores["cv_error"],
        chosen=surrogate.provenance["choice"]["summary"],
    )


def pod(split: Split, regression: Regression, *, logarithmic: bool) -> Outcome | None:
    """POD at the nodes, and a regression of its coefficients."""
    given = features(split, logarithmic=logarithmic) if split.has_nodes else None
    return None if given is None else _from_snapshots(split, partial(by_pod, regression), *given)


def library(split: Split, model: Regression) -> Outcome | None:
    """A model of snapshots over parameters; logarithms where parameters were drawn on a logarithmic scale."""
    if not split.has_nodes or split.train.inputs:
        return None
    given = features(split, logarithmic=True) or features(split, logarithmic=False)
    assert given is not None
    return _from_snapshots(split, model, *given)


def copies(split: Split) -> Outcome | None:
    """Kernel ridge regression with true symmetries and shifts as copies, where there are input functions."""
    return Outcome(predictions=kernel_with_copies(split)) if split.train.inputs else None


def _from_snapshots(split: Split, model: Regression, seen: np.ndarray, asked: np.ndarray) -> Outcome:
    found = model(seen, split.snapshots(split.train), asked)
    shape = split.test[0].targets.shape
    return Outcome(predictions=[row.reshape(shape) * split.scales for row in found])


def cpu_seconds() -> float:
    """Return the processor time of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


OURS: dict[str, Method] = {
    "auto_closed_forms": partial(auto, members=CLOSED_FORMS),
    "auto": partial(auto, members=AutoConfig().members),
}
REFERENCES: dict[str, Method] = {
    "pod_tps": partial(pod, regression=splines("thin_plate_spline"), logarithmic=False),
    "pod_tps_log": partial(pod, regression=splines("thin_plate_spline"), logarithmic=True),
    "pod_cubic": partial(pod, regression=splines("cubic"), logarithmic=False),
    "pod_cubic_log": partial(pod, regression=splines("cubic"), logarithmic=True),
    "pod_gp": partial(pod, regression=gaussian_processes, logarithmic=False),
    "pod_gp_log": partial(pod, regression=gaussian_processes, logarithmic=True),
    "ezyrb_rbf": partial(library, model=ezyrb_rbf),
    "ezyrb_gpr": partial(library, model=ezyrb_gpr),
    "smt_kriging": partial(library, model=partial(by_pod, smt_kriging)),
    "kernel_copies": copies,
}
METHODS = REFERENCES | OURS
