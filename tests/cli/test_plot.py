import subprocess
import sys

from typer.testing import CliRunner

from gola.cli import app
from gola.data.dataset import Dataset
from gola.problems import make_problem
from gola.runs import RunConfig
from tests.fits import TINY


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def failure(*words):
    """Run a command that must fail, and return what it would print."""
    result = run(*words)
    assert isinstance(result.exception, ValueError), result.output
    return str(result.exception)


def fitted_run(folder, operator="linear", **settings):
    """A run folder as `gola train` leaves it, less what plotting does not need."""
    problem = make_problem("eikonal", resolution=16)
    data = folder / "data.h5"
    samples = problem.generate(0, range(6))
    Dataset.from_samples(samples, inputs=problem.inputs, targets=problem.targets).save(data)
    config = RunConfig(data=str(data), operator=operator, settings=TINY[operator], num_points=60, **settings)
    (folder / "run").mkdir()
    config.save(folder / "run")
    config.fit(config.samples()[0]).save(folder / "run" / "surrogate.gola")
    return folder / "run"


def pictures(folder):
    files = sorted(folder.glob("*.png"))
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
    return [file.name for file in files]


def test_a_run_gets_its_pictures_into_its_folder(tmp_path):
    folder = fitted_run(tmp_path, num_train=4)
    result = run("plot", folder)
    assert result.exit_code == 0, result.output
    assert pictures(folder) == ["errors.png", "fields.png"]
    assert str(folder / "fields.png") in result.output.replace("\n", "")


def test_pictures_of_a_run_without_test_samples_go_where_asked(tmp_path):
    folder = fitted_run(tmp_path)
    assert run("plot", folder, "--sample", 5, "--out", tmp_path / "elsewhere").exit_code == 0
    assert pictures(tmp_path / "elsewhere") == ["errors.png", "fields.png"]
    assert pictures(folder) == []


def test_a_sample_that_is_not_there_is_refused(tmp_path):
    folder = fitted_run(tmp_path, num_train=4)
    assert "no sample 2; the data set has samples 0 to 1" in failure("plot", folder, "--sample", 2)


def test_a_folder_that_is_no_finished_run_is_refused(tmp_path):
    assert "not the folder of a run" in failure("plot", tmp_path)
    folder = fitted_run(tmp_path, num_train=4)
    (folder / "surrogate.gola").unlink()
    assert "unfinished run" in failure("plot", folder)


def test_a_mistake_becomes_one_line_and_exit_code_2(tmp_path):
    command = [sys.executable, "-m", "gola", "plot", str(tmp_path / "missing.h5")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "not a file" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_surrogate_is_drawn_beside_its_file(tmp_path):
    folder = fitted_run(tmp_path, num_train=4)
    result = run("plot", folder / "surrogate.gola")
    assert result.exit_code == 0, result.output
    assert pictures(folder) == ["surrogate.png"]


def test_a_surrogate_has_no_samples_to_choose_from(tmp_path):
    assert "holds no samples" in failure("plot", tmp_path / "x.gola", "--sample", 1)
