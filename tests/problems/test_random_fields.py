import numpy as np
import pytest

from gola.problems.random_fields import RandomField, gaussian_process, neumann_field, periodic_field

GRID = np.linspace(0.0, 1.0, 33)


def covariance(field: RandomField, first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the exact covariance of two values, Σₖₗ σₖₗ² bₖ(x₀) bₖ(y₀) bₗ(x₁) bₗ(y₁)."""
    along = [
        waves.at(np.array([x]))[0] * waves.at(np.array([y]))[0]
        for waves, x, y in zip(field.waves, first, second, strict=True)
    ]
    return float(along[0] @ field.deviations**2 @ along[1])


def draws(field: RandomField, num_samples: int) -> np.ndarray:
    coefficients = field.draw([np.random.default_rng([7, index]) for index in range(num_samples)])
    return field.evaluate(coefficients, GRID, GRID)


@pytest.mark.parametrize("length_scales", [(0.1, 0.2), (0.03, 1.0), (5.0, 0.5)])
def test_gaussian_process_has_the_squared_exponential_kernel(length_scales: tuple[float, float]) -> None:
    field = gaussian_process(length_scales)
    rng = np.random.default_rng(0)
    pairs = [*rng.random((50, 2, 2)), np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])]
    for first, second in pairs:
        expected = np.exp(-0.5 * np.sum(((first - second) / length_scales) ** 2))
        assert covariance(field, tuple(first), tuple(second)) == pytest.approx(expected, abs=1e-13)


def test_gaussian_process_draws_have_unit_variance_and_the_covariance_of_their_lag() -> None:
    values = draws(gaussian_process((0.1, 0.25)), 400)
    assert values.mean() == pytest.approx(0.0, abs=0.03)
    assert values.std() == pytest.approx(1.0, abs=0.03)
    lag = 4 / 32
    along_first = np.mean(values[:, 4:, :] * values[:, :-4, :])
    along_second = np.mean(values[:, :, 4:] * values[:, :, :-4])
    assert along_first == pytest.approx(np.exp(-0.5 * (lag / 0.1) ** 2), abs=0.03)
    assert along_second == pytest.approx(np.exp(-0.5 * (lag / 0.25) ** 2), abs=0.03)


def test_periodic_field_has_the_variance_of_its_lattice_sum() -> None:
    wave_numbers = np.arange(-64, 65)
    squares = wave_numbers[:, None] ** 2 + wave_numbers**2
    variances = 2.0 * 3.0**2 * (4.0 * np.pi**2 * squares + 3.0**2) ** -2.0
    expected = np.sum(variances) - variances[64, 64]
    assert covariance(periodic_field(alpha=2.0, tau=3.0), (0.3, 0.8), (0.3, 0.8)) == pytest.approx(expected)
    assert draws(periodic_field(alpha=2.0, tau=3.0), 150).std() == pytest.approx(np.sqrt(expected), rel=0.05)


def test_periodic_field_has_the_covariance_of_a_complex_fourier_sum() -> None:
    wave_numbers = np.arange(-64, 65)
    squares = wave_numbers[:, None] ** 2 + wave_numbers**2
    variances = 2.0 * 3.0**2 * (4.0 * np.pi**2 * squares + 3.0**2) ** -2.0
    variances[64, 64] = 0.0
    phases = 2.0 * np.pi * (0.2 * wave_numbers[:, None] - 0.1 * wave_numbers)
    expected = np.sum(variances * np.cos(phases))
    assert covariance(periodic_field(alpha=2.0, tau=3.0), (0.5, 0.3), (0.3, 0.4)) == pytest.approx(expected)


def test_periodic_field_is_periodic_and_has_no_mean() -> None:
    values = draws(periodic_field(alpha=2.0, tau=3.0), 3)
    np.testing.assert_allclose(values[:, 0], values[:, -1], atol=1e-13)
    np.testing.assert_allclose(values[:, :, 0], values[:, :, -1], atol=1e-13)
    field = periodic_field(alpha=2.0, tau=3.0)
    grid = np.arange(130) / 130
    means = field.evaluate(field.draw([np.random.default_rng(0)]), grid, grid).mean()
    assert means == pytest.approx(0.0, abs=1e-14)


def test_neumann_field_has_no_slope_across_the_boundary() -> None:
    # Cosines are even about both ends, so points mirrored at an end have the same value.
    field = neumann_field(alpha=2.0, tau=3.0)
    coefficients = field.draw([np.random.default_rng(0)])
    inside = field.evaluate(coefficients, np.array([0.01, 0.98]), GRID)
    outside = field.evaluate(coefficients, np.array([-0.01, 1.02]), GRID)
    np.testing.assert_allclose(inside, outside, atol=1e-13)


def test_neumann_field_has_the_spectrum_of_its_covariance_operator() -> None:
    field = neumann_field(alpha=2.0, tau=3.0)
    assert field.deviations[0, 0] == 0.0
    assert field.deviations[2, 5] == pytest.approx(3.0 / (np.pi**2 * 29.0 + 9.0))
    # The waves are orthonormal, so the mean square over the square is the sum of the variances.
    assert draws(field, 400).std() == pytest.approx(np.sqrt(np.sum(field.deviations**2)), rel=0.05)


@pytest.mark.parametrize(
    "field", [periodic_field(alpha=2.0, tau=3.0), neumann_field(alpha=2.0, tau=3.0), gaussian_process((0.1, 0.2))]
)
def test_a_draw_does_not_depend_on_its_batch(field: RandomField) -> None:
    rngs = [np.random.default_rng([3, index]) for index in range(4)]
    batch = field.evaluate(field.draw(rngs), GRID, GRID)
    alone = field.evaluate(field.draw([np.random.default_rng([3, 2])]), GRID, GRID)
    np.testing.assert_array_equal(batch[2], alone[0])
    assert not np.allclose(batch[1], batch[2])


@pytest.mark.parametrize("length_scale", [0.0, -0.1, 1e-6, float("inf"), float("nan")])
def test_gaussian_process_refuses_an_impossible_length_scale(length_scale: float) -> None:
    with pytest.raises(ValueError, match=r"length-scales from 0\.005 to 100\.0 .* got 0\.1 and"):
        gaussian_process((0.1, length_scale))
