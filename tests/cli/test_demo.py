import subprocess
import sys

from typer.testing import CliRunner

from gola.cli import app


def test_the_demo_prints_a_summary_and_draws_a_picture(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--num-points", "200", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert "neighbours (min / mean / max)" in result.output
    picture = tmp_path / "graph.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["graph.png"]


def test_a_mistake_becomes_one_line_and_exit_code_2(tmp_path):
    command = [sys.executable, "-m", "gola", "demo", "--num-neighbours", "500", "--num-points", "100"]
    result = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "cannot have 500.0 neighbours; there are 99 other points" in result.stderr
    assert "Traceback" not in result.stderr
