from dataclasses import replace

import pytest

from gola.protocol import TrainingConfig
from gola.runs import RunConfig, code_version, execute
from paper.ablation import other_trainings
from paper.ablation.other_trainings import OTHER_TRAININGS, run_other
from tests.paper.examples import tiny_work

BRIEF = TrainingConfig(num_steps=2, batch_size=5, validation_share=0.0, patience=None)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    work = tiny_work(tmp_path_factory.mktemp("ablation"))
    work.prepare("darcy", num_workers=1)
    settings = {"num_modes": 2, "width": 4, "num_blocks": 1}
    return RunConfig(
        data=str(work.data / "darcy.h5"),
        operator="spectral",
        settings=settings,
        training=BRIEF,
        num_train=5,
        num_test=4,
        num_points=60,
    )


@pytest.fixture(scope="module")
def usual_error(run):
    return execute(run).error


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch):
    for name, number in {"_MORE_STEPS": 2, "_LBFGS_STEPS": 2, "_NUM_NETWORKS": 2}.items():
        monkeypatch.setattr(other_trainings, name, number)


@pytest.mark.parametrize("variant", OTHER_TRAININGS)
def test_another_training_gives_a_row_with_another_error(run, usual_error, variant):
    row = run_other(run, variant)
    assert (row.problem, row.variant, row.code_version) == ("darcy", variant, code_version(run.operator))
    assert 0.0 < row.errors.mean <= row.errors.largest
    assert row.errors.mean != pytest.approx(usual_error, rel=1e-6)
    assert row.key != replace(row, variant="").key
