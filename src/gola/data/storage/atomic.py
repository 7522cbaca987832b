"""Files that appear whole or not at all, and HDF5 files that survive a full disk."""

import io
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py

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


@contextmanager
def creating_hdf5(path: Path) -> Iterator[tuple[h5py.File, "FailureAbsorbingFile"]]:
    """Open a new HDF5 file for writing; give it and the bytes below it, which can be asked whether all is well.

    Raises:
        OSError: If the disk refuses a byte; by then the HDF5 library has let go of the file in good order.
    """
    with FailureAbsorbingFile(path) as sink:
        try:
            with h5py.File(sink, "w") as file:
                yield file, sink
        finally:
            sink.require_success()


class FailureAbsorbingFile(io.RawIOBase):
    """A file that remembers the first failed write and pretends that it and all later ones succeeded.

    The HDF5 library cannot close a file whose last writes fail (a full disk), and crashes the interpreter at exit. So
    it never learns of the failure, which is raised once the library has let go of the file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = open(path, "w+b", buffering=0)  # noqa: SIM115  # closed by close()
        self.failure: BaseException | None = None

    def require_success(self) -> None:
        """Raise the first failure, if there was one."""
        if self.failure is not None:
            raise self.failure

    def write(self, data: Any) -> int:
        """Write all bytes, or remember why not."""
        view = memoryview(data)
        written = 0
        try:
            while self.failure is None and written < len(view):
                written += self._file.write(view[written:])
        except BaseException as failure:  # Ctrl-C inside a write must not reach the library either
            self.failure = failure
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Change the size, or remember why not."""
        try:
            if self.failure is None:
                return self._file.truncate(size)
        except BaseException as failure:
            self.failure = failure
        return size or 0

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        return self._file.readinto(buffer) or 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


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
