import numpy as np
import pytest

from gola.problems.advection import Advection


def residual(resolution: int) -> float:
    """Return the relative difference between central differences of u_t + u_x and f in the interior."""
    sample = Advection(resolution=resolution).generate(0, [0])[0]
    f, u = (values.reshape(resolution, resolution) for values in (sample.inputs, sample.targets))
    u_x, u_t = (u[2:, 1:-1] - u[:-2, 1:-1]), (u[1:-1, 2:] - u[1:-1, :-2])
    differences = 0.5 * (resolution - 1) * (u_x + u_t)
    return float(np.linalg.norm(differences - f[1:-1, 1:-1]) / np.linalg.norm(f[1:-1, 1:-1]))


def test_differences_of_the_solution_approach_the_forcing_with_second_order() -> None:
    errors = [residual(resolution) for resolution in (33, 65, 129)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.05)
    assert errors[-1] < 1e-3


def test_a_single_bump_is_largest_at_its_centre_with_its_weight() -> None:
    problem = Advection(num_centres=1, length_scale=0.2, resolution=129)
    sample = problem.generate(3, [4])[0]
    rng = np.random.default_rng([3, 4])
    centre, weight = rng.random((2, 1))[:, 0], rng.standard_normal()
    expected = weight * np.exp(-0.5 * np.sum((sample.points - centre) ** 2, axis=1) / 0.2**2)
    np.testing.assert_allclose(sample.targets[:, 0], expected, atol=1e-14)


def test_variance_grows_with_the_number_of_bumps() -> None:
    # Weights are independent, so the variance at a point is num_centres times the mean square of one bump.
    for num_centres in (10, 100):
        samples = Advection(num_centres=num_centres, resolution=17).generate(0, range(300))
        centre_values = np.array([sample.targets.reshape(17, 17)[8, 8] for sample in samples])
        mean_square_of_a_bump = (0.25 * np.sqrt(np.pi) * 0.9545) ** 2
        assert centre_values.var() == pytest.approx(num_centres * mean_square_of_a_bump, rel=0.25)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"num_centres": 0}, "num_centres of 1 or more; got 0"),
        ({"length_scale": 0.0}, "positive, finite length_scale; got 0.0"),
        ({"length_scale": float("inf")}, "positive, finite length_scale; got inf"),
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Advection(**parameters)
