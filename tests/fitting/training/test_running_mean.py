import pytest
import torch

from gola.fitting.training.running_mean import RunningMean
from gola.operators import Gola, GolaConfig


@pytest.fixture
def operator():
    return Gola(GolaConfig(width=4, num_modes=4, num_blocks=1, num_heads=1))


def set_all(operator, value):
    with torch.no_grad():
        for weight in operator.parameters():
            weight.fill_(value)


def test_it_is_the_exponential_mean_of_the_weights_and_forgets_the_first_ones_quickly(operator):
    set_all(operator, 0.0)
    mean = RunningMean(operator, decay=0.9)
    expected = 0.0
    for step, value in enumerate([1.0, 5.0, -2.0], start=1):
        set_all(operator, value)
        mean.update(step)
        decay = min(0.9, step / (step + 10))
        expected = decay * expected + (1 - decay) * value
    assert all(torch.allclose(one.real, torch.tensor(expected)) for one in mean.mean)


def test_without_decay_it_is_the_weights_themselves(operator):
    mean = RunningMean(operator, decay=0.0)
    set_all(operator, 3.0)
    mean.update(1)
    assert all(torch.equal(one, weight) for one, weight in zip(mean.mean, operator.parameters(), strict=True))


def test_it_can_be_lent_to_the_operator_and_is_given_back_even_after_an_error(operator):
    set_all(operator, 1.0)
    mean = RunningMean(operator, decay=0.9)
    set_all(operator, 2.0)

    def use():
        with mean.in_place():
            assert operator.output.bias.unique().tolist() == [1.0]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        use()
    assert operator.output.bias.unique().tolist() == [2.0]
    mean.keep()
    assert operator.output.bias.unique().tolist() == [1.0]
