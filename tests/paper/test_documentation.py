import re
from pathlib import Path

import pytest

from paper.budgets import BUDGETS
from paper.cells import TARGETS
from paper.contenders import CONTENDERS
from paper.reproduction import ALL, COMPLEXITY
from tests.cli.runs import run

PAGE = (Path(__file__).parents[2] / "docs" / "reproducing.md").read_text()


def test_every_target_is_explained():
    named = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert named == [*TARGETS, COMPLEXITY, ALL, *BUDGETS]


def test_the_commands_on_the_page_have_the_options_they_use():
    used = set(re.findall(r"--[a-z][a-z-]+", PAGE))
    offered = run("reproduce", "--help").stdout
    assert used
    assert all(option in offered for option in used), used


@pytest.mark.parametrize("name", ["gola", "gola/paper", "gkn", "gcn", "deeponet", "fno"])
def test_the_lengths_of_training_on_the_page_are_those_of_the_standard_budget(name):
    training = BUDGETS["standard"].training_of(name, "darcy")
    length = f"{training.num_epochs} epochs" if training.num_epochs else f"{training.num_steps} steps"
    title = next(one.title for one in CONTENDERS if one.operator == name)
    assert re.search(rf"^\| {title}[^|]* \| {length}[^|]* \| {training.batch_size} \|", PAGE, flags=re.MULTILINE)


def test_the_seeds_on_the_page_are_those_of_the_budgets():
    for budget in BUDGETS.values():
        assert f"| `{budget.name}` | {budget.num_seeds} | {budget.num_other_seeds} |" in PAGE
