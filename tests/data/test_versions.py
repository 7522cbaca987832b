"""Files of every format version there ever was, and what happens to them; add one whenever a version is new."""

from pathlib import Path

import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.sample import Channel
from gola.surrogate.surrogate import Surrogate

FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize("version", [1, 2])
def test_data_sets_of_every_version_load_with_the_same_content(version):
    data = Dataset.load(FILES / f"version_{version}.h5")
    assert data.num_points.tolist() == [5, 7, 5]
    for number, sample in enumerate(data):
        rows = np.arange(len(sample.points))
        assert sample.inputs[:, 0].tolist() == (rows + number).tolist()
        assert sample.targets[:, 0].tolist() == (2 * (rows + number)).tolist()
        assert sample.boundary.tolist() == (rows < 2).tolist()
        assert sample.cells.tolist() == [[0, 1, 2], [1, 2, 3]]
    assert data.provenance == {"problem": "kept", "seed": 0}
    assert data.fingerprint() == Dataset.load(FILES / "version_1.h5").fingerprint()


def test_a_surrogate_of_version_1_is_refused_with_what_to_do():
    with pytest.raises(ValueError, match=r"version_1\.gola was written by gola 0\.1, .* fit it again"):
        Surrogate.load(FILES / "version_1.gola")


def test_a_data_set_of_version_3_has_parameters_correspondence_and_periods():
    data = Dataset.load(FILES / "version_3.h5")
    assert data.parameters == (Channel(name="load", unit="N"), Channel(name="angle"))
    assert data.parameter_values.tolist() == [[1.5, 0.0], [2.5, 1.0], [3.5, 2.0]]
    assert [sample.parameters.tolist() for sample in data] == data.parameter_values.tolist()
    assert (data.correspondence, data.periods) == ("moved nodes", (1.0, None))
    for number, sample in enumerate(data):
        assert sample.inputs[:, 0].tolist() == (np.arange(5) + number).tolist()
        assert sample.targets[:, 0].tolist() == (2 * (np.arange(5) + number)).tolist()
        assert sample.cells.tolist() == [[0, 1, 2], [1, 2, 3]]


def test_what_older_data_sets_do_not_say_is_found():
    for version in (1, 2):
        data = Dataset.load(FILES / f"version_{version}.h5")
        assert (data.parameters, data.correspondence, data.periods) == ((), "none", None)


def test_a_surrogate_of_version_2_predicts_the_same():
    surrogate = Surrogate.load(FILES / "version_2.gola")
    assert surrogate.parameters == ()
    axis = np.linspace(0.0, 1.0, 5)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    values = np.random.default_rng(0).random((4, 25))[0]
    found = surrogate.predict(points, values)[:3, 0]
    np.testing.assert_allclose(found, [1.1846199590221014, 1.192280925702571, 1.192280925702571], rtol=1e-5)
