"""The family of second-order partial differential equations that are fitted, discretised on a sample's own mesh."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.fitted_pde.elements import Elements, num_parts

# Shares of exchange stay that far from 0 and 1: next to nothing, and as good as a Dirichlet condition.
_LEAST = 1e-5
# Exponents of the medium and of anisotropy stay within these.
_STRONGEST = 6.0
# Media stay within exp(±20).
_LARGEST = 20.0
# Inputs that are never a smaller share of others have a logarithm.
_LEAST_POSITIVE = 1e-6


@final
@dataclass(frozen=True, kw_only=True)
class Feature:
    """What the logarithm of the medium may be proportional to: an input channel, or its logarithm.

    Attributes:
        channel: Which input.
        is_log: Whether its logarithm is meant.
        centre: What is subtracted.
        scale: What it is divided by then.
    """

    channel: int
    is_log: bool
    centre: float
    scale: float

    def of(self, values: Float[Tensor, "row channel"]) -> Float[Tensor, " row"]:
        """Return the feature of input values."""
        column = values[:, self.channel]
        # Inputs of new samples may be smaller than all that were seen.
        floor = _LEAST_POSITIVE * math.exp(self.centre) if self.is_log else -torch.inf
        return ((column.clamp(min=floor).log() if self.is_log else column) - self.centre) / self.scale


@final
@dataclass(frozen=True, kw_only=True)
class Load:
    """What may drive the solution: a constant, or input channels.

    Attributes:
        kind: A constant or a scalar (one channel), a vector (a channel for each axis), or a symmetric tensor (a channel
            for each pair of axes, row by row, those below the diagonal repeated).
        channels: Which inputs; none for the constant.
        scale: What they are divided by.
    """

    kind: Literal["constant", "scalar", "vector", "tensor"]
    channels: tuple[int, ...]
    scale: float

    def of(self, values: Float[Tensor, "row channel"]) -> Float[Tensor, "row component"]:
        """Return the load of input values."""
        return torch.ones_like(values[:, :1]) if not self.channels else values[:, list(self.channels)] / self.scale


@final
@dataclass(frozen=True, kw_only=True)
class Law:
    r"""A linear elliptic equation in its weak form, with coefficients that are fitted.

    .. math:: \int \sigma(u) : \nabla v + c\,u v + \sum_b \int_{\partial_b} h_b\,u v
              = \int f v + \sum_b \int_{\partial_b} (1 + h_b)\,q_b v \qquad \text{for all } v.

    For a scalar :math:`\sigma = a\,\mathrm{diag}(e^{\zeta})\nabla u`; for a displacement it is the stress of an
    isotropic elastic material, :math:`\sigma = a\,(2\varepsilon + e^{\rho}\,\mathrm{tr}\,\varepsilon)`. The medium
    is :math:`\log a = \sum_j \alpha_j \psi_j` with input channels or their logarithms as features; sources f and
    boundary loads q are linear in the inputs. Boundary parts b are those of :class:`Elements`; with h near 0 the
    condition is one of flux (Neumann), with large h one of value (Dirichlet). What is fitted of c and h is c/(1 + c)
    and h/(1 + h).

    Attributes:
        dim: Number of coordinates.
        num_components: Of the solution: 1, or dim for a displacement.
        features: Of the medium.
        loads: Of the equation.
    """

    kind: ClassVar[str] = "elliptic"

    dim: int
    num_components: int
    features: tuple[Feature, ...]
    loads: tuple[Load, ...]

    @property
    def num_shapes(self) -> int:
        """Number of coefficients of the left-hand side; they come first."""
        return len(self.features) + (self.dim - 1 if self.num_components == 1 else 1) + 1 + num_parts(self.dim)

    @property
    def num_sources(self) -> int:
        """Number of loads in the volume."""
        return sum(self._components_of_source(load) for load in self.loads)

    @property
    def num_coefficients(self) -> int:
        """Number of all coefficients."""
        return self.num_shapes + self.num_sources + len(self.loads) * num_parts(self.dim)

    def starts(self) -> list[Float[Tensor, " coefficient"]]:
        """Return uniform media without loads: with some exchange at the whole boundary, and with hardly any."""
        found = []
        for share in (0.5, 3e-4):
            start = torch.zeros(self.num_coefficients, dtype=torch.float64)
            start[self._mass] = 3e-3
            start[self._exchange] = share
            found.append(start)
        return found

    def coarse(self) -> list[Float[Tensor, "coefficient free"]]:
        """Return how all coefficients follow from fewer, from few to many.

        The medium is isotropic. Of the boundary first the whole outer one is alike, then all faces of the box, and then
        each is by itself.
        """
        faces = torch.eye(num_parts(self.dim), dtype=torch.float64)
        outer, alike = (
            torch.cat([faces[:, :-count].sum(dim=1, keepdim=True), faces[:, -count:]], dim=1) for count in (1, 2)
        )
        kept = [*range(len(self.features)), *range(self._isotropic, self._mass + 1)]
        inner = torch.eye(self._mass + 1, dtype=torch.float64)[:, kept]
        sources = torch.eye(self.num_sources, dtype=torch.float64)
        return [torch.block_diag(inner, parts, sources, *[parts] * len(self.loads)) for parts in (outer, alike, faces)]

    def bounds(self) -> tuple[Float[Tensor, " coefficient"], Float[Tensor, " coefficient"]]:
        """Return the least and the largest coefficients that are allowed."""
        upper = torch.full((self.num_coefficients,), torch.inf, dtype=torch.float64)
        lower = -upper
        lower[: self._mass], upper[: self._mass] = -_STRONGEST, _STRONGEST
        lower[self._mass : self.num_shapes], upper[self._mass : self.num_shapes] = _LEAST, 1.0 - _LEAST
        return lower, upper

    @property
    def _isotropic(self) -> int:
        """Where coefficients begin that an isotropic medium has besides features: those of anisotropy are left out."""
        return len(self.features) + (self.dim - 1 if self.num_components == 1 else 0)

    @property
    def _mass(self) -> int:
        return self.num_shapes - num_parts(self.dim) - 1

    @property
    def _exchange(self) -> slice:
        return slice(self._mass + 1, self.num_shapes)

    def sources(self, values: Float[Tensor, "row channel"]) -> Float[Tensor, "source row component"]:
        """Return all loads in the volume."""
        found = []
        for load in self.loads:
            given = load.of(values)
            if load.kind == "vector":
                found.append(given[None] if self.num_components > 1 else given.T[:, :, None])
            elif load.kind != "tensor":
                found.append(torch.eye(self.num_components).to(given)[:, None] * given[None])
        return torch.cat(found)

    def tractions(
        self, values: Float[Tensor, "facet corner channel"], normals: Float[Tensor, "facet dim"]
    ) -> Float[Tensor, "load facet corner component"]:
        """Return all loads on the boundary."""
        rows, across = values.flatten(0, 1), normals.repeat_interleave(values.shape[1], dim=0)
        found = []
        for load in self.loads:
            given = load.of(rows)
            if load.kind == "tensor":
                given = torch.einsum("rij,rj->ri", given.unflatten(1, (self.dim, self.dim)), across)
            elif self.num_components > 1 and load.kind != "vector":
                given = given * across
            if self.num_components == 1 and given.shape[1] > 1:
                given = (given * across).sum(dim=1, keepdim=True)
            found.append(given)
        return torch.stack(found).unflatten(1, values.shape[:2])

    def in_cells(
        self,
        shape: Float[Tensor, " shape"],
        features: Float[Tensor, "cell feature"],
        elements: Elements,
        solution: Float[Tensor, "cell vertex component"],
    ) -> Float[Tensor, "cell vertex component"]:
        """Return what the left-hand side makes of a solution in each cell, for the hat functions of its corners."""
        slopes = torch.einsum("cvd,cvk->ckd", elements.slopes, solution)
        flux = self.medium(shape, features)[:, None, None] * self.flux(shape, slopes)
        mass = _odds(shape[self._mass])
        exchanged = consistent(mass * elements.volumes, solution)
        return torch.einsum("c,cvd,ckd->cvk", elements.volumes, elements.slopes, flux) + exchanged

    def on_facets(
        self,
        shape: Float[Tensor, " shape"],
        elements: Elements,
        solution: Float[Tensor, "facet corner component"],
    ) -> Float[Tensor, "facet corner component"]:
        """Return the same of each facet."""
        return consistent(self.exchange(shape)[elements.parts] * elements.areas, solution)

    def exchange(self, shape: Float[Tensor, " shape"]) -> Float[Tensor, " part"]:
        """Return the coefficient h of each part of the boundary."""
        return _odds(shape[self._exchange])

    def medium(self, shape: Float[Tensor, " shape"], features: Float[Tensor, "cell feature"]) -> Float[Tensor, " cell"]:
        """Return the medium a in each cell."""
        # Inputs far beyond those that were fitted to would make it infinite.
        return torch.exp((features @ shape[: len(self.features)]).clamp(-_LARGEST, _LARGEST))

    def flux(
        self, shape: Float[Tensor, " shape"], slopes: Float[Tensor, "cell component dim"]
    ) -> Float[Tensor, "cell component dim"]:
        """Return the flux or stress that gradients lead to in a medium of 1."""
        further = shape[len(self.features) :]
        if self.num_components == 1:
            return slopes * torch.exp(torch.cat([shape.new_zeros(1), further[: self.dim - 1]]))
        trace = slopes.diagonal(dim1=1, dim2=2).sum(dim=1)
        pressure = torch.exp(further[0]) * trace[:, None, None] * torch.eye(self.dim).to(slopes)
        return slopes + slopes.mT + pressure

    def _components_of_source(self, load: Load) -> int:
        if load.kind == "vector":
            return 1 if self.num_components > 1 else self.dim
        return 0 if load.kind == "tensor" else self.num_components

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"kind": self.kind, **asdict(self)}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> "Law":
        """Undo :meth:`to_dict`."""
        loads = (Load(**{**load, "channels": tuple(load["channels"])}) for load in values["loads"])
        features = (Feature(**feature) for feature in values["features"])
        return Law(
            dim=values["dim"],
            num_components=values["num_components"],
            features=tuple(features),
            loads=tuple(loads),
        )


def _odds(share: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """Return from 0 to infinity what is given from 0 to 1: solutions depend on the latter about linearly."""
    return share / (1.0 - share)


def consistent(
    sizes: Float[Tensor, " simplex"], values: Float[Tensor, "*batch simplex vertex component"]
) -> Float[Tensor, "*batch simplex vertex component"]:
    """Integrate a function, linear in simplices of some size, times the hat function of each corner."""
    count = values.shape[-2]
    total = values + values.sum(dim=-2, keepdim=True)
    return sizes[:, None, None] * total / (count * (count + 1))


def features_of(values: Float[Tensor, "row channel"], channels: Sequence[int]) -> tuple[Feature, ...]:
    """Return what a medium may depend on: channels that vary, and logarithms of those that are positive."""
    found = []
    for channel in channels:
        column = values[:, channel]
        if not column.std() > 1e-9 * column.abs().max():
            continue
        if column.min() > _LEAST_POSITIVE * column.max():
            logs = column.log()
            found.append(Feature(channel=channel, is_log=True, centre=float(logs.mean()), scale=1.0))
        found.append(Feature(channel=channel, is_log=False, centre=float(column.mean()), scale=float(column.std())))
    return tuple(found)
