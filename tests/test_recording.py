import torch

from gola.recording import is_recorded, own_operations


def test_operations_are_recorded_within_the_context_only():
    assert not is_recorded()
    with own_operations():
        assert is_recorded()
    assert not is_recorded()


def test_a_compiler_counts_as_recording(monkeypatch):
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert is_recorded()
