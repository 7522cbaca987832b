"""How many samples a second are predicted by one call, and how long a million queries take: ``make bench``.

Samples have 1296 points, on one grid as results of one mesh are, or each at points of its own. Times are those of the
processor on one thread, so that other work on the machine distorts them little. ``*_before`` is the same measured at
version 0.2.0 (commit 5577c1e), which predicts one sample after the other; that of a million queries at commit 0a5c7c2,
which is a little faster.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from gola.data.dataset import Dataset
from gola.problems import make_problem
from gola.protocol import TrainingConfig
from gola.surrogate.fit import fit
from gola.surrogate.surrogate import Surrogate

NUM_TRAIN, RESOLUTION = 30, 36
BEFORE = {
    "predict_per_second_kernel_before": 270.0,
    "predict_per_second_linear_before": 58.0,
    "predict_per_second_network_before": 36.0,
    "million_queries_seconds_before": 0.75,
}


def measure() -> dict[str, float]:
    """Return samples per second of each kind of operator, and the seconds of a million queries."""
    torch.set_num_threads(1)
    train, test = data(0, NUM_TRAIN), data(1, 40)
    scattered = train.subsample(1200, seed=0)
    kernel, linear = fit(train, "kernel", progress=False), fit(train, "linear", progress=False)
    pod = fit(train, "pod_gp", progress=False)
    network = fit(train, "spectral", training=TrainingConfig(num_epochs=1), progress=False)
    own = test.subsample(1200, seed=1)
    apart = fit(scattered, "kernel", progress=False)
    places = np.random.default_rng(0).random((1_000_000, 2))
    return {
        "predict_per_second_kernel": rate(kernel, repeated(test, 1000)),
        "predict_per_second_pod": rate(pod, repeated(test, 1000)),
        "predict_per_second_linear": rate(linear, repeated(test, 1000)),
        "predict_per_second_network": rate(network, repeated(test, 100)),
        "predict_per_second_kernel_own_points": rate(apart, own),
        "predict_per_second_linear_own_points": rate(linear, own),
        "predict_single_calls_per_second_kernel": 40 / seconds(lambda: [kernel.predict_sample(one) for one in test]),
        "million_queries_seconds": seconds(lambda: apart.predict_sample(own[0], at=places)),
        "million_queries_seconds_linear": seconds(lambda: linear.predict_sample(own[0], at=places)),
        **BEFORE,
    }


def data(seed: int, count: int) -> Dataset:
    """Travel times on a grid."""
    problem = make_problem("eikonal", resolution=RESOLUTION)
    return Dataset.from_samples(problem.generate(seed, range(count)), inputs=problem.inputs, targets=problem.targets)


def repeated(samples: Dataset, count: int) -> Dataset:
    """Return samples again and again: what a prediction costs does not depend on them."""
    return replace(samples, samples=tuple(samples[number % len(samples)] for number in range(count)))


def rate(surrogate: Surrogate, samples: Dataset) -> float:
    """Return how many samples are predicted a second by one call."""
    return len(samples) / seconds(lambda: surrogate.predict(samples))


def seconds(call: Callable[[], object]) -> float:
    """Return the time of the processor that a call takes, the better of two after one to warm up."""
    call()
    taken = []
    for _ in range(2):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken)
