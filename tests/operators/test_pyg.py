import importlib.util
import sys

import numpy as np
import pytest
import torch

from gola.operators.pyg import from_pyg, to_pyg
from tests.data.ragged import ragged_sample

needs_pyg = pytest.mark.skipif(
    importlib.util.find_spec("torch_geometric") is None, reason="PyTorch Geometric is not installed"
)


@needs_pyg
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("mesh", [True, False])
def test_a_sample_survives_the_round_trip_in_single_precision(dim, mesh):
    sample = ragged_sample(9, dim=dim, mesh=mesh)
    back = from_pyg(to_pyg(sample))
    for name in ("points", "inputs", "targets"):
        np.testing.assert_array_equal(getattr(back, name), getattr(sample, name).astype(np.float32))
    if mesh:
        np.testing.assert_array_equal(back.cells, sample.cells)
        np.testing.assert_array_equal(back.boundary, sample.boundary)
        np.testing.assert_array_equal(back.weights, sample.weights.astype(np.float32))
    else:
        assert back.cells is back.boundary is back.weights is None


@needs_pyg
def test_batches_renumber_the_cells():
    from torch_geometric.data import Batch

    for dim, name in ((2, "face"), (3, "cell_index")):
        one, other = ragged_sample(9, dim=dim), ragged_sample(6, dim=dim)
        batch = Batch.from_data_list([to_pyg(one), to_pyg(other)])
        expected = np.concatenate([one.cells, other.cells + 9]).T
        np.testing.assert_array_equal(batch[name], expected)
        assert batch.pos.shape == (15, dim)


@needs_pyg
def test_changing_the_tensors_leaves_the_sample_alone():
    sample = ragged_sample(9)
    to_pyg(sample).x.zero_()
    assert sample.inputs.any()


@needs_pyg
def test_data_without_targets_and_with_plain_vectors():
    from torch_geometric.data import Data

    sample = from_pyg(Data(pos=torch.rand(5, 2), x=torch.rand(5)))
    assert sample.inputs.shape == (5, 1)
    assert sample.targets.shape == (5, 0)


@needs_pyg
def test_what_is_missing_is_named():
    from torch_geometric.data import Data

    with pytest.raises(ValueError, match="it lacks pos and x"):
        from_pyg(Data(y=torch.rand(5, 2)))
    with pytest.raises(ValueError, match="The Data object: targets must have one row for each of the 5 points"):
        from_pyg(Data(pos=torch.rand(5, 2), x=torch.rand(5, 1), y=torch.rand(1, 1)))


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(ValueError, match=r"needs torch_geometric, .*`pip install 'gola\[baselines\]'`"):
        to_pyg(ragged_sample(5))
