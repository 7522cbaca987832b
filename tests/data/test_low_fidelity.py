"""Which inputs approximate which targets: said, checked, kept."""

import h5py
import numpy as np
import pytest

from gola import Dataset
from gola.data.formats import import_files
from gola.data.low_fidelity import parse_approximations


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def data(rng):
    fields = [rng.random((20, 2)) for _ in range(3)]
    return Dataset.from_arrays(
        rng.random((20, 2)), fields, fields, input_channels=["k", "p0"], target_channels=["p", "q"]
    )


def test_a_file_keeps_approximations_and_parts_have_them(data, tmp_path):
    said = data.with_low_fidelity({"p": "p0"})
    said.save(tmp_path / "data.h5")
    loaded = Dataset.load(tmp_path / "data.h5")
    assert loaded.low_fidelity == {"p": "p0"}
    assert loaded.split(num_train=2)[0].low_fidelity == {"p": "p0"}
    assert loaded.fingerprint() == said.fingerprint() != data.fingerprint()


def test_names_are_checked(data):
    with pytest.raises(ValueError, match=r"no target 'P'\. There are p, q"):
        data.with_low_fidelity({"P": "p0"})
    with pytest.raises(ValueError, match="no input channel 'p1'"):
        data.with_low_fidelity({"p": "p1"})
    with pytest.raises(ValueError, match="like p=p_coarse"):
        parse_approximations(["p"])


def test_a_file_with_half_a_pair_is_refused(data, tmp_path):
    path = tmp_path / "data.h5"
    data.save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 1
        del file.attrs["checksum"]
        file.attrs["low_fidelity"] = ["p"]
    with pytest.raises(ValueError, match="names in pairs"):
        Dataset.load(path)


def test_approximations_of_vectors_are_imported_by_component(rng, tmp_path):
    for number in range(3):
        fields = {name: rng.random((20, 2)) for name in ("U", "U0")}
        np.savez(tmp_path / f"case_{number}.npz", points=rng.random((20, 2)), k=rng.random(20), **fields)
    found = import_files(str(tmp_path / "case_*.npz"), inputs=["k"], targets=["U"], low_fidelity={"U": "U0"})
    assert found.low_fidelity == {"U_x": "U0_x", "U_y": "U0_y"}
    assert [channel.name for channel in found.inputs] == ["k", "U0_x", "U0_y"]
