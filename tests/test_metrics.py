import pytest
import torch

from gola.metrics import max_error, r2, relative_l1, relative_l2, relative_l2_errors, rmse, variation_error
from gola.registry import METRICS

TARGETS = torch.tensor([[100.0], [102.0], [98.0], [100.0]])


def test_a_large_constant_part_hides_in_the_relative_error_and_not_in_that_of_the_variation():
    predictions = torch.full_like(TARGETS, 100.0)
    assert float(relative_l2(predictions, TARGETS)) < 0.02
    assert float(variation_error(predictions, TARGETS)) == pytest.approx(1.0)
    assert float(r2(predictions, TARGETS)) == pytest.approx(0.0)


def test_errors_in_the_unit_of_the_targets():
    predictions = TARGETS + torch.tensor([[3.0], [0.0], [0.0], [-4.0]])
    assert float(rmse(predictions, TARGETS)) == pytest.approx(2.5)
    assert float(max_error(predictions, TARGETS)) == pytest.approx(4.0)
    assert float(relative_l1(predictions, TARGETS)) == pytest.approx(7.0 / 400.0)


@pytest.mark.parametrize("name", ["relative_l2", "relative_l1", "variation_error"])
def test_a_target_that_vanishes_has_an_absolute_error(name):
    assert float(METRICS[name](torch.ones(4, 1), torch.zeros(4, 1))) == pytest.approx(1.0)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_takes_samples_alone_and_in_batches(name):
    torch.manual_seed(0)
    predictions, targets = torch.rand(3, 20, 2), torch.rand(3, 20, 2)
    together = METRICS[name](predictions, targets)
    alone = [METRICS[name](found, truth) for found, truth in zip(predictions, targets, strict=True)]
    torch.testing.assert_close(together, torch.stack(alone))


def test_channels_of_different_units_count_alike_in_units_of_their_scale():
    targets = torch.tensor([[1.0, 1e6], [1.0, 1e6]])
    predictions = targets * torch.tensor([2.0, 1.0])
    (error,) = relative_l2_errors(predictions, targets, [2], [1.0, 1e6]).tolist()
    assert error == pytest.approx(0.5**0.5)
