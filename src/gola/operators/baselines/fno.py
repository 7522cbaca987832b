"""The Fourier neural operator of Li et al., 2021 (arXiv 2010.08895), as the neuraloperator library builds it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final, get_args

import torch
from jaxtyping import Complex, Float
from torch import Tensor, nn
from torch.nn.functional import gelu, pad

from gola.extras import require
from gola.operators.baselines.few_waves import are_few, from_waves, to_waves
from gola.operators.baselines.gridding import Interpolation, Lattice, LatticeBox, from_lattice, lattice_of, onto_lattice
from gola.operators.cloud import Cloud
from gola.operators.operator import Network, OperatorConfig
from gola.operators.queries import Queries


@final
@dataclass(frozen=True, kw_only=True)
class FnoConfig(OperatorConfig):
    """Settings of the Fourier neural operator; their sources are in the decision record on baselines.

    Attributes:
        num_modes: Waves kept along each axis: 0 to num_modes − 1, and −num_modes to −1 along all axes but the last.
        width: Channels of the features.
        num_layers: Spectral convolutions.
        output_width: Channels of the hidden layer behind them.
        padding: Zeros added behind the grid along each axis, as a share of its nodes, for functions that are not
            periodic.
        resolution: Nodes along each axis of the grid that scattered points are interpolated to. Points that form a
            grid themselves are used as they are.
        grid_box: Where that grid lies: ``"unit"``, the unit box, or ``"cloud"``, the bounding box of a sample's points.
    """

    # A grid of 64 nodes along each of four axes has 17 million.
    largest_dim: ClassVar[int] = 3

    num_modes: int = 12
    width: int = 32
    num_layers: int = 4
    output_width: int = 128
    padding: float = 0.125
    resolution: int = 64
    grid_box: LatticeBox = "unit"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("num_modes", "width", "num_layers", "output_width")
        self._require_one_of("grid_box", get_args(LatticeBox))
        if not 0 <= self.padding <= 1:
            raise ValueError(f"padding is a share of the grid, from 0 to 1; got {self.padding}.")
        if self.resolution < 2:
            raise ValueError(f"resolution must be at least 2; got {self.resolution}.")


PRESETS: dict[str, FnoConfig] = {"default": FnoConfig()}


@final
class FourierNetwork(nn.Module):
    r"""The layers of neuraloperator's FNO, applied in the order of the original.

    .. math::
        h^{t+1} = \mathrm{gelu} \big( \mathcal{F}^{-1} (R_t \cdot \mathcal{F} h^t) + W_t h^t + b_t \big)

    without the gelu in the last layer, between a linear lift and a projection with one hidden layer.

    The library's own order, in version 2.0.0 and without its further networks between the layers, has two gelu in a
    row (its issue 728), and on an odd number of nodes its convolution returns waves to their neighbours' places (its
    pull request 688, later than 2.0.0). Here there is one gelu, and padding makes every number of nodes even. The
    initial weights are the original's too: the library's, some 200 times larger, generalise worse from few samples.
    """

    def __init__(self, config: FnoConfig) -> None:
        super().__init__()
        self.padding, self.num_modes = config.padding, config.num_modes
        built = _library().FNO(
            # The library keeps n // 2 + 1 waves along the last axis, where the others follow for a real function.
            n_modes=(*(2 * config.num_modes,) * (config.dim - 1), 2 * config.num_modes - 2),
            in_channels=config.num_channels + config.dim,
            out_channels=config.num_outputs,
            hidden_channels=config.width,
            n_layers=config.num_layers,
            lifting_channel_ratio=0,
            # The library multiplies it by the width and rounds down.
            projection_channel_ratio=(config.output_width + 0.5) / config.width,
            positional_embedding=None,
            use_channel_mlp=False,
            channel_mlp_skip=None,
        )
        self.lift, self.project = built.lifting, built.projection
        self.convolutions, self.skips = built.fno_blocks.convs, built.fno_blocks.fno_skips
        for convolution in self.convolutions:
            _draw_as_the_original(convolution.weight.tensor, convolution.bias)

    def forward(self, inputs: Float[Tensor, "sample channel *grid"]) -> Float[Tensor, "sample output *grid"]:
        """Map functions on a grid to functions on the same grid."""
        shape = inputs.shape[2:]
        features = pad(self.lift(inputs), self._zeros(shape))
        last = len(self.convolutions) - 1
        for layer, (convolution, skip) in enumerate(zip(self.convolutions, self.skips, strict=True)):
            features = self._convolved(features, convolution) + skip(features)
            features = gelu(features) if layer < last else features
        for axis, size in enumerate(shape, start=2):
            features = features.narrow(axis, 0, size)
        outputs: Tensor = self.project(features)
        return outputs

    def _convolved(
        self, features: Float[Tensor, "sample width *grid"], convolution: Any
    ) -> Float[Tensor, "sample width *grid"]:
        """Multiply each kept wave by its own matrix.

        The library does the same by fast Fourier transforms, which also know what to do on grids with fewer waves.
        """
        shape = features.shape[2:]
        if not are_few(shape, self.num_modes):
            whole: Tensor = convolution(features)
            return whole
        weight: Complex[Tensor, "width width *mode"] = convolution.weight.tensor
        waves = to_waves(features, self.num_modes)
        filtered = torch.einsum("bi...,io...->bo...", waves, weight)
        return from_waves(filtered, shape) + convolution.bias

    def _zeros(self, shape: Sequence[int]) -> list[int]:
        """How many zeros to add before and after each axis, the last axis first."""
        behind = [round(self.padding * size) for size in shape]
        even = [zeros + (size + zeros) % 2 for size, zeros in zip(shape, behind, strict=True)]
        return [count for zeros in reversed(even) for count in (0, zeros)]


@final
class Fno(Network):
    """Fourier neural operator: learned filters of waves on a grid.

    A :class:`FourierNetwork` is fed with the input function and the coordinates.

    Points that form a complete grid, in any order, are the grid. Others are interpolated to one, and the predictions
    are interpolated back.

    >>> cloud = Cloud.of(torch.rand(100, 2), values=torch.rand(100, 1))
    >>> operator = Fno(FnoConfig(num_modes=4, width=8, resolution=16))
    >>> operator(cloud).shape, operator(cloud, at=torch.rand(7, 2)).shape
    (torch.Size([100, 1]), torch.Size([7, 1]))
    """

    name: ClassVar[str] = "fno"
    title: ClassVar[str] = "Fourier neural operator"
    config_type: ClassVar[type[OperatorConfig]] = FnoConfig
    presets: ClassVar[dict[str, FnoConfig]] = PRESETS

    def __init__(self, config: FnoConfig) -> None:
        super().__init__(config)
        self.resolution, self.grid_box = config.resolution, config.grid_box
        self.network = FourierNetwork(config)

    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        return self.predict_at(cloud, Queries(points=cloud.points, offsets=cloud.offsets))

    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries, linearly between the nodes of the grid."""
        lattices, inputs = self._gridded(cloud)
        outputs = self._on_grids(inputs)
        asked = torch.split(queries.points, queries.sizes)
        return torch.cat(
            [
                from_lattice(lattice, points)(output.flatten(1).mT)
                for lattice, points, output in zip(lattices, asked, outputs, strict=True)
            ]
        )

    def _gridded(self, cloud: Cloud) -> tuple[list[Lattice], list[Float[Tensor, "channel ..."]]]:
        """Put the input function and the coordinates of each sample on a grid."""
        lattices, inputs = [], []
        for points, values in zip(
            torch.split(cloud.points, cloud.sizes), torch.split(cloud.values, cloud.sizes), strict=True
        ):
            lattice, nodes = self._grid_of(points)
            places = torch.from_numpy(lattice.points()).to(values)
            channels = torch.cat([nodes(values), places], dim=1).mT
            lattices.append(lattice)
            inputs.append(torch.unflatten(channels, 1, lattice.shape))
        return lattices, inputs

    def _grid_of(self, points: Float[Tensor, "point dim"]) -> tuple[Lattice, Interpolation]:
        """Return a grid for the points and the way to its nodes."""
        own = lattice_of(points)
        if own is not None:
            lattice, rows = own
            return lattice, Interpolation(rows=rows[:, None], weights=torch.ones(len(rows), 1))
        if self.grid_box == "unit":
            lattice = Lattice.unit(points.shape[1], self.resolution)
        else:
            lattice = Lattice.around(points, self.resolution)
        return lattice, onto_lattice(points, lattice)

    def _on_grids(self, inputs: list[Float[Tensor, "channel ..."]]) -> list[Float[Tensor, "output ..."]]:
        """Apply the network to each sample, all samples of one grid size at once."""
        outputs: dict[int, Tensor] = {}
        for shape in dict.fromkeys(one.shape for one in inputs):
            members = [sample for sample, one in enumerate(inputs) if one.shape == shape]
            together = self.network(torch.stack([inputs[sample] for sample in members]))
            outputs |= dict(zip(members, together, strict=True))
        return [outputs[sample] for sample in range(len(inputs))]


@torch.no_grad()
def _draw_as_the_original(weight: Complex[Tensor, "width width *mode"], bias: Float[Tensor, "width *one"]) -> None:
    """Draw both parts of the spectral weights between 0 and 1 / width², and the bias as that of a linear layer."""
    width = len(weight)
    weight.copy_(torch.rand_like(weight) / width**2)
    bias.uniform_(-(width**-0.5), width**-0.5)


def _library() -> Any:
    # It changes Python's warning filters when imported.
    with warnings.catch_warnings():
        return require("neuralop.models", extra="baselines", what="FNO")
