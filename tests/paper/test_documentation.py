import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paper.__main__ import app
from paper.budgets import BUDGETS
from paper.contenders import CONTENDERS
from paper.reproduction import CHOICES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reproducing.md").read_text()


def test_every_target_is_explained():
    named = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert named[: len(CHOICES) + len(BUDGETS)] == [*CHOICES, *BUDGETS]


def test_the_targets_on_the_page_are_those_there_are():
    assert set(re.findall(r"TARGET=(\w+)", PAGE)) <= set(CHOICES)


def test_the_commands_on_the_page_have_the_options_they_use():
    used = set(re.findall(r"--[a-z][a-z-]+", PAGE)) - {"--help"}
    offered = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200", "TERM": "dumb"}).stdout
    assert used
    assert all(option in offered for option in used), used


@pytest.mark.parametrize("name", ["gola", "gola/paper", "gkn", "gcn", "deeponet", "fno"])
def test_the_lengths_of_training_on_the_page_are_those_of_the_standard_budget(name):
    training = BUDGETS["standard"].training_of(name, "darcy")
    length = f"{training.num_epochs} epochs" if training.num_epochs else f"{training.num_steps} steps"
    title = next(contender.title for contender in CONTENDERS if contender.operator == name)
    assert re.search(rf"^\| {title}[^|]* \| {length}[^|]* \| {training.batch_size} \|", PAGE, flags=re.MULTILINE)


def test_the_seeds_on_the_page_are_those_of_the_budgets():
    for budget in BUDGETS.values():
        assert f"| `{budget.name}` | {budget.num_seeds} | {budget.num_other_seeds} |" in PAGE


def test_the_makefile_passes_the_target_and_its_options_on():
    rule = re.search(r"^paper:.*\n\t(.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)[1]
    assert rule == "$(BIN)/python -m paper $(TARGET) $(if $(DRY),--dry-run) $(OPTIONS)"
