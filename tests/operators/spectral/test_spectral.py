from dataclasses import replace

import numpy as np
import pytest
import torch

import gola
from gola.fitting.configs import config_for
from gola.operators import Queries, Spectral, SpectralConfig
from gola.operators.cloud import Cloud
from gola.operators.spectral.block import SpectralMixing
from gola.operators.spectral.waves import wave_numbers
from gola.protocol import TrainingConfig
from tests.operators.clouds import assert_same_values_and_gradients, random_features, scattered_cloud

SMALL = SpectralConfig(num_modes=3, width=6, num_blocks=2)


def prepared(config, *sizes):
    operator = Spectral(config).double()
    clouds = [scattered_cloud(size, dim=config.dim, seed=size) for size in sizes]
    return operator, operator.prepare(Cloud.collate(clouds))


def test_mixing_multiplies_each_wave_by_a_complex_number():
    _, cloud = prepared(SMALL, 30, 20)
    mixing = SpectralMixing(frequencies=torch.rand(len(wave_numbers(3, 2))), width=6).double()
    features = random_features(cloud, width=6)
    parts = []
    for rows, spectrum in zip(torch.split(features, cloud.sizes), cloud.spectra, strict=True):
        num_waves = len(mixing.real)
        transform = torch.complex(spectrum.waves[:num_waves], spectrum.waves[num_waves:])
        integrals = (transform @ spectrum.analysis.to(transform.dtype)) @ rows.to(transform.dtype)
        turned = integrals * torch.complex(mixing.real, mixing.imaginary)
        waves = spectrum.functions.to(transform.dtype) @ transform.conj().mT
        parts.append((waves @ turned).real @ mixing.mix.weight.mT)
    found = mixing(features, cloud.spectra, cloud.sizes)
    assert_same_values_and_gradients(found, torch.cat(parts), [features, *mixing.parameters()])


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_it_works_in_every_dimension(dim):
    operator, cloud = prepared(replace(SMALL, dim=dim), 30, 20)
    queries = Queries(points=cloud.points, offsets=cloud.offsets)
    torch.testing.assert_close(operator(cloud, at=queries), operator(cloud))
    assert operator(cloud, at=torch.rand(4, dim, dtype=torch.float64)).isfinite().all()


def test_with_neighbours_it_needs_them():
    operator, cloud = prepared(replace(SMALL, local=True, radius=0.3), 30)
    with pytest.raises(ValueError, match=r"needs neighbours with local=True; build them with prepare"):
        operator(replace(cloud, neighbourhood=None))


def test_without_neighbours_no_lists_are_built():
    operator, cloud = prepared(SMALL, 30)
    bare = operator.prepare(Cloud.of(cloud.points, cloud.values))
    assert bare.neighbourhood is None


def test_the_same_function_on_other_points_gives_nearly_the_same_prediction():
    torch.manual_seed(0)
    operator = Spectral(SMALL).double()
    answers = []
    places = torch.rand(50, 2, dtype=torch.float64)
    for seed in (0, 1):
        points = torch.rand(600, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        cloud = operator.prepare(Cloud.of(points, torch.sin(4.0 * points.sum(1, keepdim=True))))
        answers.append(operator(cloud, at=places))
    difference = (answers[0] - answers[1]).norm() / (answers[0] - answers[0].mean()).norm()
    assert difference < 0.02


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"padding": 0.5}, "padding must be at least 1"),
        ({"num_modes": 0}, "num_modes must be greater than 0"),
        ({"num_modes": 12, "dim": 3}, "makes 15625 waves in 3D; at most 4000"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        SpectralConfig(**settings)


@pytest.mark.parametrize("num_points", [100, 184])
def test_what_is_rough_does_not_grow_between_points_that_are_fewer_than_the_functions(num_points):
    config = SpectralConfig(num_modes=8)
    generator = torch.Generator().manual_seed(num_points)
    cloud = Cloud.of(torch.rand(num_points, 2, generator=generator), torch.zeros(num_points, 1))
    elsewhere = torch.rand(1000, 2, generator=generator).numpy()
    noise = torch.randn(num_points, 8, generator=generator)

    def size_of_fit(smoothing):
        (spectrum,) = Spectral(replace(config, smoothing=smoothing)).prepare(cloud).spectra
        values = torch.from_numpy(spectrum.basis.evaluate(elsewhere)).float() @ (spectrum.analysis @ noise)
        return float(values.square().mean().sqrt())

    assert size_of_fit(config.smoothing) < 3.0
    assert size_of_fit(1e-7) > 4.0, "which is why smoothing is stronger"


def test_a_sample_that_ends_a_little_later_has_the_waves_of_the_training_samples():
    axis = np.arange(16) / 15
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    data = gola.Dataset.from_arrays(grid, [grid[:, 0]] * 4, [grid[:, 1]] * 4)
    config = config_for(data, "spectral", num_modes=3, width=4)
    assert config.box == (0.0, 0.0, 1.0, 1.0)
    operator = Spectral(config)
    finer = torch.from_numpy(np.concatenate([grid, grid + 1 / 25]))
    clouds = [operator.prepare(Cloud.of(points, points[:, :1])) for points in (torch.from_numpy(grid), finer)]
    assert clouds[0].spectra[0].basis is clouds[1].spectra[0].basis


def test_samples_of_different_shapes_keep_boxes_of_their_own():
    points = [np.random.default_rng(number).random((50, 2)) * [1.0, 0.4 + 0.2 * number] for number in range(4)]
    values = [one[:, 0] for one in points]
    assert config_for(gola.Dataset.from_arrays(points, values, values), "spectral").box == ()


def test_waves_that_the_points_do_not_resolve_are_left_out():
    coarse, fine = (grid_data(side, num_samples=2) for side in (16, 32))
    assert config_for(coarse, "spectral").largest_wave == 8
    assert config_for(fine, "spectral").largest_wave == SpectralConfig().largest_wave
    assert config_for(coarse, "spectral", num_modes=5).largest_wave == 5


def test_on_a_finer_grid_than_that_of_the_training_samples_it_errs_as_little():
    training = TrainingConfig(num_epochs=25, batch_size=4)
    surrogate = gola.fit(grid_data(12, num_samples=40), "spectral", training=training, progress=False)
    same, finer = (
        gola.evaluate(surrogate, grid_data(side, num_samples=20, seed=1), progress=False).mean for side in (12, 24)
    )
    assert same < 0.3
    assert finer < 1.2 * same


def grid_data(side, num_samples, seed=0):
    """Smooth inputs on a grid, and solutions that depend on them smoothly."""
    rng, waves = np.random.default_rng(seed), np.arange(1, 4)
    axis = np.linspace(0.0, 1.0, side)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    along = [np.cos(np.pi * np.outer(points[:, column], waves)) for column in (0, 1)]
    amplitudes = rng.normal(size=(num_samples, 3, 3))
    inputs = np.einsum("pi,nij,pj->np", along[0], amplitudes, along[1])
    damped = np.einsum("pi,nij,pj->np", along[0], amplitudes / np.add.outer(waves, waves), along[1])
    return gola.Dataset.from_arrays(points, list(inputs), list(damped + 0.5 * damped**2))
