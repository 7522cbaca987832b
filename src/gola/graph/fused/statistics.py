"""Mean, max, min and standard deviation over neighbours, without a row for every edge."""

from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from gola.graph.fused.statistics_kernels import backward_loop, coefficients_loop, forward_loop
from gola.graph.fused.threads import launch, receiver_ranges, scalar_type, sender_ranges
from gola.graph.neighbourhood import Neighbourhood
from gola.graph.reductions import STD_EPSILON

Values = Float[Tensor, "sender channel"]
Reduced = Float[Tensor, "receiver channel"]


@final
class NeighbourStatistics(torch.autograd.Function):
    r"""The four statistics, with the gradient

    .. math::
        \frac{\partial L}{\partial v_j} = \sum_{i : j \in \mathcal{N}(i)} \frac{g^{mean}_i}{n_i}
            + \frac{g^{max}_i}{k^{max}_i} [v_j = \max_i] + \frac{g^{min}_i}{k^{min}_i} [v_j = \min_i]
            + \frac{g^{std}_i}{n_i \sigma_i} (v_j - \bar v_i)

    where n is the length of a list and k the number of its members that equal the extreme. The backward pass keeps
    nothing but the values and the statistics themselves.
    """  # noqa: D415 (the sentence ends with the formula)

    @staticmethod
    def forward(ctx: Any, values: Values, neighbourhood: Neighbourhood) -> tuple[Reduced, Reduced, Reduced, Reduced]:
        """Reduce the values of each receiver's neighbours to mean, max, min and standard deviation."""
        values = values.contiguous()
        _, width = values.shape
        mean, largest, smallest, std = (values.new_empty(neighbourhood.num_receivers, width) for _ in range(4))
        launch(
            forward_loop(scalar_type(values), STD_EPSILON),
            neighbourhood,
            receiver_ranges(neighbourhood, width),
            (values, mean, largest, smallest, std),
            (width,),
        )
        ctx.neighbourhood = neighbourhood
        ctx.save_for_backward(values, mean, largest, smallest, std)
        return mean, largest, smallest, std

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_mean: Reduced, *gradients: Reduced) -> tuple[Values, None]:
        """Return the gradient of the values."""
        values, mean, largest, smallest, std = ctx.saved_tensors
        _, width = values.shape
        coefficients = [torch.empty_like(mean) for _ in gradients]
        launch(
            coefficients_loop(scalar_type(values)),
            ctx.neighbourhood,
            receiver_ranges(ctx.neighbourhood, width),
            (values, largest, smallest, std, *(gradient.contiguous() for gradient in gradients), *coefficients),
            (width,),
        )
        grad_values = torch.empty_like(values)
        launch(
            backward_loop(scalar_type(values)),
            ctx.neighbourhood,
            sender_ranges(ctx.neighbourhood, width),
            (values, mean, largest, smallest, grad_mean.contiguous(), *coefficients, grad_values),
            (width,),
        )
        return grad_values, None
