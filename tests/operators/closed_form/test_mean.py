import torch

from tests.operators.closed_form.examples import scattered, small_operator


def test_it_is_the_mean_function_although_no_two_samples_share_a_point():
    functions = [(torch.sin, lambda points, slope=slope: slope * points[:, :1]) for slope in (1.0, 2.0, 6.0)]
    operator = small_operator("mean", num_inputs=2)
    operator.fit_cloud(*scattered(functions, sizes=[100, 110, 120]))
    cloud, targets = scattered([(torch.sin, lambda points: 3.0 * points[:, :1])], sizes=[50], seed=1)
    torch.testing.assert_close(operator(cloud), targets, rtol=0, atol=5e-2)
