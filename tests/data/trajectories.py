"""Trajectories that tests share: the temperature of a plate that cools."""

import numpy as np

from gola.data.dataset import Dataset


def cooling(
    num_samples=12, num_points=40, *, num_times=6, dim=2, with_field=False, own_times=False, own_points=False, seed=0
):
    """A plate that cools: parameters are the rate and a wave number, with a field also its first temperature."""
    rng = np.random.default_rng(seed)
    shared = np.random.default_rng(5).random((num_points, dim))
    rates, waves = rng.uniform(0.5, 1.5, num_samples), rng.uniform(1.0, 2.0, num_samples)
    points = [rng.random((num_points, dim)) if own_points else shared for _ in range(num_samples)]
    times = [np.linspace(0.0, 2.0, num_times + (number % 3 if own_times else 0)) for number in range(num_samples)]
    first = [1.0 + np.sin(wave * places[:, 0]) for wave, places in zip(waves, points, strict=True)]
    return Dataset.from_arrays(
        points if own_points else shared,
        first if with_field else None,
        [
            temperature(rate, wave, places, at)
            for rate, wave, places, at in zip(rates, waves, points, times, strict=True)
        ],
        parameters={"rate [1/s]": rates, "wave": waves},
        times=times if own_times else times[0],
        input_channels=["first"],
        target_channels=["T"],
    )


def temperature(rate, wave, points, times):
    """Return the exact temperature, (times, points)."""
    return np.exp(-rate * np.asarray(times)[:, None]) * (1.0 + np.sin(wave * points[:, 0]))
