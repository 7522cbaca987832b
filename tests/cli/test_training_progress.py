import os
import signal
import time

import pytest

from gola import display
from gola.cli.training_progress import watched
from gola.protocol import Progress, Session
from gola.runs import RunConfig


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(display, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(display, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(display, "_SECONDS_BETWEEN_LINES", 0.0)


def test_candidate_errors_so_far_and_time_left_are_shown(capfd):
    stages = []
    with watched(RunConfig(data="data.h5", operator="auto"), Session(on_stage=stages.append)) as session:
        session.on_stage("training spectral; held-out errors: kernel 0.1040")
        session.on_progress(Progress(step=5, num_steps=20, last=None))
        time.sleep(0.1)
    shown = capfd.readouterr().err
    assert "Fitting auto: training spectral; held-out errors: kernel 0.1040, 5 of 20" in shown
    assert "s left" in shown
    assert stages == ["training spectral; held-out errors: kernel 0.1040"]


def test_the_first_interruption_of_a_training_waits_for_the_step(capfd):
    with watched(RunConfig(data="data.h5", operator="gola"), Session()) as session:
        assert not session.stop()
        os.kill(os.getpid(), signal.SIGINT)
        assert session.stop()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert "press Ctrl-C again to stop at once" in capfd.readouterr().err


def test_an_operator_that_takes_no_steps_is_interrupted_at_once():
    with pytest.raises(KeyboardInterrupt), watched(RunConfig(data="data.h5", operator="linear"), Session()):
        os.kill(os.getpid(), signal.SIGINT)
