"""Edits of what files say: numbers that are huge, negative or no numbers, missing names, lists for numbers.

An edit leaves the checksum of a file as it was, or makes it fit again as somebody who forges a file would.
"""

import contextlib
import io
import json
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch

from gola.data.storage.checksums import header_checksum
from gola.files import CHECKSUM, json_checksum
from gola.fitting.training.checkpoint import Checkpoints
from gola.surrogate.file import read_tensors, write_tensors

_STRANGE: list[Any] = [
    10**12, 2**63, -1, 0, -(10**9), 1e308, float("nan"), float("inf"), "text", "", [], [1, 2], {}, {"a": 1}, None, True,
]  # fmt: skip
_STRANGE_TEXTS = [b"1e12", b"1000000000000", b"-1", b"nan", b"text", b"", b"[1,2]", b"99999999999999999999", b"0", b"<"]
Edit = Callable[[Path, np.random.Generator, bool], None]


def edit_values(values: Any, rng: np.random.Generator) -> Any:
    """Return plain values with one of them replaced or removed."""
    places = list(_places(values))
    if not places:
        return _STRANGE[rng.integers(len(_STRANGE))]
    holder, key = places[rng.integers(len(places))]
    if rng.random() < 0.25:
        del holder[key]
    else:
        holder[key] = _STRANGE[rng.integers(len(_STRANGE))]
    return values


def _places(values: Any) -> Any:
    """Yield every place in nested dicts and lists, as what holds it and its key."""
    keys = list(values) if isinstance(values, dict) else range(len(values)) if isinstance(values, list) else ()
    for key in keys:
        yield values, key
        yield from _places(values[key])


def edit_json(path: Path, rng: np.random.Generator, forge: bool) -> None:
    """Edit a JSON file of ours."""
    values = edit_values(json.loads(path.read_text()), rng)
    if forge and isinstance(values, dict):
        values.pop(CHECKSUM, None)
        values[CHECKSUM] = json_checksum(values)
    path.write_text(json.dumps(values))


def edit_surrogate(path: Path, rng: np.random.Generator, forge: bool) -> None:
    """Edit the header of a surrogate."""
    if forge:
        about, tensors = read_tensors(path)
        write_tensors(path, tensors, edit_values(about, rng))
        return
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    if rng.random() < 0.5:
        about = edit_values(json.loads(header["__metadata__"]["gola"]), rng)
        header["__metadata__"]["gola"] = json.dumps(about)
    else:
        header = edit_values(header, rng)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])


def edit_checkpoint(path: Path, rng: np.random.Generator, forge: bool) -> None:
    """Edit the state of a training run."""
    state = torch.load(path, weights_only=True)
    settings = state.pop("settings")
    state = edit_values(state, rng)
    if forge:
        Checkpoints(folder=path.parent, settings=settings).save(state)
    else:
        buffer = io.BytesIO()
        torch.save({"settings": settings, **state}, buffer)
        path.write_bytes(buffer.getvalue())


def edit_dataset(path: Path, rng: np.random.Generator, forge: bool) -> None:
    """Edit an attribute or an array of a data set."""
    names: list[str] = []
    with h5py.File(path, "r+") as file:
        file.visit(names.append)
        name = names[rng.integers(len(names))]
        _edit_hdf5(file, name, rng)
        if forge and {"format", "version"} <= set(file.attrs):
            # Something may be gone that the checksum is made of.
            with contextlib.suppress(KeyError, AttributeError, TypeError, ValueError, MemoryError):
                file.attrs["checksum"] = header_checksum(file)


def _edit_hdf5(file: h5py.File, name: str, rng: np.random.Generator) -> None:
    kind = rng.integers(5)
    held = [*file.attrs] if kind == 0 else [*file[name].attrs]
    if kind < 2 and held:
        owner, key = (file if kind == 0 else file[name]), held[rng.integers(len(held))]
        strange = [value for value in _STRANGE if isinstance(value, int | float | str) and value != 2**63]
        owner.attrs[key] = strange[rng.integers(len(strange))]
    elif kind == 2 and isinstance(file[name], h5py.Dataset) and file[name].maxshape[:1] == (None,):
        file[name].resize(int(10 ** rng.integers(0, 13)), axis=0)
    elif kind == 3 and isinstance(file[name], h5py.Dataset) and file[name].dtype.kind in "iuf":
        numbers = file[name][()]
        unlikely = np.array([-1, 99, 2**31 - 1, 0]).astype(numbers.dtype)
        numbers.flat[rng.integers(numbers.size)] = unlikely[rng.integers(len(unlikely))]
        file[name][...] = numbers
    else:
        del file[name]


def edit_archive(path: Path, rng: np.random.Generator, _forge: bool) -> None:
    """Edit the header of an array in a NumPy archive, or replace an array."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = list(members)[rng.integers(len(members))]
    if rng.random() < 0.5:
        members[name] = edit_text(members[name], rng, first=100)
    else:
        buffer = io.BytesIO()
        strange = [
            np.zeros(()),
            np.zeros(3),
            np.zeros((2, 3, 4)),
            np.array(["a"]),
            np.array([[-1, 99, 5]]),
            np.zeros(0),
        ]
        np.save(buffer, strange[rng.integers(len(strange))])
        members[name] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


def edit_file_text(path: Path, rng: np.random.Generator, _forge: bool) -> None:
    """Edit a number or a word in a file of text."""
    path.write_bytes(edit_text(path.read_bytes(), rng))


def edit_text(content: bytes, rng: np.random.Generator, first: int = 4000) -> bytes:
    """Replace a number or a word among the first bytes."""
    words = list(re.finditer(rb"-?\d[\d.eE+-]*|[A-Za-z_]+", content[:first]))
    if not words:
        return content
    word = words[rng.integers(len(words))]
    return content[: word.start()] + _STRANGE_TEXTS[rng.integers(len(_STRANGE_TEXTS))] + content[word.end() :]


EDITS: dict[str, Edit] = {
    "h5": edit_dataset, "gola": edit_surrogate, "checkpoint": edit_checkpoint, "run": edit_json, "npz": edit_archive,
    "csv": edit_file_text, "vtu": edit_file_text, "vtk": edit_file_text, "xdmf": edit_file_text,
}  # fmt: skip
