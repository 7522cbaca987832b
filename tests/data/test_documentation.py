import re
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np

from gola.data.dataset import Dataset
from gola.data.inspection import inspect
from tests.data.ragged import ragged_dataset

PAGE = (Path(__file__).parents[2] / "docs" / "data-format.md").read_text()


def test_the_file_written_by_hand_in_the_documentation_is_a_data_set(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    dataset = Dataset.load("my.h5")
    assert len(dataset) == 30
    np.testing.assert_array_equal(dataset[7].targets, np.cos(dataset[7].points[:, :1]))
    assert inspect(dataset).warnings == ()


def test_every_object_of_a_file_is_documented_with_its_type(tmp_path):
    data = ragged_dataset()
    samples = [replace(sample, parameters=np.ones(1)) for sample in data]
    Dataset.from_samples(samples, inputs=data.inputs, targets=data.targets, parameters=["load"]).save(tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        groups = [file["geometry"], file["samples"]]
        found = {array.name: array.dtype.name for group in groups for array in group.values()}
    documented = dict(re.findall(r"^\| `(/\S+/\S+)` \| (\w+) \|", PAGE, flags=re.MULTILINE))
    assert found == documented
