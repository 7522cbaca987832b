"""The folder of a run: its settings, its state while it trains, and what came out."""

import csv
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gola.files import replacing
from gola.fitting.training import discard_checkpoint
from gola.runs.config import RunConfig
from gola.surrogate.surrogate import Surrogate


@dataclass(frozen=True)
class RunFolder:
    """Where a run keeps its files: ``run.json``, ``surrogate.gola``, ``history.csv``, ``evaluation.json``, ``logs/``.

    Attributes:
        path: The folder.
    """

    path: Path

    @property
    def surrogate_file(self) -> Path:
        """What came out of the fit."""
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
        """Whether a run has ever been started here."""
        return (self.path / "run.json").exists()

    @property
    def is_finished(self) -> bool:
        """Whether there is a surrogate."""
        return self.surrogate_file.exists()

    def begin(self, config: RunConfig, *, resume: bool, overwrite: bool) -> None:
        """Make the folder ready for a run.

        Args:
            config: The settings of the run.
            resume: Whether to go on with the run in the folder, if there is one; its settings must be the same.
            overwrite: Whether to remove the run in the folder, if there is one.
        """
        if self.is_begun and not overwrite:
            self._require_resumable(config, resume=resume)
            return
        self.path.mkdir(parents=True, exist_ok=True)
        self._clear()
        config.save(self.path)

    def keep(self, surrogate: Surrogate) -> None:
        """Write what came out; only then is the state of the training removed."""
        history = surrogate.provenance.get("history", [])
        if history:
            self._write_history(history)
        surrogate.save(self.surrogate_file)
        discard_checkpoint(self.path)

    def keep_evaluation(self, evaluation: Mapping[str, Any]) -> None:
        """Write errors on test samples."""
        with replacing(self.evaluation_file) as temporary:
            temporary.write_text(json.dumps(evaluation, indent=2) + "\n")

    def evaluation(self) -> dict[str, Any] | None:
        """Read the errors on test samples, if they are known."""
        return json.loads(self.evaluation_file.read_text()) if self.evaluation_file.exists() else None

    def _require_resumable(self, config: RunConfig, *, resume: bool) -> None:
        if not resume:
            raise ValueError(
                f"{self.path} holds a finished run; choose another folder, or replace it with --overwrite."
                if self.is_finished
                else f"{self.path} holds an unfinished run; go on with --resume, or start anew with --overwrite."
            )
        before, now = _flat(RunConfig.load(self.path).to_dict()), _flat(config.to_dict())
        differ = [name for name in now if before.get(name) != now[name]]
        differ += [name for name in before if name not in now]
        if differ:
            changes = ", ".join(f"{name} {before.get(name)} (now {now.get(name)})" for name in differ)
            raise ValueError(
                f"{self.path} holds a run with {changes}; resume with the same settings, or start anew with"
                " --overwrite."
            )

    def _clear(self) -> None:
        for file in (self.surrogate_file, self.history_file, self.evaluation_file):
            file.unlink(missing_ok=True)
        discard_checkpoint(self.path)
        if self.logs.is_dir():
            shutil.rmtree(self.logs)

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
