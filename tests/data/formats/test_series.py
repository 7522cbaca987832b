"""Files that hold or list the times of a trajectory."""

import json
from pathlib import Path

import meshio
import numpy as np
import pytest

from gola.data.formats import import_files
from gola.data.formats.time_steps import grouped
from tests.data.formats.steps import CELLS, POINTS, TIMES, mesh, temperature, write_numbered, write_pvd

ENTRIES = [(time, f"T_{number:04d}.vtu") for time, number in zip(TIMES, (0, 1, 2, 10), strict=True)]


def assert_as_written(data, num_cases=3):
    assert repr(data) == f"Dataset({num_cases} trajectories in 2D: k -> T c)"
    assert data.correspondence == "same points"
    for case, sample in enumerate(data):
        assert sample.times.tolist() == list(TIMES)
        assert sample.inputs.shape == (16, 1)
        expected = [temperature(case, time) for time in TIMES]
        np.testing.assert_allclose(sample.targets[..., 0], expected, rtol=1e-12)
        np.testing.assert_allclose(sample.targets[..., 1], np.repeat(TIMES, 16).reshape(4, 16), rtol=1e-12)
        assert sample.cells is not None
        assert sample.boundary.sum() >= 4


def test_numbered_files_are_trajectories_in_the_order_of_their_numbers(tmp_path):
    pattern = write_numbered(tmp_path)
    data = import_files(pattern, inputs=["k"], targets=["T", "c"], series=True, times=TIMES)
    assert_as_written(data)
    assert data.provenance["files"] == [str(tmp_path / f"case_{case}/T_*.vtu") for case in range(3)]


def test_numbers_are_the_times_where_nothing_else_is_said(tmp_path):
    data = import_files(write_numbered(tmp_path), inputs=["k"], targets=["T"], series=True)
    assert data[0].times.tolist() == [0.0, 1.0, 2.0, 10.0]


@pytest.mark.parametrize("text", ["0\n0.1\n0.5\n2\n", "0, 0.1, 0.5, 2", "time [s]\n0\n0.1\n0.5\n2\n"])
def test_times_may_stand_in_a_file(tmp_path, text):
    (tmp_path / "times.txt").write_text(text)
    data = import_files(
        write_numbered(tmp_path), inputs=["k"], targets=["T", "c"], series=True, times=tmp_path / "times.txt"
    )
    assert_as_written(data)


def test_times_may_stand_in_a_table_by_file(tmp_path):
    rows = [f"{name},{100 * time},{time}" for time, name in reversed(ENTRIES)]
    (tmp_path / "times.csv").write_text("file,percent,time\n" + "\n".join(rows))
    data = import_files(
        write_numbered(tmp_path), inputs=["k"], targets=["T", "c"], series=True, times=str(tmp_path / "times.csv")
    )
    assert_as_written(data)


def test_collections_of_paraview_say_their_times(tmp_path):
    write_numbered(tmp_path)
    for case in range(3):
        write_pvd(tmp_path / f"case_{case}", list(reversed(ENTRIES)))
    assert_as_written(import_files(str(tmp_path / "case_*/all.pvd"), inputs=["k"], targets=["T", "c"]))


def test_file_series_of_paraview_say_their_times(tmp_path):
    write_numbered(tmp_path, cases=(0,))
    files = [{"name": name, "time": time} for time, name in ENTRIES]
    path = tmp_path / "case_0/T.vtu.series"
    path.write_text(json.dumps({"file-series-version": "1.0", "files": files}))
    assert_as_written(import_files(path, inputs=["k"], targets=["T", "c"]), num_cases=1)
    path.write_text('{"files": [{"name": "T_0000.vtu"}]}')
    with pytest.raises(ValueError, match="is not a file series: it needs"):
        import_files(path, targets=["T"])


@pytest.mark.parametrize("data_format", ["XML", "HDF"])
def test_time_series_of_xdmf_are_trajectories(tmp_path, data_format, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with meshio.xdmf.TimeSeriesWriter("a.xdmf", data_format=data_format) as writer:
        writer.write_points_cells(POINTS, [("triangle", CELLS)])
        for time in TIMES:
            step = mesh(0, time)
            writer.write_data(time, point_data=step.point_data, cell_data=step.cell_data)
    assert_as_written(import_files("a.xdmf", inputs=["k"], targets=["T", "c"]), num_cases=1)


def test_a_plain_xdmf_file_is_no_trajectory(tmp_path):
    mesh(1, 0.0).write(tmp_path / "a.xdmf", data_format="XML")
    assert not import_files(tmp_path / "a.xdmf", inputs=["k"], targets=["T"]).has_time


def test_every_field_of_an_xdmf_series_may_have_a_collection_of_its_own(tmp_path):
    numbers = {name: " ".join(map(str, values)) for name, values in {"p": POINTS.ravel(), "c": CELLS.ravel()}.items()}

    def item(name, shape, kind="Float"):
        return f'<DataItem Dimensions="{shape}" NumberType="{kind}" Precision="8" Format="XML">{name}</DataItem>'

    geometry = (
        f'<Topology TopologyType="Triangle">{item(numbers["c"], f"{len(CELLS)} 3", "Int")}</Topology>'
        f'<Geometry GeometryType="XY">{item(numbers["p"], "16 2")}</Geometry>'
    )
    collections = "".join(
        f'<Grid Name="{name}" GridType="Collection" CollectionType="Temporal">'
        + "".join(
            f'<Grid GridType="Uniform"><Time Value="{time}"/><Attribute Name="{name}" Center="Node">'
            f"{item(' '.join(map(str, factor * temperature(0, time))), '16 1')}</Attribute></Grid>"
            for time in TIMES
        )
        + "</Grid>"
        for name, factor in (("T", 1.0), ("S", 2.0))
    )
    text = f'<Xdmf Version="3.0"><Domain><Grid GridType="Uniform">{geometry}</Grid>{collections}</Domain></Xdmf>'
    (tmp_path / "a.xdmf").write_text(f'<?xml version="1.0"?>\n<!DOCTYPE Xdmf SYSTEM "Xdmf.dtd" []>\n{text}')
    data = import_files(tmp_path / "a.xdmf", inputs=["S(0)"], targets=["T", "S"])
    np.testing.assert_allclose(data[0].targets[..., 1], 2.0 * data[0].targets[..., 0])
    np.testing.assert_allclose(data[0].inputs, data[0].targets[0, :, 1:])


def test_what_changes_with_time_may_be_an_input_and_the_first_time_another(tmp_path):
    pattern = write_numbered(tmp_path)
    data = import_files(pattern, inputs=["c", "k"], targets=["T"], series=True)
    assert data[0].inputs.shape == (4, 16, 2)
    first = import_files(pattern, inputs=["T(0)"], targets=["T"], series=True)
    assert [str(channel) for channel in first.inputs] == ["T(0)"]
    assert np.array_equal(first[2].inputs, first[2].targets[0])
    vector = import_files(pattern, inputs=["U(0)"], targets=["T"], series=True)
    assert [channel.name for channel in vector.inputs] == ["U_x(0)", "U_y(0)"]


def test_parameters_are_found_by_the_folder_of_a_trajectory(tmp_path):
    pattern = write_numbered(tmp_path)
    (tmp_path / "cases.csv").write_text("case,Re\ncase_1,1.0\ncase_0,0.0\ncase_2,2.0\n")
    data = import_files(pattern, targets=["T"], parameters=tmp_path / "cases.csv", series=True)
    assert data.parameter_values[:, 0].tolist() == [0.0, 1.0, 2.0]


def test_files_of_one_folder_are_grouped_by_what_comes_before_their_number():
    names = ["a_2_T_10.vtu", "a_1_T_0.5.vtu", "a_1_T_0.25.vtu", "a_2_T_9.vtu"]
    first, second = grouped([Path(name) for name in names])
    assert (str(first.pattern), first.numbers) == ("a_2_T_*.vtu", (9.0, 10.0))
    assert (str(second.pattern), second.numbers) == ("a_1_T_*.vtu", (0.25, 0.5))
    folders = grouped([Path("case_1/0.1/T.vtu"), Path("case_1/0.2/T.vtu")])
    assert (str(folders[0].pattern), folders[0].numbers) == ("case_1/*/T.vtu", (0.1, 0.2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "T_0001.vtu").unlink(), r"lists .*T_0001.vtu, which is not a file"),
        (lambda folder: write_pvd(folder, []), "lists no files"),
        (lambda folder: write_pvd(folder, ENTRIES + ENTRIES[:1]), r"lists 2 files for the time 0; .* Merge Blocks"),
        (lambda folder: write_pvd(folder, [("x", "T_0000.vtu")]), "needs a file and a time that is a number"),
        (lambda folder: write_pvd(folder, [(0, "all.pvd"), (1, "T_0000.vtu")]), "does not hold one time"),
        (lambda folder: (folder / "all.pvd").write_text("<VTKFile><Coll"), "is not a plain XML file"),
        (
            lambda folder: (folder / "all.pvd").write_text('<!DOCTYPE a [<!ENTITY b "c">]><VTKFile>&b;</VTKFile>'),
            "declares entities, which are not read",
        ),
        (lambda folder: mesh(0, 9.0, points=POINTS + 0.1).write(folder / "T_0002.vtu"), "does not have the points of"),
        (lambda folder: (folder / "T_0002.vtu").write_text("nothing"), r"T_0002.vtu cannot be read as a mesh"),
    ],
)
def test_mistakes_in_collections_are_named(tmp_path, change, message):
    write_numbered(tmp_path, cases=(0,))
    folder = tmp_path / "case_0"
    write_pvd(folder, ENTRIES)
    change(folder)
    with pytest.raises(ValueError, match=message):
        import_files(folder / "all.pvd", inputs=["k"], targets=["T"])


def test_a_field_that_a_time_lacks_is_named(tmp_path):
    write_numbered(tmp_path, cases=(0,))
    mesh(0, 0.5, extra=POINTS[:, 0]).write(tmp_path / "case_0/T_0002.vtu")
    with pytest.raises(ValueError, match=r"'extra' cannot be a channel: .*T_0000.vtu does not have it"):
        import_files(str(tmp_path / "case_0/*.vtu"), targets=["extra"], series=True)


def test_mistakes_in_series_are_named(tmp_path):
    pattern = write_numbered(tmp_path)
    with pytest.raises(ValueError, match=r"has 4 files and 3 times"):
        import_files(pattern, inputs=["k"], targets=["T"], series=True, times=[0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="times must ascend"):
        import_files(pattern, inputs=["k"], targets=["T"], series=True, times=[0.0, 2.0, 1.0, 3.0])
    with pytest.raises(ValueError, match="say that they are a series"):
        import_files(pattern, inputs=["k"], targets=["T"], times=TIMES)
    with pytest.raises(ValueError, match="is the only file of its trajectory"):
        import_files(str(tmp_path / "case_0/T_0000.vtu"), targets=["T"], series=True)
    with pytest.raises(ValueError, match="has no number in its name"):
        grouped([Path("T.vtu")])
    with pytest.raises(ValueError, match="have the same number, 1"):
        grouped([Path("T_01.vtu"), Path("T_1.vtu")])
