"""Load the surrogate that a command works with."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gola.surrogate.surrogate import Surrogate


def load_surrogate(source: Path) -> "Surrogate":
    """Load the surrogate of a run's folder, or of a ``.gola`` file."""
    from gola.runs import RunConfig  # PyTorch is slow to import
    from gola.runs.folder import RunFolder
    from gola.surrogate.surrogate import Surrogate

    if not source.is_dir():
        return Surrogate.load(source)
    folder = RunFolder(source)
    if not folder.is_finished:
        RunConfig.load(source)  # says so where this is no run at all
        raise ValueError(f"{source} holds an unfinished run; resume it with its `gola train` command and --resume.")
    return Surrogate.load(folder.surrogate_file)
