"""The file of a surrogate: tensors in the safetensors format, and all else as JSON in its header."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

FORMAT = "gola surrogate"
FORMAT_VERSION = 2


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write tensors and plain values to one file."""
    header = {"format": FORMAT, "version": FORMAT_VERSION, **about}
    # Copies: the format refuses tensors that share memory or have gaps.
    whole = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    # Written here and not by the library, whose files only their owner may read.
    path.write_bytes(save(whole, metadata={"gola": json.dumps(header)}))


def read_tensors(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read what :func:`write_tensors` wrote: plain values and tensors."""
    if not path.is_file():
        raise ValueError(f"There is no surrogate {path}.")
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {}).get("gola", "{}"))
            _require_known(path, header)
            return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dict
    except (SafetensorError, json.JSONDecodeError, OSError) as error:
        raise ValueError(f"{path} is not a surrogate, or is damaged: {error}.") from error


def _require_known(path: Path, header: Mapping[str, Any]) -> None:
    if header.get("format") != FORMAT:
        raise ValueError(f"{path} holds tensors of another program; a surrogate is what Surrogate.save writes.")
    version = header.get("version")
    if version == 1:
        raise ValueError(f"{path} was written by gola 0.1, whose operators this version does not read; fit it again.")
    if version != FORMAT_VERSION:
        raise ValueError(f"{path} has format version {version} and this gola reads {FORMAT_VERSION}; update gola.")
