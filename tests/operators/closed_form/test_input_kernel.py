import torch

from gola.operators.closed_form.input_kernel import all_kernels, distances


def test_distances_follow_from_inner_products():
    rows = torch.randn(8, 30, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    products = rows @ rows.T
    found = distances(products, products.diagonal(), products.diagonal())
    torch.testing.assert_close(found, torch.cdist(rows, rows))
    assert torch.equal(found.diagonal(), torch.zeros(8).double())


def test_places_that_are_the_same_leave_the_gradient_finite():
    rows = torch.randn(8, 30, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    kernel = all_kernels("identity")[0]
    asked = rows.clone().requires_grad_()
    (kernel(asked, rows) ** 2).sum().backward()
    slope = 5.0**0.5 / kernel.length
    scaled = slope * torch.cdist(again := rows.clone().requires_grad_(), rows)
    (((1.0 + scaled + scaled**2 / 3.0) * torch.exp(-scaled) + again @ rows.T) ** 2).sum().backward()
    torch.testing.assert_close(asked.grad, again.grad)


def test_without_weights_one_rate_is_tried():
    kernels = all_kernels("identity")
    rates = {exponent: {one.rate for one in kernels if one.exponent == exponent} for exponent in (0.0, 1.0)}
    assert len(rates[0.0]) == 1
    assert len(rates[1.0]) > 1
