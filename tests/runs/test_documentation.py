import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.runs import run

PAGE = (Path(__file__).parents[2] / "docs" / "comparing.md").read_text()


def test_the_python_on_the_page_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert said.stdout.decode().startswith("Use ")
    assert len(list((tmp_path / "runs" / "mine").glob("*.json"))) == 6


def test_the_commands_on_the_page_have_the_options_they_use():
    for command in ("compare", "sweep"):
        lines = re.findall(rf"^gola {command} (.*?[^\\])$", PAGE, flags=re.DOTALL | re.MULTILINE)
        used = {option for line in lines for option in re.findall(r"--[a-z-]+", line)}
        offered = run(command, "--help").stdout
        assert used
        assert all(option in offered for option in used), used
