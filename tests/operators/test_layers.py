import pytest
import torch

from gola.operators.layers import EdgeLinear, sample_matmul, sample_products
from tests.operators import literal


@pytest.mark.parametrize("scale", [None, 0.2])
def test_the_two_ends_of_an_edge_add_up_to_the_map_of_its_attributes(scale):
    edge = EdgeLinear(dim=2, num_inputs=3, width=4, bias=True, scale=scale).double()
    points, values = torch.randn(2, 2, dtype=torch.float64), torch.randn(2, 3, dtype=torch.float64)
    attributes = torch.cat([points, values], dim=1)
    receiver_end, sender_end = edge.ends()
    found = receiver_end @ attributes[0] + sender_end @ attributes[1] + edge.bias
    expected = edge.linear(literal.edge_attributes(edge, points, values, 0, 1))
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sizes", [[4, 4, 4], [3, 7, 2], [12]])
def test_products_are_summed_and_applied_sample_by_sample(sizes):
    left, right = torch.randn(12, 3, dtype=torch.float64), torch.randn(12, 5, dtype=torch.float64)
    products = sample_products(left, right, sizes)
    applied = sample_matmul(left, products, sizes)
    start = 0
    for sample, size in enumerate(sizes):
        rows = slice(start, start + size)
        expected = sum(torch.outer(left[i], right[i]) for i in range(start, start + size))
        torch.testing.assert_close(products[sample], expected, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(applied[rows], left[rows] @ expected, rtol=1e-12, atol=1e-12)
        start += size
