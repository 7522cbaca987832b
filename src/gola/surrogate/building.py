"""From what a file says to an operator, without trusting the file: sizes are compared before anything is made."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_parameter_registration_hook,
)

from gola.operators.operator import Operator
from gola.registry import OPERATORS

# Tensors that are made and not stored, or replaced while an operator is made.
_SPARE = 64


def built_operator(name: str, settings: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Operator:
    """Make an operator with the state that a file holds.

    Raises:
        ValueError: If there is no such operator, a setting makes no sense, or the tensors are others.
    """
    kind: type[Operator] = OPERATORS[name]
    config = kind.config_type.from_dict(settings)
    # Tensors on the meta device have a size and take no memory, whatever the settings ask for.
    with torch.device("meta"), _at_most(2 * len(tensors) + _SPARE):
        skeleton = kind(config)
    for parameter, wanted in skeleton.named_parameters():
        found = tensors.get(parameter)
        if found is None or found.shape != wanted.shape:
            shape = "is missing" if found is None else f"has the shape {tuple(found.shape)}"
            raise ValueError(f"the settings ask for {parameter} of shape {tuple(wanted.shape)}, which {shape}")
    operator = kind(config)
    try:
        operator.load_state_dict(dict(tensors))
    except (RuntimeError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"its tensors are not those of {name} ({' '.join(str(error).split())[:200]})") from error
    return operator


@contextmanager
def _at_most(most: int) -> Iterator[None]:
    """Refuse to make modules with more tensors than this."""
    made = 0

    def count(_module: nn.Module, _name: str, _tensor: Any) -> None:
        nonlocal made
        made += 1
        if made > most:
            raise ValueError(f"the settings ask for more than the {most} tensors that there can be")

    hooks = [register_module_parameter_registration_hook(count), register_module_buffer_registration_hook(count)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
