"""GOLA, the operator of the paper (section 3): Fourier encoder, message passing, attention, linear output."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.operators.cloud import Cloud
from gola.operators.gola.attention_message_passing import AttentionMessagePassing
from gola.operators.gola.cells import cell_shares
from gola.operators.gola.fourier_encoder import FourierEncoder
from gola.operators.gola.global_attention import GlobalAttention, Normalisation
from gola.operators.gola.message_passing import MessagePassing, ResidualMLP
from gola.operators.operator import GraphConfig, Network, OperatorConfig, Structure

EdgeCoordinates = Literal["absolute", "relative"]
Weights = Literal["equal", "cells"]


@final
@dataclass(frozen=True, kw_only=True)
class GolaConfig(GraphConfig):
    """Settings of GOLA. The paper leaves several open; see the notes on the paper in the documentation.

    Attributes:
        width: Channels C of the features.
        num_modes: Waves M of the Fourier encoder.
        num_blocks: How often message passing, global attention and attention over neighbours follow each other.
        num_heads: Heads of both attentions, each of the full width.
        radius: Largest distance of neighbours.
        frequency_scale: Standard deviation of the initial frequencies, in waves per unit length.
        edge_coordinates: ``"absolute"``: an edge knows the coordinates of both ends, as in the paper's formula.
            ``"relative"``: it knows their difference, in units of the radius.
        normalisation: Of the global attention's keys and values: ``"instance"``, over the points of a sample, or
            ``"channel"``, over the channels of a head at each point.
        encode_points: Whether the coordinates enter the Fourier encoder as further input channels.
        attention_residual: Whether the global attention adds to its input instead of replacing it.
        weights: Shares of points in sums over a sample: ``"equal"``, the paper's 1/N, or ``"cells"``, the part of the
            domain that is nearest to each point.
    """

    width: int = 64
    num_modes: int = 256
    num_blocks: int = 1
    num_heads: int = 2
    frequency_scale: float = 2.0
    edge_coordinates: EdgeCoordinates = "relative"
    normalisation: Normalisation = "instance"
    encode_points: bool = True
    attention_residual: bool = True
    weights: Weights = "cells"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("width", "num_modes", "num_blocks", "num_heads", "frequency_scale")
        self._require_one_of("edge_coordinates", get_args(EdgeCoordinates))
        self._require_one_of("normalisation", get_args(Normalisation))
        self._require_one_of("weights", get_args(Weights))

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> "GolaConfig":
        """Rebuild a config from what :meth:`to_dict` gave."""
        # Surrogates that were saved before there was a choice had equal weights.
        return super().from_dict({"weights": "equal", **settings})

    @property
    def edge_scale(self) -> float | None:
        """Length unit of relative edge coordinates, None for absolute ones."""
        return self.radius if self.edge_coordinates == "relative" else None


PRESETS: dict[str, GolaConfig] = {
    "default": GolaConfig(),
    # Several structures have the paper's 2,900,249 parameters; this one is closest to its text.
    "paper": GolaConfig(
        width=256,
        num_modes=12,
        num_blocks=1,
        num_heads=4,
        edge_coordinates="absolute",
        encode_points=False,
        attention_residual=False,
        weights="equal",
    ),
}


@final
class GolaBlock(nn.Module):
    """One layer of each kind, in the order of the paper: sections 3.4, 3.5 and 3.6."""

    def __init__(self, config: GolaConfig) -> None:
        super().__init__()
        dim, num_inputs, width = config.dim, config.num_channels, config.width
        self.attention_residual = config.attention_residual
        self.message_passing = MessagePassing(dim=dim, num_inputs=num_inputs, width=width, scale=config.edge_scale)
        self.mlp = ResidualMLP(width)
        self.global_attention = GlobalAttention(
            width=width, num_heads=config.num_heads, normalisation=config.normalisation
        )
        self.attention_message_passing = AttentionMessagePassing(
            dim=dim, num_inputs=num_inputs, width=width, num_heads=config.num_heads, scale=config.edge_scale
        )

    def forward(
        self, features: Float[Tensor, "point width"], attributes: Float[Tensor, "point attribute"], cloud: Cloud
    ) -> Float[Tensor, "point width"]:
        """Update the features of all points."""
        assert cloud.neighbourhood is not None
        features = self.mlp(self.message_passing(features, attributes, cloud.neighbourhood))
        attended = self.global_attention(features, cloud.weights, cloud.sizes)
        features = features + attended if self.attention_residual else attended
        return self.attention_message_passing(features, attributes, cloud.neighbourhood)


@final
class Gola(Network):
    """Graph-based operator learning from limited data on irregular domains.

    >>> points = torch.rand(100, 2)
    >>> cloud = Cloud.of(points, values=points.sin()[:, :1]).with_neighbours(radius=0.2)
    >>> operator = Gola(GolaConfig(width=8, num_modes=4))
    >>> operator(cloud).shape, operator(cloud, at=torch.rand(7, 2)).shape
    (torch.Size([100, 1]), torch.Size([7, 1]))
    """

    name: ClassVar[str] = "gola"
    title: ClassVar[str] = "GOLA operator"
    needs: tuple[Structure, ...] = ("neighbours",)
    config_type: ClassVar[type[OperatorConfig]] = GolaConfig
    presets: ClassVar[dict[str, GolaConfig]] = PRESETS

    def __init__(self, config: GolaConfig) -> None:
        super().__init__(config)
        self.encode_points, self.weights = config.encode_points, config.weights
        self.encoder = FourierEncoder(
            dim=config.dim,
            num_inputs=config.num_channels + (config.dim if config.encode_points else 0),
            width=config.width,
            num_modes=config.num_modes,
            frequency_scale=config.frequency_scale,
        )
        self.blocks = nn.ModuleList(GolaBlock(config) for _ in range(config.num_blocks))
        self.output = nn.Linear(config.width, config.num_outputs)

    def prepare(self, cloud: Cloud) -> Cloud:
        """Return the cloud with neighbours and with the weights of its points."""
        prepared = super().prepare(cloud)
        if self.weights == "equal":
            return prepared
        samples = torch.split(cloud.points.detach().cpu().double(), cloud.sizes)
        shares = np.concatenate([cell_shares(points.numpy()) for points in samples])
        return prepared.with_weights(torch.from_numpy(shares).to(cloud.points))

    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        attributes = torch.cat([cloud.points, cloud.values], dim=1)
        encoded = attributes if self.encode_points else cloud.values
        features = self.encoder(cloud.points, encoded, cloud.weights, cloud.sizes)
        for block in self.blocks:
            features = block(features, attributes, cloud)
        return self.output(features)

    def parameter_counts(self) -> dict[str, int]:
        """Return the size of each parameter by name, a complex number counted once."""
        counts = super().parameter_counts()
        # The encoder keeps real and imaginary parts side by side.
        counts["encoder.coefficients"] //= 2
        return counts
