"""HDF5 files that survive a full disk."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py

# The layout that HDF5 libraries since version 1.10 read. Its own tables have checksums: a library that follows damaged
# ones of the older layout may never return.
_LIBRARY = ("v110", "v110")


@contextmanager
def creating_hdf5(path: Path) -> Iterator[tuple[h5py.File, "FailureAbsorbingFile"]]:
    """Open a new HDF5 file for writing; give it and the bytes below it, which can be asked whether all is well.

    Raises:
        OSError: If the disk refuses a byte; by then the HDF5 library has let go of the file in good order.
    """
    with FailureAbsorbingFile(path) as sink:
        try:
            with h5py.File(sink, "w", libver=_LIBRARY) as file:
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
