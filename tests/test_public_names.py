import subprocess
import sys

import pytest

import gola


@pytest.mark.parametrize("name", gola.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(gola, name).__name__ == name
    assert name in dir(gola)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'dataset_typo'"):
        gola.dataset_typo  # noqa: B018


@pytest.mark.parametrize("modules", ["gola, gola.problems, gola.problems.generation", "gola.cli"])
def test_solving_equations_and_the_command_line_do_not_wait_for_pytorch(modules):
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
