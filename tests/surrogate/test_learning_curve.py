"""What more samples bring: power laws are found again, and fits to parts of the samples bring them."""

import numpy as np
import pytest

from gola.surrogate.learning_curve import _doubts, _unions, learning_curve
from gola.surrogate.power_law import PowerLaw
from tests.surrogate.uncertainty.test_bands import KERNEL, waves

SIZES = np.array([10.0, 20.0, 30.0, 40.0])
QUARTILES = np.array([0.1, 0.5, 0.9])


@pytest.mark.parametrize("exponent", [0.3, 1.0, 2.0])
def test_a_clean_power_law_is_continued(exponent):
    law = PowerLaw.fitted(SIZES, SIZES**-exponent, np.full(4, 0.02))
    lower, middle, upper = law.quantiles(80, QUARTILES)
    assert middle == pytest.approx(80.0**-exponent, rel=0.15)
    assert lower < middle < upper


def test_errors_that_no_longer_fall_are_forecast_to_stay():
    errors = np.array([0.30, 0.21, 0.201, 0.2])
    law = PowerLaw.fitted(SIZES, errors, np.full(4, 0.02))
    assert law.quantiles(80, QUARTILES)[1] > 0.18


def test_what_is_known_less_well_has_a_wider_forecast():
    laws = [PowerLaw.fitted(SIZES, 1.0 / SIZES, np.full(4, one)) for one in (0.03, 0.3)]
    spreads = [np.ptp(np.log(law.quantiles(80, QUARTILES))) for law in laws]
    assert spreads[1] > 1.3 * spreads[0]


def test_known_errors_are_met_and_forecasts_get_wider_with_every_further_sample():
    law = PowerLaw.fitted(SIZES, 1.0 / SIZES, np.full(4, 0.03))
    spreads = [np.ptp(np.log(law.quantiles(size, QUARTILES))) for size in (40, 60, 80, 160)]
    assert spreads == sorted(spreads)
    assert spreads[0] < 0.15 < spreads[2]


def test_every_sample_is_in_as_many_parts_as_any_other():
    unions = list(_unions(22, seed=3))
    assert [size for size, _ in unions] == [6] * 4 + [11] * 6 + [16] * 4
    assert set(np.bincount(np.concatenate([rows for _, rows in unions]))) == {1 + 3 + 3}


def test_the_error_of_all_samples_is_known_better_than_that_of_one_part():
    errors = {5: [0.4, 0.5, 0.4, 0.5], 10: [0.3], 20: [0.2]}
    quarter, half, whole = _doubts(errors, 20)
    assert whole < quarter < half


def test_errors_that_fall_steeply_are_forecast_to_fall_on():
    law = PowerLaw.fitted(SIZES, SIZES**-4.0, np.full(4, 0.1))
    assert np.log(law.quantiles(80, QUARTILES)[1]) == pytest.approx(-4.0 * np.log(80.0), abs=0.35)


@pytest.fixture(scope="module")
def curve():
    return learning_curve(waves(24), KERNEL)


def test_parts_of_the_samples_are_fitted_to(curve):
    assert curve.sizes == (6, 12, 18, 24)
    assert curve.errors[0] > curve.errors[-1]
    then = curve.forecast(48)
    assert then.lower < then.error < then.upper
    assert then.error < curve.forecast(24).error


def test_the_forecast_is_said_in_a_sentence(curve):
    assert curve.sentence(20).startswith("20 more simulations: from ")
    assert " % to about " in curve.sentence(20)


def test_forecasts_for_no_samples_are_refused(curve):
    with pytest.raises(ValueError, match="at least 1 training sample; got 0"):
        curve.forecast(0)
    with pytest.raises(ValueError, match="at least 1; got -3"):
        curve.sentence(-3)


def test_too_few_samples_are_refused():
    with pytest.raises(ValueError, match="at least 12 samples, to fit to a quarter of them; got 8"):
        learning_curve(waves(8), KERNEL)
