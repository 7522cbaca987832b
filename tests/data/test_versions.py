"""Files of every format version there ever was, and what happens to them; add one whenever a version is new."""

from pathlib import Path

import numpy as np
import pytest

from gola.data.dataset import Dataset
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
