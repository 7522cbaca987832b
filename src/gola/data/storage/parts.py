"""A data set in the making: numbered part files that outlive an interruption, merged at the end."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from gola.data.sample import Sample
from gola.data.storage.layout import Header
from gola.data.storage.reader import read_dataset
from gola.data.storage.writer import write_samples
from gola.files import TEMPORARY_PREFIX

_PART_NAME = re.compile(r"part_(\d{5,})\.h5")


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of a data set that is to become the file ``path``.

    A part appears whole or not at all, so whatever is there after Ctrl-C or a crash can be kept::

        parts = Parts(path=path, header=header)
        done = parts.finished()
        for index in range(num_parts):
            if index not in done:
                parts.write(index, make_samples(index))
        parts.merge(num_parts)

    Attributes:
        path: The file to be. The parts lie beside it, in a folder of the same name with ``.parts`` added.
        header: Channels and provenance; tells parts of this set from those of another.
    """

    path: Path
    header: Header

    @property
    def folder(self) -> Path:
        """Where the parts lie."""
        return self.path.with_name(self.path.name + ".parts")

    def finished(self) -> dict[int, int]:
        """Return the number of samples of each part that is there and readable.

        Raises:
            ValueError: If the folder holds parts of a set with other channels or another provenance.
        """
        found = {}
        for file in sorted(self.folder.glob("part_*.h5")):
            name = _PART_NAME.fullmatch(file.name)
            if name is None:
                continue
            try:
                header, samples = read_dataset(file)
            except ValueError:
                continue  # damaged: it will be made again
            self._require_same(header)
            found[int(name[1])] = len(samples)
        return found

    def prepare(self) -> None:
        """Make the folder for the parts; tells before the work, and not after it, if that cannot be."""
        if not self.path.absolute().parent.is_dir():
            raise ValueError(
                f"Cannot write {self.path}: the folder {self.path.parent} does not exist; create it first."
            )
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise ValueError(f"Cannot write {self.path}: {error.strerror}.") from error

    def write(self, index: int, samples: Iterable[Sample]) -> None:
        """Write one part."""
        self.prepare()
        write_samples(self._part(index), samples, self.header)

    def merge(self, num_parts: int, *, compress: bool = False) -> None:
        """Copy parts 0 to ``num_parts - 1`` into the final file, sample by sample, and remove them."""
        missing = sorted(set(range(num_parts)) - set(self.finished()))
        if missing:
            raise ValueError(
                f"{self.folder} lacks {len(missing)} of {num_parts} parts (first: {missing[0]}); make them."
            )
        stored = (read_dataset(self._part(index))[1] for index in range(num_parts))
        write_samples(self.path, chain.from_iterable(stored), self.header, compress=compress)
        self.discard()

    def discard(self) -> None:
        """Remove all parts."""
        if not self.folder.is_dir():
            return
        for file in self.folder.iterdir():
            if _PART_NAME.fullmatch(file.name) or file.name.startswith(TEMPORARY_PREFIX):
                file.unlink()
        if not any(self.folder.iterdir()):  # whatever else a user put there is not ours to remove
            self.folder.rmdir()

    def _part(self, index: int) -> Path:
        return self.folder / f"part_{index:05d}.h5"

    def _require_same(self, header: Header) -> None:
        # What few samples have in common says nothing about all.
        if replace(header, correspondence=self.header.correspondence) == self.header:
            return
        ours, theirs = self.header.provenance, header.provenance
        differing = [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
        what = (
            f"{differing[0]} was {theirs.get(differing[0])!r} and is now {ours.get(differing[0])!r}"
            if differing
            else "its channels differ"
        )
        raise ValueError(
            f"{self.folder} holds an unfinished data set with other settings ({what}); repeat those settings to "
            "finish it, or delete the folder."
        )
