import json

import pytest

from gola.protocol import TrainingConfig


def test_the_learning_rate_warms_up_and_falls_to_zero():
    config = TrainingConfig(learning_rate=1.0, warmup=0.1)
    assert config.learning_rate_at(0.05) == pytest.approx(0.5)
    assert config.learning_rate_at(0.1) == pytest.approx(1.0)
    assert config.learning_rate_at(0.55) == pytest.approx(0.5)
    assert config.learning_rate_at(1.0) == pytest.approx(0.0, abs=1e-12)


def test_without_a_warm_up_it_starts_at_the_peak():
    assert TrainingConfig(learning_rate=2.0, warmup=0.0).learning_rate_at(0.0) == 2.0


@pytest.mark.parametrize(
    "settings",
    [{"num_epochs": 0}, {"learning_rate": -1.0}, {"warmup": 1.0}, {"averaging": -0.1}, {"weight_decay": -1.0}],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        TrainingConfig(**settings)


def test_epochs_follow_from_steps_unless_they_are_given():
    assert TrainingConfig(num_steps=100, batch_size=4).resolved(10).num_epochs == 34  # three batches in each
    assert TrainingConfig(num_epochs=7).resolved(10).num_epochs == 7


def test_samples_are_set_aside_only_where_they_are_many():
    config = TrainingConfig(validation_share=0.1, validation_from=50)
    assert [config.num_validation(count) for count in (10, 49, 50, 200)] == [0, 0, 5, 20]
    assert TrainingConfig(validation_share=0.999, validation_from=1).num_validation(10) == 9


def test_it_comes_back_from_json_and_refuses_what_it_does_not_know():
    config = TrainingConfig(points_per_epoch=100, averaging=0.99, symmetries=("-xy", "yx"))
    assert TrainingConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    with pytest.raises(ValueError, match=r"no setting of training 'momentum'\. There are num_epochs"):
        TrainingConfig.from_dict({"momentum": 0.9})


def test_symmetries_that_are_none_are_refused():
    with pytest.raises(ValueError, match="written as the image of xy or xyz"):
        TrainingConfig(symmetries=("-xy", "yy"))
