"""Ways to damage the bytes of a file."""

from collections.abc import Callable

import numpy as np

Damage = Callable[[bytes, np.random.Generator], bytes]


def truncated(content: bytes, rng: np.random.Generator) -> bytes:
    """Leave out the end."""
    return content[: rng.integers(len(content))]


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip one to eight bits."""
    damaged = bytearray(content)
    for place in rng.integers(len(content), size=rng.integers(1, 9)):
        damaged[place] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def swapped(content: bytes, rng: np.random.Generator) -> bytes:
    """Exchange two stretches of the same length."""
    length = int(rng.integers(1, max(2, min(64, len(content) // 3))))
    first, second = sorted(int(place) for place in rng.integers(len(content) - length + 1, size=2))
    second = max(second, first + length)
    if second + length > len(content):
        return content[::-1]
    between = content[first + length : second]
    one, other = content[first : first + length], content[second : second + length]
    return content[:first] + other + between + one + content[second + length :]


def zeroed(content: bytes, rng: np.random.Generator) -> bytes:
    """Write zeros over a stretch."""
    start, length = _stretch(content, rng)
    return content[:start] + bytes(length) + content[start + length :]


def overwritten(content: bytes, rng: np.random.Generator) -> bytes:
    """Write random bytes over a stretch."""
    start, length = _stretch(content, rng)
    return content[:start] + rng.bytes(length) + content[start + length :]


def inserted(content: bytes, rng: np.random.Generator) -> bytes:
    """Insert random bytes."""
    start, length = _stretch(content, rng)
    return content[:start] + rng.bytes(length) + content[start:]


def deleted(content: bytes, rng: np.random.Generator) -> bytes:
    """Leave out a stretch."""
    start, length = _stretch(content, rng)
    return content[:start] + content[start + length :]


def _stretch(content: bytes, rng: np.random.Generator) -> tuple[int, int]:
    length = int(min(2 ** rng.uniform(0, 10), len(content)))
    return int(rng.integers(len(content) - length + 1)), length


BYTE_DAMAGES: dict[str, Damage] = {
    "truncation": truncated,
    "flips": flipped,
    "swap": swapped,
    "zeros": zeroed,
    "noise": overwritten,
    "insertion": inserted,
    "deletion": deleted,
}
