"""First arrivals: |∇u| = s with a fitted slowness s and a source in one place, along the points of a sample."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree
from torch import Tensor

from gola.operators.fitted_pde.differences import derivatives_of
from gola.operators.fitted_pde.elements import Elements
from gola.operators.fitted_pde.inputs import Feature

# Steps lead to the nearest points, so many in the plane and twice as many in space: with fewer paths are crooked, with
# more they miss what is between. How many is best is chosen.
NUM_NEIGHBOURS = (12, 16, 24)
# No step leads around more points of the mesh than this: points beyond a hole are not near.
_HOPS = 3
# The slowness at the source is the mean over so many points.
_NEAR_SOURCE = 3
# Sources lie in one place if they scatter less than this share of the extent, and the wave starts there if arrivals
# are below this share of their mean.
_SCATTER, _EARLY = 0.05, 0.2
_STRONGEST = 6.0
_LARGEST = 20.0
_TINY = 1e-30


@final
@dataclass(frozen=True, kw_only=True)
class Arrival:
    r"""The eikonal equation in Fermat's form, with coefficients that are fitted.

    .. math:: u(x) = \min_{\text{paths}} \int_{x_0}^x s\,dl, \qquad \log s = \sigma + \sum_j \alpha_j \psi_j

    with input channels or their logarithms as features. Paths lead from point to point (Dijkstra, 1959).

    Attributes:
        source: Near which point the wave starts; its place is fitted, too.
        features: Of the slowness.
        num_neighbours: To how many nearest points a step may lead.
    """

    kind: ClassVar[str] = "arrival"
    num_components: ClassVar[int] = 1

    source: tuple[float, ...]
    features: tuple[Feature, ...]
    num_neighbours: int

    @property
    def num_coefficients(self) -> int:
        """Number of coefficients: place of the source, mean slowness, exponents."""
        return len(self.source) + 1 + len(self.features)

    def starts(self) -> list[Float[Tensor, " coefficient"]]:
        """Return a uniform slowness."""
        return [torch.zeros(self.num_coefficients, dtype=torch.float64)]

    def coarse(self) -> list[Float[Tensor, "coefficient coefficient"]]:
        """Return the identity: coefficients are few."""
        return [torch.eye(self.num_coefficients, dtype=torch.float64)]

    def further(self) -> list[Float[Tensor, "coefficient coefficient"]]:
        """Return nothing: there are no other terms."""
        return []

    def bounds(self) -> tuple[Float[Tensor, " coefficient"], Float[Tensor, " coefficient"]]:
        """Return the least and the largest coefficients that are allowed."""
        upper = torch.full((self.num_coefficients,), _STRONGEST, dtype=torch.float64)
        upper[: len(self.source)] = _SCATTER
        return -upper, upper

    def system(self, elements: Elements, values: Float[Tensor, "point channel"]) -> "Arrivals":
        """Take the points and inputs of a sample."""
        columns = [feature.of(values) for feature in self.features]
        features = torch.stack(columns, dim=1) if columns else values.new_zeros(len(values), 0)
        count = self.num_neighbours * 2 ** (elements.dim - 2)
        return Arrivals(law=self, points=elements.points, features=features, steps=_steps(elements, count))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"kind": self.kind, **asdict(self)}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> "Arrival":
        """Undo :meth:`to_dict`."""
        features = tuple(Feature(**feature) for feature in values["features"])
        return Arrival(source=tuple(values["source"]), features=features, num_neighbours=values["num_neighbours"])

    def with_neighbours(self, count: int) -> "Arrival":
        """Return the law with steps to other numbers of points."""
        return replace(self, num_neighbours=count)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Arrivals:
    """First arrivals at the points of one sample.

    Attributes:
        law: Where they start, and how.
        points: Of the sample.
        features: Of the slowness at the points.
        steps: Pairs of points that a path may lead along.
    """

    law: Arrival
    points: Float[Tensor, "point dim"]
    features: Float[Tensor, "point feature"]
    steps: Int[np.ndarray, "2 step"]

    def solution(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, "point 1"]:
        """Return the time of the first arrival at each point; differentiable, as if paths stayed where they are."""
        return self._along(coefficients, self._parents(coefficients))

    def linearised(
        self, coefficients: Float[Tensor, " coefficient"], free: Float[Tensor, "coefficient free"]
    ) -> tuple[Float[Tensor, "point 1"], Float[Tensor, "point 1 free"]]:
        """Solve, and return also the derivatives of the solution by coefficients that are free."""
        parents = self._parents(coefficients)
        slopes = derivatives_of(lambda one: self._along(one, parents), coefficients, self.points.numel())
        return self._along(coefficients, parents), slopes @ free

    def _places(
        self, coefficients: Float[Tensor, " coefficient"]
    ) -> tuple[Float[Tensor, "node dim"], Float[Tensor, " node"]]:
        """Return points and slowness, the source at the end."""
        dim = len(self.law.source)
        source = torch.tensor(self.law.source, dtype=torch.float64) + coefficients[:dim]
        slowness = torch.exp((coefficients[dim] + self.features @ coefficients[dim + 1 :]).clamp(-_LARGEST, _LARGEST))
        near = (self.points - source.detach()).norm(dim=1).argsort()[:_NEAR_SOURCE]
        return torch.cat([self.points, source[None]]), torch.cat([slowness, slowness[near].mean(dim=0, keepdim=True)])

    def _parents(self, coefficients: Float[Tensor, " coefficient"]) -> Int[Tensor, " node"]:
        """Return from which point each is reached first; the source from itself."""
        points, slowness = (one.detach().numpy() for one in self._places(coefficients.detach()))
        origin = len(points) - 1
        _, near = cKDTree(points[:-1]).query(points[-1:], k=min(2 * self.law.num_neighbours, origin))
        near = np.asarray(near).ravel()
        starts, ends = np.concatenate([self.steps, np.stack([np.full(len(near), origin), near])], axis=1)
        lengths = np.linalg.norm(points[starts] - points[ends], axis=1)
        # A step of length 0 would be none.
        times = np.maximum(0.5 * lengths * (slowness[starts] + slowness[ends]), _TINY)
        graph = csr_array((times, (starts, ends)), shape=(origin + 1, origin + 1))
        _, parents = dijkstra(graph, directed=False, indices=np.array([origin]), return_predecessors=True)
        # What no path leads to is reached straight from the source.
        return torch.from_numpy(np.where(parents[0] < 0, origin, parents[0]).astype(np.int64))

    def _along(
        self, coefficients: Float[Tensor, " coefficient"], parents: Int[Tensor, " node"]
    ) -> Float[Tensor, "point 1"]:
        """Add up the times of all steps to each point."""
        points, slowness = self._places(coefficients)
        moves = points - points[parents]
        origin = torch.arange(len(parents)) == len(parents) - 1
        # A root has an infinite slope at 0, where a point at the very place of the source is, and the source itself.
        lengths = moves.square().sum(dim=1).clamp(min=_TINY).sqrt()
        times = torch.where(origin, 0.0, 0.5 * lengths * (slowness + slowness[parents]))
        # Each round adds twice as many steps as the one before.
        while not torch.equal(parents, parents[parents]):
            times, parents = times + times[parents], parents[parents]
        return times[:-1, None]


def arrival_of(
    meshes: Sequence[Elements], targets: Sequence[Float[Tensor, " _"]], features: tuple[Feature, ...]
) -> Arrival | None:
    """Return the law of first arrivals from one place, or None where solutions do not look like such."""
    if min(float(one.min()) for one in targets) < 0.0:
        return None
    first = [int(one.argmin()) for one in targets]
    places = torch.stack([mesh.points[row] for mesh, row in zip(meshes, first, strict=True)])
    early = [
        float(one[row] / one.mean().clamp(min=torch.finfo(one.dtype).tiny))
        for one, row in zip(targets, first, strict=True)
    ]
    source = places.median(dim=0).values
    if float((places - source).norm(dim=1).median()) > _SCATTER or float(np.median(early)) > _EARLY:
        return None
    return Arrival(source=tuple(source.tolist()), features=features, num_neighbours=NUM_NEIGHBOURS[0])


def _steps(elements: Elements, num_neighbours: int) -> Int[np.ndarray, "2 step"]:
    """Return pairs of near points."""
    points, cells = elements.points.numpy(), elements.cells.numpy()
    count = min(num_neighbours, len(points) - 1)
    _, near = cKDTree(points).query(points, k=count + 1)
    starts, ends = np.repeat(np.arange(len(points)), count), np.asarray(near)[:, 1:].ravel()
    corners = cells.shape[1]
    first, second = np.repeat(cells, corners, axis=1).ravel(), np.tile(cells, (1, corners)).ravel()
    linked = csr_array((np.ones(len(first)), (first, second)), shape=(len(points),) * 2)
    around = linked
    for _ in range(_HOPS - 1):
        around = around @ linked
    within = np.asarray(around[starts, ends]).ravel() > 0.0
    return np.stack([starts[within], ends[within]])
