"""Parameters as users have them: arrays, tables by name, rows of a table."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from gola.advice import warn
from gola.data.sample import Channel
from gola.data.validation import as_channels
from gola.registry import unknown


def as_table(parameters: Any, names: Sequence[str | Channel] | None = None) -> tuple[Any, tuple[Channel, ...]]:
    """Return one row of numbers per sample, and the name and unit of each column.

    Args:
        parameters: (samples, parameters), or (samples,) for a single one; a dict of columns by name; a DataFrame; None.
        names: Names, or names with units; by default those of the table, or ``parameter_0``, ``parameter_1``, …

    >>> as_table({"load [N]": [1.0, 2.0], "angle": [30.0, 45.0]})[1]
    (Channel(name='load', unit='N'), Channel(name='angle', unit=''))
    """
    if parameters is None:
        if names:
            raise ValueError(f"There are names for {len(names)} parameters and no values; give parameters too.")
        return None, ()
    columns = list(parameters) if isinstance(parameters, Mapping) else getattr(parameters, "columns", None)
    if columns is None:
        rows = [np.atleast_1d(row) for row in parameters]
        width = max((np.size(row) for row in rows), default=0)
        plain = ["parameter"] if width == 1 else [f"parameter_{column}" for column in range(width)]
        return rows, as_channels(plain if names is None else names)
    channels = as_channels([Channel.parse(str(name)) for name in columns] if names is None else names)
    if len(channels) != len(columns):
        raise ValueError(f"There are {len(channels)} names for {len(columns)} parameters; give one name for each.")
    lengths = {str(name): len(np.atleast_1d(parameters[name])) for name in columns}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(f"Every parameter needs one number per sample; got {listed}.")
    return [list(row) for row in zip(*(np.atleast_1d(parameters[name]) for name in columns), strict=True)], channels


def as_row(given: Any, channels: Sequence[Channel]) -> Float[np.ndarray, " parameter"]:
    """Return the parameters of one sample in the order of the channels.

    Args:
        given: The numbers in order; a dict by name; a DataFrame of one row, or a row of one; None for none.
        channels: The parameters that are needed.

    >>> as_row({"angle": 30.0, "load": 2.0}, [Channel(name="load"), Channel(name="angle")]).tolist()
    [2.0, 30.0]
    """
    wanted = [channel.name for channel in channels]
    names = _names_of(given)
    if names is not None:
        _warn_of_units(names, channels)
        given = [_value_of(given, name) for name in _in_order(names, wanted)]
    numbers = np.empty(0) if given is None else np.atleast_1d(given)
    if (numbers.size and numbers.dtype.kind not in "fuib") or numbers.shape not in ((len(wanted),), (1, len(wanted))):
        needed = f"{len(wanted)} numbers, {', '.join(map(str, channels))}, in order or by name" if wanted else "none"
        got = "none" if given is None else f"{given!r}"[:200]
        raise ValueError(f"parameters must be {needed}; got {got}.")
    numbers = numbers.astype(np.float64).reshape(len(wanted))
    for name, number in zip(wanted, numbers.tolist(), strict=True):
        if not math.isfinite(number):
            raise ValueError(f"The parameter {name} must be a finite number; got {number}.")
    return numbers


def num_cases(given: Any) -> int:
    """Return how many rows a table has; 1 for what are the numbers of one sample.

    >>> num_cases({"load": [1.0, 2.0], "angle": [30.0, 45.0]}), num_cases([[1.0, 30.0], [2.0, 45.0]]), num_cases([1.0])
    (2, 2, 1)
    """
    if hasattr(given, "columns"):
        return len(given)
    if isinstance(given, Mapping):
        return max((np.size(column) for column in given.values()), default=1)
    is_table = given is not None and not callable(getattr(given, "keys", None)) and np.ndim(given) == 2
    return len(given) if is_table else 1


def _names_of(given: Any) -> list[str] | None:
    """Return the names in a dict, a DataFrame or a Series; None for plain numbers."""
    if isinstance(given, Mapping):
        return list(given)
    if hasattr(given, "columns"):
        return list(given.columns)
    # A list and a tuple have a method `index`, a Series has labels.
    labels = getattr(given, "index", None)
    return None if labels is None or callable(labels) else list(labels)


def _warn_of_units(names: Sequence[str], channels: Sequence[Channel]) -> None:
    """Warn of names with other units in brackets than those of the channels."""
    wanted = {channel.name: channel for channel in channels}
    for one in (Channel.parse(str(name)) for name in names):
        known = wanted.get(one.name)
        if known is not None and one.unit and known.unit and one.unit != known.unit:
            warn(f"The parameter {one} is given for {known}; values are not converted.")


def _in_order(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return the given names in the order of the wanted ones, units in brackets set aside."""
    plain = {Channel.parse(str(name)).name: name for name in names}
    for name in plain:
        if name not in wanted:
            raise ValueError(unknown("parameter", name, wanted))
    missing = [name for name in wanted if name not in plain]
    if missing:
        raise ValueError(f"The parameters {', '.join(missing)} are missing; given are {', '.join(plain) or 'none'}.")
    return [plain[name] for name in wanted]


def _value_of(given: Any, name: str) -> Any:
    value = np.asarray(given[name])
    if value.size != 1:
        raise ValueError(f"The parameter {name} must be one number; got {value.size} of them.")
    return value.reshape(-1)[0]
