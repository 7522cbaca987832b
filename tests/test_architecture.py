"""Imports point one way only, so that a reader meets every part after those it builds on."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gola

ROOT = Path(gola.__file__).parent
# From the bottom up. Parts of one layer do not import each other.
LAYERS = [
    {"files", "registry", "extras", "display", "worker", "threads", "advice", "mapped", "recording"},
    {"geometry"},
    {"graph"},
    {"data"},
    {"protocol", "metrics", "executors"},
    {"problems", "representation"},
    {"operators"},
    {"fitting"},
    {"surrogate"},
    {"runs"},
    {"plotting"},
    {"report"},
    {"cli"},
    {"__init__", "__main__"},
]
LAYER_OF = {part: number for number, layer in enumerate(LAYERS) for part in layer}
MODULES = sorted(ROOT.rglob("*.py"))


def part_of(module: Path) -> str:
    first = module.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported_parts(module: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("gola.")} & set(LAYER_OF)


def test_every_part_has_a_layer():
    assert {part_of(module) for module in MODULES} <= set(LAYER_OF)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_imports_point_downward(module):
    part = part_of(module)
    upward = {other for other in imported_parts(module) if other != part and LAYER_OF[other] >= LAYER_OF[part]}
    assert not upward, f"{part} imports {upward}, which builds on it"


def test_matplotlib_is_imported_only_where_pictures_are_drawn():
    for module in MODULES:
        if part_of(module) != "plotting":
            assert "matplotlib" not in module.read_text(), module


def test_only_the_command_line_prints():
    for module in MODULES:
        if part_of(module) not in {"cli", "__main__"}:
            calls = [node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Call)]
            printed = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
            assert not printed, module


def test_there_is_no_drawer_for_leftovers():
    assert not [module for module in MODULES if module.stem in {"utils", "helpers", "misc", "common"}]


@pytest.mark.parametrize("room", ["data.dataset", "data.formats", "data.inspection", "problems", "registry", "files"])
def test_what_comes_before_operators_does_not_wait_for_torch(room):
    code = f"import sys, gola.{room}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
