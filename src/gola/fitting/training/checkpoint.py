"""The state of a training run on disk, so that an interruption costs seconds.

A checkpoint is what ``torch.save`` writes with a checksum of it at the end, which ``torch.load`` ignores.
"""

import hashlib
import io
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from gola.files import replacing

_FILE = "checkpoint.pt"
_TRAILER = b"\ngola checksum "
_DIGEST_SIZE = 16
# What a training run keeps by name; anything else is passed on as it is.
_KINDS: dict[str, type | tuple[type, ...]] = {
    "weights": dict,
    "mean": list,
    "optimiser": dict,
    "precision": dict,
    "history": list,
    "batch": int,
    "total": float,
    "seconds": float,
    "best_error": float,
    "best_weights": (dict, type(None)),
}


def discard_checkpoint(folder: Path) -> None:
    """Remove the state of a training run, or of several in folders of their own, once the result is saved."""
    for path in sorted(folder.rglob(_FILE)):
        path.unlink()
        for parent in path.relative_to(folder).parents:
            if parent.name and not any((folder / parent).iterdir()):
                (folder / parent).rmdir()


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
            buffer = io.BytesIO()
            torch.save({"settings": dict(self.settings), **state}, buffer)
            content = buffer.getbuffer()
            with temporary.open("wb") as file:
                file.write(content)
                file.write(_TRAILER + _digest(content))
        self._last = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """Return the kept state, or None if there is none.

        Raises:
            ValueError: If the file is damaged, or belongs to a training run with other settings.
        """
        if self.folder is None or not (self.folder / _FILE).exists():
            return None
        with self.naming_the_file():
            state = _read(self.folder / _FILE)
        self._require_same(self.folder / _FILE, state.pop("settings"))
        return state

    @contextmanager
    def naming_the_file(self) -> Iterator[None]:
        """Turn whatever a state that makes no sense leads to into an error that names its file."""
        try:
            yield
        except Exception as error:  # what a damaged file raises depends on where it is damaged
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            path = None if self.folder is None else self.folder / _FILE
            raise ValueError(f"{path} is damaged ({reason}); delete it to start again.") from error

    def _require_same(self, path: Path, settings: Mapping[str, Any]) -> None:
        names = sorted({*self.settings, *settings})
        differ = [name for name in names if settings.get(name) != self.settings.get(name)]
        if differ:
            changes = ", ".join(f"{name} {settings.get(name)} (now {self.settings.get(name)})" for name in differ)
            raise ValueError(
                f"{path} belongs to a training run with {changes};"
                " resume with the same settings, or use another folder."
            )


def _read(path: Path) -> dict[str, Any]:
    """Read a state whose checksum fits and whose fields have the types that they should."""
    stored = path.read_bytes()
    content, ending = stored[: -len(_TRAILER) - _DIGEST_SIZE], stored[-len(_TRAILER) - _DIGEST_SIZE :]
    if ending != _TRAILER + _digest(content):
        raise ValueError("its checksum does not fit its content")
    state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    if not isinstance(state, dict) or not isinstance(state.get("settings"), dict):
        raise ValueError("it holds no state of a training run")
    for name, kind in _KINDS.items():
        if name in state and (not isinstance(state[name], kind) or isinstance(state[name], bool)):
            raise ValueError(f"{name} is a {type(state[name]).__name__}")
    if state.get("batch", 0) < 0 or not all(math.isfinite(state.get(name, 0.0)) for name in ("total", "seconds")):
        raise ValueError("its counters make no sense")
    return state


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_SIZE).digest()
