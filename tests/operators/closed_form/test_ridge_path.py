import pytest
import torch

from gola.operators.closed_form.ridge import fit_ridge
from gola.operators.closed_form.ridge_path import RidgePath

GROUPS = torch.tensor([[0, 4, 5], [1, 2, 3], [11, 9, 7], [6, 8, 10]])


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("num_nodes", [(), (2,)])
def test_one_decomposition_gives_what_a_fit_under_each_penalty_gives(groups, num_nodes):
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(*num_nodes, 12, 20, generator=generator, dtype=torch.float64)
    targets = torch.randn(*num_nodes, 12, 4, generator=generator, dtype=torch.float64)
    kernel = features @ features.mT
    path = RidgePath(kernel=kernel, targets=targets, groups=groups)
    for penalty in (1e-10, 1e-4, 1.0, 100.0):
        expected = fit_ridge(kernel, targets, penalty, groups=groups).held_out
        torch.testing.assert_close(path.held_out(penalty), expected, rtol=1e-6, atol=1e-6)
