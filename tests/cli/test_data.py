import json

import meshio
import numpy as np
import pytest
from typer.testing import CliRunner

from gola.cli import app
from gola.data.dataset import Dataset


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def failure(*words):
    """Run a command that must fail, and return what it would print."""
    result = run(*words)
    assert isinstance(result.exception, ValueError), result.output
    return str(result.exception)


@pytest.fixture
def cases(tmp_path):
    """Three simulations on triangle meshes of a square, written by meshio, with data at points and cells."""
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    for number in (1, 2, 10):
        points = np.concatenate([corners, rng.random((20, 2))])
        cells = meshio.CellBlock("triangle", _triangles(points))
        temperature = points[:, 0] * number
        mesh = meshio.Mesh(
            np.pad(points, ((0, 0), (0, 1))),
            [cells],
            point_data={"T": temperature},
            cell_data={"k": [np.full(len(cells.data), float(number))]},
        )
        mesh.write(tmp_path / f"case_{number}.vtu")
    return tmp_path


def _triangles(points):
    from scipy.spatial import Delaunay

    return Delaunay(points).simplices


@pytest.fixture
def darcy(tmp_path):
    result = run("generate", "darcy", "--num-samples", 3, "--set", "resolution=16", "--out", tmp_path / "darcy.h5")
    assert result.exit_code == 0, result.output
    return tmp_path / "darcy.h5"


def test_a_mesh_makes_the_round_trip_through_import_inspect_and_export(cases):
    out = cases / "my.h5"
    imported = run("import", cases / "case_*.vtu", "--inputs", "k [W/m/K]", "--targets", "T", "--out", out)
    assert imported.exit_code == 0, imported.output
    assert "3 samples in 2D" in imported.output

    inspected = json.loads(run("inspect", out, "--json").output)
    assert inspected["num_samples"] == 3
    assert inspected["channels"][1]["channel"] == {"name": "k", "unit": "W/m/K"}
    assert inspected["channels"][1]["role"] == inspected["channels"][1]["varies"] == "parameter"

    assert run("export", out, "--sample", 2, "--out", cases / "back.vtu").exit_code == 0
    before, after = meshio.read(cases / "case_10.vtu"), meshio.read(cases / "back.vtu")
    np.testing.assert_array_equal(before.points, after.points)
    np.testing.assert_array_equal(before.point_data["T"], after.point_data["T"])
    np.testing.assert_array_equal(before.cells[0].data, after.cells[0].data)
    np.testing.assert_allclose(after.field_data["k [W/m/K]"], 10.0)


def test_all_samples_are_exported_to_a_folder(darcy, tmp_path):
    assert run("export", darcy, "--out", tmp_path / "vtu").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "vtu").iterdir()) == [f"sample_000{i}.vtu" for i in range(3)]


def test_inspect_prints_a_summary_and_warns_about_what_will_hurt(tmp_path):
    points = np.random.default_rng(0).random((50, 2))
    points[7] = points[8]
    inputs = [np.ones((50, 1))] * 2
    targets = [points[:, :1], points[:, :1]]
    Dataset.from_arrays(points, inputs, targets).save(tmp_path / "bad.h5")
    printed = run("inspect", tmp_path / "bad.h5").output
    assert "suggested radius" in printed
    for warning in ("has the same value everywhere", "Points coincide in", "samples repeat another"):
        assert warning in printed


def test_plot_draws_a_picture_beside_the_file_or_where_asked(darcy, tmp_path):
    assert run("plot", darcy, "--sample", 1).exit_code == 0
    assert (tmp_path / "darcy_sample_1.png").read_bytes().startswith(b"\x89PNG")
    assert run("plot", darcy, "--out", tmp_path / "new" / "one.svg").exit_code == 0
    assert "<svg" in (tmp_path / "new" / "one.svg").read_text()


def test_one_problem_can_be_asked_for():
    printed = run("problems", "burgers").output
    assert "u_t + u u_x" in printed
    assert "darcy" not in printed
    assert "did you mean 'burgers'" in str(run("problems", "burger").exception)


def test_problems_lists_every_problem_with_its_equation():
    printed = run("problems").output
    assert "−∇·(a∇u) = f" in printed
    assert "plate_elasticity" in printed
    assert "reynolds_number from 5 to 100, logarithmic" in printed


def test_mistakes_are_explained(darcy, cases, tmp_path):
    assert "did you mean 'darcy'" in failure("generate", "darcie", "--out", tmp_path / "x.h5")
    assert "NAME=VALUE" in failure("generate", "darcy", "--set", "resolution", "--out", tmp_path / "x.h5")
    assert "no sample 3; the data set has samples 0 to 2" in failure("plot", darcy, "--sample", 3)
    assert "must end in one of" in failure("plot", darcy, "--out", tmp_path / "picture.xyz")
    assert "one sample, not 3" in failure("export", darcy, "--out", tmp_path / "x.vtu")
    assert "it has k, T" in failure("import", cases / "case_1.vtu", "--inputs", "t", "--out", tmp_path / "x.h5")
    assert "not a file" in failure("inspect", tmp_path / "missing.h5")
    (tmp_path / "foreign.h5").write_text("this is not HDF5")
    assert "not an HDF5 file" in failure("inspect", tmp_path / "foreign.h5")
    (tmp_path / "half.h5").write_bytes(darcy.read_bytes()[: darcy.stat().st_size // 2])
    assert "truncated" in failure("inspect", tmp_path / "half.h5")
    assert not (tmp_path / "x.h5").exists()
