import pytest

from gola.operators import Kernel, Linear
from tests.operators.closed_form.examples import SMALL


@pytest.fixture(autouse=True)
def small_members(monkeypatch):
    """Closed forms and learned PDE residuals that are quick."""
    monkeypatch.setattr("gola.operators.spectral.pde_residual._NUM_STEPS", 20)
    for kind in (Linear, Kernel):
        monkeypatch.setitem(kind.presets, "default", SMALL[kind.name])
