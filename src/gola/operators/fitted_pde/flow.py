"""Slow and steady flow of an incompressible fluid: velocity and pressure with fitted coefficients."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import Any, ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.fitted_pde.elements import Elements
from gola.operators.fitted_pde.given import Given
from gola.operators.fitted_pde.inputs import Feature, Load
from gola.operators.fitted_pde.law import FAST, Law, consistent, exponential

# Linear elements for both fields need some diffusion of the pressure: this share of the squared size of a cell.
_STABILISATION = 0.02
# Pressure balances most of a force: forces that drive a flow of the order of 1 in such a domain are of this order.
_STRONG = 30.0
# A pressure that nothing fixes has a mean of 0.
_LEAST_COMPRESSION = 1e-8


@final
@dataclass(frozen=True, kw_only=True)
class Flow:
    r"""The Stokes and Navier–Stokes equations in their weak form, with coefficients that are fitted.

    .. math:: \int \sigma : \nabla v + r\,(u\cdot\nabla u)\cdot v + c\,u\cdot v - p\,\nabla\cdot v - q\,\nabla\cdot u
              + \sum_b \int_{\partial_b} h_b\,u\cdot v = \int f\cdot v + \sum_b \int_{\partial_b} (1 + h_b)\,t_b\cdot v

    for all v and q, with :math:`\sigma = a\,(\nabla u + \theta\,\nabla u^T)`. Viscosity a, resistance c (of a porous
    medium, after Brinkman), exchange h, forces f and tractions t are those of :class:`Law`; with large h the velocity
    is given, with h near 0 the stress is. The pressure is a further unknown, seen in the data or not; there it may
    have another unit, which may depend on the inputs as the viscosity does, in the mean over each sample. The linear
    elements are those of Brezzi and Pitkäranta (1984), with forces that the pressure balances.

    Attributes:
        momentum: What flow has in common with the equation of a displacement.
    """

    kind: ClassVar[str] = "flow"

    momentum: Law

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.momentum.dim

    @property
    def num_components(self) -> int:
        """Number of unknown functions: the velocity and the pressure."""
        return self.dim + 1

    @property
    def features(self) -> tuple[Feature, ...]:
        """Of the viscosity."""
        return self.momentum.features

    @property
    def loads(self) -> tuple[Load, ...]:
        """Of the equation."""
        return self.momentum.loads

    @property
    def vectors(self) -> tuple[Load, ...]:
        """Inputs that a solution drifts along; a flow drifts along itself."""
        return ()

    @property
    def tensors(self) -> tuple[Load, ...]:
        """Inputs that are the matrix between gradient and flux: none."""
        return ()

    @property
    def num_shapes(self) -> int:
        """Number of coefficients of the left-hand side; last come inertia and the unit of the pressure."""
        return self.momentum.num_shapes + 2 + len(self.features)

    @property
    def num_sources(self) -> int:
        """Number of loads in the volume."""
        return self.momentum.num_sources

    @property
    def num_tractions(self) -> int:
        """Number of loads on the parts of the boundary."""
        return self.momentum.num_tractions

    @property
    def num_coefficients(self) -> int:
        """Number of all coefficients."""
        return self.num_shapes + self.num_sources + self.num_tractions

    @property
    def _inertia(self) -> int:
        """Where the coefficient of inertia is."""
        return self.momentum.num_shapes

    @cached_property
    def _rows(self) -> Float[Tensor, "coefficient coefficient_of_momentum"]:
        """Where the coefficients of the momentum are among all."""
        every = torch.eye(self.num_coefficients, dtype=torch.float64)
        return torch.cat([every[:, : self._inertia], every[:, self.num_shapes :]], dim=1)

    @property
    def pressure_unit(self) -> Float[Tensor, "coefficient free"]:
        """Return which coefficients are free besides where the pressure is seen."""
        return torch.eye(self.num_coefficients, dtype=torch.float64)[:, self._inertia + 1 : self.num_shapes]

    def with_pressure_unit(
        self, coefficients: Float[Tensor, " coefficient"], unit: float
    ) -> Float[Tensor, " coefficient"]:
        """Return coefficients with a pressure that is counted in this unit."""
        found = coefficients.clone()
        found[self._inertia + 1] += math.log(unit)
        return found

    def is_linear(self, coefficients: Float[Tensor, " coefficient"]) -> bool:
        """Whether there is no inertia."""
        return not bool(coefficients[self._inertia])

    def without_nonlinear_terms(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, " coefficient"]:
        """Return coefficients of creeping flow."""
        found = coefficients.clone()
        found[self._inertia] = 0.0
        return found

    def starts(self) -> list[Float[Tensor, " coefficient"]]:
        """Return creeping flow without loads: with walls all around, and with as little friction there as inside."""
        found = []
        for share in (0.99, 0.5):
            start = self._rows @ self.momentum.starts()[0]
            start[self.momentum.place("exchange")] = share
            found.append(start)
        return found

    def coarse(self) -> list[Float[Tensor, "coefficient free"]]:
        """Return how the coefficients of creeping flow follow from fewer, from few to many."""
        return [self._rows @ free for free in self.momentum.coarse()]

    def further(self) -> list[Float[Tensor, "coefficient free"]]:
        """Return which coefficients are free with inertia."""
        inertia = torch.zeros(self.num_coefficients, 1, dtype=torch.float64)
        inertia[self._inertia] = 1.0
        return [torch.cat([self._rows @ free, inertia], dim=1) for free in self.momentum.further()]

    def bounds(self) -> tuple[Float[Tensor, " coefficient"], Float[Tensor, " coefficient"]]:
        """Return the least and the largest coefficients that are allowed."""
        lower, upper = (self._rows @ bound.nan_to_num() for bound in self.momentum.bounds())
        lower, upper = (
            torch.where(bound.abs() > 1e300, torch.sign(bound) * torch.inf, bound) for bound in (lower, upper)
        )
        lower[self._inertia : self.num_shapes], upper[self._inertia : self.num_shapes] = -torch.inf, torch.inf
        place = self.momentum.place("flux")
        lower[place], upper[place] = 0.0, 1.0
        return lower, upper

    def volume_loads(
        self, elements: Elements, values: Float[Tensor, "point channel"]
    ) -> Float[Tensor, "source cell vertex component"]:
        """Return all loads in the volume on the corners of each cell; the last component is that of the pressure."""
        loads = _STRONG * self.momentum.sources(values, elements.points)[:, elements.cells]
        balanced = torch.einsum("cvd,scd->scv", elements.slopes, loads.mean(dim=2))
        balanced = -(_diffusion(elements) * elements.volumes)[:, None] * balanced
        return torch.cat([consistent(elements.volumes, loads), balanced[..., None]], dim=3)

    def tractions(
        self, elements: Elements, values: Float[Tensor, "point channel"]
    ) -> Float[Tensor, "load facet corner component"]:
        """Return all loads on the boundary."""
        return _padded(self.momentum.tractions(elements, values))

    def in_cells(
        self,
        shape: Float[Tensor, " shape"],
        given: Given,
        elements: Elements,
        solution: Float[Tensor, "cell vertex component"],
    ) -> Float[Tensor, "cell vertex component"]:
        """Return what the left-hand side makes of a solution in each cell, for the hat functions of its corners."""
        unit = shape[self._inertia + 1] + given.features.mean(dim=0) @ shape[self._inertia + 2 :]
        velocity, pressure = solution[..., :-1], exponential(unit) * solution[..., -1]
        volumes = elements.volumes
        slopes = torch.einsum("cvd,cvk->ckd", elements.slopes, velocity)
        steep = torch.einsum("cvd,cv->cd", elements.slopes, pressure)
        mean = pressure.mean(dim=1)
        stress = self.flux(shape, given, solution, slopes) - mean[:, None, None] * torch.eye(self.dim).to(slopes)
        found = torch.einsum("cvd,ckd->cvk", elements.slopes, volumes[:, None, None] * stress)
        found = found + consistent(self.momentum.mass(shape[: self._inertia], given.features) * volumes, velocity)
        along = FAST * shape[self._inertia] * (slopes * velocity.mean(dim=1)[:, None]).sum(dim=2)
        found = found + (volumes / solution.shape[1])[:, None, None] * along[:, None]
        growth = slopes.diagonal(dim1=1, dim2=2).sum(dim=1) / solution.shape[1]
        spread = _diffusion(elements)[:, None] * (elements.slopes * steep[:, None]).sum(dim=2)
        balance = -volumes[:, None] * (growth[:, None] + spread)
        balance = balance - _LEAST_COMPRESSION * consistent(volumes, pressure[..., None])[..., 0]
        return torch.cat([found, balance[..., None]], dim=2)

    def on_facets(
        self,
        shape: Float[Tensor, " shape"],
        given: Given,
        elements: Elements,
        solution: Float[Tensor, "facet corner component"],
    ) -> Float[Tensor, "facet corner component"]:
        """Return the same of each facet."""
        return _padded(self.momentum.on_facets(shape[: self._inertia], given, elements, solution[..., :-1]))

    def exchange(self, shape: Float[Tensor, " shape"], given: Given, elements: Elements) -> Float[Tensor, " facet"]:
        """Return the coefficient h of each facet of the boundary."""
        return self.momentum.exchange(shape[: self._inertia], given, elements)

    def flux(
        self,
        shape: Float[Tensor, " shape"],
        given: Given,
        solution: Float[Tensor, "cell vertex component"],
        slopes: Float[Tensor, "cell slope dim"],
    ) -> Float[Tensor, "cell dim dim"]:
        """Return the viscous stress that a solution with some gradients leads to."""
        slopes = slopes[:, : self.dim]
        viscosity = self.momentum.medium(shape[: self._inertia], given.features, solution[..., :-1], slopes)
        return viscosity[:, None, None] * (slopes + shape[self.momentum.place("flux")] * slopes.mT)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"kind": self.kind, "momentum": self.momentum.to_dict()}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> "Flow":
        """Undo :meth:`to_dict`."""
        return Flow(momentum=Law.from_dict(values["momentum"]))


def _diffusion(elements: Elements) -> Float[Tensor, " cell"]:
    sizes = (factorial(elements.dim) * elements.volumes) ** (2.0 / elements.dim)
    return _STABILISATION * sizes


def _padded(values: Float[Tensor, "*any component"]) -> Float[Tensor, "*any unknown"]:
    """Append a pressure of 0."""
    return torch.nn.functional.pad(values, (0, 1))
