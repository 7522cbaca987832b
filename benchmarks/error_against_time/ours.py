"""Our operators: closed forms as they are, networks for as long as they are given."""

import time
import warnings

import numpy as np

import gola
from benchmarks.engineering.cases import Split
from gola.fitting.auto.auto import AutoConfig
from gola.protocol import TrainingConfig
from gola.registry import OPERATORS

CLOSED_FORMS = (
    "mean",
    "nearest",
    "pod_rbf",
    "pod_gp",
    "periodic_kernel",
    "kernel",
    "linear",
    "auto_closed_forms",
    "morphed_gp",
    "fitted_pde",
    "fitted_evolution",
)
AUTO_MEMBERS = tuple(name for name in AutoConfig().members if name != "spectral")
NETWORKS = ("spectral", "gola", "fno", "gkn", "gcn", "deeponet")


def fitted(split: Split, operator: str, budget: float | None) -> tuple[list[np.ndarray], float] | None:
    """Return the predictions of the test samples and the seconds of the fit; None where the operator does not apply.

    Args:
        split: The samples.
        operator: Name of the operator.
        budget: Seconds to train a network for; None for a closed form.
    """
    try:
        training = None if budget is None else _training(split, operator, budget)
        start = time.process_time()
        chosen = AutoConfig(members=AUTO_MEMBERS) if operator == "auto_closed_forms" else operator
        surrogate = gola.fit(split.train, chosen, training=training, progress=False)
        seconds = time.process_time() - start
    except ValueError as error:
        print(f"{operator}: {error}", flush=True)
        return None
    with warnings.catch_warnings():
        # Some test samples lie outside the range of the training samples, for all methods alike.
        warnings.simplefilter("ignore")
        return surrogate.predict(split.test), seconds


def _training(split: Split, operator: str, budget: float) -> TrainingConfig:
    """Return a training that takes about so many seconds, from the time of two epochs."""
    assert "training" in OPERATORS[operator].heeds
    start = time.process_time()
    gola.fit(split.train, operator, training=TrainingConfig(num_epochs=2), progress=False)
    per_epoch = (time.process_time() - start) / 2
    return TrainingConfig(num_epochs=max(2, int(budget / per_epoch)), patience=None)
