"""What each representation and each step buys: the same samples, with and without it."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from benchmarks.engineering.cases import Split
from benchmarks.shapes.data import data_of
from benchmarks.shapes.methods import operator
from gola.data.dataset import Dataset
from gola.data.sample import Channel, Sample
from gola.fitting.configs import config_for
from gola.geometry.filling import filling
from gola.geometry.interpolation import interpolation_weights
from gola.problems import make_problem

RESULTS = Path("results/shapes_ablation.jsonl")
SEED, NUM_TRAIN = 27_100, 30
# The same problems on coarse meshes. Eikonal is always solved on a fine grid.
COARSE: dict[str, dict[str, Any]] = {
    "perforated_darcy": {"finest": 0.013, "coarsest": 0.2},
    "plate_elasticity": {"finest": 0.03, "coarsest": 0.2},
}
SEVERAL_TARGETS = ("plate_elasticity",)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way to predict.

    Attributes:
        name: In the figure.
        problems: Where it applies.
        error: The errors of its predictions, by sample.
    """

    name: str
    problems: Sequence[str]
    error: Callable[[Split, str], np.ndarray]


def measure(problems: Sequence[str]) -> None:
    """Run what has not been run yet, and keep the errors."""
    for problem in problems:
        known = {line["variant"] for line in lines() if line["problem"] == problem}
        wanted = [one for one in VARIANTS if problem in one.problems and one.name not in known]
        if not wanted:
            continue
        split, checksum = data_of(problem, SEED, NUM_TRAIN)
        for variant in wanted:
            errors = variant.error(split, problem)
            line = {"problem": problem, "seed": SEED, "num_train": NUM_TRAIN, "sha256": checksum}
            with RESULTS.open("a") as file:
                file.write(json.dumps({**line, "variant": variant.name, "error": float(errors.mean())}) + "\n")


def lines() -> list[dict[str, Any]]:
    """Return what has been measured."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def _fitted(split: Split, method: Any) -> np.ndarray:
    return split.errors(operator(split, method).predictions)


def _without_copies(split: Split, _: str) -> np.ndarray:
    return _fitted(split, config_for(split.train, "kernel", symmetries=False))


def _apart(split: Split, _: str) -> np.ndarray:
    """Fit to each target channel by itself: none is read off the solution of others."""
    columns = []
    for channel, about in enumerate(split.train.targets):
        part = _changed(split, lambda one, channel=channel: replace(one, targets=one.targets[:, [channel]]))
        part = replace(part, **{name: replace(getattr(part, name), targets=(about,)) for name in ("train", "test")})
        columns.append(operator(part, "fitted_pde").predictions)
    return split.errors([np.concatenate(some, axis=1) for some in zip(*columns, strict=True)])


def _near_boundaries(*chosen: int) -> Callable[[Split, str], np.ndarray]:
    """Fit the kernel with some of the descriptors of the boundary as further inputs."""

    def error(split: Split, _: str) -> np.ndarray:
        def described(sample: Sample) -> Sample:
            further = descriptors(sample.points)[:, list(chosen)]
            return replace(sample, inputs=np.concatenate([sample.inputs, further], axis=1))

        names = [Channel(name=f"boundary {number}") for number in chosen]
        return _fitted(_changed(split, described, further=names), "kernel")

    return error


def descriptors(points: np.ndarray) -> np.ndarray:
    """Return distances to the nearest and second nearest part of the boundary, the size of the nearest, and normals."""
    mesh = filling(points)
    pairs = np.repeat(mesh.facets[:, :1], mesh.facets.shape[1] - 1, axis=1).ravel(), mesh.facets[:, 1:].ravel()
    links = coo_matrix((np.ones(len(pairs[0])), pairs), shape=(len(points),) * 2)
    _, labels = connected_components(links, directed=False)
    _, parts = np.unique(labels[mesh.facets[:, 0]], return_inverse=True)
    middles = points[mesh.facets].mean(axis=1)
    distances, sizes, normals = [], [], []
    for part in range(parts.max() + 1):
        rows = np.flatnonzero(parts == part)
        far, nearest = cKDTree(middles[rows]).query(points)
        distances.append(far)
        sizes.append(mesh.areas[rows].sum())
        normals.append(mesh.normals[rows][nearest])
    order = np.argsort(distances, axis=0)
    every, rows = np.array(distances), np.arange(len(points))
    second = order[min(1, len(order) - 1)]
    return np.column_stack(
        [every[order[0], rows], every[second, rows], np.array(sizes)[order[0]], np.array(normals)[order[0], rows]]
    )


def _with_coarse(split: Split, problem: str) -> Split:
    """Add what the solver finds on a coarse mesh, interpolated to the points."""
    solver = make_problem(problem, **COARSE[problem])
    drawn = solver.generate(SEED, range(len(split.train) + len(split.test)))
    cheap: Iterator[Sample] = iter(drawn)

    def joined(sample: Sample) -> Sample:
        other = next(cheap)
        rows, weights = interpolation_weights(other.points, sample.points)
        found = np.einsum("qk,qkc->qc", weights, other.targets[rows])
        return replace(sample, inputs=np.concatenate([sample.inputs, found], axis=1))

    names = [Channel(name=f"coarse_{channel.name}") for channel in split.train.targets]
    return _changed(split, joined, further=names)


def _coarse_alone(split: Split, problem: str) -> np.ndarray:
    count = len(split.train.targets)
    return split.errors([one.inputs[:, -count:] for one in _with_coarse(split, problem).test])


def _coarse_as_input(split: Split, problem: str) -> np.ndarray:
    return _fitted(_with_coarse(split, problem), "kernel")


def _coarse_corrected(split: Split, problem: str) -> np.ndarray:
    pairs = {channel.name: f"coarse_{channel.name}" for channel in split.train.targets}
    found = _with_coarse(split, problem)
    return _fitted(replace(found, train=found.train.with_low_fidelity(pairs)), "kernel")


def _changed(split: Split, change: Callable[[Sample], Sample], further: Sequence[Channel] = ()) -> Split:
    """Change all samples, training samples first."""
    parts: dict[str, Dataset] = {}
    for name in ("train", "test"):
        data: Dataset = getattr(split, name)
        samples = tuple(change(one) for one in data)
        parts[name] = replace(data, samples=samples, inputs=(*data.inputs, *further))
    return replace(split, **parts)


EVERY = ("perforated_darcy", "plate_elasticity", "heat_sink", "eikonal")
VARIANTS = (
    Variant(name="kernel, no copies", problems=EVERY, error=_without_copies),
    Variant(name="kernel", problems=EVERY, error=lambda split, _: _fitted(split, "kernel")),
    Variant(name="kernel + distance", problems=EVERY[:3], error=_near_boundaries(0)),
    Variant(name="kernel + two distances, size", problems=EVERY[:2], error=_near_boundaries(0, 1, 2)),
    Variant(name="kernel + distance, normals", problems=EVERY[:2], error=_near_boundaries(0, 3, 4)),
    Variant(name="morphed_gp", problems=SEVERAL_TARGETS, error=lambda split, _: _fitted(split, "morphed_gp")),
    Variant(name="coarse solution", problems=tuple(COARSE), error=_coarse_alone),
    Variant(name="kernel + coarse as input", problems=tuple(COARSE), error=_coarse_as_input),
    Variant(name="kernel + coarse corrected", problems=tuple(COARSE), error=_coarse_corrected),
    Variant(name="fitted_pde, channels apart", problems=SEVERAL_TARGETS, error=_apart),
    Variant(name="fitted_pde", problems=EVERY, error=lambda split, _: _fitted(split, "fitted_pde")),
)
