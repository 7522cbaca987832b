"""How much memory a process has used at its peak."""

import re
from pathlib import Path


def peak_gib() -> float:
    """Return the largest resident size of this process so far.

    The kernel's own count is read, because ``getrusage`` hands a child the peak of the parent that started it.
    """
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if found is None:
        raise RuntimeError("The peak memory of a process is only known on Linux.")
    return int(found[1]) / 2**20
