from dataclasses import replace

import numpy as np

from gola.data.dataset import Dataset
from gola.plotting.run import draw_run, representative_samples
from gola.surrogate.evaluation import evaluate
from tests.fits import small_data, small_surrogate


def headings(figure):
    return [part.get_suptitle() for part in figure.subfigs]


def test_best_median_and_worst_sample_are_chosen_by_their_error():
    assert representative_samples(np.array([0.4, 0.1, 0.5, 0.2, 0.3])) == {"best": 1, "median": 4, "worst": 2}


def test_no_sample_is_chosen_twice():
    assert representative_samples(np.array([0.4])) == {"median": 0}
    assert representative_samples(np.array([0.4, 0.1])) == {"median": 1, "worst": 0}


def test_a_network_has_curves_and_a_closed_form_has_none():
    data = small_data()
    for name, wanted in (("gola", {"fields", "errors", "curves"}), ("linear", {"fields", "errors"})):
        surrogate = small_surrogate(name, data)
        assert set(draw_run(surrogate, data, evaluate(surrogate, data).errors)) == wanted


def test_rows_are_headed_by_the_samples_they_show():
    data = small_data()
    surrogate = small_surrogate("linear", data)
    errors = evaluate(surrogate, data).errors
    rows = representative_samples(errors)
    drawn = draw_run(surrogate, data, errors)["fields"]
    assert headings(drawn) == [f"{name} test sample {row}" for name, row in rows.items()]
    assert headings(draw_run(surrogate, data, errors, sample=3)["fields"]) == ["test sample 3"]


def test_with_several_channels_the_median_sample_gets_a_row_for_each():
    single = small_data()
    samples = [replace(sample, targets=np.hstack([sample.targets, sample.inputs])) for sample in single]
    data = Dataset.from_samples(samples, inputs=single.inputs, targets=("u", "v"))
    surrogate = small_surrogate("linear", data)
    errors = evaluate(surrogate, data).errors
    median = representative_samples(errors)["median"]
    assert headings(draw_run(surrogate, data, errors)["fields"]) == [f"median test sample {median}", ""]


def test_rows_name_the_file_that_a_sample_came_from():
    data = replace(small_data(), provenance={"files": [f"cases/case_{number}.vtu" for number in range(8)]})
    surrogate = small_surrogate("linear", data)
    errors = evaluate(surrogate, data).errors
    assert headings(draw_run(surrogate, data, errors, sample=3)["fields"]) == ["test sample 3 (case_3.vtu)"]
