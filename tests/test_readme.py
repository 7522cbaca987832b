"""The README's code runs as it stands."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


def test_the_example_of_the_readme_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert BLOCKS
    for block in BLOCKS:
        exec(compile(block, str(README), "exec"), {"__name__": "__main__"})
    assert "area 0.9600" in capsys.readouterr().out
