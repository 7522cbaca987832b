"""The family of second-order partial differential equations that are fitted, discretised on a sample's own mesh."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gola.operators.fitted_pde.elements import Elements, num_parts
from gola.operators.fitted_pde.given import Given
from gola.operators.fitted_pde.inputs import Feature, Load

# Shares of exchange stay that far from 0 and 1: next to nothing, and as good as a Dirichlet condition.
_LEAST = 1e-5
# Exponents of the medium and of anisotropy stay within these.
_STRONGEST = 6.0
# Media stay within exp(±20).
_LARGEST = 20.0
# A domain has about the size of 1, and solutions as well: drift and reaction matter if they are of this order.
FAST = 10.0
# Its first resonance is about here.
_RESONANT = 20.0
# Terms of the plain equation besides those of the boundary; those beyond it that leave it linear, and that do not.
_PLAIN_TERMS = ("medium", "flux", "mass")
_LINEAR_TERMS = ("tensor", "shear", "mass_medium", "growth", "exchange_medium", "drift")
# Those that are found by equation errors: anisotropy could make these small by making all fluxes small.
_RESIDUAL_TERMS = ("medium", "mass", "tensor", "mass_medium", "growth", "drift")
_NONLINEAR_TERMS = ("by_value", "by_slope", "reaction")


@final
@dataclass(frozen=True, kw_only=True)
class Law:
    r"""An elliptic equation in its weak form, with coefficients that are fitted.

    .. math:: \int \sigma(u) : \nabla v + c\,u v + \sum_b \int_{\partial_b} h_b\,u v
              = \int f v + \sum_b \int_{\partial_b} (1 + h_b)\,q_b v \qquad \text{for all } v.

    For a scalar :math:`\sigma = a\,\mathrm{diag}(e^{\zeta})\nabla u`; for a displacement it is the stress of an
    isotropic elastic material, :math:`\sigma = a\,(2\varepsilon + e^{\rho}\,\mathrm{tr}\,\varepsilon)`. The medium
    is :math:`\log a = \sum_j \alpha_j \psi_j` with input channels or their logarithms as features; sources f and
    boundary loads q are linear in the inputs. Boundary parts b are those of :class:`Elements`; with h near 0 the
    condition is one of flux (Neumann), with large h one of value (Dirichlet). What is fitted of c and h is c/(1 + c)
    and h/(1 + h).

    Further terms are 0 unless data ask for them. Linear ones: c and h may be media of the inputs as a is, c may be
    negative, and a scalar may have a full symmetric matrix :math:`e^Z` for its anisotropy and a drift
    :math:`b\cdot\nabla u`, with b constant or proportional to input vectors. Nonlinear ones, for a scalar:
    :math:`\log a` has :math:`\kappa_1 u + \kappa_2 u^2 + \mu \log(1 + e^{\tau}|\nabla u|^2)` besides, and c has
    :math:`\rho_1 u + \rho_2 u^2`.

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

    @cached_property
    def _places(self) -> dict[str, slice]:
        """Where the coefficients of each term of the left-hand side are."""
        scalar, count = self.num_components == 1, len(self.features)
        sizes = {
            "medium": count,
            "flux": self.dim - 1 if scalar else 1,
            "mass": 1,
            "exchange": num_parts(self.dim),
            "shear": self.dim * (self.dim - 1) // 2 if scalar else 0,
            "mass_medium": count,
            "growth": 1,
            "exchange_medium": count,
            "tensor": 1 if scalar and self.tensors else 0,
            "drift": self.dim + len(self.vectors) if scalar else 0,
            "by_value": 2 if scalar else 0,
            "by_slope": 2 if scalar else 0,
            "reaction": 2 if scalar else 0,
        }
        ends = torch.tensor(list(sizes.values())).cumsum(0).tolist()
        return {name: slice(end - sizes[name], end) for name, end in zip(sizes, ends, strict=True)}

    def place(self, term: str) -> slice:
        """Return where the coefficients of a term of the left-hand side are."""
        return self._places[term]

    @cached_property
    def vectors(self) -> tuple[Load, ...]:
        """Inputs that a solution may drift along."""
        return tuple(load for load in self.loads if load.kind == "vector")

    @cached_property
    def tensors(self) -> tuple[Load, ...]:
        """Inputs that may be the matrix between gradient and flux; the first of them is tried."""
        return tuple(load for load in self.loads if load.kind == "tensor")[:1]

    @cached_property
    def _directions(self) -> Float[Tensor, "term dim dim"]:
        """What the logarithm of the matrix between gradient and flux is a sum of: 1 is its first diagonal element."""
        pairs = [(axis, axis) for axis in range(1, self.dim)]
        pairs += [(first, second) for first in range(self.dim) for second in range(first + 1, self.dim)]
        found = torch.zeros(len(pairs), self.dim, self.dim, dtype=torch.float64)
        for row, (first, second) in enumerate(pairs):
            found[row, first, second] = found[row, second, first] = 1.0
        return found

    @property
    def num_shapes(self) -> int:
        """Number of coefficients of the left-hand side; they come first."""
        return self._places["reaction"].stop

    @property
    def num_sources(self) -> int:
        """Number of loads in the volume."""
        return sum(self._components_of_source(load) for load in self.loads)

    @property
    def num_tractions(self) -> int:
        """Number of loads on the parts of the boundary."""
        return len(self.loads) * num_parts(self.dim)

    @property
    def num_coefficients(self) -> int:
        """Number of all coefficients."""
        return self.num_shapes + self.num_sources + self.num_tractions

    def is_linear(self, coefficients: Float[Tensor, " coefficient"]) -> bool:
        """Whether no nonlinear term has a coefficient other than 0."""
        return not any(bool(coefficients[self._places[name]].any()) for name in _NONLINEAR_TERMS)

    def without_nonlinear_terms(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, " coefficient"]:
        """Return coefficients of the linear equation that is left then."""
        found = coefficients.clone()
        for name in _NONLINEAR_TERMS:
            found[self._places[name]] = 0.0
        return found

    def starts(self) -> list[Float[Tensor, " coefficient"]]:
        """Return uniform media without loads: with some exchange at the whole boundary, and with hardly any."""
        found = []
        for share in (0.5, 3e-4):
            start = torch.zeros(self.num_coefficients, dtype=torch.float64)
            start[self._places["mass"]] = 3e-3
            start[self._places["exchange"]] = share
            found.append(start)
        return found

    def coarse(self) -> list[Float[Tensor, "coefficient free"]]:
        """Return how the coefficients of the plain equation follow from fewer, from few to many.

        The medium is isotropic. Of the boundary first the whole outer one is alike, then all faces of the box, and then
        each is by itself; at last the medium may differ along the axes.
        """
        faces = torch.eye(num_parts(self.dim), dtype=torch.float64)
        outer, alike = (
            torch.cat([faces[:, :-count].sum(dim=1, keepdim=True), faces[:, -count:]], dim=1) for count in (1, 2)
        )
        isotropic = [name for name in _PLAIN_TERMS if name != "flux" or self.num_components > 1]
        found = [self._free(isotropic, parts) for parts in (outer, alike, faces)]
        return [*found, self._free(_PLAIN_TERMS, faces)]

    def further(self) -> list[Float[Tensor, "coefficient free"]]:
        """Return which coefficients are free beyond the plain equation.

        First loads that vary with the place, then linear terms, then all.
        """
        faces, linear = torch.eye(num_parts(self.dim), dtype=torch.float64), [*_PLAIN_TERMS, *_LINEAR_TERMS]
        several = [linear] if self.num_components > 1 else [linear, [*linear, *_NONLINEAR_TERMS]]
        placed = self._free(_PLAIN_TERMS, faces, placed=True)
        return [placed, *(self._free(terms, faces) for terms in several)]

    def by_residual(self) -> tuple[Float[Tensor, " coefficient"], Float[Tensor, "coefficient free"]]:
        """Return where to start from, and which coefficients are free, to find linear terms by equation errors."""
        start = self.starts()[0]
        start[self._places["growth"]] = 0.3
        start[self._places["tensor"]] = 0.5
        return start, self._free(_RESIDUAL_TERMS, torch.eye(num_parts(self.dim), dtype=torch.float64))

    def _free(
        self, terms: Sequence[str], parts: Float[Tensor, "part group"], *, placed: bool = False
    ) -> Float[Tensor, "coefficient free"]:
        """Return how coefficients follow from those of some terms, of loads, and of groups of boundary parts.

        Args:
            terms: Of the left-hand side, besides exchange.
            parts: Of the boundary that are alike.
            placed: Whether loads that vary with the place are free.
        """
        every = torch.eye(self.num_shapes, dtype=torch.float64)
        exchange = every[:, self._places["exchange"]] @ parts
        shapes = torch.cat([exchange, *(every[:, self._places[name]] for name in terms)], dim=1)
        blocks = [shapes]
        for load in self.loads:
            count = self._components_of_source(load)
            blocks.append(torch.eye(count, dtype=torch.float64)[:, : count * (placed or not load.factors)])
        blocks += [parts if placed or not load.factors else parts[:, :0] for load in self.loads]
        return torch.block_diag(*blocks)

    def bounds(self) -> tuple[Float[Tensor, " coefficient"], Float[Tensor, " coefficient"]]:
        """Return the least and the largest coefficients that are allowed."""
        upper = torch.full((self.num_coefficients,), torch.inf, dtype=torch.float64)
        lower = -upper
        for name, place in self._places.items():
            if name in ("mass", "exchange"):
                lower[place], upper[place] = _LEAST, 1.0 - _LEAST
            elif name in ("growth", "tensor"):
                lower[place], upper[place] = 0.0, 1.0 - _LEAST
            elif name not in ("drift", "reaction"):
                lower[place], upper[place] = -_STRONGEST, _STRONGEST
        return lower, upper

    def sources(
        self, values: Float[Tensor, "row channel"], points: Float[Tensor, "row dim"]
    ) -> Float[Tensor, "source row component"]:
        """Return all loads in the volume."""
        found = []
        for load in self.loads:
            if not self._components_of_source(load):
                continue
            given = load.of(values, points)
            if load.kind == "vector":
                found.append(given[None] if self.num_components > 1 else given.T[:, :, None])
            else:
                found.append(torch.eye(self.num_components).to(given)[:, None] * given[None])
        return torch.cat(found)

    def volume_loads(
        self, elements: Elements, values: Float[Tensor, "point channel"]
    ) -> Float[Tensor, "source cell vertex component"]:
        """Return all loads in the volume on the corners of each cell."""
        return consistent(elements.volumes, self.sources(values, elements.points)[:, elements.cells])

    def tractions(
        self, elements: Elements, values: Float[Tensor, "point channel"]
    ) -> Float[Tensor, "load facet corner component"]:
        """Return all loads on the boundary."""
        rows = elements.facets.flatten()
        across = elements.normals.repeat_interleave(elements.facets.shape[1], dim=0)
        found = []
        for load in self.loads:
            given = load.of(values[rows], elements.points[rows])
            if load.kind == "tensor":
                given = torch.einsum("rij,rj->ri", given.unflatten(1, (self.dim, self.dim)), across)
            elif self.num_components > 1 and load.axis is not None:
                given = given * torch.eye(self.dim).to(given)[load.axis]
            elif self.num_components > 1 and load.kind != "vector":
                given = given * across
            if self.num_components == 1 and given.shape[1] > 1:
                given = (given * across).sum(dim=1, keepdim=True)
            found.append(given)
        return torch.stack(found).unflatten(1, elements.facets.shape)

    def in_cells(
        self,
        shape: Float[Tensor, " shape"],
        given: Given,
        elements: Elements,
        solution: Float[Tensor, "cell vertex component"],
    ) -> Float[Tensor, "cell vertex component"]:
        """Return what the left-hand side makes of a solution in each cell, for the hat functions of its corners."""
        slopes = torch.einsum("cvd,cvk->ckd", elements.slopes, solution)
        flux = self.flux(shape, given, solution, slopes)
        # Einsum looks for the best order of three operands each time, which takes longer than what it finds.
        found = torch.einsum("cvd,ckd->cvk", elements.slopes, elements.volumes[:, None, None] * flux)
        found = found + consistent(self.mass(shape, given.features) * elements.volumes, solution)
        if self.num_components > 1:
            return found
        along = (self._drift(shape, given.vectors)[:, None] * slopes).sum(dim=2, keepdim=True)
        found = found + (elements.volumes / solution.shape[1])[:, None, None] * along
        first, second = FAST * shape[self._places["reaction"]]
        return found + consistent(elements.volumes, (first + second * solution) * solution.square())

    def on_facets(
        self,
        shape: Float[Tensor, " shape"],
        given: Given,
        elements: Elements,
        solution: Float[Tensor, "facet corner component"],
    ) -> Float[Tensor, "facet corner component"]:
        """Return the same of each facet."""
        return consistent(self.exchange(shape, given, elements) * elements.areas, solution)

    def exchange(self, shape: Float[Tensor, " shape"], given: Given, elements: Elements) -> Float[Tensor, " facet"]:
        """Return the coefficient h of each facet of the boundary."""
        factors = exponential(given.facet_features @ shape[self._places["exchange_medium"]])
        return _odds(shape[self._places["exchange"]])[elements.parts] * factors

    def medium(
        self,
        shape: Float[Tensor, " shape"],
        features: Float[Tensor, "cell feature"],
        solution: Float[Tensor, "cell vertex component"],
        slopes: Float[Tensor, "cell component dim"],
    ) -> Float[Tensor, " cell"]:
        """Return the medium a in each cell."""
        exponent = features @ shape[self._places["medium"]]
        if self.num_components == 1:
            (first, second), (power, size) = shape[self._places["by_value"]], shape[self._places["by_slope"]]
            value = solution[:, :, 0].mean(dim=1)
            steep = torch.log1p(torch.exp(size) * slopes[:, 0].square().sum(dim=1))
            exponent = exponent + (first + second * value) * value + power * steep
        return exponential(exponent)

    def flux(
        self,
        shape: Float[Tensor, " shape"],
        given: Given,
        solution: Float[Tensor, "cell vertex component"],
        slopes: Float[Tensor, "cell component dim"],
    ) -> Float[Tensor, "cell component dim"]:
        """Return the flux or stress that a solution with some gradients leads to."""
        found = self.medium(shape, given.features, solution, slopes)[:, None, None] * self._in_unit_medium(
            shape, slopes
        )
        for number, share in enumerate(shape[self._places["tensor"]]):
            found = (1.0 - share) * found + share * (slopes @ given.tensors[:, number])
        return found

    def _in_unit_medium(
        self, shape: Float[Tensor, " shape"], slopes: Float[Tensor, "cell component dim"]
    ) -> Float[Tensor, "cell component dim"]:
        further = shape[self._places["flux"]]
        if self.num_components == 1:
            return slopes @ torch.linalg.matrix_exp(self._anisotropy(shape))
        trace = slopes.diagonal(dim1=1, dim2=2).sum(dim=1)
        pressure = torch.exp(further[0]) * trace[:, None, None] * torch.eye(self.dim).to(slopes)
        return slopes + slopes.mT + pressure

    def _anisotropy(self, shape: Float[Tensor, " shape"]) -> Float[Tensor, "dim dim"]:
        """Return the logarithm of the symmetric matrix between gradient and flux."""
        both = torch.cat([shape[self._places["flux"]], shape[self._places["shear"]]])
        return torch.einsum("k,kij->ij", both, self._directions)

    def mass(self, shape: Float[Tensor, " shape"], features: Float[Tensor, "cell feature"]) -> Float[Tensor, " cell"]:
        """Return the coefficient c in each cell."""
        size = _odds(shape[self._places["mass"]]) - _RESONANT * _odds(shape[self._places["growth"]])
        return size * exponential(features @ shape[self._places["mass_medium"]])

    def _drift(
        self, shape: Float[Tensor, " shape"], vectors: Float[Tensor, "cell vector dim"]
    ) -> Float[Tensor, "cell dim"]:
        constant, factors = (FAST * shape[self._places["drift"]]).split([self.dim, len(self.vectors)])
        return constant + torch.einsum("v,cvd->cd", factors, vectors)

    def _components_of_source(self, load: Load) -> int:
        if load.kind == "vector":
            return 1 if self.num_components > 1 else self.dim
        return 0 if load.kind == "tensor" or load.axis is not None else self.num_components

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"kind": self.kind, **asdict(self)}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> "Law":
        """Undo :meth:`to_dict`."""
        loads = (
            Load(**{**load, "channels": tuple(load["channels"]), "factors": tuple(load.get("factors", ()))})
            for load in values["loads"]
        )
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


def exponential(exponent: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """Return the exponential; inputs far beyond those that were fitted to would make it infinite."""
    return torch.exp(exponent.clamp(-_LARGEST, _LARGEST))


def consistent(
    sizes: Float[Tensor, " simplex"], values: Float[Tensor, "*batch simplex vertex component"]
) -> Float[Tensor, "*batch simplex vertex component"]:
    """Integrate a function, linear in simplices of some size, times the hat function of each corner."""
    count = values.shape[-2]
    total = values + values.sum(dim=-2, keepdim=True)
    return sizes[:, None, None] * total / (count * (count + 1))
