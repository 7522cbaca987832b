import pytest
import torch

from gola.fitting.training import discard_checkpoint
from gola.fitting.training.checkpoint import Checkpoints


def test_a_state_comes_back(tmp_path):
    Checkpoints(folder=tmp_path, settings={"seed": 0}).save({"step": 3, "mean": [torch.arange(2.0)]})
    state = Checkpoints(folder=tmp_path, settings={"seed": 0}).load()
    assert state["step"] == 3
    assert torch.equal(state["mean"][0], torch.arange(2.0))
    discard_checkpoint(tmp_path)
    assert Checkpoints(folder=tmp_path, settings={"seed": 0}).load() is None
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_kept_without_a_folder():
    checkpoints = Checkpoints(folder=None, settings={}, seconds=0.0)
    assert not checkpoints.due
    checkpoints.save({})
    assert checkpoints.load() is None


def test_it_is_due_after_its_time(tmp_path):
    assert Checkpoints(folder=tmp_path, settings={}, seconds=0.0).due
    assert not Checkpoints(folder=tmp_path, settings={}, seconds=1000.0).due


def test_the_state_of_another_training_is_refused_with_what_differs(tmp_path):
    Checkpoints(folder=tmp_path, settings={"seed": 0, "width": 8}).save({})
    with pytest.raises(ValueError, match=r"a training run with seed 0 \(now 1\); resume with the same settings"):
        Checkpoints(folder=tmp_path, settings={"seed": 1, "width": 8}).load()


def test_a_damaged_file_is_named(tmp_path):
    checkpoints = Checkpoints(folder=tmp_path, settings={})
    checkpoints.save({"weights": {"w": torch.zeros(1000)}})
    file = tmp_path / "checkpoint.pt"
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"checkpoint.pt is damaged .*; delete it to start again"):
        checkpoints.load()


def test_a_write_that_fails_leaves_the_state_before(tmp_path, monkeypatch):
    checkpoints = Checkpoints(folder=tmp_path, settings={})
    checkpoints.save({"step": 1})

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full_disk)
    with pytest.raises(ValueError, match="No space left on device; the existing file is unchanged"):
        checkpoints.save({"step": 2})
    assert checkpoints.load() == {"step": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.pt"]


@pytest.mark.parametrize("place", [0, 100, 500, -20, -1])
def test_a_single_changed_byte_is_found(tmp_path, place):
    checkpoints = Checkpoints(folder=tmp_path, settings={})
    checkpoints.save({"weights": {"w": torch.zeros(100)}})
    file = tmp_path / "checkpoint.pt"
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"checkpoint.pt is damaged .*; delete it to start again"):
        checkpoints.load()


@pytest.mark.parametrize(
    "state", [{"batch": "3"}, {"batch": -1}, {"batch": True}, {"weights": []}, {"total": float("nan")}, {"history": 1}]
)
def test_a_state_of_other_types_is_refused(tmp_path, state):
    checkpoints = Checkpoints(folder=tmp_path, settings={})
    checkpoints.save(state)
    with pytest.raises(ValueError, match=r"checkpoint.pt is damaged .*; delete it to start again"):
        checkpoints.load()


def test_pytorch_reads_a_checkpoint_without_us(tmp_path):
    Checkpoints(folder=tmp_path, settings={"seed": 0}).save({"batch": 3})
    assert torch.load(tmp_path / "checkpoint.pt", weights_only=True) == {"settings": {"seed": 0}, "batch": 3}
