import pytest
import torch

from gola.operators.baselines.few_waves import are_few, from_waves, to_waves

SHAPES = [(9,), (12, 7), (6, 8, 9)]


def fast(functions, num_modes):
    """The same waves by a fast Fourier transform of all."""
    axes = range(2, functions.ndim)
    waves = torch.fft.rfftn(functions, dim=tuple(axes), norm="forward")
    for axis in axes[:-1]:
        kept = torch.arange(-num_modes, num_modes) % functions.shape[axis]
        waves = waves.index_select(axis, kept)
    return waves[..., :num_modes]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_waves_are_those_of_the_fast_fourier_transform(shape):
    functions = torch.randn(2, 3, *shape)
    torch.testing.assert_close(to_waves(functions, 3), fast(functions, 3), rtol=1e-4, atol=1e-6)


def test_a_function_with_given_waves_is_that_of_the_fast_fourier_transform():
    waves = torch.randn(2, 3, 6, 3, dtype=torch.complex64)
    all_waves = torch.zeros(2, 3, 12, 5, dtype=torch.complex64)
    all_waves[:, :, torch.arange(-3, 3) % 12, :3] = waves
    expected = torch.fft.irfftn(all_waves, s=(12, 9), dim=(2, 3), norm="forward")
    torch.testing.assert_close(from_waves(waves, (12, 9)), expected, rtol=1e-4, atol=1e-5)


def test_gradients_pass_both_ways():
    functions = torch.randn(1, 1, 8, 7, requires_grad=True)
    from_waves(to_waves(functions, 2), (8, 7)).square().sum().backward()
    reference = functions.detach().clone().requires_grad_()
    spectrum = torch.fft.rfftn(reference, dim=(2, 3))
    kept = torch.zeros_like(spectrum)
    rows = torch.arange(-2, 2) % 8
    kept[:, :, rows, :2] = spectrum[:, :, rows, :2]
    torch.fft.irfftn(kept, s=(8, 7), dim=(2, 3)).square().sum().backward()
    torch.testing.assert_close(functions.grad, reference.grad, rtol=1e-4, atol=1e-6)


def test_a_coarse_grid_has_fewer_waves():
    assert are_few((8, 6), 3)
    assert not are_few((8, 5), 3)
