import pytest

from paper.data import DataRecord


def test_results_are_never_continued_with_other_data(tmp_path):
    record = DataRecord(path=tmp_path / "data.json")
    assert record.fingerprints() == {}
    record.keep("darcy", "abc", {"f": (0.0, 1.0)})
    record.keep("eikonal", "def", {"f": (1.0, 2.0)})
    with pytest.raises(ValueError, match="made with other data of darcy"):
        record.keep("darcy", "xyz", {"f": (0.0, 1.001)})
    with pytest.raises(ValueError, match="made with other data of darcy"):
        record.keep("darcy", "xyz", {"a": (0.0, 1.0)})
    assert record.fingerprints() == {"darcy": ["abc"], "eikonal": ["def"]}


def test_results_are_continued_with_data_that_another_machine_rounded_differently(tmp_path):
    record = DataRecord(path=tmp_path / "data.json")
    record.keep("darcy", "theirs", {"f": (0.0, 1.0)})
    record.keep("darcy", "ours", {"f": (1e-9, 1.0 + 1e-9)})
    assert record.fingerprints() == {"darcy": ["ours", "theirs"]}
