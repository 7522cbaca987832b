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


def test_solving_equations_does_not_load_pytorch():
    code = "import sys, gola, gola.problems; gola.make_problem('darcy'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
