"""Files that appear whole or not at all, that notice damage, and that two processes do not write at once."""

import contextlib
import hashlib
import json
import os
import re
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TEMPORARY_PREFIX = ".unfinished-"
CHECKSUM = "checksum"
"""Under this name JSON files keep the checksum of all else that they hold."""

# The process and the machine that write a temporary file, so that others can tell whether it is still being written.
_TEMPORARY = re.compile(rf"{re.escape(TEMPORARY_PREFIX)}(?P<machine>[0-9a-f]+)-(?P<process>\d+)-[0-9a-f]+-.+")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary path to write to, and move it to ``path`` if all went well.

    The temporary file lies in the same folder, so that the move is atomic, and keeps the suffix. If the block fails
    in any way, it is removed and a file that was at ``path`` stays as it was. What processes that were killed have left
    in the folder is removed too.

    Raises:
        ValueError: If the operating system refuses: no free disk, no permission, no such folder.
    """
    final = Path(os.path.realpath(path))  # what a symbolic link points to is replaced, not the link
    _require_writable(final)
    remove_leftovers(final.parent)
    temporary = final.with_name(f"{TEMPORARY_PREFIX}{_machine()}-{os.getpid()}-{secrets.token_hex(4)}-{final.name}")
    try:
        yield temporary
        _flush_to_disk(temporary)
        os.replace(temporary, final)
        _flush_to_disk(final.parent)
    except OSError as error:
        kept = "; the existing file is unchanged" if final.exists() else ""
        raise ValueError(f"Could not write {path}: {error.strerror or error}{kept}.") from error
    finally:
        # A folder that cannot be written to cannot be tidied either, and the first error is the one to tell.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of processes on this machine that no longer run."""
    for file in folder.glob(f"{TEMPORARY_PREFIX}*"):
        found = _TEMPORARY.fullmatch(file.name)
        if found and found["machine"] == _machine() and not _is_running(int(found["process"])):
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)


@contextmanager
def writing_alone(path: str | Path) -> Iterator[None]:
    """Keep other processes from writing the same output meanwhile.

    Args:
        path: The file or folder that is going to be written; the lock lies beside it.

    Raises:
        ValueError: If another process is writing it.
    """
    try:
        import fcntl
    except ImportError:  # not on this system, where the last writer wins as it does without a lock
        yield
        return
    final = Path(os.path.realpath(path))
    _require_folder(final)
    lock = final.with_name(f".{final.name}.lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise ValueError(f"Cannot write {path}: {error.strerror or error}.") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ValueError(
                f"Another process is writing {path}; wait until it is done, or choose another name."
            ) from error
        try:
            yield
        finally:
            # Removed while it is held; whoever opened it meanwhile finds it locked, or locks a file that nobody sees.
            with contextlib.suppress(OSError):
                lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def write_json(path: str | Path, values: Mapping[str, Any]) -> None:
    """Write plain values as JSON with a checksum, whole or not at all."""
    text = json.dumps({**values, CHECKSUM: json_checksum(values)}, indent=1)
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_json(path: str | Path, what: str) -> dict[str, Any]:
    """Read what :func:`write_json` wrote.

    Args:
        path: The file.
        what: What it should be, for messages.

    Raises:
        ValueError: If it is missing, damaged or was changed.
    """
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ValueError(f"{path} cannot be read as {what} ({reason}); restore it, or make it again.") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path} cannot be read as {what}: it holds a {type(values).__name__}; make it again.")
    stored = values.pop(CHECKSUM, None)
    if stored != json_checksum(values):
        raise ValueError(f"{path} is damaged or was changed by hand: its checksum does not fit; make it again.")
    return values


def json_checksum(values: Mapping[str, Any]) -> str:
    """Return a checksum of plain values, whatever the order of their names."""
    text = json.dumps(values, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _machine() -> str:
    return hashlib.blake2b(socket.gethostname().encode(), digest_size=4).hexdigest()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


def _require_folder(final: Path) -> None:
    if not final.parent.is_dir():
        raise ValueError(f"Cannot write {final}: the folder {final.parent} does not exist; create it first.")


def _require_writable(final: Path) -> None:
    _require_folder(final)
    if final.is_dir():
        raise ValueError(f"Cannot write {final}: it is a folder; give the name of a file.")


def _flush_to_disk(path: Path) -> None:
    """Wait until a file or folder has reached the disk; a rename could otherwise outlive the data in a power cut."""
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
