"""The state of a training run on disk, so that an interruption costs seconds."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from gola.files import replacing

_FILE = "checkpoint.pt"


def discard_checkpoint(folder: Path) -> None:
    """Remove the state of a training run, or of several in folders of their own, once the result is saved."""
    (folder / _FILE).unlink(missing_ok=True)
    for path in folder.glob(f"*/{_FILE}"):
        path.unlink()
        path.parent.rmdir()


@dataclass(kw_only=True, eq=False)
class Checkpoints:
    """Keeps the newest state of one training run in a folder.

    Attributes:
        folder: Where; None to keep nothing.
        settings: What decides the result of the run. A state with other settings is refused.
        seconds: Time between two states.
    """

    folder: Path | None
    settings: Mapping[str, Any]
    seconds: float = 10.0
    _last: float = field(default_factory=time.monotonic)

    @property
    def due(self) -> bool:
        """Whether it is time to keep a state."""
        return self.folder is not None and time.monotonic() - self._last >= self.seconds

    def save(self, state: Mapping[str, Any]) -> None:
        """Replace the kept state, if there is a folder; a crash meanwhile leaves the one before."""
        if self.folder is None:
            return
        with replacing(self.folder / _FILE) as temporary:
            torch.save({"settings": dict(self.settings), **state}, temporary)
        self._last = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """Return the kept state, or None if there is none."""
        if self.folder is None or not (self.folder / _FILE).exists():
            return None
        path = self.folder / _FILE
        try:
            state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # what a damaged file raises depends on where it is damaged
            reason = " ".join(str(error).split())[:200]
            raise ValueError(f"{path} is damaged ({reason}); delete it to start again.") from error
        self._require_same(path, state.pop("settings", {}))
        return state

    def _require_same(self, path: Path, settings: Mapping[str, Any]) -> None:
        names = sorted({*self.settings, *settings})
        differ = [name for name in names if settings.get(name) != self.settings.get(name)]
        if differ:
            changes = ", ".join(f"{name} {settings.get(name)} (now {self.settings.get(name)})" for name in differ)
            raise ValueError(
                f"{path} belongs to a training run with {changes};"
                " resume with the same settings, or use another folder."
            )
