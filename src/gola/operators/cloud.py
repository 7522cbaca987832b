"""What an operator sees: the points and values of one or more samples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.geometry import Box, Domain, voronoi_weights
from gola.graph.neighbourhood import Neighbourhood
from gola.graph.search import radius_neighbourhood
from gola.operators.spectrum import Spectrum


@dataclass(frozen=True, kw_only=True, eq=False)
class Cloud:
    """Points of one or more samples, one after the other, with what is known there.

    Sample b owns the rows ``offsets[b]`` to ``offsets[b + 1]``; samples may differ in their number of points.

    Attributes:
        points: Coordinates.
        values: The input function at the points; no columns where there is none.
        weights: Share of each point in the sums over its sample; the weights of a sample sum to 1.
        offsets: Where each sample starts; the last entry is the number of points. They stay on the CPU wherever the
            cloud goes: they shape the computation, and reading them elsewhere would stall it.
        parameters: Numbers of each sample; no columns where there are none.
        neighbourhood: Neighbour lists within each sample, for the operators that need them.
        radius: The radius of those lists, for finding the neighbours of further points.
        spectra: Waves on the domain of each sample, for the operators that need them.
    """

    points: Float[Tensor, "point dim"]
    values: Float[Tensor, "point channel"]
    weights: Float[Tensor, " point"]
    offsets: Int[Tensor, " sample_plus_one"]
    parameters: Float[Tensor, "sample parameter"]
    neighbourhood: Neighbourhood | None = None
    radius: float | None = None
    spectra: tuple[Spectrum, ...] | None = None

    @staticmethod
    def of(
        points: Float[Tensor, "point dim"],
        values: Float[Tensor, "point channel"],
        parameters: Float[Tensor, " parameter"] | None = None,
    ) -> "Cloud":
        """Make the cloud of one sample, with equal weights (the paper's 1/N) and no neighbours yet."""
        num_points = len(points)
        return Cloud(
            points=points,
            values=values,
            weights=points.new_full((num_points,), 1.0 / num_points),
            offsets=torch.tensor([0, num_points]),
            parameters=points.new_empty(1, 0) if parameters is None else parameters[None],
        )

    @property
    def num_points(self) -> int:
        """Number of points of all samples together."""
        return len(self.points)

    @property
    def num_samples(self) -> int:
        """Number of samples."""
        return len(self.offsets) - 1

    @property
    def dim(self) -> int:
        """Number of coordinates of a point."""
        return self.points.shape[1]

    def with_neighbours(self, radius: float) -> "Cloud":
        """Return this cloud with the neighbour lists of a radius."""
        neighbourhood = radius_neighbourhood(self.points.detach().cpu().numpy(), radius, offsets=self.offsets.numpy())
        return replace(self, neighbourhood=neighbourhood.to(self.points.device), radius=radius)

    def with_parameters_as_values(self) -> "Cloud":
        """Return this cloud with parameters as further channels of the input function, constant in each sample.

        Where there is neither an input function nor a parameter, the only input is the domain: its indicator function,
        1 at every point, takes their place.
        """
        if self.parameters.shape[1]:
            values = torch.cat([self.values, self.parameters[self.sample_of_point].to(self.values)], dim=1)
        else:
            values = self.values if self.values.shape[1] else torch.ones_like(self.points[:, :1])
        return replace(self, values=values, parameters=self.parameters[:, :0])

    def with_weights(
        self, weights: Float[Tensor, " point"] | Literal["equal", "voronoi"], domain: Domain | None = None
    ) -> "Cloud":
        """Return this cloud with other quadrature weights, scaled to sum to 1 in each sample.

        Args:
            weights: One for each point; or ``"equal"``, the paper's 1/N; or ``"voronoi"``, each point's share of the
                domain, which makes sums over unevenly spread points approximate integrals.
            domain: Where the points lie, for ``"voronoi"``; by default the box around each sample.
        """
        if isinstance(weights, str):
            weights = self._ready_made_weights(weights, domain)
        totals = weights.new_zeros(self.num_samples).index_add(0, self.sample_of_point, weights)
        # Spectra are fitted with the weights, so new weights ask for new ones.
        return replace(self, weights=weights / totals[self.sample_of_point], spectra=None)

    def _ready_made_weights(self, kind: str, domain: Domain | None) -> Float[Tensor, " point"]:
        if kind == "equal":
            return torch.ones_like(self.points[:, 0])
        if kind != "voronoi":
            raise ValueError(f"Weights are numbers, 'equal' or 'voronoi'; got {kind!r}.")
        samples = [points.detach().cpu().double().numpy() for points in torch.split(self.points, self.sizes)]
        cells = [voronoi_weights(points, domain or Box.around(points)) for points in samples]
        return torch.from_numpy(np.concatenate(cells)).to(self.points)

    @property
    def sample_of_point(self) -> Int[Tensor, " point"]:
        """The sample that each point belongs to."""
        return torch.arange(self.num_samples).repeat_interleave(self.offsets.diff()).to(self.points.device)

    @property
    def sizes(self) -> list[int]:
        """Number of points of each sample."""
        return self.offsets.diff().tolist()

    def to(self, device: torch.device | str) -> "Cloud":
        """Return this cloud on another device."""
        return replace(
            self,
            points=self.points.to(device),
            values=self.values.to(device),
            weights=self.weights.to(device),
            parameters=self.parameters.to(device),
            neighbourhood=self.neighbourhood.to(device) if self.neighbourhood else None,
            spectra=tuple(spectrum.to(device) for spectrum in self.spectra) if self.spectra else None,
        )

    @staticmethod
    def collate(clouds: Sequence["Cloud"]) -> "Cloud":
        """Put several clouds into one; their samples never see each other."""
        starts = [0]
        for cloud in clouds:
            starts.append(starts[-1] + cloud.num_points)
        lists = [cloud.neighbourhood for cloud in clouds if cloud.neighbourhood is not None]
        spectra = [cloud.spectra for cloud in clouds if cloud.spectra is not None]
        return Cloud(
            points=torch.cat([cloud.points for cloud in clouds]),
            values=torch.cat([cloud.values for cloud in clouds]),
            weights=torch.cat([cloud.weights for cloud in clouds]),
            offsets=torch.cat(
                [clouds[0].offsets[:1]]
                + [cloud.offsets[1:] + start for cloud, start in zip(clouds, starts, strict=False)]
            ),
            parameters=torch.cat([cloud.parameters for cloud in clouds]),
            neighbourhood=Neighbourhood.collate(lists) if len(lists) == len(clouds) else None,
            radius=clouds[0].radius,
            spectra=sum(spectra, start=()) if len(spectra) == len(clouds) else None,
        )
