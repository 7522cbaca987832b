"""A graph convolutional network (Kipf and Welling, 2017), arranged as in the graph-kernel authors' comparison."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import relu

from gola.graph.neighbourhood import Neighbourhood
from gola.graph.reductions import neighbour_sum
from gola.operators.cloud import Cloud
from gola.operators.operator import GraphConfig, Network, OperatorConfig, Structure


@final
@dataclass(frozen=True, kw_only=True)
class GcnConfig(GraphConfig):
    """Settings of the graph convolutional network; their sources are in the decision record on baselines.

    Attributes:
        width: Channels of the features.
        num_layers: Convolutions, each with its own weights.
        num_rounds: How often the features pass through all of them.
        output_width: Channels of the hidden layer behind them.
        radius: Largest distance of neighbours. The spacing of a grid, and a little more against rounding, gives the
            grid graph.
    """

    width: int = 128
    num_layers: int = 4
    num_rounds: int = 1
    output_width: int = 128

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("width", "num_layers", "num_rounds", "output_width")


PRESETS: dict[str, GcnConfig] = {
    "default": GcnConfig(),
    "original": GcnConfig(num_rounds=4, output_width=1024),
}


@final
class GraphConvolution(nn.Module):
    r"""Average over a point and its neighbours with symmetric weights, after a linear map.

    .. math::
        h'_i = b + \sum_{j \in \mathcal{N}(i) \cup \{i\}} \frac{W h_j}{\sqrt{d_i \, d_j}}, \qquad
        d_i = |\mathcal{N}(i)| + 1
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(
        self, features: Float[Tensor, "point width"], neighbourhood: Neighbourhood
    ) -> Float[Tensor, "point width"]:
        """Update the features of all points."""
        shares = (neighbourhood.degrees + 1).to(features.dtype).rsqrt()[:, None]
        spoken = shares * self.linear(features)
        return shares * (spoken + neighbour_sum(spoken, neighbourhood)) + self.bias


@final
class Gcn(Network):
    """Graph convolutional network: lift, convolve, project.

    The coordinates and the input function are lifted to features, each convolution is followed by a ReLU, and a small
    network projects to the predictions.

    >>> points = torch.rand(100, 2)
    >>> cloud = Cloud.of(points, values=points.sin()[:, :1]).with_neighbours(radius=0.2)
    >>> Gcn(GcnConfig(width=8, num_layers=2))(cloud).shape
    torch.Size([100, 1])
    """

    name: ClassVar[str] = "gcn"
    title: ClassVar[str] = "graph convolutional network"
    needs: tuple[Structure, ...] = ("neighbours",)
    config_type: ClassVar[type[OperatorConfig]] = GcnConfig
    presets: ClassVar[dict[str, GcnConfig]] = PRESETS

    def __init__(self, config: GcnConfig) -> None:
        super().__init__(config)
        self.num_rounds = config.num_rounds
        self.lift = nn.Linear(config.dim + config.num_channels, config.width)
        self.layers = nn.ModuleList(GraphConvolution(config.width) for _ in range(config.num_layers))
        self.project = nn.Sequential(
            nn.Linear(config.width, config.output_width), nn.ReLU(), nn.Linear(config.output_width, config.num_outputs)
        )

    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        assert cloud.neighbourhood is not None
        features = self.lift(torch.cat([cloud.points, cloud.values], dim=1))
        for _ in range(self.num_rounds):
            for layer in self.layers:
                features = relu(layer(features, cloud.neighbourhood))
        return self.project(features)
