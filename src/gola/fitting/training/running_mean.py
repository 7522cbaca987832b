"""A running mean of the weights: steadier than the weights of any one step."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from gola.operators.operator import Operator

# The mean forgets the random initial weights first: after n steps it reaches back over no more than about n.
_STEPS_TO_FORGET = 10


class RunningMean:
    r"""The exponential mean :math:`m \leftarrow d\,m + (1 - d)\,w` of an operator's weights.

    With a decay d of 0 it is the weights themselves.
    """

    def __init__(self, operator: Operator, decay: float) -> None:
        self.decay = decay
        self.weights = list(operator.parameters())
        # Without a decay the mean shares the memory of the weights.
        self.mean = [weight.detach().clone() if decay else weight.detach() for weight in self.weights]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after this many steps."""
        if not self.decay:
            return
        decay = min(self.decay, step / (step + _STEPS_TO_FORGET))
        for mean, weight in zip(self.mean, self.weights, strict=True):
            mean.lerp_(weight, 1.0 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Give the operator the mean for a while."""
        own = [weight.detach().clone() for weight in self.weights]
        self._set(self.mean)
        try:
            yield
        finally:
            self._set(own)

    def keep(self) -> None:
        """Give the operator the mean for good."""
        self._set(self.mean)

    def load(self, mean: list[torch.Tensor]) -> None:
        """Continue from a mean that was saved."""
        for own, saved in zip(self.mean, mean, strict=True):
            own.copy_(saved)

    @torch.no_grad()
    def _set(self, values: list[torch.Tensor]) -> None:
        for weight, value in zip(self.weights, values, strict=True):
            weight.copy_(value)
