import pytest
import torch

from gola.operators.closed_form.samples import Mesh, Samples
from gola.operators.closed_form.scores import Probes, error_at_the_data, errors_at_the_data
from gola.operators.cloud import Cloud
from gola.representation.function_space import FunctionSpace


def random_numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("num_probes", [2, 9])
def test_errors_of_sums_of_rows_need_no_more_columns_than_rows(num_probes):
    probes = Probes(
        fractions=torch.zeros(num_probes, 1).double(),
        values=random_numbers(num_probes, 5, 2),
        scales=torch.tensor([1.0, 10.0]).double(),
    )
    assert probes.compressed.shape[1] <= max(5, 2 * num_probes)
    mixture = random_numbers(5, 5, seed=1)
    expected = probes.error_of_rows(mixture @ probes.rows)
    assert probes.error_of_compressed(mixture @ probes.compressed) == pytest.approx(expected)


def test_errors_of_several_tries_are_those_of_each():
    points = [torch.rand(12, 2, generator=torch.Generator().manual_seed(row)).double() for row in range(3)]
    parts = [Cloud.of(one, torch.ones(12, 1).double()) for one in points]
    samples = Samples.of(Cloud.collate(parts), random_numbers(36, 2), Mesh())
    space = FunctionSpace.around(torch.cat(points), padding=1.25, num_modes=6)
    tries = random_numbers(4, 3, 6, 2, seed=1)
    expected = [error_at_the_data(space, one, samples, at_most=8) for one in tries]
    assert errors_at_the_data(space, tries, samples, at_most=8) == pytest.approx(expected)
