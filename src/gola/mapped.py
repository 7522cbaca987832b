"""What is made of items whenever it is asked for, and held no longer than that."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, final, overload

import numpy as np
from jaxtyping import Int, Shaped

Made = TypeVar("Made")


@final
class Mapped(Sequence[Made], Generic[Made]):
    """A function of the items of some sequences: for samples of millions of points, which need not exist at once.

    >>> list(Mapped(lambda one, other: one * other, [1, 2], [3, 4]))
    [3, 8]
    """

    def __init__(self, function: Callable[..., Made], *columns: Sequence[object]) -> None:
        self._function = function
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> Made: ...

    @overload
    def __getitem__(self, index: slice) -> "Mapped[Made]": ...

    def __getitem__(self, index: int | slice) -> "Made | Mapped[Made]":
        if isinstance(index, slice):
            return Mapped(self._function, *(column[index] for column in self._columns))
        return self._function(*(column[index] for column in self._columns))


def picked_rows(
    parts: Sequence[Shaped[np.ndarray, "_ column"]], rows: Int[np.ndarray, " row"]
) -> Shaped[np.ndarray, "row column"]:
    """Return rows of arrays that are taken for one after the other, without putting all of them together.

    >>> picked_rows([np.array([[0.0], [1.0]]), np.array([[2.0]])], np.array([2, 0])).tolist()
    [[2.0], [0.0]]
    """
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    found = np.empty((len(rows), parts[0].shape[1]), dtype=parts[0].dtype)
    for part, start, end in zip(parts, starts[:-1], starts[1:], strict=True):
        within = (rows >= start) & (rows < end)
        found[within] = part[rows[within] - start]
    return found
