import math

import pytest
import torch

from gola.operators.fitted_evolution.evolution import TERMS, evolved, num_steps, resampled, terms_of

NODES = torch.arange(64, dtype=torch.float64) / 64
WAVE = torch.sin(2.0 * torch.pi * NODES)[None]


def coefficients(**terms):
    return torch.tensor([[terms.get(name, 0.0) for name in TERMS]], dtype=torch.float64)


def test_waves_of_a_linear_equation_decay_and_move_as_they_should():
    diffusion, speed = 0.02, 0.3
    found = evolved(WAVE, coefficients(diffusion=diffusion, transport=speed), 16)
    decay = math.exp(-diffusion * (2.0 * math.pi) ** 2)
    torch.testing.assert_close(found[0], decay * torch.sin(2.0 * torch.pi * (NODES + speed)), rtol=0, atol=1e-12)


def test_a_constant_state_grows_as_the_logistic_equation_says():
    start = torch.full((1, 64), 0.2, dtype=torch.float64)
    found = evolved(start, coefficients(growth=1.0, square=-1.0), 64)
    assert float(found[0, 0]) == pytest.approx(0.2 * torch.e / (1.0 + 0.2 * (torch.e - 1.0)), rel=1e-7)


def test_a_soliton_travels_without_changing_its_shape():
    """u_t + 6 u u_x + u_xxx = 0 in a box of length L has the waves c/2 sech²(√c/2 (x − ct))."""
    length, speed, time = 40.0, 1.0, 4.0
    places = length * torch.arange(256, dtype=torch.float64)[None] / 256
    start, end = (
        0.5 * speed / torch.cosh(0.5 * speed**0.5 * (places - middle)) ** 2 for middle in (16.0, 16.0 + speed * time)
    )
    found = evolved(start, coefficients(flux2=-3.0 * time / length, dispersion=-time / length**3), 200)
    torch.testing.assert_close(found, end, rtol=0, atol=1e-5)


def test_steps_are_small_enough():
    equation = coefficients(flux2=-0.5, diffusion=0.005)
    steps = int(num_steps(equation, WAVE.abs().amax(dim=1), 64)[0])
    torch.testing.assert_close(evolved(WAVE, equation, steps), evolved(WAVE, equation, 10 * steps), rtol=0, atol=1e-4)


def test_functions_at_other_nodes_are_the_same_waves():
    finer = resampled(WAVE, 96)
    places = torch.arange(96, dtype=torch.float64) / 96
    torch.testing.assert_close(finer[0], torch.sin(2.0 * torch.pi * places), rtol=0, atol=1e-12)
    torch.testing.assert_close(resampled(finer, 64), WAVE, rtol=0, atol=1e-12)


def test_terms_are_the_rates_of_short_times():
    start = WAVE + 0.3 * torch.cos(6.0 * torch.pi * NODES)
    for name, term in zip(TERMS, terms_of(start), strict=True):
        short = 1e-6 / float(term.abs().max())
        found = (evolved(start, coefficients(**{name: short}), 4) - start) / short
        torch.testing.assert_close(found, term, rtol=0, atol=1e-2 * float(term.abs().max()))
