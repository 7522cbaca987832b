"""Modules whose state comes from data, in shapes that only the data decides."""

import json
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn


class Fitted(nn.Module):
    """A module that keeps what was fitted in buffers, empty until then.

    ``load_state_dict`` gives each buffer the shape of what is loaded, so a new instance takes over the state of a
    fitted one, whatever the size of the data was.
    """

    def _register_empty(self, *names: str) -> None:
        for name in names:
            self.register_buffer(name, torch.empty(0, dtype=torch.float64))

    def _load_from_state_dict(self, state_dict: Mapping[str, Tensor], prefix: str, *rest: Any) -> None:
        for name, buffer in list(self._buffers.items()):
            stored = state_dict.get(prefix + name)
            if stored is not None and buffer is not None:
                setattr(self, name, torch.empty_like(stored, device=buffer.device))
        super()._load_from_state_dict(state_dict, prefix, *rest)


def as_bytes(settings: Mapping[str, Any]) -> Tensor:
    """Write settings as a tensor of bytes, so that they travel with the other fitted state.

    >>> from_bytes(as_bytes({"penalty": 0.1}))
    {'penalty': 0.1}
    """
    return torch.tensor(list(json.dumps(settings).encode()), dtype=torch.uint8)


def from_bytes(stored: Tensor) -> dict[str, Any]:
    """Undo :func:`as_bytes`."""
    settings: dict[str, Any] = json.loads(bytes(stored.tolist()))
    return settings
