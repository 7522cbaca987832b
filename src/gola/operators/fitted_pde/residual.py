"""How far known solutions are from fulfilling an equation: errors without minima of resonances and boundaries."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.sparse.linalg import SuperLU
from torch import Tensor

from gola.operators.fitted_pde.elements import num_parts
from gola.operators.fitted_pde.law import Law
from gola.operators.fitted_pde.sparse import NoFactors, factorised
from gola.operators.fitted_pde.system import System


@final
@dataclass(frozen=True, eq=False)
class Residual:
    r"""A solution less what the equation says against it (its equation error), measured by the Laplacian.

    .. math:: \hat u = u - (-\Delta)^{-1} r(u) \text{ inside}, \qquad
              \hat u = u - \frac{r(u)}{1 + h} \text{ on the boundary}

    with the residual r of the weak form. Coefficients that make :math:`\hat u = u` fulfil the equation. Nothing is
    solved with the coefficients, so there are no resonances, and the residual is linear in most of them.

    Attributes:
        system: The equation on a mesh.
        targets: The solution u.
    """

    system: System
    targets: Float[Tensor, "point component"]

    @cached_property
    def _shares(self) -> Float[Tensor, "point part"]:
        """The length, in space the area, of each part of the boundary around each point."""
        elements = self.system.elements
        found = torch.zeros(elements.num_points, num_parts(elements.dim), dtype=torch.float64)
        corners = elements.facets.shape[1]
        places = elements.facets.flatten(), elements.parts.repeat_interleave(corners)
        return found.index_put(places, elements.areas.repeat_interleave(corners) / corners, accumulate=True)

    @cached_property
    def _inside(self) -> Bool[Tensor, " point"]:
        elements = self.system.elements
        has_cells = elements.stand_ins == torch.arange(elements.num_points)
        return has_cells & (self._shares.sum(dim=1) == 0.0)

    @cached_property
    def _laplacian(self) -> SuperLU | NoFactors:
        elements, inside = self.system.elements, self._inside
        products = torch.einsum("cvd,cwd->cvw", elements.slopes, elements.slopes) * elements.volumes[:, None, None]
        count = elements.cells.shape[1]
        rows = elements.cells.repeat_interleave(count, dim=1).flatten()
        columns = elements.cells.repeat(1, count).flatten()
        kept = inside[rows] & inside[columns]
        others = torch.nonzero(~inside)[:, 0]
        entries = torch.cat([products.flatten()[kept], torch.ones(len(others), dtype=torch.float64)])
        first, second = (torch.cat([some[kept], others]).numpy() for some in (rows, columns))
        return factorised(entries.numpy(), first, second, elements.num_points)

    def solution(self, coefficients: Float[Tensor, " coefficient"]) -> Float[Tensor, "point component"]:
        """Return the known solution less its error."""
        return self.linearised(coefficients, torch.zeros(len(coefficients), 0, dtype=torch.float64))[0]

    def linearised(
        self, coefficients: Float[Tensor, " coefficient"], free: Float[Tensor, "coefficient free"]
    ) -> tuple[Float[Tensor, "point component"], Float[Tensor, "point component free"]]:
        """Return the same, and its derivatives by coefficients that are free."""
        law = self.system.law
        assert isinstance(law, Law)
        residual = self.system.residual(
            coefficients[: law.num_shapes], self.targets, coefficients[law.num_shapes :]
        ).view_as(self.targets)
        slopes = self.system.residual_slopes(coefficients, self.targets.flatten(), free)
        slopes = slopes.unflatten(0, self.targets.shape)
        place, sizes = law.place("exchange"), self._shares.sum(dim=1, keepdim=True).clamp(min=1e-300)
        shares = self._shares / sizes
        # What exchange is fitted by, h / (1 + h), makes this linear in it, and finite for given values.
        open_to = 1.0 - shares @ coefficients[place]
        boundary = open_to[:, None] * residual / sizes
        changes = open_to[:, None, None] * slopes - (shares @ free[place])[:, None] * residual[:, :, None]
        both = torch.cat([residual[..., None], slopes], dim=2) * self._inside[:, None, None]
        solved = [self._laplacian.solve(np.ascontiguousarray(one)) for one in both.unbind(dim=1)]
        error = torch.from_numpy(np.stack(solved, axis=1))
        at_boundary = (~self._inside & (self._shares.sum(dim=1) > 0.0))[:, None]
        error = error + at_boundary[..., None] * torch.cat([boundary[..., None], changes / sizes[..., None]], dim=2)
        return self.targets - error[..., 0], -error[..., 1:]
