"""Networks of one kind whose mean predicts, and how they see samples."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.operators.closed_form.preprocessing import Preprocessing
from gola.operators.cloud import Cloud
from gola.operators.operator import Operator
from gola.operators.scaling import Scaling


@final
class NetworkEnsemble(nn.Module):
    """Networks that were trained without one fold of the samples each.

    They see inputs and parameters normalised, and preprocessed in the way that a closed form found to suit the problem.
    Where that helps they correct a base operator, whose prediction is an input to them too.

    Attributes:
        base: Name of the operator that they correct; empty for none.
        preprocessing: Amplitudes taken out, and transforms.
    """

    input_mean: Float[Tensor, " seen_channel"]
    input_scale: Float[Tensor, " seen_channel"]
    target_mean: Float[Tensor, " channel"]
    target_scale: Float[Tensor, " channel"]
    parameter_mean: Float[Tensor, " parameter"]
    parameter_scale: Float[Tensor, " parameter"]

    def __init__(self, networks: Sequence[Operator], *, num_channels: int, base: str = "") -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.base = base
        self.preprocessing = Preprocessing(num_channels)
        config = self.network(0).config
        sizes = {"input": config.num_inputs, "target": config.num_outputs, "parameter": config.num_parameters}
        for which, count in sizes.items():
            self.register_buffer(f"{which}_mean", torch.zeros(count, dtype=torch.float64))
            self.register_buffer(f"{which}_scale", torch.ones(count, dtype=torch.float64))

    def set_units(self, scaling: Scaling) -> None:
        """Keep the normalisers of what the networks see."""
        normalisers = {"input": scaling.inputs, "target": scaling.targets, "parameter": scaling.parameters}
        for which, normaliser in normalisers.items():
            setattr(self, f"{which}_mean", torch.tensor(normaliser.mean, dtype=torch.float64))
            setattr(self, f"{which}_scale", torch.tensor(normaliser.scale, dtype=torch.float64))

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *rest: Any) -> None:
        # Surrogates of format version 2 know no parameters.
        for name in ("parameter_mean", "parameter_scale"):
            if not len(getattr(self, name)):
                state_dict.setdefault(prefix + name, getattr(self, name))
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def __iter__(self) -> Iterator[Operator]:
        return (self.network(number) for number in range(len(self.networks)))

    def network(self, number: int) -> Operator:
        """Return one of the networks."""
        network = self.networks[number]
        assert isinstance(network, Operator)
        return network

    def prepare(self, cloud: Cloud) -> Cloud:
        """Return the cloud with the structure that the networks need."""
        ready = self.network(0).prepare(self._rounded(cloud))
        return replace(cloud, neighbourhood=ready.neighbourhood, radius=ready.radius, spectra=ready.spectra)

    def seen(self, cloud: Cloud, base: Float[Tensor, "point channel"] | None) -> tuple[Cloud, Float[Tensor, " sample"]]:
        """Return a cloud as networks see it, and the factor of each sample's solution."""
        scaled, factors = self.preprocessing.of_cloud(cloud)
        values = scaled.values
        if base is not None:
            values = torch.cat([values, base / factors[cloud.sample_of_point][:, None]], dim=1)
        values = (values - self.input_mean) / self.input_scale
        parameters = (scaled.parameters - self.parameter_mean) / self.parameter_scale
        return self._rounded(replace(cloud, values=values, parameters=parameters)), factors

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

    def _rounded(self, cloud: Cloud) -> Cloud:
        """Return a cloud in the precision of the networks."""
        dtypes = (one.dtype for one in self.networks.parameters() if one.is_floating_point())
        dtype = next(dtypes, torch.float32)
        parts = {name: getattr(cloud, name).to(dtype) for name in ("points", "values", "weights", "parameters")}
        return replace(cloud, **parts)
