"""Packages that only some uses of gola need: they are imported where they are used, and installed as extras."""

from importlib import import_module
from typing import Any

# What to call a package whose module has another name.
_PACKAGES = {
    "imageio_ffmpeg": "imageio-ffmpeg",
    "neuralop": "neuraloperator",
    "skfem": "scikit-fem",
    "sklearn": "scikit-learn",
}


def require(module: str, *, extra: str, what: str) -> Any:
    """Import a module that is not among the dependencies of the core.

    Args:
        module: Its name, with dots where it lies inside a package.
        extra: The extra of gola that installs it.
        what: What needs it, as the beginning of a sentence: ``"Reading meshes"``.

    Raises:
        ValueError: If it is not installed, with the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # A package that is there and lacks a dependency of its own is broken, which its own message says better.
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        package = module.partition(".")[0]
        raise ValueError(
            f"{what} needs {_PACKAGES.get(package, package)}, which is not installed;"
            f" install it with `pip install 'gola[{extra}]'`."
        ) from error
