"""The folder of a run: its settings, the state of its training, and its results."""

import contextlib
import csv
import json
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gola.data.dataset import Dataset
from gola.files import read_json, replacing, write_json, writing_alone
from gola.fitting.training import discard_checkpoint
from gola.protocol import Session
from gola.runs.config import RUN_FILE, RunConfig
from gola.surrogate.surrogate import Surrogate


@dataclass(frozen=True)
class RunFolder:
    """Where a run keeps its files: ``run.json``, ``surrogate.gola``, ``history.csv``, ``evaluation.json``, ``logs/``.

    A run that is to replace a finished one keeps its files in the folder ``.replacement`` until it has a surrogate; the
    old one can be used until then, whatever happens to the new one.

    Attributes:
        path: The folder.
    """

    path: Path

    @property
    def surrogate_file(self) -> Path:
        """The fitted surrogate."""
        return self.path / "surrogate.gola"

    @property
    def history_file(self) -> Path:
        """A table with a row for every epoch, for networks."""
        return self.path / "history.csv"

    @property
    def evaluation_file(self) -> Path:
        """Errors on test samples."""
        return self.path / "evaluation.json"

    @property
    def logs(self) -> Path:
        """What loggers write."""
        return self.path / "logs"

    @property
    def is_begun(self) -> bool:
        """Whether a run was ever started here."""
        return (self.path / RUN_FILE).exists()

    @property
    def is_finished(self) -> bool:
        """Whether there is a surrogate, and no run that is to replace it."""
        return self.surrogate_file.exists() and not self._replacement.is_begun

    def holds(self, config: RunConfig) -> bool:
        """Whether a run with these settings was started here."""
        return self.is_begun and not self._differences(config)

    def begin(self, config: RunConfig, *, resume: bool, overwrite: bool) -> None:
        """Prepare the folder for a run.

        Args:
            config: The settings of the run.
            resume: Whether to resume the run in the folder, if there is one; its settings must be the same.
            overwrite: Whether to replace the run in the folder, if there is one; a finished one is kept until the new
                one is finished too.

        Raises:
            ValueError: If the folder holds another run, or another process is writing it.
        """
        self._make()
        with writing_alone(self.path):
            self._finish_replacing()
            if self.is_begun and not overwrite:
                self._require_resumable(config, resume=resume)
                return
            self._replacement.remove()
            begun = self._replacement if self.surrogate_file.exists() else self
            begun._make()
            begun._clear()
            config.save(begun.path)

    def fit(self, config: RunConfig, samples: Dataset, session: Session) -> Surrogate:
        """Fit to samples and keep the surrogate; a session that resumes loads one that is finished already.

        Args:
            config: The settings of the run, for which :meth:`begin` was called.
            samples: The training samples.
            session: How to run the training; its checkpoints are kept in this folder.

        Raises:
            ValueError: If another process is writing the folder.
        """
        if session.resume and self.is_finished:
            return Surrogate.load(self.surrogate_file)
        with writing_alone(self.path) if session.is_first_process else contextlib.nullcontext():
            begun = self._current
            surrogate = config.fit(samples, session=replace(session, folder=begun.path))
            if session.is_first_process:
                begun._keep(surrogate)
                self._finish_replacing()
        return surrogate

    def keep_evaluation(self, evaluation: Mapping[str, Any]) -> None:
        """Write errors on test samples, see :func:`gola.runs.evaluations.as_record`."""
        write_json(self.evaluation_file, evaluation)

    def evaluation(self) -> dict[str, Any] | None:
        """Read the errors on test samples, if they are known.

        Raises:
            ValueError: If they are damaged.
        """
        return read_json(self.evaluation_file, "the errors of a run") if self.evaluation_file.exists() else None

    def remove(self) -> None:
        """Remove the folder with all that it holds."""
        if self.path.is_dir():
            shutil.rmtree(self.path)

    @property
    def _replacement(self) -> "RunFolder":
        """The folder of a run that is to replace the one in this folder."""
        return RunFolder(self.path / ".replacement")

    @property
    def _current(self) -> "RunFolder":
        """The folder of the run that was begun last."""
        return self._replacement if self._replacement.is_begun else self

    def _make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"Cannot write to {self.path}: {error.strerror or error}.") from error

    def _finish_replacing(self) -> None:
        """Move a new run that is finished to the place of the old one; after a crash meanwhile the next call does."""
        new, finished = self._replacement, RunFolder(self.path / ".finished")
        if new.is_begun and new.surrogate_file.exists():
            finished.remove()
            new.path.rename(finished.path)  # from here on there is no way back
        if finished.surrogate_file.exists():
            self._clear(before=(finished.path / RUN_FILE).stat().st_mtime)
            finished.surrogate_file.replace(self.surrogate_file)
        if finished.path.is_dir():
            for file in finished.path.iterdir():
                file.replace(self.path / file.name)
            finished.remove()

    def _keep(self, surrogate: Surrogate) -> None:
        """Write the surrogate; only then is the state of the training removed."""
        history = surrogate.provenance.get("history", [])
        if history:
            self._write_history(history)
        surrogate.save(self.surrogate_file)
        discard_checkpoint(self.path)

    def _differences(self, config: RunConfig) -> list[str]:
        """Say in which settings the run in this folder differs."""
        before, now = _flat(RunConfig.load(self._current.path).to_dict()), _flat(config.to_dict())
        names = [name for name in {**now, **before} if before.get(name) != now.get(name)]
        return [f"{name} {before.get(name)} (now {now.get(name)})" for name in names]

    def _require_resumable(self, config: RunConfig, *, resume: bool) -> None:
        if not resume:
            raise ValueError(
                f"{self.path} holds a finished run; choose another folder, or replace it with --overwrite."
                if self.is_finished
                else f"{self.path} holds an unfinished run; resume it with --resume, or replace it with --overwrite."
            )
        differences = self._differences(config)
        if differences:
            raise ValueError(
                f"{self.path} holds a run with {', '.join(differences)}; resume with the same settings, or replace it"
                " with --overwrite."
            )

    def _clear(self, before: float = math.inf) -> None:
        """Remove results, and logs older than this; what else the user keeps here stays."""
        for file in (self.history_file, self.evaluation_file):
            file.unlink(missing_ok=True)
        discard_checkpoint(self.path)
        for file in self.logs.rglob("*"):
            if file.is_file() and file.stat().st_mtime < before:
                file.unlink()

    def _write_history(self, history: Sequence[Mapping[str, Any]]) -> None:
        with replacing(self.history_file) as temporary, temporary.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(history[0]))
            writer.writeheader()
            writer.writerows(history)


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Bring groups of settings to one level, as JSON would give them back."""
    plain = json.loads(json.dumps(settings))
    groups = {name: value for name, value in plain.items() if isinstance(value, dict)}
    inner = {f"{group}.{name}": value for group, values in groups.items() for name, value in values.items()}
    return {**{name: value for name, value in plain.items() if name not in groups}, **inner}
