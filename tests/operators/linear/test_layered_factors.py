import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.linalg import spsolve

from gola.operators.linear.layered_factors import LayeredFactors, layer_places


@pytest.mark.parametrize(("num_layers", "size"), [(1, 4), (5, 1), (6, 7)])
def test_solutions_are_those_of_the_sparse_matrix(num_layers, size):
    rng = np.random.default_rng(0)
    num_rows = num_layers * size
    rows, columns = np.nonzero(np.abs(np.arange(num_rows) // size - np.arange(num_rows)[:, None] // size) <= 1)
    half = rng.standard_normal((num_rows, num_rows))
    values = (half + half.T)[rows, columns] + 4.0 * num_rows * (rows == columns)
    # Entries at the same place add up, as the cells around a node do.
    rows, columns, values = np.tile(rows, 2), np.tile(columns, 2), np.concatenate([0.3 * values, 0.7 * values])
    right = rng.standard_normal((num_rows, 3))
    upper, places = layer_places(rows, columns, size)
    blocks = np.bincount(places, values[upper], num_layers * 2 * size**2).reshape(num_layers, 2, size, size)
    factors = LayeredFactors.of(blocks[:, 0], blocks[:-1, 1])
    reference = spsolve(coo_array((values, (rows, columns))).tocsc(), right)
    np.testing.assert_allclose(factors.solve(right), reference.reshape(right.shape), atol=1e-12)
