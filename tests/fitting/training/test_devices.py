import subprocess
import sys

import pytest
import torch

from gola.fitting.training import train
from gola.fitting.training.devices import OneDevice, launch
from gola.fitting.training.fabric import FabricDevices
from gola.operators import Gola, GolaConfig
from gola.operators.scaling import Scaling
from gola.protocol import FitTask, Session, TrainingConfig
from tests.fits import small_data

ALONE = {"devices": 1, "num_nodes": 1}


def trained(devices, monkeypatch):
    """The errors and the weights of a short training run on these devices."""
    monkeypatch.setattr("gola.fitting.training.loop.launch", lambda _: devices)
    torch.manual_seed(0)
    operator = Gola(GolaConfig(width=8, num_modes=8, num_blocks=1, num_heads=1, radius=0.3))
    config = TrainingConfig(num_epochs=3, batch_size=3, learning_rate=1e-2, averaging=0.9, clip=0.5)
    task = FitTask.of(small_data(num_samples=5, num_points=40), training=config)
    history = train(operator, task, Scaling.fit(task.samples))
    return [(epoch.training_error, epoch.learning_rate) for epoch in history], operator.state_dict()


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed"])
def test_one_device_trains_to_the_very_weights_that_lightning_does(precision, monkeypatch):
    ours, weights = trained(OneDevice("cpu", precision), monkeypatch)
    theirs, expected = trained(FabricDevices("cpu", precision, **ALONE), monkeypatch)
    assert ours == theirs
    assert all(torch.equal(weights[name], expected[name]) for name in expected)


def test_one_process_with_one_device_needs_no_lightning(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning.fabric", None)
    for precision in (None, "32-true", "bf16-mixed"):
        assert isinstance(launch(Session(accelerator="cpu", precision=precision)), OneDevice)


def test_several_devices_without_lightning_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning.fabric", None)
    with pytest.raises(ValueError, match=r"several devices .* needs lightning.* `pip install 'gola\[train\]'`"):
        launch(Session(accelerator="cpu", devices=2))


def test_a_process_that_trains_alone_asks_no_scheduler(monkeypatch):
    for name, value in {"SLURM_NTASKS": "8", "SLURM_PROCID": "3", "SLURM_LOCALID": "3", "SLURM_JOB_NAME": "x"}.items():
        monkeypatch.setenv(name, value)
    for devices in (launch(Session(accelerator="cpu")), FabricDevices("cpu", "32-true", **ALONE)):
        assert devices.is_first
        assert devices.num_processes == 1


def test_what_lightning_refuses_is_a_mistake_of_the_user(monkeypatch):
    monkeypatch.setenv("SLURM_NTASKS", "8")
    monkeypatch.setenv("SLURM_JOB_NAME", "x")
    with pytest.raises(ValueError, match="--ntasks-per-node=8"):
        launch(Session(accelerator="cpu", devices=8))


def test_those_who_only_predict_do_not_wait_for_lightning():
    code = "import sys, gola.runs, gola.surrogate.surrogate; sys.exit('lightning' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
