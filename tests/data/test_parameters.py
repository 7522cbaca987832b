import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.parameters import as_row, as_table
from gola.data.sample import Channel

POINTS = np.random.default_rng(0).random((30, 2))
TARGETS = np.random.default_rng(1).random((4, 30))
LOAD, ANGLE = Channel(name="load", unit="N"), Channel(name="angle")


class Frame(dict):
    """As much of a DataFrame as is looked at."""

    @property
    def columns(self):
        return list(self)


def dataset(**changes):
    return Dataset.from_arrays(POINTS, **{"targets": TARGETS, "parameters": np.arange(8.0).reshape(4, 2), **changes})


def test_an_array_a_dict_and_a_data_frame_give_the_same():
    values = np.arange(8.0).reshape(4, 2)
    columns = {"load [N]": values[:, 0], "angle": values[:, 1]}
    made = [
        dataset(parameter_names=[LOAD, "angle"]),
        dataset(parameters=columns),
        dataset(parameters=Frame(columns)),
        dataset(parameters=values.tolist(), parameter_names=[LOAD, ANGLE]),
    ]
    for data in made:
        assert data.parameters == (LOAD, ANGLE)
        assert np.array_equal(data.parameter_values, values)
        assert data[2].parameters.tolist() == [4.0, 5.0]
        assert data[2].inputs.shape == (30, 0)
        assert data.fingerprint() == made[0].fingerprint()


def test_names_are_made_up_where_there_are_none():
    assert [parameter.name for parameter in dataset().parameters] == ["parameter_0", "parameter_1"]
    assert dataset(parameters=np.arange(4.0)).parameters == (Channel(name="parameter"),)


def test_fields_and_parameters_go_together(tmp_path):
    data = dataset(inputs=TARGETS + 1.0, input_channels=["f"], parameter_names=[LOAD, ANGLE])
    assert repr(data) == "Dataset(4 samples in 2D: f load [N] angle -> target)"
    data.save(tmp_path / "both.h5")
    loaded = Dataset.load(tmp_path / "both.h5")
    assert loaded.fingerprint() == data.fingerprint()
    for other in (loaded, loaded.in_memory(), loaded[1:][::-1][::-1], loaded.split(2)[0], loaded.subsample(10)):
        assert other.parameters == (LOAD, ANGLE)
        assert {tuple(sample.parameters) for sample in other} <= {tuple(sample.parameters) for sample in data}
        assert np.array_equal(other.parameter_values, [sample.parameters for sample in other])


def test_a_changed_parameter_changes_the_fingerprint():
    values = np.arange(8.0).reshape(4, 2)
    other = values.copy()
    other[3, 1] += 1e-9
    assert dataset(parameters=values).fingerprint() != dataset(parameters=other).fingerprint()
    assert dataset().fingerprint() != dataset(parameter_names=["a", "b"]).fingerprint()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parameters": np.array([1.0, 2.0, np.nan, 4.0])}, "Sample 2, parameter 'parameter' is nan"),
        ({"parameters": np.zeros((3, 2))}, "There are 4 samples, and parameters for 3"),
        ({"parameters": [[1.0, 2.0], [1.0], [1.0, 2.0], [1.0, 2.0]]}, r"Sample 1 has parameters of shape \(1,\)"),
        ({"parameters": {"a": [1.0, 2.0], "b": [1.0]}}, "one number per sample; got a 2, b 1"),
        ({"parameters": {"a": ["x"] * 4}}, "Sample 0: parameters must be numbers"),
        ({"parameter_names": ["a", "a"]}, "'a' comes 2 times"),
        ({"parameter_names": ["a"]}, r"Sample 0 has parameters of shape \(2,\); it needs 1 numbers, .* a"),
        ({"parameters": None, "parameter_names": ["a"]}, "names for 1 parameters and no values"),
        ({"parameters": None}, "same points and nothing else that tells them apart"),
        ({"inputs": TARGETS, "input_channels": ["a"], "parameter_names": ["a", "b"]}, "'a' comes 2 times"),
        ({"parameters": None, "inputs": np.zeros((4, 11))}, "parameters: Dataset.from_arrays"),
    ],
)
def test_mistakes_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        dataset(**changes)


def test_a_row_is_taken_in_order_or_by_name():
    wanted = [2.0, 30.0]
    for given in (wanted, np.array(wanted), [wanted], {"angle": 30, "load": 2}, {"load [N]": 2.0, "angle": [30.0]}):
        assert as_row(given, [LOAD, ANGLE]).tolist() == wanted
    assert as_row(Frame(angle=[30.0], load=[2.0]), [LOAD, ANGLE]).tolist() == wanted
    assert as_row(3.0, [LOAD]).tolist() == [3.0]
    assert as_row(None, []).tolist() == as_row([], []).tolist() == []


def test_a_row_of_a_data_frame_knows_its_names():
    series = type("Series", (dict,), {"index": ["angle", "load"]})(angle=30.0, load=2.0)
    assert as_row(series, [LOAD, ANGLE]).tolist() == [2.0, 30.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, r"must be 2 numbers, load \[N\], angle, in order or by name; got none"),
        ([1.0], r"must be 2 numbers, .*; got \[1.0\]"),
        (["a", "b"], "must be 2 numbers"),
        ({"load": 1.0}, "The parameters angle are missing; given are load"),
        ({"load": 1.0, "angel": 1.0}, "no parameter 'angel'; did you mean 'angle'?"),
        ([1.0, np.inf], "The parameter angle must be a finite number; got inf"),
        ({"load": [1.0, 2.0], "angle": 1.0}, "The parameter load must be one number; got 2 of them"),
    ],
)
def test_a_row_that_does_not_fit_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        as_row(given, [LOAD, ANGLE])


def test_parameters_for_what_reads_none_are_refused():
    with pytest.raises(ValueError, match=r"parameters must be none; got \[1.0\]"):
        as_row([1.0], [])


def test_a_table_without_rows_is_no_table():
    assert as_table(None) == (None, ())


def test_names_may_have_units_in_brackets():
    points, values = np.random.default_rng(0).random((5, 2)), np.ones((3, 5))
    dataset = Dataset.from_arrays(
        points,
        targets=values,
        parameters=[[1.0], [2.0], [3.0]],
        parameter_names=["speed [m/s]"],
        target_channels=["temperature [K]"],
    )
    assert dataset.parameters == (Channel(name="speed", unit="m/s"),)
    assert dataset.targets == (Channel(name="temperature", unit="K"),)


def test_other_units_in_the_names_of_parameters_bring_a_warning():
    channels = [Channel(name="angle", unit="deg")]
    assert as_row({"angle [deg]": 3.0}, channels).tolist() == [3.0]
    with pytest.warns(UserWarning, match=r"angle \[rad\] is given for angle \[deg\]; values are not converted"):
        assert as_row({"angle [rad]": 3.0}, channels).tolist() == [3.0]
