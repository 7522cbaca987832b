from dataclasses import replace

import pytest

from gola.protocol import TrainingConfig
from gola.runs.planning import estimated_seconds
from tests.runs.examples import made_result


def test_time_is_estimated_from_similar_runs_in_proportion_to_the_work():
    known = made_result("linear", seconds=10.0)
    assert estimated_seconds([known.run], [known]) == pytest.approx(10.0)
    assert estimated_seconds([replace(known.run, num_points=2000)], [known]) == pytest.approx(20.0)
    assert estimated_seconds([replace(known.run, num_train=15)], [known]) == pytest.approx(5.0)
    assert estimated_seconds([known.run] * 4, [known], num_workers=2) == pytest.approx(20.0)


def test_epochs_are_work_for_networks_and_the_nearest_run_counts():
    short, long = (
        made_result(seconds=seconds, run=replace(made_result("gola").run, training=TrainingConfig(num_epochs=epochs)))
        for seconds, epochs in ((10.0, 10), (1000.0, 400))
    )
    asked = replace(short.run, training=TrainingConfig(num_epochs=20))
    assert estimated_seconds([asked], [short, long]) == pytest.approx(20.0)


def test_nothing_is_made_up_where_nothing_is_known():
    linear, gola = made_result("linear"), made_result("gola")
    assert estimated_seconds([gola.run], [linear]) is None
    assert estimated_seconds([gola.run, linear.run], [linear]) == pytest.approx(2 * linear.seconds)
    assert estimated_seconds([], [linear]) == 0.0
