"""The data sets of the paper's problems, made on first use, and what they hold in a few letters."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gola.data.dataset import Dataset
from gola.files import replacing
from gola.problems import make_problem
from gola.problems.generation import generate
from gola.runs import fingerprint_of
from paper.protocol import Protocol

# Another machine rounds otherwise, by far less than this; another seed or parameter changes far more.
_ROUNDING = 1e-5


@dataclass(frozen=True, kw_only=True)
class DataRecord:
    """What is kept of the data that results were made with, beside them: the data sets are not.

    Data that were made again on another machine differ in their last digits, so they have another fingerprint. Results
    of both count, as long as the channels have the same moments up to rounding.

    Attributes:
        path: A small file.
    """

    path: Path

    def fingerprints(self) -> dict[str, list[str]]:
        """Return the fingerprints by problem; empty where nothing was ever made."""
        return {problem: known["fingerprints"] for problem, known in self._read().items()}

    def keep(self, problem: str, fingerprint: str, moments: Mapping[str, Sequence[float]]) -> None:
        """Keep the fingerprint of a problem's data.

        Args:
            problem: Its name.
            fingerprint: That of the data.
            moments: Mean and root mean square of each channel.

        Raises:
            ValueError: If the results were made with other data.
        """
        record = self._read()
        known = record.setdefault(problem, {"fingerprints": [], "moments": {**moments}})
        if not _alike(known["moments"], moments):
            raise ValueError(
                f"The results in {self.path.parent} were made with other data of {problem}: mean and root mean square"
                f" were {known['moments']} and are {dict(moments)}, so they cannot be continued; choose another folder"
                " with --out."
            )
        known["fingerprints"] = sorted({*known["fingerprints"], fingerprint})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as temporary:
            temporary.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")

    def _read(self) -> dict[str, Any]:
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}


def _alike(known: Mapping[str, Sequence[float]], moments: Mapping[str, Sequence[float]]) -> bool:
    """Whether two data sets are equal up to rounding, by mean and root mean square of each channel."""
    return known.keys() == moments.keys() and all(
        abs(ours - theirs) <= _ROUNDING * known[channel][1]
        for channel, values in moments.items()
        for ours, theirs in zip(values, known[channel], strict=True)
    )


def moments_of(data: Dataset) -> dict[str, tuple[float, float]]:
    """Return mean and root mean square of each channel, each sample counting equally."""
    columns = [np.concatenate([sample.inputs, sample.targets], axis=1, dtype=np.float64) for sample in data]
    means = np.mean([values.mean(axis=0) for values in columns], axis=0)
    squares = np.mean([np.square(values).mean(axis=0) for values in columns], axis=0)
    names = [channel.name for channel in (*data.inputs, *data.targets)]
    return {name: (float(mean), math.sqrt(square)) for name, mean, square in zip(names, means, squares, strict=True)}


def prepare(
    problem: str,
    protocol: Protocol,
    folder: Path,
    record: DataRecord,
    *,
    num_workers: int | None = None,
    scheduler: str | None = None,
    on_progress: Callable[[int], object] = lambda _: None,
) -> None:
    """Make the data of a problem, unless they are there.

    Args:
        problem: Its name.
        protocol: What the data are.
        folder: Where data sets are kept.
        record: Of the data that there are results of.
        num_workers: Processes on this machine.
        scheduler: Address of a Dask scheduler to use its workers instead.
        on_progress: Called with the number of finished samples.
    """
    path = folder / f"{problem}.h5"
    folder.mkdir(parents=True, exist_ok=True)
    law = protocol.law_of(problem)
    generate(
        make_problem(law.problem, **law.parameters),
        path,
        num_samples=protocol.num_samples,
        seed=protocol.data_seed,
        num_workers=num_workers,
        scheduler=scheduler,
        on_progress=on_progress,
    )
    record.keep(problem, fingerprint_of(path), moments_of(Dataset.load(path)))
