from dataclasses import replace

import numpy as np
import pytest
from jaxtyping import Float

from gola.problems.moving_source import (
    DURATION,
    HEAT_CAPACITY,
    LENGTH,
    LOSS,
    START,
    THICKNESS,
    WIDTH,
    MovingSource,
    Plate,
    moving_flux,
    plate_mesh,
)

from .perforated import observed_order

CONDUCTIVITY = 400.0


def shape(points: Float[np.ndarray, "point 2"]) -> Float[np.ndarray, " point"]:
    return np.cos(np.pi * points[:, 0] / LENGTH) * np.cos(2.0 * np.pi * points[:, 1] / WIDTH)


def exact_flux(time: float, places: Float[np.ndarray, "place 2"]) -> Float[np.ndarray, " place"]:
    """The flux of T = sin(t) cos(πx/L) cos(2πy/W), which no heat leaves through the sides."""
    rate = (np.pi / LENGTH) ** 2 + (2.0 * np.pi / WIDTH) ** 2
    change = THICKNESS * HEAT_CAPACITY * np.cos(time)
    decay = (THICKNESS * CONDUCTIVITY * rate + LOSS) * np.sin(time)
    return (change + decay) * shape(places)


def solver_error(element_size: float, num_steps: int) -> float:
    plate = Plate(plate_mesh(element_size))
    found = plate.solve(CONDUCTIVITY, exact_flux, 2.0, num_steps)
    times = np.linspace(0.0, 2.0, num_steps + 1)
    expected = np.sin(times)[:, None] * shape(plate.geometry["points"])
    return float(np.abs(found - expected).max())


def test_halving_the_time_step_quarters_the_error() -> None:
    errors = [solver_error(0.003, num_steps) for num_steps in (2, 4, 8)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.2)


def test_smaller_elements_have_an_error_of_third_order() -> None:
    errors = [solver_error(size, 1000) for size in (0.01, 0.005)]
    assert observed_order(errors) > 2.7


def test_heat_in_the_plate_is_what_came_less_what_was_lost() -> None:
    plate = Plate(plate_mesh(0.002))
    power = 100.0
    stored = plate.solve(50.0, moving_flux(0.01, power, 0.008), DURATION, 200) @ plate.geometry["weights"]
    lost = LOSS * np.trapezoid(stored, dx=DURATION / 200)
    # Almost nothing of the source misses the plate, but for its edge at the start.
    assert THICKNESS * HEAT_CAPACITY * stored[-1] + lost == pytest.approx(power * DURATION, rel=5e-3)


def test_the_hottest_place_follows_the_source() -> None:
    # A slow source on a good conductor: heat spreads faster than the source moves on.
    problem = MovingSource(element_size=0.002, num_times=10)
    sample = problem.simulate(np.array([0.006, 100.0, 0.004, 150.0]))
    hottest = sample.points[np.argmax(sample.targets[:, :, 0], axis=1)]
    lag = START[0] + 0.006 * problem.times - hottest[:, 0]
    assert (lag > -0.001).all()
    assert (lag < 0.006).all()
    np.testing.assert_allclose(hottest[:, 1], START[1], atol=0.004)


def test_temperature_is_linear_in_the_power_and_never_below_that_of_the_air() -> None:
    problem = MovingSource(element_size=0.004, num_times=5)
    weak, strong = (problem.simulate(np.array([0.01, power, 0.006, 40.0])).targets for power in (100.0, 300.0))
    np.testing.assert_allclose(strong, 3.0 * weak, rtol=1e-9, atol=1e-12)
    assert weak.min() > -1e-2 * weak.max()


def test_more_output_times_show_the_same_solution() -> None:
    few = MovingSource(element_size=0.004, num_times=10)
    many = replace(few, num_times=40)
    np.testing.assert_allclose(many.times[3::4], few.times)
    coarse, fine = few.generate(0, [0])[0].targets, many.generate(0, [0])[0].targets[3::4]
    assert np.linalg.norm(coarse - fine) < 0.02 * np.linalg.norm(fine)


@pytest.mark.parametrize("settings", [{"element_size": 0.0}, {"element_size": 0.02}, {"num_times": 0}])
def test_impossible_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="moving_source needs"):
        MovingSource(**settings)
