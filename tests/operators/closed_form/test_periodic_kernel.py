import numpy as np
import pytest
import torch

import gola
from gola.operators.closed_form.covariance import similarity
from gola.operators.closed_form.shift_kernel import ShiftRegression, Spectra, halved, mean_diagonal, transformed_kernel
from gola.representation.periodic_grid import likely_periods


def waves(count, num_points=32, seed=0, dim=1):
    """A nonlinear map that commutes with shifts and, but for the sign, with reflections."""
    rng = np.random.default_rng(seed)
    axis = np.arange(num_points) / num_points
    points = np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    inputs, targets = [], []
    for _ in range(count):
        phases = rng.uniform(0, 2 * np.pi, (2, dim))
        sizes = rng.normal(size=2)
        parts = [
            size * np.sin(2 * np.pi * (number * points) + phase).prod(axis=1)
            for number, size, phase in zip((1, 2), sizes, phases, strict=True)
        ]
        field = sum(parts)
        inputs.append(field)
        targets.append(0.5 * field + 0.3 * np.roll(field.reshape([num_points] * dim), num_points // 16, 0).ravel() ** 3)
    return gola.Dataset.from_arrays(points, inputs, targets)


def test_it_is_regression_with_all_shifted_copies():
    generator = torch.Generator().manual_seed(0)
    inputs, targets = torch.randn(2, 3, 8, 1, generator=generator, dtype=torch.float64)
    zero, length, trend, penalty = (torch.tensor(value, dtype=torch.float64) for value in (0.0, 1.3, 0.2, 0.05))
    spectra = Spectra.of(inputs, (8,), zero)
    unit = 2.0 * spectra.squares.mean()
    every = torch.arange(5)
    matrix = transformed_kernel(spectra, spectra, "matern", unit, length, trend, every)
    ridge = penalty * mean_diagonal(matrix)
    found = ShiftRegression.fit(matrix, targets, (8,), ridge, torch.arange(3)[:, None], every)

    copies = torch.cat([inputs.roll(shift, 1) for shift in range(8)])[..., 0]
    solutions = torch.cat([targets.roll(shift, 1) for shift in range(8)])[..., 0]
    squares = torch.cdist(copies, copies) ** 2 / unit
    kernel = similarity("matern", squares / length**2) + trend * copies @ copies.T / unit
    rows = [number for number in range(24) if number % 3 != 1]
    shifted = kernel[rows][:, rows] + ridge * torch.eye(16, dtype=torch.float64)
    inverse = torch.linalg.inv(shifted)
    constant = (inverse @ solutions[rows]).sum() / (8 * inverse.sum())
    plain = kernel[1, rows] @ inverse @ (solutions[rows] - constant) + constant
    torch.testing.assert_close(targets[1, :, 0] - found.residuals[1, :, 0], plain, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dim", [1, 2])
def test_it_learns_from_few_samples_what_commutes_with_shifts(dim):
    train, test = waves(12, 16, dim=dim), waves(8, 16, seed=1, dim=dim)
    found = {name: gola.evaluate(gola.fit(train, name, progress=False), test, progress=False).mean
             for name in ("periodic_kernel", "kernel")}  # fmt: skip
    assert found["periodic_kernel"] < 0.5 * found["kernel"]


def test_a_shifted_input_has_the_shifted_solution():
    surrogate = gola.fit(waves(10), "periodic_kernel", progress=False)
    sample = waves(1, seed=3)[0]
    plain = surrogate.predict(sample.points, sample.inputs)
    moved = surrogate.predict(sample.points, np.roll(sample.inputs, 5, axis=0))
    np.testing.assert_allclose(moved, np.roll(plain, 5, axis=0), atol=1e-6)


def test_other_resolutions_lose_nothing():
    surrogate = gola.fit(waves(20), "periodic_kernel", progress=False)
    errors = [gola.evaluate(surrogate, waves(8, num_points, seed=1), progress=False).mean for num_points in (32, 64)]
    assert errors[1] < 1.2 * errors[0]


def test_it_is_saved_and_loaded(tmp_path):
    surrogate = gola.fit(waves(8), "periodic_kernel", progress=False)
    surrogate.save(tmp_path / "wave.gola")
    sample = waves(1, seed=3)[0]
    loaded = gola.Surrogate.load(tmp_path / "wave.gola")
    np.testing.assert_array_equal(
        loaded.predict(sample.points, sample.inputs), surrogate.predict(sample.points, sample.inputs)
    )


def test_periods_are_seen_on_grids_with_and_without_their_last_end():
    open_ended = torch.arange(64, dtype=torch.float64)[:, None] / 64
    closed = torch.linspace(0, 1, 65, dtype=torch.float64)[:, None]
    for points in (open_ended, closed):
        field = torch.sin(2 * torch.pi * points)
        assert float(likely_periods(points, [field])) == pytest.approx(1.0)
        assert likely_periods(points, [field + points]) is None
    assert likely_periods(torch.rand(64, 1, dtype=torch.float64), [open_ended]) is None


def test_functions_with_boundary_values_do_not_look_periodic():
    points = torch.linspace(0.0, 1.0, 33, dtype=torch.float64)[:, None]
    generator = torch.Generator().manual_seed(0)
    heights = torch.randn(8, 1, 2, generator=generator, dtype=torch.float64)
    waves = torch.cat([torch.sin(torch.pi * points), torch.sin(3.0 * torch.pi * points)], dim=1)
    assert likely_periods(points, list((heights * waves).sum(dim=2, keepdim=True))) is None


def test_data_that_do_not_repeat_are_refused():
    points = np.random.default_rng(0).random((30, 2))
    data = gola.Dataset.from_arrays(points, [points[:, 0]] * 4, [points[:, 1]] * 4)
    with pytest.raises(ValueError, match="needs axes that are periodic; declare them"):
        gola.fit(data, "periodic_kernel", progress=False)


def test_functions_on_a_coarser_grid_keep_their_values_if_it_can_hold_them():
    x = torch.arange(16, dtype=torch.float64) / 16.0
    functions = (torch.sin(2 * torch.pi * x)[:, None] + torch.cos(6 * torch.pi * x)[None, :]).reshape(1, -1, 1)
    coarse = halved(functions, (16, 16))
    torch.testing.assert_close(coarse.view(8, 8), functions.view(16, 16)[::2, ::2])
