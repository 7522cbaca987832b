"""Equations found from solutions."""

from dataclasses import replace

import numpy as np
import pytest

import gola
from gola.data.dataset import Dataset
from gola.operators import FittedPde, FittedPdeConfig
from gola.protocol import FitTask
from gola.representation.fitted import as_bytes
from tests.operators.fitted_pde.data import (
    anisotropic,
    arrivals,
    drifting,
    heated_discs,
    heated_squares,
    pulled_plates,
    resonating,
)


def fitted(make, num_train=6, num_test=4):
    data = make(num_train + num_test)
    parts = [replace(data, samples=data.samples[rows]) for rows in (slice(num_train), slice(num_train, None))]
    surrogate = gola.fit(parts[0], "fitted_pde", progress=False)
    return surrogate, gola.evaluate(surrogate, parts[1], progress=False)


def law_of(surrogate):
    (about,) = surrogate.operator.choice["laws"]
    return about["law"]


def test_a_diffusion_is_found_in_discs_of_different_size():
    surrogate, found = fitted(heated_discs, num_train=10)
    assert found.mean < 0.02
    assert 0.003 < surrogate.scores["cv_error"] < 0.02


def test_elasticity_is_found_and_a_stress_that_follows_from_it():
    surrogate, found = fitted(pulled_plates)
    assert found.mean < 0.01
    assert law_of(surrogate)["num_components"] == 2
    (readout,) = surrogate.operator.choice["readouts"]
    assert (readout["channel"], readout["kind"]) == (2, "root")


def test_first_arrivals_are_found_with_the_place_where_they_start():
    surrogate, found = fitted(arrivals)
    assert found.mean < 0.03
    law = law_of(surrogate)
    assert law["kind"] == "arrival"
    source = np.array(law["source"]) * surrogate.scaling.frame.extent + surrogate.scaling.frame.origin
    assert np.linalg.norm(source + surrogate.operator.coefficients[:2].numpy() - (0.2, 0.1)) < 0.04


def test_a_finer_grid_is_predicted_as_well_where_points_keep_a_distance_from_the_edge(tmp_path):
    surrogate = gola.fit(heated_squares(8, 12), "fitted_pde", progress=False)
    coarse, fine = (heated_squares(12, number)[8:] for number in (12, 24))
    error = gola.evaluate(surrogate, coarse, progress=False).mean
    assert gola.evaluate(surrogate, fine, progress=False).mean < 1.2 * error
    surrogate.save(tmp_path / "a.gola")
    loaded = gola.Surrogate.load(tmp_path / "a.gola")
    assert np.array_equal(loaded.predict_sample(fine[0]), surrogate.predict_sample(fine[0]))


def test_on_another_shape_the_equation_is_solved_there():
    surrogate = gola.fit(heated_squares(8, 12), "fitted_pde", progress=False)
    sample = heated_squares(9, 24)[8]
    half = sample.select(np.flatnonzero(sample.points[:, 0] < 0.5))
    assert not np.allclose(surrogate.predict_sample(half), surrogate.predict_sample(sample)[sample.points[:, 0] < 0.5])


def test_a_target_that_is_zero_everywhere_is_predicted_as_zero():
    data = heated_discs(6)
    samples = tuple(replace(one, targets=np.c_[one.targets, 0.0 * one.targets]) for one in data.samples)
    data = replace(data, samples=samples, targets=(*data.targets, gola.Channel(name="nothing")))
    surrogate = gola.fit(data, "fitted_pde", progress=False)
    assert np.abs(surrogate.predict_sample(data[0])[:, 1]).max() < 1e-6 * np.abs(data[0].targets).max()


def test_what_obeys_no_such_equation_is_predicted_with_an_error_that_says_so():
    rng = np.random.default_rng(0)
    points = [rng.random((60, 2)) for _ in range(8)]
    data = Dataset.from_arrays(
        points, [rng.normal(size=(60, 1)) for _ in points], [rng.normal(size=(60, 1)) for _ in points]
    )
    surrogate = gola.fit(data, "fitted_pde", progress=False)
    assert surrogate.scores["cv_error"] > 0.7
    assert np.isfinite(surrogate.predict_sample(data[0])).all()


def test_it_is_tried_where_there_are_fields_or_shapes_and_no_time():
    task = FitTask.of(heated_discs(3))
    assert FittedPde.is_worth_trying(task)
    assert not FittedPde.is_worth_trying(replace(task, has_time_axis=True))
    assert not FittedPde.is_worth_trying(replace(task, periods=(1.0, 1.0)))
    assert not FittedPde.is_worth_trying(replace(task, correspondence="same points"))


def test_a_state_from_before_equations_had_their_present_terms_is_refused():
    old = {"laws": [{"channels": [0], "scale": 1.0, "law": {}}], "readouts": []}
    with pytest.raises(ValueError, match="older version has other terms and cannot be read; fit it again"):
        FittedPde(FittedPdeConfig()).set_extra_state(as_bytes(old))


def test_lines_and_time_are_refused():
    with pytest.raises(ValueError, match="in the plane or in space, without time"):
        FittedPdeConfig(dim=1)
    with pytest.raises(ValueError, match="in the plane or in space, without time"):
        FittedPdeConfig(dim=3, has_time_axis=True)


def test_a_solution_that_drifts_along_an_input_vector_is_found():
    surrogate = gola.fit(drifting(12), "fitted_pde", progress=False)
    assert surrogate.scores["cv_error"] < 0.02
    assert gola.evaluate(surrogate, drifting(5, seed=1), progress=False).mean < 0.02


@pytest.mark.parametrize("problem", [resonating, anisotropic])
def test_waves_beyond_resonances_and_given_matrices_are_found(problem):
    surrogate = gola.fit(problem(10), "fitted_pde", progress=False)
    assert surrogate.scores["cv_error"] < 0.1
    assert gola.evaluate(surrogate, problem(5, seed=1), progress=False).mean < 0.1


def test_targets_that_are_read_off_others_stay_together():
    operator = gola.fit(pulled_plates(6), "fitted_pde", progress=False).operator
    assert operator.relates_targets
    assert not gola.fit(heated_discs(6), "fitted_pde", progress=False).operator.relates_targets
