r"""Covariances between samples whose inputs come in groups: parameters, modes of a geometry, fields.

.. math::

    k(f, g) = \Bigl( m(r) + \tau \sum_{a \notin L} \langle f_a, g_a \rangle \Bigr)
              \Bigl( \beta + \sum_{a \in L} w_a \langle f_a, g_a \rangle \Bigr), \qquad
    r^2 = \sum_{a \notin L} \frac{\lVert f_a - g_a \rVert^2}{\ell_a^2}

m is the Matérn covariance of smoothness 5/2 or the Gaussian one, with a length for each group (automatic relevance
determination). Operators that are linear in some groups L, as solutions are in loads and sources, and depend smoothly
on the others, as on media and geometry, get the product; where L is empty the second factor is 1.

Solutions may scale with loads without being linear in them, as the von Mises stress, a norm, does. Then the second
factor is :math:`\lVert f \rVert \lVert g \rVert e^{c - 1}` with the cosine c between the loads of both samples, in the
inner product above, or :math:`\lVert f \rVert \lVert g \rVert e^{(c^2 - 1) / 2}` where opposite loads do the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import torch
from jaxtyping import Float
from torch import Tensor

Family = Literal["matern", "gaussian"]
FAMILIES: tuple[Family, ...] = ("matern", "gaussian")
Response = Literal["linear", "homogeneous", "even"]
"""How solutions follow loads: linearly; scaling with them; scaling with them, whatever their sign."""
RESPONSES: tuple[Response, ...] = ("linear", "homogeneous", "even")

# A square root has an infinite slope at 0, which equal inputs reach.
_SMALLEST = 1e-24


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Groups:
    """Inputs of some samples, group by group.

    Attributes:
        smooth: Of each group, centred and with unit mean square over the training samples: what distances are of.
        linear: Of each group, not centred and not transformed: what an operator may be linear in.
    """

    smooth: Sequence[Float[Tensor, "sample _"]]
    linear: Sequence[Float[Tensor, "sample _"]]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """What a covariance needs to know of each pair of samples.

    Attributes:
        squares: Squared distance in each group.
        products: Inner product in each group, centred.
        linear: Inner product in each group, not centred.
        row_norms: Squared norm of each row in each group, not centred.
        column_norms: The same of each column.
    """

    squares: Float[Tensor, "group row column"]
    products: Float[Tensor, "group row column"]
    linear: Float[Tensor, "group row column"]
    row_norms: Float[Tensor, "group row"]
    column_norms: Float[Tensor, "group column"]

    @staticmethod
    def of(rows: Groups, columns: Groups) -> "Pairs":
        """Compare samples with others."""
        smooth = list(zip(rows.smooth, columns.smooth, strict=True))
        return Pairs(
            # Differences, not the cheaper inner products: nearly equal inputs must have nearly no distance.
            squares=torch.stack(
                [torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist") ** 2 for a, b in smooth]
            ),
            products=torch.stack([a @ b.T for a, b in smooth]),
            linear=torch.stack([a @ b.T for a, b in zip(rows.linear, columns.linear, strict=True)]),
            row_norms=torch.stack([group.square().sum(dim=1) for group in rows.linear]),
            column_norms=torch.stack([group.square().sum(dim=1) for group in columns.linear]),
        )


@final
@dataclass(frozen=True, kw_only=True)
class Covariance:
    r"""A covariance, with the ridge of the regression.

    Attributes:
        family: The function m.
        is_linear: Which groups the operator is linear in.
        scales: The length :math:`\ell_a` of each smooth group and the weight :math:`w_a` of each linear one.
        trend: The weight :math:`\tau` of what is linear in the smooth groups.
        is_affine: Whether :math:`\beta` is 1, and the regression has a free constant: without, an operator that is
            linear in some groups vanishes with them.
        penalty: The ridge, as a share of the mean of the diagonal.
        response: How solutions follow the groups that the operator is linear in.
    """

    family: Family = "matern"
    is_linear: tuple[bool, ...]
    scales: tuple[float, ...]
    trend: float = 0.02
    is_affine: bool = True
    penalty: float = 1e-4
    response: Response = "linear"

    def __call__(self, pairs: Pairs) -> Float[Tensor, "row column"]:
        """Evaluate the covariance."""
        return covariance_matrix(
            pairs,
            self.family,
            torch.tensor(self.is_linear),
            pairs.squares.new_tensor(self.scales),
            pairs.squares.new_tensor(self.trend),
            is_affine=self.is_affine,
            response=self.response,
        )


def covariance_matrix(
    pairs: Pairs,
    family: Family,
    is_linear: Tensor,
    scales: Float[Tensor, " group"],
    trend: Float[Tensor, ""],
    *,
    is_affine: bool,
    response: Response = "linear",
) -> Float[Tensor, "row column"]:
    """Evaluate a covariance; differentiable in scales and trend."""
    smooth = ~is_linear
    squares = torch.tensordot(scales[smooth] ** -2.0, pairs.squares[smooth], dims=1)
    matrix = similarity(family, squares) + trend * pairs.products[smooth].sum(dim=0)
    if not bool(is_linear.any()):
        return matrix
    return matrix * load_factor(pairs, is_linear, scales[is_linear], is_affine=is_affine, response=response)


def load_factor(
    pairs: Pairs, is_linear: Tensor, weights: Float[Tensor, " load"], *, is_affine: bool, response: Response
) -> Float[Tensor, "row column"]:
    """Evaluate the second factor, which says how solutions follow loads; differentiable in the weights."""
    loads = torch.tensordot(weights, pairs.linear[is_linear], dims=1)
    if response == "linear":
        return float(is_affine) + loads
    rows, columns = (weights @ norms[is_linear] for norms in (pairs.row_norms, pairs.column_norms))
    sizes = torch.sqrt(rows[:, None] * columns + _SMALLEST)
    cosines = loads / sizes
    return sizes * torch.exp(cosines - 1.0 if response == "homogeneous" else 0.5 * (cosines**2 - 1.0))


def similarity(family: Family, squares: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Evaluate the function m of squared distances in units of the length."""
    if family == "gaussian":
        return torch.exp(-0.5 * squares)
    distances = torch.sqrt(5.0 * squares + _SMALLEST)
    return (1.0 + distances + distances**2 / 3.0) * torch.exp(-distances)


def similarity_slope(family: Family, squares: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return the derivative of the function m by the squared distance."""
    if family == "gaussian":
        return -0.5 * torch.exp(-0.5 * squares)
    distances = torch.sqrt(5.0 * squares)
    return -5.0 / 6.0 * (1.0 + distances) * torch.exp(-distances)


def covariance_gradient(
    pairs: Pairs,
    family: Family,
    is_linear: Tensor,
    scales: Float[Tensor, " group"],
    trend: Float[Tensor, ""],
    *,
    is_affine: bool,
    slope: Float[Tensor, "row column"],
    response: Response = "linear",
) -> tuple[Float[Tensor, " group"], Float[Tensor, ""]]:
    """Return derivatives by the logarithms of scales and trend of a function of the covariance matrix.

    The same as differentiating :func:`covariance_matrix` automatically, in a fraction of the time.

    Args:
        pairs: Pairs of samples.
        family: Of the covariance.
        is_linear: Which groups the operator is linear in.
        scales: Lengths and weights.
        trend: Weight of what is linear in smooth groups.
        is_affine: Whether what is linear may have a constant part.
        slope: Derivative of the function by each entry of the matrix.
        response: How solutions follow what the operator is linear in.
    """
    smooth, gradient = ~is_linear, torch.zeros_like(scales)
    squares = torch.tensordot(scales[smooth] ** -2.0, pairs.squares[smooth], dims=1)
    products = pairs.products[smooth].sum(dim=0)
    if bool(is_linear.any()):
        every = slope * (similarity(family, squares) + trend * products)
        weights = scales[is_linear].detach().requires_grad_(response != "linear")
        factor = load_factor(pairs, is_linear, weights, is_affine=is_affine, response=response)
        if response == "linear":
            by_weights = torch.tensordot(pairs.linear[is_linear], every, dims=2)
        else:
            (by_weights,) = torch.autograd.grad((every * factor).sum(), weights)
        gradient[is_linear] = scales[is_linear] * by_weights
        slope = slope * factor.detach()
    by_square = torch.tensordot(pairs.squares[smooth], slope * similarity_slope(family, squares), dims=2)
    gradient[smooth] = -2.0 * scales[smooth] ** -2.0 * by_square
    return gradient, trend * (slope * products).sum()
