"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPORARY_PREFIX = ".unfinished-"


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary path to write to, and move it to ``path`` if all went well.

    The temporary file lies in the same folder, so that the move is atomic, and keeps the suffix. If the block fails
    in any way, it is removed and a file that was at ``path`` stays as it was.

    Raises:
        ValueError: If the operating system refuses: no free disk, no permission, no such folder.
    """
    final = Path(os.path.realpath(path))  # what a symbolic link points to is replaced, not the link
    _require_writable(final)
    temporary = final.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(4)}-{final.name}")
    try:
        yield temporary
        _flush_to_disk(temporary)
        os.replace(temporary, final)
        _flush_to_disk(final.parent)
    except OSError as error:
        kept = "; the existing file is unchanged" if final.exists() else ""
        raise ValueError(f"Could not write {path}: {error.strerror or error}{kept}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _require_writable(final: Path) -> None:
    if not final.parent.is_dir():
        raise ValueError(f"Cannot write {final}: the folder {final.parent} does not exist; create it first.")
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
