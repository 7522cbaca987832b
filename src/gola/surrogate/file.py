"""The file of a surrogate: tensors in the safetensors format, all else as JSON in its header, and a checksum of both.

Which versions load: the current one, and version 2, which knows no parameters, where its operators have not changed
since; none before, whose operators are gone. Reading never executes anything.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, contiguous_format, uint8

FORMAT = "gola surrogate"
FORMAT_VERSION = 3


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write tensors and plain values to one file."""
    text = json.dumps({"format": FORMAT, "version": FORMAT_VERSION, **about})
    # Copies: the format refuses tensors that share memory or have gaps.
    whole = {name: tensor.detach().cpu().clone(memory_format=contiguous_format) for name, tensor in tensors.items()}
    # Written here and not by the library, whose files only their owner may read.
    path.write_bytes(save(whole, metadata={"gola": text, "checksum": _checksum(text, whole)}))


def read_tensors(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read what :func:`write_tensors` wrote: plain values and tensors.

    Raises:
        ValueError: If the file is missing, foreign, damaged or of another version.
    """
    if not path.is_file():
        raise ValueError(f"There is no surrogate {path}.")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            text = metadata.get("gola", "{}")
            header = json.loads(text)
            _require_known(path, header)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dict
    except (SafetensorError, OSError, ValueError, RecursionError, OverflowError) as error:
        if isinstance(error, _RefusedError):
            raise ValueError(str(error)) from None
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} is not a surrogate, or is damaged ({reason}); copy or fit it again.") from error
    if metadata.get("checksum") != _checksum(text, tensors):
        raise ValueError(f"{path} is damaged: its checksum does not fit its content; copy or fit it again.")
    return header, tensors


class _RefusedError(ValueError):
    """A file that can be read and is not for this version."""


def _require_known(path: Path, header: Any) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _RefusedError(f"{path} holds tensors of another program; a surrogate is what Surrogate.save writes.")
    version = header.get("version")
    if version == 1 and version is not True:
        raise _RefusedError(
            f"{path} was written by gola 0.1, whose operators this version does not read; fit it again."
        )
    if type(version) is not int or version < 1:
        raise _RefusedError(f"{path} has no valid format version ({version!r}); copy or fit it again.")
    if version > FORMAT_VERSION:
        raise _RefusedError(f"{path} has format version {version} and this gola reads {FORMAT_VERSION}; update gola.")


def _checksum(text: str, tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    for name, tensor in sorted(tensors.items()):
        digest.update(repr((name, str(tensor.dtype), tuple(tensor.shape))).encode())
        digest.update(tensor.contiguous().flatten().view(uint8).numpy().data if tensor.numel() else b"")
    return digest.hexdigest()
