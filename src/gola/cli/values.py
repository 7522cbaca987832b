"""Read values that the command line gives as text."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def assignments(texts: Iterable[str], defaults: Mapping[str, Any], option: str = "--set") -> dict[str, Any]:
    """Read NAME=VALUE pairs.

    Args:
        texts: The pairs.
        defaults: Default values by name: where one is a tuple, the value is a list with commas.
        option: What they belong to, in messages.

    >>> assignments(["width=32", "norm=layer", "members=linear,kernel"], {"members": ("linear",)})
    {'width': 32, 'norm': 'layer', 'members': ('linear', 'kernel')}
    """
    return {name: _value(text, defaults.get(name)) for name, text in _pairs(texts, option)}


def choices(texts: Iterable[str], defaults: Mapping[str, Any], option: str = "--set") -> dict[str, list[Any]]:
    """Read NAME=VALUE,VALUE,... into the values of each name; a setting that is a list has one value in each text.

    >>> choices(["width=32,64", "members=linear,kernel", "members=linear"], {"members": ()})
    {'width': [32, 64], 'members': [('linear', 'kernel'), ('linear',)]}
    """
    found: dict[str, list[Any]] = {}
    for name, text in _pairs(texts, option):
        default = defaults.get(name)
        parts = [text] if isinstance(default, tuple) else text.split(",")
        if not all(part.strip() for part in parts):
            raise ValueError(f"{option} needs NAME=VALUE,VALUE,... without gaps; got {name}={text!r}.")
        found.setdefault(name, []).extend(_value(part, default) for part in parts)
    return found


def names(text: str, option: str) -> tuple[str, ...]:
    """Read names with commas between them, each once.

    >>> names("linear, gola,linear", "--operators")
    ('linear', 'gola')
    """
    found = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not found:
        raise ValueError(f"{option} needs at least one name; got {text!r}.")
    return found


def counts(text: str, option: str) -> list[int]:
    """Read whole numbers with commas between them.

    >>> counts("100,1000", "--num-points")
    [100, 1000]
    """
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise ValueError(f"{option} needs whole numbers above 0 with commas between them, like 100,1000; got {text!r}.")
    return numbers


def written(value: Any) -> str:
    """Write a value so that :func:`assignments` reads it back.

    >>> written(("linear", "kernel")), written(()), written(0.1), written(True)
    ('linear,kernel', '[]', '0.1', 'true')
    """
    if isinstance(value, list | tuple):
        return ",".join(map(written, value)) or "[]"
    return value if isinstance(value, str) else json.dumps(value)


def _pairs(texts: Iterable[str], option: str) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise ValueError(f"{option} needs NAME=VALUE, for instance width=32; got {text!r}.")
        yield name.strip(), value.strip()


def _value(text: str, default: Any) -> Any:
    """Read JSON, or else text; a list where the default is a tuple."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = [_value(part.strip(), None) for part in text.split(",")] if isinstance(default, tuple) else text
    if not isinstance(default, tuple):
        return value
    return tuple(value) if isinstance(value, list) else (value,)
