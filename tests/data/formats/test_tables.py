import io
import zipfile

import numpy as np
import pytest

from gola.data.formats.tables import read_npz, read_table


class TestArchives:
    def read(self, tmp_path, **arrays):
        np.savez(tmp_path / "a.npz", **arrays)
        return read_npz(tmp_path / "a.npz")

    def test_one_sample(self, tmp_path):
        (case,) = self.read(tmp_path, points=np.eye(4, 2), T=np.arange(4), U=np.ones((4, 2)), Re=np.array(100.0))
        assert case.arrays["T"].tolist() == [0, 1, 2, 3]
        assert case.arrays["U"].shape == (4, 2)
        assert case.parameters == {"Re": 100.0}
        assert case.columns("Re")["Re"].tolist() == [100.0] * 4

    def test_stacked_samples_with_their_own_points(self, tmp_path):
        cases = self.read(
            tmp_path,
            points=np.arange(24.0).reshape(3, 4, 2),
            T=np.arange(12).reshape(3, 4),
            U=np.zeros((3, 4, 2)),
            Re=np.array([10.0, 20.0, 30.0]),
            boundary=np.ones((3, 4), dtype=bool),
            weights=np.full(4, 0.25),
            cells=np.array([[0, 1, 2]]),
        )
        assert len(cases) == 3
        assert cases[1].points[0].tolist() == [8, 9]
        assert cases[2].arrays["T"].tolist() == [8, 9, 10, 11]
        assert cases[2].parameters == {"Re": 30.0}
        assert cases[2].boundary.all()
        assert cases[2].weights.tolist() == [0.25] * 4
        assert cases[2].cells.tolist() == [[0, 1, 2]]
        assert cases[2].label.endswith("a.npz[2]")

    @pytest.mark.parametrize(
        "cells", [np.array(3), np.array([0, 1, 2]), np.array([[0.5, 1, 2]]), np.zeros((2, 1, 3), int), np.array(["a"])]
    )
    def test_cells_of_another_shape_or_type_are_refused(self, tmp_path, cells):
        with pytest.raises(ValueError, match=r"a\.npz: `cells` must be whole numbers of shape \(cells, vertices\)"):
            self.read(tmp_path, points=np.eye(4, 2), cells=cells)

    @pytest.mark.parametrize("index", [-1, 4])
    def test_cells_of_points_that_are_not_there_are_refused(self, tmp_path, index):
        with pytest.raises(ValueError, match=rf"`cells` refers to point {index}, but the points are numbered 0 to 3"):
            self.read(tmp_path, points=np.eye(4, 2), cells=np.array([[0, 1, index]]))

    @pytest.mark.parametrize("points", [np.zeros((0, 4, 2)), np.zeros((4, 0)), np.full((4, 2), "a")])
    def test_points_must_be_there_and_be_numbers(self, tmp_path, points):
        with pytest.raises(ValueError, match=r"`points` must be numbers, at least one"):
            self.read(tmp_path, points=points)

    def test_an_array_that_claims_more_than_the_archive_holds_is_refused_before_memory_is_taken(self, tmp_path):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 2)})
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
            archive.writestr("points.npy", header.getvalue() + bytes(16))
        with pytest.raises(ValueError, match=r"points\.npy claims the shape \(1000000000000, 2\)"):
            read_npz(tmp_path / "a.npz")

    def test_stacked_samples_on_shared_points(self, tmp_path):
        cases = self.read(tmp_path, points=np.eye(4, 2), T=np.arange(8).reshape(2, 4), k=np.arange(4))
        assert len(cases) == 2
        assert cases[1].arrays["T"].tolist() == [4, 5, 6, 7]
        assert cases[1].arrays["k"].tolist() == [0, 1, 2, 3]

    def test_what_does_not_fit_is_an_error_only_if_wanted(self, tmp_path):
        (case,) = self.read(tmp_path, points=np.eye(4, 2), T=np.arange(4), odd=np.zeros(7), name=np.array("x"))
        assert list(case.columns("T")) == ["T"]
        with pytest.raises(
            ValueError, match=r"'odd' cannot be a channel: its shape \(7,\) does not fit 1 samples of 4"
        ):
            case.columns("odd")
        with pytest.raises(ValueError, match="'name' cannot be a channel: it holds <U1, not numbers"):
            case.columns("name")

    def test_a_shape_that_could_mean_two_things_is_not_guessed(self, tmp_path):
        cases = self.read(tmp_path, points=np.zeros((4, 4, 2)), T=np.zeros((4, 4)), a=np.zeros(4))
        with pytest.raises(ValueError, match="fits in more than one way 4 samples of 4 points; give it the shape"):
            cases[0].columns("a")

    def test_weights_that_do_not_fit_are_refused(self, tmp_path):
        with pytest.raises(ValueError, match=r"'weights' its shape \(7,\) does not fit"):
            self.read(tmp_path, points=np.eye(4, 2), T=np.arange(4), weights=np.zeros(7))

    def test_points_are_required(self, tmp_path):
        with pytest.raises(ValueError, match=r"needs an array `points` .* it has T \(4,\)"):
            self.read(tmp_path, T=np.arange(4))

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04broken", b"text"])
    def test_a_broken_archive_is_refused(self, tmp_path, content):
        (tmp_path / "a.npz").write_bytes(content)
        with pytest.raises(ValueError, match=r"a.npz is not a NumPy archive of plain arrays"):
            read_npz(tmp_path / "a.npz")

    def test_pickled_objects_are_not_executed(self, tmp_path):
        with pytest.raises(ValueError, match="is not a NumPy archive of plain arrays"):
            self.read(tmp_path, points=np.eye(4, 2), T=np.array([{}, {}, {}, {}]))


class TestTextTables:
    def read(self, tmp_path, text, name="a.csv"):
        (tmp_path / name).write_bytes(text.encode())
        (case,) = read_table(tmp_path / name)
        return case

    @pytest.mark.parametrize(
        "text",
        [
            "x,y,T,k\n0,1,2,3\n4,5,6,7\n",
            "x, y, T, k\r\n0, 1, 2, 3\r\n4, 5, 6, 7\r\n",
            "\ufeffx;y;T;k\n0;1;2;3\n4;5;6;7\n",
            "X\tY\tT\tk\n0\t1\t2\t3\n4\t5\t6\t7",
            "# x,y,T,k\n0,1,2,3\n4,5,6,7\n",
            '\n"x","y","T","k"\n0,1,2,3\n\n4,5,6,7\n',
            '"T","k","Points:0","Points:1"\n2,3,0,1\n6,7,4,5\n',
            "T,k,Points_0,Points_1\n2,3,0,1\n6,7,4,5\n",
        ],
    )
    def test_columns_are_found_by_name(self, tmp_path, text):
        case = self.read(tmp_path, text)
        assert case.points.tolist() == [[0, 1], [4, 5]]
        assert case.arrays["T"].tolist() == [2, 6]
        assert case.arrays["k"].tolist() == [3, 7]

    def test_units_stand_in_brackets(self, tmp_path):
        case = self.read(tmp_path, "x [m],y [m],T [K],k\n0,1,2,3\n")
        assert case.points.tolist() == [[0, 1]]
        assert list(case.arrays) == ["T", "k"]
        assert case.units["T"] == "K"

    def test_one_and_three_dimensions(self, tmp_path):
        assert self.read(tmp_path, "x,T\n0,1\n2,3\n").points.tolist() == [[0], [2]]
        assert self.read(tmp_path, "x,y,z,T\n0,1,2,3\n").points.tolist() == [[0, 1, 2]]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "is empty; it needs a first line"),
            ("0,1,2\n3,4,5\n", "begins with numbers; it needs a first line that names the columns"),
            ("a,b\n1,2\n", "needs coordinate columns x, y .* it has a, b"),
            ("x,y,T\n", "has no rows"),
            ("x,y,T\n0,1,hot\n", "not a table of numbers .*hot"),
            ("x,y,T\n0,1,\n", "not a table of numbers"),
            ("x,y,T\n0,1,2\n0,1\n", "not a table of numbers"),
            ("x,y,T\n0,1,2,3\n", "names 3 columns in its first line and has 4 below"),
            ("x,y,T,T\n0,1,2,3\n", "two columns named 'T'"),
        ],
    )
    def test_a_bad_table_is_refused_with_a_reason(self, tmp_path, text, message):
        with pytest.raises(ValueError, match=message) as caught:
            self.read(tmp_path, text)
        assert "a.csv" in str(caught.value)

    def test_binary_files_are_not_text(self, tmp_path):
        (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00x")
        with pytest.raises(ValueError, match="cannot be read as text"):
            read_table(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "text", ["x,y," + "T" * 140_000 + "\n0,0,1\n", 'x,y,"' + "T" * 99_000, "x,y,T\n" + "1" * 200_000 + "\n", "\0,\n"]
)
def test_oversized_fields_and_lines_are_one_line_errors(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=r"a\.csv"):
        read_table(tmp_path / "a.csv")
