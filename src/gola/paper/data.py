"""The data sets of the paper's problems, made on first use, and what they hold in a few letters."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gola.data.storage import replacing
from gola.generation import generate
from gola.paper.protocol import Protocol
from gola.problems import make_problem
from gola.runs import fingerprint_of


@dataclass(frozen=True, kw_only=True)
class Fingerprints:
    """Fingerprints of the data that results were made with, kept beside them: data sets are not.

    Attributes:
        path: A small file.
    """

    path: Path

    def read(self) -> dict[str, str]:
        """Return the fingerprints by problem; empty where nothing was ever made."""
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def keep(self, problem: str, fingerprint: str) -> None:
        """Keep the fingerprint of a problem's data.

        Raises:
            ValueError: If the results were made with other data.
        """
        known = self.read()
        if known.get(problem, fingerprint) != fingerprint:
            raise ValueError(
                f"The results in {self.path.parent} were made with other data of {problem} (fingerprint"
                f" {known[problem]}, now {fingerprint}), so they cannot be continued; choose another folder with --out."
            )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as temporary:
            temporary.write_text(json.dumps({**known, problem: fingerprint}, indent=1, sort_keys=True) + "\n")


def prepare(
    problem: str,
    protocol: Protocol,
    folder: Path,
    fingerprints: Fingerprints,
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
        fingerprints: Those of the data that there are results of.
        num_workers: Processes on this machine.
        scheduler: Address of a Dask scheduler to use its workers instead.
        on_progress: Called with the number of finished samples.
    """
    path = folder / f"{problem}.h5"
    folder.mkdir(parents=True, exist_ok=True)
    generate(
        make_problem(problem, **protocol.parameters),
        path,
        num_samples=protocol.num_samples,
        seed=protocol.data_seed,
        num_workers=num_workers,
        scheduler=scheduler,
        on_progress=on_progress,
    )
    fingerprints.keep(problem, fingerprint_of(path))
