r"""Sums of products of cosines over the points of a plane, by way of a grid: a nonuniform fast Fourier transform.

Each point is spread over the 16 × 16 nodes around it with weights of a smooth bump, and the cosines are summed up over
the nodes, where two products of small matrices do. What the bump did to each cosine is known and divided out. So a
point costs the same however many cosines there are. The other way round, values at the nodes are interpolated at points
with the same weights. With :math:`\exp(β(\sqrt{1-z^2}-1))` as the bump, and twice as many nodes as cosines, that is
exact to rounding (Barnett, Magland and af Klinteberg, "A parallel nonuniform fast Fourier transform library based on an
exponential of semicircle kernel", 2019).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.recording import is_recorded
from gola.representation.gridding_loops import DEGREE, WIDTH, interpolate, spread

# As steep as twice as many nodes as cosines allow.
_STEEPNESS = 2.3 * WIDTH
# With fewer points the cosines themselves are as quick.
_MANY_POINTS = 256
# Of more values at each point products of matrices are as quick, and grids would leave the cache.
_FEW_COLUMNS = 16
# So many places make the integral over a bump exact to rounding.
_PLACES = 200


def is_quickest(num_columns: int, angles: Float[Tensor, "point dim"], *values: Tensor) -> bool:
    """Whether the way over a grid is quickest, and open: no derivatives pass it.

    Args:
        num_columns: How many values belong to a point.
        angles: Of the points.
        values: What is summed up.
    """
    if angles.shape[1] != 2 or len(angles) < _MANY_POINTS or num_columns > _FEW_COLUMNS:
        return False
    return not is_recorded() and all(map(_is_plain, (angles, *values)))


def are_near(angles: Float[Tensor, "point 2"]) -> bool:
    """Whether all angles are less than π away from those of the box, which nodes are laid out for."""
    least, most = angles.aminmax()
    return float(least) >= -math.pi and float(most) <= 2.0 * math.pi


def _is_plain(values: Tensor) -> bool:
    is_number = values.dtype == torch.float64 and values.device.type == "cpu"
    return is_number and type(values) is Tensor and not values.requires_grad


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """Nodes for some number of cosines along each axis.

    Attributes:
        cosines: Along an axis at the nodes, some of which lie beyond its ends, with what a bump does divided out.
    """

    cosines: Float[Tensor, "wave node"]

    @staticmethod
    @lru_cache(maxsize=8)
    def of(size: int) -> "Grid":
        """Lay out nodes for the cosines of the multiples 0, …, size − 1."""
        waves = torch.arange(size, dtype=torch.float64)[:, None]
        angle = torch.pi / (2 * size)
        nodes = angle * (torch.arange(2 * size + WIDTH, dtype=torch.float64) - WIDTH // 2)
        places, weights = (torch.from_numpy(one) for one in np.polynomial.legendre.leggauss(_PLACES))
        seen = 0.5 * WIDTH * torch.cos(0.5 * WIDTH * angle * waves * places) @ (weights * _bump(places))
        return Grid(cosines=torch.cos(waves * nodes) / seen[:, None])

    def nodes(self, *shape: int) -> Float[Tensor, "*shape node node"]:
        """Return nodes that nothing was spread over yet."""
        return self.cosines.new_zeros(*shape, self.cosines.shape[1], self.cosines.shape[1])

    @staticmethod
    def spread(
        angles: Float[Tensor, "point 2"],
        values: Float[Tensor, "point channel"],
        nodes: Float[Tensor, "channel node node"],
    ) -> None:
        """Spread the values at points over the nodes; angles lie near the box."""
        per_radian = (nodes.shape[-1] - WIDTH) / math.pi
        spread(angles.contiguous(), values.contiguous(), _polynomials(), nodes, per_radian)

    def sums(self, nodes: Float[Tensor, "*shape node node"], size: int) -> Float[Tensor, "*shape wave wave"]:
        r"""Return :math:`\sum_i v_i \cos kθ_i \cos lη_i` for k and l below a size, of values that were spread."""
        cosines = self.cosines[:size]
        return cosines @ nodes @ cosines.T

    def values(self, table: Float[Tensor, "*shape wave wave"]) -> Float[Tensor, "*shape node node"]:
        r"""Return values at the nodes that :math:`\sum_{kl} a_{kl} \cos kθ \cos lη` is interpolated from."""
        return (self.cosines.T @ table @ self.cosines).contiguous()

    @staticmethod
    def interpolate(
        angles: Float[Tensor, "point 2"], nodes: Float[Tensor, "channel node node"]
    ) -> Float[Tensor, "point channel"]:
        """Interpolate values at points from those at the nodes; angles lie near the box."""
        found = angles.new_empty(len(angles), len(nodes))
        per_radian = (nodes.shape[-1] - WIDTH) / math.pi
        interpolate(angles.contiguous(), found, _polynomials(), nodes, per_radian)
        return found


def _bump(places: Float[Tensor, " place"]) -> Float[Tensor, " place"]:
    """Return what a bump is between its ends at -1 and 1."""
    return torch.exp(_STEEPNESS * ((1.0 - places.square()).clamp(min=0.0).sqrt() - 1.0))


@lru_cache(maxsize=1)
def _polynomials() -> Float[Tensor, "power node"]:
    """Return what polynomials the bump is at each of the nodes under it, of where it is, from the highest power on."""
    places = torch.cos(torch.pi * (torch.arange(4.0 * DEGREE, dtype=torch.float64) + 0.5) / (4 * DEGREE))
    nodes = 2.0 * torch.arange(WIDTH, dtype=torch.float64)[:, None]
    values = _bump(((places + 1.0 - WIDTH + nodes) / WIDTH).flatten()).view(WIDTH, -1)
    series = np.polynomial.chebyshev.chebfit(places.numpy(), values.T.numpy(), DEGREE)
    powers = [np.polynomial.chebyshev.cheb2poly(one) for one in np.eye(DEGREE + 1)]
    matrix = np.stack([np.pad(one, (0, DEGREE + 1 - len(one))) for one in powers], axis=1)
    return torch.from_numpy((matrix @ series)[::-1].copy())
