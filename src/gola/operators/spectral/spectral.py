"""The spectral operator: few parameters per wave, and projections that are exact integrals on scattered points."""

from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.operators.cloud import Cloud
from gola.operators.operator import GraphConfig, Network, OperatorConfig, Structure
from gola.operators.queries import Queries, with_queries
from gola.operators.spectral.basis import box_around
from gola.operators.spectral.block import LocalMixing, SpectralBlock
from gola.operators.spectral.projection import with_listeners, with_spectra
from gola.operators.spectral.waves import wave_numbers
from gola.operators.spectrum import by_basis

# Largest wave number by dimension, where it is left open.
_MODES = {1: 32, 2: 12, 3: 5, 4: 2}
# Shorter waves than so many spacings of the points are known at the points only: there networks learn them, and between
# them they make of them what they like.
_SPACINGS_PER_WAVE = 4
# A sample is prepared by matrices with as many rows and columns as there are waves.
_MOST_WAVES = 4000


@final
@dataclass(frozen=True, kw_only=True)
class SpectralConfig(GraphConfig):
    """Settings of the spectral operator; how they were chosen is in the decision record on exact projections.

    Attributes:
        num_modes: Largest wave number along each axis of the padded box; None for 32, 12 or 5 in one, two or three
            dimensions, or fewer where the points of the training samples do not resolve these.
        width: Channels of the features.
        num_blocks: Blocks, one after the other.
        padding: Size of the box on which waves are periodic, in units of the domain: 2 leaves room for functions that
            are not periodic.
        smoothing: Weight of the penalty on roughness in the fit of waves to values at the points. With less, fits to
            fewer points than there are functions overshoot between them.
        local: Whether points also hear their neighbours, by GOLA's message passing and attention.
        num_heads: Heads of that attention.
        radius: Largest distance of neighbours, if points hear them.
        box: Lower and upper corner of the domain, where all training samples have the same; empty for the box around
            each sample. Samples that end a little earlier or later then still have the same waves.
    """

    num_modes: int | None = None
    width: int = 32
    num_blocks: int = 4
    padding: float = 2.0
    smoothing: float = 1e-4
    local: bool = False
    num_heads: int = 1
    box: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("width", "num_blocks", "smoothing", "num_heads")
        if self.num_modes is not None:
            self._require_positive("num_modes")
        num_waves = (2 * self.largest_wave + 1) ** self.dim
        if num_waves > _MOST_WAVES:
            raise ValueError(
                f"num_modes={self.num_modes} makes {num_waves} waves in {self.dim}D; at most {_MOST_WAVES} can be"
                " prepared in reasonable time. Choose fewer modes."
            )
        if not self.padding >= 1:
            raise ValueError(f"padding must be at least 1, the domain itself; got {self.padding}.")

    def adapted_to(self, points: Float[np.ndarray, "point dim"]) -> "SpectralConfig":
        """Return these settings with the radius, and without waves that the points do not resolve."""
        config = super().adapted_to(points)
        dim = points.shape[1]
        resolved = int(self.padding * len(points) ** (1.0 / dim) / _SPACINGS_PER_WAVE)
        if config.num_modes is not None or resolved >= _MODES[dim]:
            return config
        return replace(config, num_modes=max(1, resolved))

    def within(self, corners: Float[np.ndarray, "sample 2 dim"]) -> "SpectralConfig":
        """Return these settings with the box of the samples, if all have the same."""
        boxes = {box_around(both) for both in corners}
        if len(boxes) > 1:
            return self
        lower, upper = boxes.pop()
        return replace(self, box=(*lower, *upper))

    @property
    def largest_wave(self) -> int:
        """The largest wave number along each axis."""
        return _MODES[self.dim] if self.num_modes is None else self.num_modes


PRESETS: dict[str, SpectralConfig] = {"default": SpectralConfig()}


@final
class Spectral(Network):
    """Filters of waves, integrated exactly over the domain from values at scattered points.

    >>> operator = Spectral(SpectralConfig(num_modes=3, width=8))
    >>> cloud = operator.prepare(Cloud.of(torch.rand(100, 2), values=torch.rand(100, 1)))
    >>> operator(cloud).shape, operator(cloud, at=torch.rand(7, 2)).shape
    (torch.Size([100, 1]), torch.Size([7, 1]))
    """

    name: ClassVar[str] = "spectral"
    title: ClassVar[str] = "spectral operator"
    needs: tuple[Structure, ...] = ("spectra",)
    config_type: ClassVar[type[OperatorConfig]] = SpectralConfig
    presets: ClassVar[dict[str, SpectralConfig]] = PRESETS

    def __init__(self, config: SpectralConfig) -> None:
        super().__init__(config)
        self.settings = config
        width = config.width
        self.lift = nn.Sequential(
            nn.Linear(config.num_channels + config.dim, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )
        numbers = torch.from_numpy(wave_numbers(config.largest_wave, config.dim))
        frequencies = torch.linalg.vector_norm(numbers.float() / config.padding, dim=1)
        self.background = nn.Parameter(torch.zeros(2 * len(numbers), width))
        self.blocks = nn.ModuleList(
            SpectralBlock(frequencies=frequencies, width=width, local=_local_mixing(config))
            for _ in range(config.num_blocks)
        )
        self.output = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, config.num_outputs))

    def prepare(self, cloud: Cloud) -> Cloud:
        """Return the cloud with the waves of its samples and, if points hear them, neighbours."""
        config = self.settings
        cloud = cloud.with_neighbours(config.radius) if config.local else cloud
        return with_spectra(
            cloud,
            num_modes=config.largest_wave,
            padding=config.padding,
            smoothing=config.smoothing,
            box=config.box or None,
        )

    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        attributes = torch.cat([cloud.points, cloud.values], dim=1)
        features = self.lift(attributes) + self._background(cloud)
        for block in self.blocks:
            features = block(features, attributes, cloud)
        return self.output(features)

    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries: they join the cloud as points that hear the waves and add nothing to them."""
        assert cloud.spectra is not None
        joined, is_query = with_queries(cloud, queries)
        return self.predict(with_listeners(joined, cloud.spectra, cloud.sizes))[is_query]

    def _background(self, cloud: Cloud) -> Float[Tensor, "point width"]:
        """A learned function of the place, the same in all samples: boundaries and the like."""
        spectra = cloud.spectra
        assert spectra is not None
        values: list[Tensor] = [self.background] * len(spectra)
        for rows in by_basis(spectra):
            coefficients = spectra[rows[0]].waves.mT @ self.background
            for row in rows:
                values[row] = spectra[row].functions @ coefficients
        return torch.cat(values)

    def _check(self, cloud: Cloud) -> None:
        super()._check(cloud)
        if self.settings.local and cloud.neighbourhood is None:
            raise ValueError(f"The {self.title} needs neighbours with local=True; build them with prepare(cloud).")


def _local_mixing(config: SpectralConfig) -> LocalMixing | None:
    if not config.local:
        return None
    return LocalMixing(
        dim=config.dim,
        num_inputs=config.num_channels,
        width=config.width,
        num_heads=config.num_heads,
        radius=config.radius,
    )
