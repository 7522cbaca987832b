import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.fitting.training import train
from gola.operators import Spectral, SpectralConfig
from gola.operators.cloud import Cloud
from gola.operators.scaling import Scaling
from gola.operators.spectral.pde_residual import InverseMap, ResidualRegulariser, Slopes
from gola.operators.spectral.projection import with_spectra
from gola.operators.spectral.unlabelled_inputs import mirror_images, mixtures, other_inputs
from gola.protocol import Session, TrainingConfig
from tests.fits import small_data, task_of

SMALL = SpectralConfig(num_modes=3, width=8, num_blocks=1)


@pytest.fixture(autouse=True)
def short_training_runs(monkeypatch):
    monkeypatch.setattr("gola.operators.spectral.pde_residual._NUM_STEPS", 300)


def labelled(seed, num_points=200):
    """A solution u that is a plane wave, and the input f = 2 u_x + x u: a differential equation of first order."""
    rng = np.random.default_rng(seed)
    points = torch.from_numpy(rng.random((num_points, 2))).float()
    rate, phase = rng.uniform(1.0, 3.0), rng.uniform(0.0, math.pi)
    wave = rate * points[:, :1] + phase
    solution = torch.sin(wave)
    return Cloud.of(points, 2.0 * rate * torch.cos(wave) + points[:, :1] * solution), solution


def prepared(cloud):
    return with_spectra(cloud, num_modes=6)


def test_slopes_of_a_smooth_function_are_its_derivatives():
    points = torch.rand(400, 2)
    cloud = prepared(Cloud.of(points, points[:, :1]))
    values = torch.stack([torch.sin(2 * points[:, 0]) + points[:, 1] ** 2, points[:, 0] * points[:, 1]], dim=1)
    found = Slopes.on(cloud).of(values).unflatten(1, (3, 2))
    expected = torch.stack(
        [
            values,
            torch.stack([2 * torch.cos(2 * points[:, 0]), points[:, 1]], dim=1),
            torch.stack([2 * points[:, 1], points[:, 0]], dim=1),
        ],
        dim=1,
    )
    assert (found - expected).abs().mean() < 0.01


def test_the_residual_is_small_for_other_samples_and_large_for_wrong_solutions():
    inverse = InverseMap.learned([(prepared(cloud), u) for cloud, u in map(labelled, range(12))], seed=0)
    cloud, solution = labelled(seed=100)
    slopes = Slopes.on(prepared(cloud))
    size = cloud.values.square().mean().sqrt()
    assert inverse.residual(solution, cloud, slopes) < 0.2 * size
    assert inverse.residual(-solution, cloud, slopes) > 0.5 * size


def test_the_residual_has_a_gradient_in_the_prediction_and_none_in_what_was_learned():
    samples = [(prepared(cloud), u) for cloud, u in map(labelled, range(3))]
    regulariser = ResidualRegulariser.prepared(samples, Spectral(replace(SMALL, num_modes=6)), weight=0.5, seed=0)
    rows = regulariser.drawn(2, 0, 1)
    guesses = [regulariser.clouds[row].points[:, :1].clone().requires_grad_() for row in rows]
    regulariser.penalties(guesses, rows).sum().backward()
    assert all(guess.grad is not None and guess.grad.abs().max() > 0 for guess in guesses)
    assert all(parameter.grad is None for parameter in regulariser.inverse.parameters())


def test_penalties_are_weighted_and_draws_repeat():
    samples = [(prepared(cloud), u) for cloud, u in map(labelled, range(3))]
    regulariser = ResidualRegulariser.prepared(samples, Spectral(replace(SMALL, num_modes=6)), weight=0.5, seed=0)
    guess = [torch.zeros(regulariser.clouds[0].num_points, 1)]
    heavier = replace(regulariser, weight=1.5)
    assert heavier.penalties(guess, [0]).item() == pytest.approx(3 * regulariser.penalties(guess, [0]).item())
    assert regulariser.drawn(5, 1, 2) == regulariser.drawn(5, 1, 2) != regulariser.drawn(5, 1, 3)


def test_mirror_images_of_a_square_are_the_seven_others_with_the_same_values():
    clouds = [cloud for cloud, _ in map(labelled, range(2))]
    images = mirror_images(clouds)
    assert len(images) == 14
    assert all(torch.equal(image.values, clouds[number % 2].values) for number, image in enumerate(images))
    assert len({tuple(image.points[0].tolist()) for image in images[::2]}) == 7
    assert all(image.points.min() > -0.01 and image.points.max() < 1.01 for image in images)


def test_a_domain_that_is_not_its_mirror_image_has_mixtures_instead():
    def in_a_triangle(seed):
        cloud, _ = labelled(seed, num_points=400)
        below = cloud.points[:, 1] < 0.8 * cloud.points[:, 0]
        return Cloud.of(cloud.points[below], cloud.values[below])

    clouds = [in_a_triangle(seed) for seed in range(3)]
    assert not mirror_images(clouds)
    made = other_inputs(clouds, count=5, seed=0)
    assert len(made) == 5
    assert torch.equal(made[3].points, clouds[0].points)


def test_mixtures_keep_mean_and_spread_of_the_inputs():
    points = torch.rand(150, 2)
    rng = np.random.default_rng(0)
    clouds = [
        prepared(Cloud.of(points, 5.0 + float(rng.normal()) * points[:, :1] + float(rng.normal()))) for _ in range(40)
    ]
    given = torch.stack([cloud.values for cloud in clouds])
    mixed = torch.stack([cloud.values for cloud in mixtures(clouds, count=300, seed=0)])
    assert mixed.mean().item() == pytest.approx(given.mean().item(), abs=0.2)
    assert mixed.std(dim=0).mean().item() == pytest.approx(given.std(dim=0).mean().item(), rel=0.25)


def test_samples_of_different_sizes_are_mixed():
    clouds = [labelled(seed, num_points)[0] for seed, num_points in enumerate((60, 90, 200))]
    assert [cloud.num_points for cloud in mixtures(clouds, count=4, seed=0)] == [60, 90, 200, 60]


def test_inputs_on_different_domains_cannot_be_mixed():
    small, large = (Cloud.of(side * torch.rand(50, 2), torch.rand(50, 1)) for side in (0.5, 1.0))
    with pytest.raises(ValueError, match="needs samples that share their domain"):
        mixtures([prepared(small), prepared(large)], count=2, seed=0)


def test_training_with_a_residual_resumes_exactly(tmp_path):
    samples = list(small_data(num_samples=4, num_points=60))
    config = TrainingConfig(num_epochs=3, batch_size=2, residual_weight=0.1)

    def weights(session):
        torch.manual_seed(0)
        operator = Spectral(SMALL)
        train(operator, task_of(samples, training=config, session=session), Scaling.fit(samples))
        return operator.state_dict()

    def die(progress):
        if progress.step == 4:
            raise RuntimeError("died")

    with pytest.raises(RuntimeError, match="died"):
        weights(Session(folder=tmp_path, checkpoint_seconds=0.0, on_progress=die))
    resumed, whole = weights(Session(folder=tmp_path, resume=True)), weights(Session())
    assert all(torch.equal(resumed[name], whole[name]) for name in whole)


def test_there_are_fewer_other_inputs_where_they_are_large(monkeypatch):
    samples = [(prepared(cloud), u) for cloud, u in map(labelled, range(3))]
    operator = Spectral(SMALL)
    assert len(ResidualRegulariser.prepared(samples, operator, weight=1.0, seed=0).clouds) == 21
    monkeypatch.setattr("gola.operators.spectral.pde_residual._MOST_NUMBERS", 10 * Slopes.on(samples[0][0]).num_numbers)
    assert len(ResidualRegulariser.prepared(samples, operator, weight=1.0, seed=0).clouds) == 10


def test_a_residual_changes_what_is_learned_and_not_how_errors_are_counted():
    samples = list(small_data(num_samples=4, num_points=60))

    def first_error(weight):
        torch.manual_seed(0)
        config = TrainingConfig(num_epochs=2, batch_size=4, residual_weight=weight)
        history = train(Spectral(SMALL), task_of(samples, training=config), Scaling.fit(samples))
        return [epoch.training_error for epoch in history]

    without, with_residual = first_error(0.0), first_error(1.0)
    assert with_residual[0] == pytest.approx(without[0], rel=1e-5)
    assert with_residual[1] != pytest.approx(without[1], rel=1e-5)
