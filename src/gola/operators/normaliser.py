"""Bring channels to zero mean and unit spread, and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import Tensor

from gola.data.frame import require_numbers
from gola.data.statistics import moments

# A spread below this share of the mean is rounding error: the channel is constant.
_CONSTANT_BELOW = 1e-12


@dataclass(frozen=True, kw_only=True)
class Normaliser:
    r"""An affine map per channel, :math:`\hat v_c = (v_c - m_c) / s_c`, fitted to training samples.

    Attributes:
        mean: The mean m of each channel.
        scale: The standard deviation s of each channel; 1 for a constant channel, which thus becomes zero.
    """

    mean: tuple[float, ...]
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        require_numbers((*self.mean, *self.scale), "A normaliser")
        if len(self.mean) != len(self.scale) or not all(scale > 0 for scale in self.scale):
            raise ValueError(f"A normaliser needs as many positive scales as means; got {self.mean} and {self.scale}.")

    @classmethod
    def fit(cls, values: Iterable[Float[np.ndarray, "_ channel"]]) -> "Normaliser":
        r"""Fit to the values of training samples, each sample counting equally however many points it has.

        :math:`m_c = \frac1S \sum_s \frac1{N_s} \sum_i v_{sic}`, and s is the root of the mean squared distance from m,
        averaged in the same way.
        """
        mean, std = moments(values)
        scale = np.where(std > _CONSTANT_BELOW * np.abs(mean), std, 1.0)
        return cls(mean=tuple(mean.tolist()), scale=tuple(scale.tolist()))

    def encode(self, values: Float[Tensor, "*batch channel"]) -> Float[Tensor, "*batch channel"]:
        """Normalise values, in their own precision: encode float64 values before rounding them to float32."""
        mean, scale = self._constants(values)
        return (values - mean) / scale

    def decode(self, values: Float[Tensor, "*batch channel"]) -> Float[Tensor, "*batch channel"]:
        """Undo ``encode``."""
        mean, scale = self._constants(values)
        return values * scale + mean

    def to_dict(self) -> dict[str, list[float]]:
        """Return plain numbers, ready for JSON."""
        return {"mean": list(self.mean), "scale": list(self.scale)}

    @classmethod
    def from_dict(cls, numbers: Mapping[str, Sequence[float]]) -> "Normaliser":
        """Undo ``to_dict``."""
        return cls(mean=tuple(numbers["mean"]), scale=tuple(numbers["scale"]))

    def _constants(self, like: Tensor) -> tuple[Tensor, Tensor]:
        if like.shape[-1] != len(self.mean):
            raise ValueError(
                f"The normaliser was fitted to {len(self.mean)} channels; got values with {like.shape[-1]}."
            )
        return like.new_tensor(self.mean), like.new_tensor(self.scale)
