import numpy as np
import pytest

from gola.data.sample import Channel
from gola.problems.parameter_ranges import ParameterRange, channels_of, draw_parameters

SPEED = ParameterRange(channel=Channel(name="speed", unit="m/s"), lower=-2.0, upper=6.0)
NUMBER = ParameterRange(channel=Channel(name="number"), lower=1.0, upper=100.0, logarithmic=True)


def test_draws_fill_a_range_evenly_or_by_their_logarithm() -> None:
    rng = np.random.default_rng(0)
    speeds, numbers = np.array([draw_parameters((SPEED, NUMBER), rng) for _ in range(4000)]).T
    assert -2.0 <= speeds.min() < -1.98
    assert 5.98 < speeds.max() <= 6.0
    assert speeds.mean() == pytest.approx(2.0, abs=0.1)
    assert 1.0 <= numbers.min() < numbers.max() <= 100.0
    assert np.log10(numbers).mean() == pytest.approx(1.0, abs=0.03)
    assert np.median(numbers) == pytest.approx(10.0, rel=0.1)
    assert abs(np.corrcoef(speeds, numbers)[0, 1]) < 0.05


def test_ends_of_a_range_are_exact() -> None:
    assert (SPEED.at(0.0), SPEED.at(1.0)) == (-2.0, 6.0)
    assert (NUMBER.at(0.0), NUMBER.at(1.0)) == (1.0, 100.0)


def test_a_range_says_what_it_is() -> None:
    assert str(SPEED) == "speed [m/s] from -2 to 6"
    assert str(NUMBER) == "number from 1 to 100, logarithmic"
    assert channels_of((SPEED, NUMBER)) == (Channel(name="speed", unit="m/s"), Channel(name="number"))


@pytest.mark.parametrize(
    ("lower", "upper", "logarithmic", "message"),
    [
        (1.0, 1.0, False, "lower < upper, both finite; got 1.0 and 1.0"),
        (0.0, float("inf"), False, "lower < upper, both finite"),
        (0.0, 1.0, True, "positive values; got lower=0.0"),
    ],
)
def test_impossible_ranges_are_refused(lower: float, upper: float, logarithmic: bool, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ParameterRange(channel=Channel(name="x"), lower=lower, upper=upper, logarithmic=logarithmic)
