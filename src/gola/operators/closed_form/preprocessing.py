"""How inputs are best seen: without amplitudes that solutions scale with, and positive channels transformed."""

from dataclasses import replace
from typing import Literal, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gola.operators.closed_form.homogeneity import Homogeneity
from gola.operators.cloud import Cloud
from gola.representation.fitted import Fitted

Transform = Literal["identity", "reciprocal", "logarithm"]


@final
class Preprocessing(Fitted):
    """Amplitudes and transforms that a fitted operator found to help, for others to use.

    Attributes:
        homogeneity: Amplitudes that solutions scale with.
        reciprocal: Which channels, of the inputs and then the parameters, are seen as their reciprocals.
        logarithm: Which are seen as their logarithms.
    """

    homogeneity: Homogeneity
    reciprocal: Bool[Tensor, " channel"]
    logarithm: Bool[Tensor, " channel"]

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        self.homogeneity = Homogeneity(num_channels)
        for transform in ("reciprocal", "logarithm"):
            self.register_buffer(transform, torch.zeros(num_channels, dtype=torch.bool))

    @staticmethod
    def of(homogeneity: Homogeneity, positive: Bool[Tensor, " channel"], transform: Transform) -> "Preprocessing":
        """Take amplitudes out, and transform positive channels."""
        found = Preprocessing(len(positive))
        found.homogeneity = homogeneity
        found.reciprocal, found.logarithm = (
            positive & (transform == "reciprocal"),
            positive & (transform == "logarithm"),
        )
        return found

    def of_cloud(self, cloud: Cloud) -> tuple[Cloud, Float[Tensor, " sample"]]:
        """Return a cloud in float64 as it is best seen, and the factor of each sample's solution."""
        whole = cloud.with_parameters_as_values()
        # On the meta device nothing has a value.
        if not whole.values.is_meta and bool((whole.values[:, self.reciprocal | self.logarithm] <= 0.0).any()):
            raise ValueError(
                "This operator takes reciprocals or logarithms of input channels that were positive in all training"
                " samples; give it positive values there, or fit it to samples that are not."
            )
        scaled, factors = self.homogeneity.of_cloud(whole)
        seen = self._transformed(scaled.values.double())
        num_inputs, num_parameters = cloud.values.shape[1], cloud.parameters.shape[1]
        parameters = seen[cloud.offsets[:-1].to(seen.device), num_inputs : num_inputs + num_parameters]
        return replace(cloud, values=seen[:, :num_inputs], parameters=parameters), factors

    def _transformed(self, values: Float[Tensor, "point channel"]) -> Float[Tensor, "point channel"]:
        return transformed(transformed(values, self.reciprocal, "reciprocal"), self.logarithm, "logarithm")


def transforms(positive: Bool[Tensor, " channel"]) -> tuple[Transform, ...]:
    """Return the transforms that make sense."""
    return ("identity", "reciprocal", "logarithm") if bool(positive.any()) else ("identity",)


def transformed(
    values: Float[Tensor, "point channel"], positive: Bool[Tensor, " channel"], transform: Transform
) -> Float[Tensor, "point channel"]:
    """Transform the positive channels.

    >>> transformed(torch.tensor([[2.0, -1.0]]), torch.tensor([True, False]), "reciprocal").tolist()
    [[0.5, -1.0]]
    """
    if transform == "identity":
        return values
    # What is not positive may be zero, and is left alone.
    safe = torch.where(positive, values, 1.0)
    return torch.where(positive, 1.0 / safe if transform == "reciprocal" else safe.log(), values)
