import numpy as np
import pytest

from gola.problems.plate_elasticity import PlateElasticity, draw_applied_stress

COARSE = PlateElasticity(finest=0.02, coarsest=0.1)


def test_applied_stress_is_in_equilibrium() -> None:
    applied = draw_applied_stress(np.random.default_rng(0), 100e6)
    points = np.random.default_rng(1).random((20, 2))
    step_x, step_y = 1e-3 * np.eye(2)
    slope_x = (applied(points + step_x) - applied(points - step_x)) / 2e-3
    slope_y = (applied(points + step_y) - applied(points - step_y)) / 2e-3
    np.testing.assert_allclose(slope_x[:, 0] + slope_y[:, 2], 0.0, atol=1.0)
    np.testing.assert_allclose(slope_x[:, 2] + slope_y[:, 1], 0.0, atol=1.0)
    assert np.abs(slope_y[:, 0]).min() > 1e6


def test_the_principal_mean_stresses_stay_below_the_load_and_reach_far_towards_it() -> None:
    middle = np.array([[0.5, 0.5]])
    means = np.concatenate([draw_applied_stress(np.random.default_rng(seed), 2.0)(middle) for seed in range(200)])
    xx, yy, xy = means.T
    largest = np.abs(0.5 * (xx + yy)) + np.hypot(0.5 * (xx - yy), xy)
    assert largest.max() <= 2.0
    assert largest.max() > 1.9


def test_doubling_the_load_doubles_displacement_and_stress() -> None:
    once = COARSE.generate(0, [2])[0]
    twice = PlateElasticity(finest=0.02, coarsest=0.1, load=200e6).generate(0, [2])[0]
    np.testing.assert_allclose(twice.inputs[:, 1:], 2.0 * once.inputs[:, 1:], rtol=1e-12)
    np.testing.assert_allclose(twice.targets, 2.0 * once.targets, rtol=1e-6, atol=1e-12)


def test_a_stiffer_plate_moves_less_under_the_same_stress() -> None:
    soft = PlateElasticity(finest=0.02, coarsest=0.1, young=70e9).generate(0, [2])[0].targets
    stiff = COARSE.generate(0, [2])[0].targets
    np.testing.assert_allclose(soft[:, :2], 3.0 * stiff[:, :2], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(soft[:, 2], stiff[:, 2], rtol=1e-6)


def test_stress_concentrates_at_the_hole() -> None:
    for sample in COARSE.generate(0, range(6)):
        von_mises, at_hole = sample.targets[:, 2], sample.inputs[:, 0] == 0.0
        assert von_mises.min() >= 0.0
        assert von_mises[at_hole].max() > 1.3 * np.median(von_mises)


def test_default_meshes_give_stresses_to_about_one_percent() -> None:
    usual = PlateElasticity().generate(0, [3])[0]
    fine = PlateElasticity(finest=0.004, coarsest=0.02).generate(0, [3])[0]
    peaks = [sample.targets[:, 2].max() for sample in (usual, fine)]
    means = [np.sqrt(sample.weights @ sample.targets[:, 2] ** 2) for sample in (usual, fine)]
    assert peaks[0] == pytest.approx(peaks[1], rel=0.02)
    assert means[0] == pytest.approx(means[1], rel=0.005)


@pytest.mark.parametrize("parameters", [{"load": 0.0}, {"young": -1.0}, {"poisson": 0.7}])
def test_impossible_parameters_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="needs"):
        PlateElasticity(**parameters)
