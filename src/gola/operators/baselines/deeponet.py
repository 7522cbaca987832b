"""The deep operator network of Lu et al., 2019 (arXiv 1910.03193): a branch for the function, a trunk for the place."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, final, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.operators.baselines.gridding import Lattice, LatticeBox, onto_lattice
from gola.operators.cloud import Cloud
from gola.operators.layers import sample_matmul
from gola.operators.operator import Network, OperatorConfig
from gola.operators.queries import Queries


@final
@dataclass(frozen=True, kw_only=True)
class DeepONetConfig(OperatorConfig):
    """Settings of DeepONet; their sources are in the decision record on baselines.

    Attributes:
        num_sensors: Sensors along each axis: where the branch reads the input function.
        sensor_box: Where they lie: ``"unit"``, the unit box, or ``"cloud"``, the bounding box of a sample's points.
        width: Neurons of each layer, and number of terms of the final sum.
        branch_layers: Layers of the branch.
        trunk_layers: Layers of the trunk.
    """

    # A grid of 32 sensors along each of four axes has a million.
    largest_dim: ClassVar[int] = 3

    num_sensors: int = 32
    sensor_box: LatticeBox = "unit"
    width: int = 128
    branch_layers: int = 3
    trunk_layers: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("width", "branch_layers", "trunk_layers")
        self._require_one_of("sensor_box", get_args(LatticeBox))
        if self.num_sensors < 2:
            raise ValueError(f"num_sensors must be at least 2, along each axis; got {self.num_sensors}.")


PRESETS: dict[str, DeepONetConfig] = {
    "default": DeepONetConfig(),
    "original": DeepONetConfig(num_sensors=10, width=40, branch_layers=2, trunk_layers=2),
    "pseudo_physics": DeepONetConfig(num_sensors=128, width=50, branch_layers=2, trunk_layers=2),
}


@final
class DeepONet(Network):
    r"""Deep operator network: a sum of learned functions of the place, weighted by the input function.

    .. math::
        u_c(x) = b_c + \sum_{k=1}^{p} \beta_{ck} \big( f(s_1), \dots, f(s_m) \big) \, \tau_k(x)

    The branch :math:`\beta` ends with a linear layer, the trunk :math:`\tau` with a ReLU, as in the original. The
    input function is interpolated from the points to the sensors s, which is exact at sensors that are points.

    >>> points = torch.rand(100, 2)
    >>> cloud = Cloud.of(points, values=points.sin()[:, :1])
    >>> operator = DeepONet(DeepONetConfig(num_sensors=8, width=16))
    >>> operator(cloud).shape, operator(cloud, at=torch.rand(7, 2)).shape
    (torch.Size([100, 1]), torch.Size([7, 1]))
    """

    name: ClassVar[str] = "deeponet"
    title: ClassVar[str] = "DeepONet"
    config_type: ClassVar[type[OperatorConfig]] = DeepONetConfig
    presets: ClassVar[dict[str, DeepONetConfig]] = PRESETS

    def __init__(self, config: DeepONetConfig) -> None:
        super().__init__(config)
        self.num_sensors, self.sensor_box = config.num_sensors, config.sensor_box
        num_readings = config.num_sensors**config.dim * config.num_channels
        hidden = [config.width] * (config.branch_layers - 1)
        self.branch = _perceptron([num_readings, *hidden, config.width * config.num_outputs])
        self.trunk = _perceptron([config.dim, *[config.width] * config.trunk_layers]).append(nn.ReLU())
        self.bias = nn.Parameter(torch.zeros(config.num_outputs))

    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        return self.predict_at(cloud, Queries(points=cloud.points, offsets=cloud.offsets))

    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries."""
        coefficients = torch.unflatten(self.branch(self._readings(cloud)), 1, (-1, len(self.bias)))
        shared = _shared_points(queries)
        if shared is not None:
            return (self.trunk(shared) @ coefficients).flatten(0, 1) + self.bias
        return sample_matmul(self.trunk(queries.points), coefficients, queries.sizes) + self.bias

    def _readings(self, cloud: Cloud) -> Float[Tensor, "sample reading"]:
        """What the sensors read of each sample's input function."""
        readings = []
        for points, values in zip(
            torch.split(cloud.points, cloud.sizes), torch.split(cloud.values, cloud.sizes), strict=True
        ):
            if self.sensor_box == "unit":
                sensors = Lattice.unit(cloud.dim, self.num_sensors)
            else:
                sensors = Lattice.around(points, self.num_sensors)
            readings.append(onto_lattice(points, sensors)(values).flatten())
        return torch.stack(readings)


def _shared_points(queries: Queries) -> Float[Tensor, "query dim"] | None:
    """Return the points of the first sample if all samples have the same: the trunk then sees them once for all."""
    if len(set(queries.sizes)) > 1 or queries.points.is_meta or queries.points.requires_grad:
        return None
    samples = torch.unflatten(queries.points, 0, (len(queries.sizes), -1))
    return samples[0] if bool((samples == samples[0]).all()) else None


def _perceptron(sizes: list[int]) -> nn.Sequential:
    """Linear layers of these sizes, with a ReLU between any two."""
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise(sizes):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    return nn.Sequential(*layers[:-1])
