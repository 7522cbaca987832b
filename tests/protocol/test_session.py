import pytest

from gola.protocol import Session


def test_a_process_that_trains_alone_is_the_first_whatever_number_a_scheduler_gave_it(monkeypatch):
    monkeypatch.setenv("SLURM_PROCID", "3")
    assert Session().is_first_process


@pytest.mark.parametrize(
    ("variables", "first"),
    [
        ({}, True),  # the process that starts the others
        ({"LOCAL_RANK": "1"}, False),  # started by Lightning
        ({"NODE_RANK": "1"}, False),  # the starter on another machine
        ({"RANK": "0", "LOCAL_RANK": "0"}, True),  # torchrun
        ({"RANK": "2", "LOCAL_RANK": "0", "GROUP_RANK": "1"}, False),
        ({"SLURM_PROCID": "0"}, True),
        ({"SLURM_PROCID": "5"}, False),
    ],
)
def test_of_several_processes_the_environment_tells_which_is_the_first(variables, first, monkeypatch):
    for name in ("RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert Session(devices=2, num_nodes=2).is_first_process == first


@pytest.mark.parametrize("settings", [{"devices": 0}, {"num_nodes": 0}, {"checkpoint_seconds": -1.0}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        Session(**settings)


def test_half_precision_on_a_cpu_is_refused():
    with pytest.raises(ValueError, match="needs a CUDA device; use 'bf16-mixed'"):
        Session(precision="16-mixed", accelerator="cpu")
