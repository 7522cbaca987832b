r"""Kernel regression on a periodic box, that commutes with all shifts of it.

Where with each input f and its solution u also the shifted input :math:`T_s f` has the shifted solution :math:`T_s u`,
every sample is worth as many as there are shifts. Regression with all these copies,

.. math:: u = \sum_j \sum_s k(f, T_s f_j)\, T_s \alpha_j + c,

needs no copies: k depends on f and :math:`T_s f_j` by their distance alone, so for each wave ω the Fourier transform
over the shifts leaves one small system between samples,

.. math:: \hat u_i(\omega) = \sum_j \hat K_{ij}(\omega)\, \hat\alpha_j(\omega), \qquad
    \hat K_{ij}(\omega) = \sum_s k(f_i, T_s f_j)\, e^{-2\pi i \omega s}.

Leave-one-out predictions, without a sample and all its copies, follow for each wave as in any ridge regression.
"""

import math
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor

from gola.operators.closed_form.covariance import Family, similarity


@final
@dataclass(frozen=True, kw_only=True)
class ShiftKernel:
    r"""A kernel of functions on a periodic grid.

    .. math:: k(f, g) = m(\lVert f - g \rVert / \ell) + \tau \langle f, g \rangle

    Norm and inner product weigh waves by :math:`(1 + |\omega|^2/\omega_0^2)^{-s}`; the second term is the kernel of
    convolutions.

    Attributes:
        family: The function m.
        exponent: The exponent s.
        length: The length ℓ, in units of the root mean square distance of the training inputs.
        trend: The weight τ.
        penalty: The ridge, as a share of the mean of the diagonal.
    """

    family: Family = "matern"
    exponent: float = 2.0
    length: float = 1.0
    trend: float = 0.3
    penalty: float = 1e-5


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Spectra:
    """Input functions as weighted Fourier coefficients.

    Attributes:
        coefficients: Of half of all waves, those of the others being conjugate.
        squares: Squared norm of each function.
        sides: Nodes along each axis.
    """

    coefficients: Complex[Tensor, "sample *wave channel"]
    squares: Float[Tensor, " sample"]
    sides: tuple[int, ...]

    @staticmethod
    def of(
        functions: Float[Tensor, "sample node channel"], sides: tuple[int, ...], exponent: Float[Tensor, ""]
    ) -> "Spectra":
        """Transform functions, and weigh their waves."""
        axes = tuple(range(1, 1 + len(sides)))
        coefficients = torch.fft.rfftn(functions.unflatten(1, sides), dim=axes, norm="ortho")
        coefficients = coefficients * _wave_weights(sides, exponent)[..., None]
        powers = coefficients.abs().square().sum(dim=-1) * _multiplicities(sides)
        return Spectra(coefficients=coefficients, squares=powers.flatten(1).sum(dim=1), sides=sides)

    def products(self, others: "Spectra") -> Float[Tensor, "row column *shift"]:
        """Return the inner products with all shifts of other functions."""
        powers = torch.einsum("i...c,j...c->ij...", self.coefficients, others.coefficients.conj())
        axes = tuple(range(2, 2 + len(self.sides)))
        return torch.fft.irfftn(powers, s=self.sides, dim=axes, norm="forward")


def transformed_kernel(
    rows: Spectra,
    columns: Spectra,
    family: Family,
    unit: Float[Tensor, ""],
    length: Float[Tensor, ""],
    trend: Float[Tensor, ""],
    kept: Int[Tensor, " wave"],
) -> Complex[Tensor, "wave row column"]:
    """Evaluate the kernel between functions and all shifts of others, and transform it over the shifts.

    Args:
        rows: The functions.
        columns: The others.
        family: Of the kernel.
        unit: Of squared distances and inner products.
        length: Of the kernel.
        trend: Weight of the linear term.
        kept: The waves to return, see :func:`strong_waves`.
    """
    products = rows.products(columns) / unit
    shape = (len(rows.squares), len(columns.squares), *(1,) * len(rows.sides))
    squares = (rows.squares[:, None] + columns.squares).view(shape) / unit - 2.0 * products
    values = similarity(family, squares.clamp(min=0.0) / length**2) + trend * products
    return torch.fft.rfftn(values, dim=tuple(range(2, 2 + len(rows.sides)))).flatten(2)[..., kept].movedim(2, 0)


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ShiftRegression:
    """A fitted regression, wave by wave.

    Attributes:
        dual: The coefficients α̂.
        offset: The constant c of each channel.
        residuals: Errors of the leave-one-out predictions.
    """

    dual: Complex[Tensor, "wave sample channel"]
    offset: Float[Tensor, " channel"]
    residuals: Float[Tensor, "sample node channel"]

    @staticmethod
    def fit(
        kernel: Complex[Tensor, "wave sample sample"],
        targets: Float[Tensor, "sample node channel"],
        sides: tuple[int, ...],
        ridge: Float[Tensor, ""],
        groups: Int[Tensor, "group member"],
        kept: Int[Tensor, " wave"],
    ) -> "ShiftRegression":
        """Solve for each wave.

        Args:
            kernel: The transformed kernel.
            targets: Solutions at the nodes.
            sides: Nodes along each axis.
            kept: The waves that are solved for.
            ridge: The ridge.
            groups: Samples that are held out together, as copies by symmetry are.
        """
        wanted = to_waves(targets, sides)[kept]
        # Waves are independent of each other, and all inverses at once would not fit into memory.
        size = max(1, _NUMBERS_AT_ONCE // kernel.shape[1] ** 2)
        solved = [
            _solved(part, values, ridge, groups, has_constant=number == 0)
            for number, (part, values) in enumerate(zip(kernel.split(size), wanted.split(size), strict=True))
        ]
        return ShiftRegression(
            dual=torch.cat([dual for dual, _, _ in solved]),
            offset=solved[0][2].real.clone(memory_format=torch.contiguous_format),
            residuals=from_waves(torch.cat([residuals for _, residuals, _ in solved]), sides, kept),
        )


# Entries of the matrices of some waves.
_NUMBERS_AT_ONCE = 4_000_000


def _solved(
    kernel: Complex[Tensor, "wave sample sample"],
    wanted: Complex[Tensor, "wave sample channel"],
    ridge: Float[Tensor, ""],
    groups: Int[Tensor, "group member"],
    *,
    has_constant: bool,
) -> tuple[Complex[Tensor, "wave sample channel"], Complex[Tensor, "wave sample channel"], Complex[Tensor, " channel"]]:
    """Return coefficients and held-out residuals of some waves, and the constant if it is the first of them."""
    shifted = kernel + ridge * torch.eye(kernel.shape[1], dtype=kernel.dtype)
    factor = torch.linalg.cholesky(0.5 * (shifted + shifted.mH))
    precision = torch.cholesky_inverse(factor)
    offset = wanted.new_zeros(wanted.shape[2])
    if has_constant:
        # No ridge holds the constant back, which all shifts leave as it is.
        sums = precision[0].sum(dim=1, keepdim=True)
        total = sums.sum()
        offset = (sums.mH @ wanted[0] / total)[0]
        precision = torch.cat([(precision[0] - sums @ sums.mH / total)[None], precision[1:]])
        wanted = torch.cat([wanted[:1] - offset, wanted[1:]])
    # Products with an inverse lose the digits that the solution of a system keeps.
    dual = torch.cholesky_solve(wanted, factor)
    blocks = precision[:, groups[:, :, None], groups[:, None, :]]
    found = torch.linalg.solve(blocks, dual[:, groups])
    residuals = torch.empty_like(dual).index_copy(1, groups.flatten(), found.flatten(1, 2))
    # What rounding does to predictions shows in the held-out ones too.
    return dual, residuals + wanted - shifted @ dual, offset


def predicted(
    kernel: Complex[Tensor, "wave row sample"],
    dual: Complex[Tensor, "wave sample channel"],
    offset: Float[Tensor, " channel"],
    sides: tuple[int, ...],
    kept: Int[Tensor, " wave"],
) -> Float[Tensor, "row node channel"]:
    """Return solutions at the nodes."""
    waves = kernel @ dual
    waves = torch.cat([waves[:1] + offset, waves[1:]])
    return from_waves(waves, sides, kept)


def mean_diagonal(kernel: Complex[Tensor, "wave sample sample"]) -> Float[Tensor, ""]:
    """Return the mean of the diagonal, the unit of ridges."""
    return kernel.diagonal(dim1=1, dim2=2).real.mean()


def to_waves(
    functions: Float[Tensor, "sample node channel"], sides: tuple[int, ...]
) -> Complex[Tensor, "wave sample channel"]:
    """Return Fourier coefficients."""
    axes = tuple(range(1, 1 + len(sides)))
    waves = torch.fft.rfftn(functions.unflatten(1, sides), dim=axes, norm="forward")
    return waves.flatten(1, -2).movedim(1, 0)


def from_waves(
    waves: Complex[Tensor, "wave sample channel"], sides: tuple[int, ...], kept: Int[Tensor, " wave"]
) -> Float[Tensor, "sample node channel"]:
    """Undo :func:`to_waves`, where only some waves are known and the others are zero."""
    halved = (*sides[:-1], sides[-1] // 2 + 1)
    every = waves.new_zeros(math.prod(halved), *waves.shape[1:]).index_copy(0, kept, waves)
    axes = tuple(range(1, 1 + len(sides)))
    functions = torch.fft.irfftn(every.movedim(0, 1).unflatten(1, halved), s=sides, dim=axes, norm="forward")
    return functions.flatten(1, -2)


def halved(
    functions: Float[Tensor, "sample node channel"], sides: tuple[int, ...]
) -> Float[Tensor, "sample coarse_node channel"]:
    """Return functions on a grid with half as many nodes along each axis, without the waves that it cannot hold."""
    axes = tuple(range(1, 1 + len(sides)))
    waves = torch.fft.fftn(functions.unflatten(1, sides), dim=axes, norm="forward")
    for axis, side in zip(axes, sides, strict=True):
        # The wave at the end of the coarse grid has no partner.
        rows = [row for row in range(side) if min(row, side - row) <= (side // 2 - 1) // 2]
        gap = side // 2 - len(rows)
        kept = waves.index_select(axis, torch.tensor(rows))
        middle = (len(rows) + 1) // 2
        parts = kept.split([middle, len(rows) - middle], dim=axis)
        shape = [gap if number == axis else size for number, size in enumerate(kept.shape)]
        waves = torch.cat([parts[0], kept.new_zeros(shape), parts[1]], dim=axis)
    return torch.fft.ifftn(waves, dim=axes, norm="forward").real.flatten(1, -2)


def strong_waves(
    functions: Float[Tensor, "sample node channel"], sides: tuple[int, ...], negligible: float
) -> Int[Tensor, " wave"]:
    """Return the waves that functions consist of, up to a share of their squares; the constant first."""
    powers = to_waves(functions, sides).abs().square().sum(dim=(1, 2))
    order = powers.argsort(descending=True)
    rest = powers.sum() - powers[order].cumsum(dim=0)
    strong = order[: int((rest > negligible * powers.sum()).sum()) + 1]
    return torch.unique(torch.cat([strong.new_zeros(1), strong]))


# The wave number up to which all waves count alike.
_CORNER = 3.0


def _wave_weights(sides: tuple[int, ...], exponent: Float[Tensor, ""]) -> Float[Tensor, "*wave"]:
    axes = [torch.fft.fftfreq(side, 1.0 / side) for side in sides[:-1]]
    axes.append(torch.fft.rfftfreq(sides[-1], 1.0 / sides[-1]))
    squares = sum(axis.double() ** 2 for axis in torch.meshgrid(*axes, indexing="ij"))
    return (1.0 + squares / _CORNER**2) ** (-0.5 * exponent)


def _multiplicities(sides: tuple[int, ...]) -> Float[Tensor, " last_wave"]:
    """Return how many waves each of the half of them stands for, along the last axis."""
    counts = torch.full((sides[-1] // 2 + 1,), 2.0, dtype=torch.float64)
    counts[0] = 1.0
    if sides[-1] % 2 == 0:
        counts[-1] = 1.0
    return counts
