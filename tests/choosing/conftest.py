import pytest

from gola.operators.closed_form import Kernel, Linear
from tests.operators.closed_form.examples import SMALL


@pytest.fixture(autouse=True)
def small_members(monkeypatch):
    """Closed forms and local laws that are quick."""
    monkeypatch.setattr("gola.training.law._NUM_STEPS", 20)
    for kind in (Linear, Kernel):
        monkeypatch.setitem(kind.presets, "default", SMALL[kind.name])
