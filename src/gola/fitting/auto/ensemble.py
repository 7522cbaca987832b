"""Networks of one kind whose mean predicts, and how they see samples."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.operators.closed_form.preprocessing import Preprocessing
from gola.operators.cloud import Cloud
from gola.operators.normaliser import Normaliser
from gola.operators.operator import Operator


@final
class NetworkEnsemble(nn.Module):
    """Networks that were trained without one fold of the samples each.

    They see inputs normalised, and preprocessed in the way that a closed form found to suit the problem. Where that
    helps they correct a base operator, whose prediction is an input to them too.

    Attributes:
        base: Name of the operator that they correct; empty for none.
        preprocessing: Amplitudes taken out, and transforms.
    """

    input_mean: Float[Tensor, " seen_channel"]
    input_scale: Float[Tensor, " seen_channel"]
    target_mean: Float[Tensor, " channel"]
    target_scale: Float[Tensor, " channel"]

    def __init__(self, networks: Sequence[Operator], *, num_inputs: int, base: str = "") -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.base = base
        self.preprocessing = Preprocessing(num_inputs)
        config = self.network(0).config
        for which, channels in (("input", config.num_inputs), ("target", config.num_outputs)):
            self.register_buffer(f"{which}_mean", torch.zeros(channels, dtype=torch.float64))
            self.register_buffer(f"{which}_scale", torch.ones(channels, dtype=torch.float64))

    def set_units(self, inputs: Normaliser, targets: Normaliser) -> None:
        """Keep the normalisers of what the networks see."""
        for which, normaliser in (("input", inputs), ("target", targets)):
            setattr(self, f"{which}_mean", torch.tensor(normaliser.mean, dtype=torch.float64))
            setattr(self, f"{which}_scale", torch.tensor(normaliser.scale, dtype=torch.float64))

    def __iter__(self) -> Iterator[Operator]:
        return (self.network(number) for number in range(len(self.networks)))

    def network(self, number: int) -> Operator:
        """Return one of the networks."""
        network = self.networks[number]
        assert isinstance(network, Operator)
        return network

    def prepare(self, cloud: Cloud) -> Cloud:
        """Return the cloud with the structure that the networks need."""
        ready = self.network(0).prepare(rounded(cloud))
        return replace(cloud, neighbourhood=ready.neighbourhood, radius=ready.radius, spectra=ready.spectra)

    def seen(self, cloud: Cloud, base: Float[Tensor, "point channel"] | None) -> tuple[Cloud, Float[Tensor, " sample"]]:
        """Return a cloud as networks see it, and the factor of each sample's solution."""
        scaled, factors = self.preprocessing.of_cloud(cloud)
        values = scaled.values
        if base is not None:
            values = torch.cat([values, base / factors[cloud.sample_of_point][:, None]], dim=1)
        return rounded(replace(cloud, values=(values - self.input_mean) / self.input_scale)), factors

    def decoded(
        self,
        predictions: Float[Tensor, "network row channel"],
        factors: Float[Tensor, " sample"],
        sizes: Sequence[int],
    ) -> Float[Tensor, "row channel"]:
        """Return the mean of the networks' predictions in the units of the data, less what a base operator gives."""
        by_row = torch.cat([factor.expand(size) for factor, size in zip(factors, sizes, strict=True)])
        mean = predictions.mean(dim=0).double()
        return (mean * self.target_scale + self.target_mean) * by_row[:, None]


def rounded(cloud: Cloud) -> Cloud:
    """Return a cloud in the precision of networks."""
    points, values, weights = (part.float() for part in (cloud.points, cloud.values, cloud.weights))
    return replace(cloud, points=points, values=values, weights=weights)
