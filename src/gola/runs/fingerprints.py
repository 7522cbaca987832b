"""Short texts that change when the content of a data set or of the code does."""

import ast
import functools
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from gola.data.dataset import Dataset
from gola.registry import OPERATORS

_PACKAGE = Path(__file__).parent.parent
# Where the result of a run comes from; with it counts whatever of the package it imports.
_ENTRY = "gola.runs.execution"
# What makes data sets: a run knows its data by their content.
_SOURCES = ("gola.problems", "gola.data.formats")
_PLACE = re.compile(r"gola(\.\w+)+:\w+")
# How networks are trained.
_TRAINING = "gola.fitting.training"
# What any operator may be chosen by.
_CHOOSING = "gola.fitting.auto"
# What all operators share, and what holds, stores, checks and runs whatever was fitted: it changes often, and is tested
# to change no number. Settings of training stand beside every result.
_AROUND = (
    *_SOURCES,
    *("gola.data.storage", "gola.data.dataset", "gola.data.sample", "gola.data.validation", "gola.data.trajectories"),
    *("gola.data.correspondence", "gola.data.parameters", "gola.data.periods", "gola.data.times", "gola.surrogate"),
    *("gola.operators.operator", "gola.operators.queries", "gola.operators.held_out_folds", "gola.protocol"),
    *("gola.runs", "gola.registry", "gola.files", "gola.extras", "gola.display"),
)


def fingerprint_of(data: str | Path) -> str:
    """Return the fingerprint of a data set's content, read once per process unless the file changes."""
    path = Path(data).resolve()
    if not path.is_file():
        Dataset.load(path)  # says what is wrong
    status = path.stat()
    return _fingerprint(path, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _fingerprint(path: Path, size: int, changed: int) -> str:  # noqa: ARG001 (a changed file is read again)
    return Dataset.load(path).fingerprint()


@functools.cache
def code_version(operator: str | None = None) -> str:
    """Return a short hash of the code that decides the result of a run.

    It covers modules of this package by their syntax: comments, docstrings and layout do not count, nor do problems,
    file formats, the command line and plots. It is the same for every version of Python that parses the code alike.

    Args:
        operator: Name of the run's operator, with or without its preset: the version covers the operator and, if it is
            a network, its training, with all that they import, so that work on one operator leaves the results of
            others current. What may use any operator, and operators of other packages, have the version of all code,
            as None has: whatever a run imports.
    """
    digest = hashlib.blake2b(digest_size=4)
    for module, tree in sorted(_deciding_modules(operator).items()):
        digest.update(f"{module}:{_essence(tree)}\n".encode())
    return digest.hexdigest()


def _deciding_modules(operator: str | None) -> dict[str, ast.Module]:
    name = (operator or "").partition("/")[0]
    place = OPERATORS[name].__module__ if name in OPERATORS else ""
    if not place.startswith("gola.") or place.startswith(_CHOOSING):
        return _imported_modules(_ENTRY)
    entries = (place, _TRAINING) if "training" in OPERATORS[name].heeds else (place,)
    return _imported_modules(*entries, left_out=_AROUND)


def _imported_modules(*entries: str, left_out: tuple[str, ...] = _SOURCES) -> dict[str, ast.Module]:
    found: dict[str, ast.Module] = {}
    waiting = list(entries)
    while waiting:
        module = waiting.pop()
        path = _source_of(module)
        if path is not None and module not in found and not module.startswith(left_out):
            found[module] = ast.parse(path.read_text(encoding="utf-8"))
            waiting += _names_imported_by(found[module])
    return found


def _source_of(module: str) -> Path | None:
    """Return the file of a module of this package; None for anything else."""
    package, *parts = module.split(".")
    place = _PACKAGE.joinpath(*parts)
    candidates = (place.with_suffix(".py"), place / "__init__.py")
    return next((path for path in candidates if path.is_file()), None) if package == "gola" and parts else None


def _names_imported_by(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _PLACE.fullmatch(node.value):
            yield node.value.partition(":")[0]  # a registry names what it holds, and imports it later


def _essence(node: object) -> str:
    """Write a syntax tree down, without strings that stand alone and without what is empty in it."""
    if isinstance(node, list):
        return f"[{','.join(_essence(item) for item in node if not _is_docstring(item))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = [f"{name}={_essence(value)}" for name, value in ast.iter_fields(node) if value is not None and value != []]
    return f"{type(node).__name__}({','.join(parts)})"


def _is_docstring(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
