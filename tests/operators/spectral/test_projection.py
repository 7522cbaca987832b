import numpy as np
import pytest
import torch

from gola.geometry import Box, ImplicitDomain, Polygon, uniform_points
from gola.operators.cloud import Cloud
from gola.operators.spectral import DomainBasis, spectrum_of, with_spectra
from gola.operators.spectral.basis import box_basis
from gola.operators.spectral.transforms import domain_transform
from gola.operators.spectral.waves import evaluate_waves, wave_gram, wave_numbers

FRAME = Polygon(
    exterior=np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
    holes=(np.array([[0.4, 0.4], [0.7, 0.4], [0.7, 0.6], [0.4, 0.6]]),),
)


def clustered_points(domain, num_points, seed=0):
    """Points that lie four times as densely on one side as on the other."""
    rng = np.random.default_rng(seed)
    candidates = uniform_points(domain, 4 * num_points, rng)
    kept = rng.random(len(candidates)) < np.where(candidates[:, 0] < 0.5, 0.8, 0.2)
    return candidates[kept][:num_points]


def projected(spectrum, values):
    return (spectrum.waves @ (spectrum.analysis @ torch.from_numpy(values))).numpy()


def exact_spectrum(points, basis):
    weights = np.full(len(points), 1.0 / len(points))
    return spectrum_of(points, weights, basis, smoothing=1e-14, dtype=torch.float64)


@pytest.mark.parametrize("domain", [Box.unit(1), Box.unit(2), Box.unit(3), FRAME], ids=["1D", "2D", "3D", "a hole"])
def test_functions_are_orthonormal_on_the_domain(domain):
    basis = DomainBasis.on(domain, num_modes=3, padding=2.0)
    gram = wave_gram(domain_transform(domain, basis.sides, 6), basis.numbers)
    products = basis.coefficients.T @ gram @ basis.coefficients
    np.testing.assert_allclose(products, np.eye(len(products)), atol=1e-9)
    np.testing.assert_allclose(basis.integrals, gram @ basis.coefficients, atol=1e-9)


@pytest.mark.parametrize("domain", [Box.unit(1), Box.unit(2), Box.unit(3), FRAME], ids=["1D", "2D", "3D", "a hole"])
def test_band_limited_functions_are_integrated_exactly_from_any_points(domain):
    basis = DomainBasis.on(domain, num_modes=3, padding=2.0)
    points = clustered_points(domain, 400 if domain.dim < 3 else 2000)
    coefficients = np.random.default_rng(1).normal(size=(basis.coefficients.shape[1], 2))
    spectrum = exact_spectrum(points, basis)
    found = projected(spectrum, basis.evaluate(points) @ coefficients)
    np.testing.assert_allclose(found, basis.integrals @ coefficients, rtol=1e-6, atol=1e-6)


def test_a_wave_has_the_integrals_of_the_gram_matrix():
    domain, numbers = Box.unit(2), wave_numbers(4, 2)
    basis = DomainBasis.on(domain, num_modes=4, padding=2.0)
    points = clustered_points(domain, 500)
    gram = wave_gram(domain_transform(domain, basis.sides, 8), numbers)
    waves = evaluate_waves(points, numbers, basis.sides)
    # What was left out of the basis has a millionth of a wave's energy, in a few functions.
    np.testing.assert_allclose(projected(exact_spectrum(points, basis), waves), gram, atol=2e-3)


def test_integrals_over_a_polygon_with_a_hole_leave_the_hole_out():
    basis = DomainBasis.on(FRAME, num_modes=4, padding=2.0)
    points = clustered_points(FRAME, 500)
    values = points[:, :1] * points[:, 1:]
    # The first wave is the constant; x y has the mean (1/4 - 0.3 * 0.55 * 0.2 * 0.5) / 0.94 there.
    mean = projected(exact_spectrum(points, basis), values)[0, 0]
    assert mean == pytest.approx((0.25 - 0.3 * 0.55 * 0.2 * 0.5) / 0.94, abs=1e-4)


def test_far_fewer_points_suffice_than_for_a_sum_over_them():
    points = uniform_points(Box.unit(2), 500, np.random.default_rng(0))
    basis = box_basis(points, num_modes=6, padding=2.0)
    values = np.exp(np.sin(5.0 * points[:, :1]) * points[:, 1:])
    lattice = (np.stack(np.meshgrid(*[np.arange(200)] * 2), axis=-1).reshape(-1, 2) + 0.5) / 200
    truth = (
        evaluate_waves(lattice, basis.numbers, basis.sides).T
        @ np.exp(np.sin(5.0 * lattice[:, :1]) * lattice[:, 1:])
        / len(lattice)
    )
    sums = evaluate_waves(points, basis.numbers, basis.sides).T @ values / len(points)
    weights = np.full(500, 1 / 500)
    found = projected(spectrum_of(points, weights, basis, 1e-7, torch.float64), values)
    assert np.linalg.norm(found - truth) < 0.02 * np.linalg.norm(sums - truth)


def test_the_way_through_the_functions_is_the_dense_formula():
    """G (ΦᵀWΦ + λR)⁻¹ ΦᵀW, for as many waves as live in the domain: on their own box, all do."""
    sides, numbers, smoothing = (1.0, 1.0), wave_numbers(3, 2), 1e-3
    domain = Box.unit(2)
    points, weights = clustered_points(domain, 60), np.random.default_rng(3).dirichlet(np.ones(60))
    basis = DomainBasis.on(domain, num_modes=3, padding=1.0)
    spectrum = spectrum_of(points, weights, basis, smoothing, torch.float64)
    waves = evaluate_waves(points, numbers, sides)
    penalties = np.tile((1.0 + (numbers**2).sum(axis=1)) ** 2, 2).astype(float)
    matrix = waves.T @ (weights[:, None] * waves) + smoothing * np.diag(penalties)
    gram = wave_gram(domain_transform(domain, sides, 6), numbers)
    expected = gram @ np.linalg.solve(matrix, waves.T * weights)
    np.testing.assert_allclose((spectrum.waves @ spectrum.analysis).numpy(), expected, atol=1e-9)
    np.testing.assert_allclose((spectrum.functions @ spectrum.waves.T).numpy(), waves, atol=1e-9)


def test_gradients_flow_back_through_a_projection():
    points = clustered_points(Box.unit(2), 30)
    spectrum = exact_spectrum(points, box_basis(points, num_modes=2, padding=2.0))
    values = torch.rand(30, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda h: spectrum.waves @ (spectrum.analysis @ h), values)


def test_each_sample_of_a_cloud_has_a_spectrum_of_its_own():
    clouds = [Cloud.of(torch.rand(size, 2), torch.rand(size, 1)) for size in (30, 50)]
    batch = with_spectra(Cloud.collate(clouds), num_modes=3)
    apart = Cloud.collate([with_spectra(cloud, num_modes=3) for cloud in clouds])
    for together, alone, size in zip(batch.spectra, apart.spectra, (30, 50), strict=True):
        assert together.functions.shape[0] == size
        torch.testing.assert_close(together.analysis, alone.analysis)
        assert together.functions.dtype == torch.float32


def test_samples_of_one_domain_share_their_basis():
    first, second = (box_basis(clustered_points(Box.unit(2), 500, seed), num_modes=3, padding=2.0) for seed in (0, 1))
    assert first is second


def test_rounding_errors_do_not_move_the_walls():
    points = clustered_points(Box.unit(2), 500)
    assert box_basis(1.00001 * points - 1e-6, num_modes=3, padding=2.0) is box_basis(points, num_modes=3, padding=2.0)


def test_a_known_domain_replaces_the_box_around_the_points():
    points = clustered_points(FRAME, 300)
    cloud = Cloud.of(torch.from_numpy(points), torch.rand(300, 1))
    known = with_spectra(cloud, num_modes=3, smoothing=1e-10, domain=FRAME).spectra[0]
    constant = torch.ones(300, 1, dtype=torch.float64)
    cosine = known.waves @ (known.analysis @ constant)
    exact = wave_gram(domain_transform(FRAME, (2.0, 2.0), 6), wave_numbers(3, 2))[:, :1]
    np.testing.assert_allclose(cosine.numpy(), exact, atol=1e-4)


def test_a_domain_of_which_only_the_distance_is_known_works_too():
    disc = ImplicitDomain(
        distance=lambda points: np.linalg.norm(points - 0.5, axis=1) - 0.5, lower=np.zeros(2), upper=np.ones(2)
    )
    points = uniform_points(disc, 400, np.random.default_rng(0))
    cloud = Cloud.of(torch.from_numpy(points), torch.rand(400, 1))
    spectrum = with_spectra(cloud, num_modes=4, domain=disc).spectra[0]
    squares = ((points - 0.5) ** 2).sum(axis=1, keepdims=True)
    assert projected(spectrum, squares)[0, 0] == pytest.approx(0.125, abs=1e-3)


def test_points_on_a_line_are_no_obstacle():
    points = np.column_stack([np.linspace(0, 1, 40), np.zeros(40)])
    spectrum = with_spectra(Cloud.of(torch.from_numpy(points), torch.rand(40, 1)), num_modes=3).spectra[0]
    assert spectrum.analysis.isfinite().all()
