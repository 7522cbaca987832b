r"""Products of cosines on a box: the functions that all samples are expressed in.

On a box with lower corner o and sides E, the function of the wave numbers :math:`k = (k_1, …, k_d)` is

.. math:: \phi_k(x) = \prod_a c_{k_a} \cos\bigl(k_a \pi (x_a - o_a) / E_a\bigr), \qquad c_0 = 1,\ c_k = \sqrt 2,

so that the functions are orthonormal for the mean over the box.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from gola.representation.gridding import Grid, are_near, is_quickest
from gola.representation.products import product

# Cosines of so many multiples of an angle in a row share two factors with all others.
_BLOCK = 8
# Volume of the unit ball by dimension.
_BALLS = {1: 2.0, 2: math.pi, 3: 4.19, 4: 4.93}
# On a line, of so many functions or more at once, plain products of matrices are as fast as anything.
_FEW_COLUMNS = 16


@lru_cache(maxsize=8)
def lowest_waves(count: int, dim: int) -> Int[Tensor, "mode dim"]:
    """Return the wave numbers of lowest frequency, the constant first; the box counts as a cube.

    >>> lowest_waves(4, dim=2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    # The ball of these wave numbers has 2⁻ᵈ of its volume among the non-negative ones, and some margin.
    longest = math.ceil((count * 2**dim / _BALLS[dim]) ** (1.0 / dim)) + 2
    waves = torch.cartesian_prod(*[torch.arange(longest + 1)] * dim).reshape(-1, dim)
    order = torch.sort(waves.square().sum(dim=1), stable=True).indices
    return waves[order[:count]]


def axis_cosines(angles: Float[Tensor, " point"], count: int) -> Float[Tensor, "wave point"]:
    r"""Evaluate cos(kθ) for k = 0, …, count − 1, a row for each k.

    Cosines and sines of few multiples suffice, :math:`\cos (8i + j)θ = \cos 8iθ \cos jθ - \sin 8iθ \sin jθ`: two
    products take a third of the time of a cosine, and lose no digits as a recurrence would.
    """
    if count <= 2 * _BLOCK:
        return plain_cosines(angles, count)
    steps = torch.arange(-(-count // _BLOCK), dtype=angles.dtype, device=angles.device)
    few, many = steps.new_tensor(range(_BLOCK))[:, None] * angles, (_BLOCK * steps)[:, None] * angles
    found = many.cos()[:, None] * few.cos()
    found = torch.addcmul(found, many.sin()[:, None], few.sin(), value=-1.0)
    return found.flatten(0, 1)[:count]


def plain_cosines(angles: Float[Tensor, " point"], count: int) -> Float[Tensor, "wave point"]:
    """Return the same as :func:`axis_cosines`, each cosine by itself."""
    return torch.cos(torch.arange(count, dtype=angles.dtype, device=angles.device)[:, None] * angles)


def amplitudes(waves: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The factor of a cosine along one axis: 1 for the constant and √2 for the others."""
    return torch.sqrt(1.0 + (waves > 0).double())


def evaluate(angles: Float[Tensor, "point dim"], waves: Int[Tensor, "mode dim"]) -> Float[Tensor, "point mode"]:
    """Evaluate every function at every point, given its angles π(x − o)/E."""
    chosen = waves.to(angles.device)
    rows = _scaled_axes(angles, waves)
    # A function is made of whole rows: three times as fast as picking columns.
    factors = [row.index_select(0, wave) for row, wave in zip(rows, chosen.T, strict=True)]
    return math.prod(factors[1:], start=factors[0]).T


def combine(
    angles: Float[Tensor, "point dim"], waves: Int[Tensor, "mode dim"], coefficients: Float[Tensor, "mode channel"]
) -> Float[Tensor, "point channel"]:
    r"""Return :math:`\sum_k a_k \phi_k(x_i)`, one axis after the other: the functions themselves are not needed."""
    if waves.shape[1] == 1 and coefficients.shape[1] < _FEW_COLUMNS:
        return _combine_on_a_line(angles[:, 0], waves[:, 0], coefficients)
    if is_quickest(coefficients.shape[1], angles, coefficients) and are_near(angles):
        return _combine_on_a_grid([angles], waves, coefficients[None])[0]
    first, *others = _scaled_axes(angles, waves)
    size, num_points = first.shape
    if coefficients.shape[1] > size:  # The functions are then smaller than what takes their place.
        return evaluate(angles, waves) @ coefficients
    table = coefficients.new_zeros(size ** waves.shape[1], coefficients.shape[1])
    table = table.index_copy(0, flat_index(waves).to(angles.device), coefficients)
    partial = table.view(size, -1).T @ first
    for axis in others:
        partial = (axis[:, None] * partial.view(size, -1, num_points)).sum(dim=0)
    return partial.T


def combine_each(
    angles: Float[Tensor, "point dim"],
    counts: Sequence[int],
    waves: Int[Tensor, "mode dim"],
    coefficients: Float[Tensor, "sample mode channel"],
) -> Float[Tensor, "point channel"]:
    """Return the same as :func:`combine` for samples with coefficients of their own, the points of which follow."""
    places = angles.split(list(counts))
    if not (is_quickest(coefficients.shape[2], places[0], angles, coefficients) and are_near(angles)):
        return torch.cat([combine(*one) for one in zip(places, repeat(waves), coefficients, strict=False)])
    return torch.cat(_combine_on_a_grid(places, waves, coefficients))


def _combine_on_a_grid(
    places: Sequence[Float[Tensor, "_ 2"]],
    waves: Int[Tensor, "mode 2"],
    coefficients: Float[Tensor, "sample mode channel"],
) -> list[Float[Tensor, "_ channel"]]:
    size = _size(waves)
    tables = coefficients.new_zeros(len(coefficients), coefficients.shape[2], size**2)
    tables.index_copy_(2, flat_index(waves), (coefficients * factors(waves)[:, None]).mT)
    nodes = Grid.of(size).values(tables.unflatten(2, (size, size)))
    return [Grid.interpolate(*one) for one in zip(places, nodes, strict=True)]


def _combine_on_a_line(
    angles: Float[Tensor, " point"], waves: Int[Tensor, " mode"], coefficients: Float[Tensor, "mode channel"]
) -> Float[Tensor, "point channel"]:
    r"""Sum many waves of a single axis by few cosines and sines: with :math:`k = Bp + q`,

    .. math:: \cos kθ = \cos Bpθ \cos qθ - \sin Bpθ \sin qθ,

    there are about :math:`2 \sqrt K` of them instead of K.
    """  # noqa: D415 (the sentence goes on after the formula)
    size = _size(waves)
    step = math.ceil(math.sqrt(size))
    blocks = math.ceil(size / step)
    scaled = coefficients * amplitudes(waves).to(coefficients)[:, None]
    table = scaled.new_zeros(blocks * step, scaled.shape[1]).index_copy(0, waves.to(scaled.device), scaled)
    table = table.view(blocks, step, -1).transpose(0, 1).flatten(1)
    low, high = (
        angles[:, None] * (factor * torch.arange(count, dtype=angles.dtype, device=angles.device))
        for factor, count in ((1, step), (step, blocks))
    )
    parts = [
        torch.einsum("pb,pbc->pc", outer, (inner @ table).unflatten(1, (blocks, -1)))
        for inner, outer in ((low.cos(), high.cos()), (low.sin(), high.sin()))
    ]
    return parts[0] - parts[1]


def moments(
    angles: Float[Tensor, "point dim"], waves: Int[Tensor, "mode dim"], values: Float[Tensor, "point channel"]
) -> Float[Tensor, "mode channel"]:
    r"""Return :math:`\sum_i \phi_k(x_i) v_i`, one axis after the other: the functions themselves are not needed."""
    size = _size(waves)
    if is_quickest(values.shape[1], angles, values) and are_near(angles):
        grid = Grid.of(size)
        grid.spread(angles, values, nodes := grid.nodes(values.shape[1]))
        return _picked(grid.sums(nodes, size).flatten(1).T, waves)
    if values.shape[1] > size:  # The functions are then smaller than what takes their place.
        return evaluate(angles, waves).T @ values
    return _moments_of([axis_cosines(angle, size) for angle in angles.T], waves, values)


def _moments_of(
    axes: Sequence[Float[Tensor, "wave point"]], waves: Int[Tensor, "mode dim"], values: Float[Tensor, "point channel"]
) -> Float[Tensor, "mode channel"]:
    first, *others = axes
    partial = values.T
    for axis in reversed(others):
        partial = (axis[:, None] * partial).flatten(0, 1)
    return _picked((first @ partial.T).view(len(axes[0]) ** len(axes), values.shape[1]), waves)


def _picked(
    table: Float[Tensor, "*sample wave channel"], waves: Int[Tensor, "mode dim"]
) -> Float[Tensor, "*sample mode channel"]:
    """Pick the sums of our functions from those of all products of cosines along the axes."""
    found = table.index_select(-2, flat_index(waves).to(table.device))
    return found * factors(waves).to(table)[:, None]


def combine_on_lattice(
    angles: Sequence[Float[Tensor, " _"]],
    waves: Int[Tensor, "mode dim"],
    coefficients: Float[Tensor, "mode channel"],
) -> Float[Tensor, "node channel"]:
    """Return the same as :func:`combine` at all nodes of a lattice, given the angles of its nodes along each axis.

    That takes a product with a small matrix along each axis; the nodes with the same first angle come one after the
    other.
    """
    size = _size(waves)
    table = coefficients.new_zeros(size ** len(angles), coefficients.shape[1])
    table = table.index_copy(0, flat_index(waves).to(coefficients.device), coefficients)
    for angle in angles:
        table = product(table.reshape(size, -1).T, _scaled_axis(angle, size))
    return table.reshape(coefficients.shape[1], -1).T


def moments_on_lattice(
    angles: Sequence[Float[Tensor, " _"]], waves: Int[Tensor, "mode dim"], values: Float[Tensor, "node channel"]
) -> Float[Tensor, "mode channel"]:
    """Return the same as :func:`moments` for the nodes of a lattice, in the order of :func:`combine_on_lattice`."""
    size, table = _size(waves), values
    for angle in angles:
        table = product(table.reshape(len(angle), -1).T, _scaled_axis(angle, size).T)
    return table.reshape(values.shape[1], -1).index_select(1, flat_index(waves).to(values.device)).T


def gram_and_moments(
    portions: Iterable[tuple[Float[Tensor, "_ dim"], Float[Tensor, "_ channel"]]], num_modes: int
) -> tuple[Float[Tensor, "mode mode"], Float[Tensor, "mode channel"]]:
    """Return the same as :func:`gram` and :func:`moments`, from the same cosines.

    Args:
        portions: Angles and values of all points, in portions that fit into memory.
        num_modes: Number of functions.
    """
    sums, totals = sums_and_moments(portions, num_modes)
    return gram_of_sums(sums, num_modes), totals


def sums_and_moments(
    portions: Iterable[tuple[Float[Tensor, "_ dim"], Float[Tensor, "_ channel"]]], num_modes: int
) -> tuple[Float[Tensor, "*wave"], Float[Tensor, "mode channel"]]:
    """Return the sums of products of cosines that a Gram matrix follows from, and :func:`moments`."""
    all_portions = list(portions)
    angles, values = all_portions[0]
    waves = lowest_waves(num_modes, angles.shape[1])
    if is_quickest(1 + values.shape[1], *all_portions[0]) and all(are_near(one) for one, _ in all_portions):
        sums, totals = _sums_and_moments_on_a_grid([all_portions], waves)
        return sums[0], totals[0]
    size = _size(waves)
    tables, parts = [], []
    for angles, values in all_portions:
        axes = [axis_cosines(angle, 2 * size - 1) for angle in angles.T]
        tables.append(_sums_of_products(axes))
        few = values.shape[1] <= size
        parts.append(
            _moments_of([axis[:size] for axis in axes], waves, values) if few else moments(angles, waves, values)
        )
    return _sum(tables), _sum(parts)


def sums_and_moments_of_each(
    angles: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"], counts: Sequence[int], num_modes: int
) -> tuple[Float[Tensor, "sample *wave"], Float[Tensor, "sample mode channel"]]:
    """Return the same as :func:`sums_and_moments` for samples the points of which follow each other."""
    samples = [[one] for one in zip(angles.split(list(counts)), values.split(list(counts)), strict=True)]
    if is_quickest(1 + values.shape[1], samples[0][0][0], angles, values) and are_near(angles):
        return _sums_and_moments_on_a_grid(samples, lowest_waves(num_modes, 2))
    sums, totals = zip(*(sums_and_moments(one, num_modes) for one in samples), strict=True)
    return torch.stack(sums), torch.stack(totals)


def _sums_and_moments_on_a_grid(
    samples: Sequence[Sequence[tuple[Float[Tensor, "_ 2"], Float[Tensor, "_ channel"]]]], waves: Int[Tensor, "mode 2"]
) -> tuple[Float[Tensor, "sample wave wave"], Float[Tensor, "sample mode channel"]]:
    size = _size(waves)
    grid = Grid.of(2 * size - 1)
    nodes = grid.nodes(len(samples), 1 + samples[0][0][1].shape[1])
    for portions, own in zip(samples, nodes, strict=True):
        for angles, values in portions:
            grid.spread(angles, pad(values, (1, 0), value=1.0), own)
    tables = grid.sums(nodes[:, 1:], size).flatten(2).mT
    return grid.sums(nodes[:, 0], 2 * size - 1), _picked(tables, waves)


def _sum(parts: Sequence[Float[Tensor, "*shape"]]) -> Float[Tensor, "*shape"]:
    return parts[0] if len(parts) == 1 else torch.stack(list(parts)).sum(dim=0)


def _scaled_axes(
    angles: Float[Tensor, "point dim"], waves: Int[Tensor, "mode dim"]
) -> list[Float[Tensor, "wave point"]]:
    """Return the factors of the functions along each axis, for every wave number up to the largest."""
    return [_scaled_axis(angle, _size(waves)) for angle in angles.T]


def _scaled_axis(angles: Float[Tensor, " point"], size: int) -> Float[Tensor, "wave point"]:
    return axis_cosines(angles, size) * amplitudes(torch.arange(size)).to(angles)[:, None]


def gram(portions: Iterable[Float[Tensor, "_ dim"]], num_modes: int) -> Float[Tensor, "mode mode"]:
    r"""Return :math:`\sum_i \phi_k(x_i) \phi_l(x_i)` of the lowest waves, from the sums of single cosines.

    A product of cosines is a sum of cosines, :math:`2 \cos kθ \cos lθ = \cos (k+l)θ + \cos (k-l)θ`. So the sums over
    the points of all :math:`\prod_a \cos q_a θ_a` suffice: 2ᵈ times as many as there are functions, instead of one for
    each pair of functions. For 1000 functions and points that is eight times as fast as the plain product of matrices,
    and more points cost next to nothing.

    Args:
        portions: The angles of all points, in portions that fit into memory.
        num_modes: Number of functions.
    """
    counted = ((angles, torch.ones_like(angles[:, :0])) for angles in portions)
    return gram_of_sums(sums_and_moments(counted, num_modes)[0], num_modes)


def gram_of_sums(sums: Float[Tensor, "*wave"], num_modes: int) -> Float[Tensor, "mode mode"]:
    """Return the sums over the points of products of functions, from the sums of products of cosines along the axes."""
    dim = sums.ndim
    waves = lowest_waves(num_modes, dim)
    # Along the last axis pairs are few enough to be made for all sums at once, which halves what is picked afterwards.
    last = torch.arange(_size(waves), device=sums.device)
    table = (sums[..., last[:, None] + last] + sums[..., (last[:, None] - last).abs()]).flatten()
    found, *parts = [table.index_select(0, places.to(sums.device)) for places in _places_of_pairs(num_modes, dim)]
    for part in parts:
        found += part
    scale = factors(waves).to(sums)
    return found.view(num_modes, num_modes).mul_(scale[:, None]).mul_(scale / 2**dim)


def _sums_of_products(axes: Sequence[Float[Tensor, "wave point"]]) -> Float[Tensor, "*wave"]:
    return torch.einsum({1: "ap->a", 2: "ap,bp->ab", 3: "ap,bp,cp->abc", 4: "ap,bp,cp,dp->abcd"}[len(axes)], *axes)


@lru_cache(maxsize=4)
def _places_of_pairs(num_modes: int, dim: int) -> list[Int[Tensor, " pair"]]:
    """Return where in the flattened table the sums for each pair of functions are.

    The table has sums and differences of wave numbers along all axes but the last, and the wave numbers of both
    functions along the last; there is a list for each choice of signs.
    """
    waves = lowest_waves(num_modes, dim).int()
    size = _size(waves)
    *others, last = waves.T
    places = [torch.zeros(num_modes, num_modes, dtype=torch.int32)]
    for wave in others:
        partners = (wave[:, None] + wave, (wave[:, None] - wave).abs())
        places = [(2 * size - 1) * place + partner for place in places for partner in partners]
    ends = size * last[:, None] + last
    return [(size**2 * place + ends).flatten() for place in places]


# Waves are told apart by identity: those of a space are always the same tensor. What is kept must serve for derivatives
# too, wherever it is asked for first.
@lru_cache(maxsize=8)
@torch.inference_mode(False)
def flat_index(waves: Int[Tensor, "mode dim"]) -> Int[Tensor, " mode"]:
    """Return the place of each function in the table of all wave numbers up to the largest, flattened."""
    dim, size = waves.shape[1], _size(waves)
    return (waves * torch.tensor([size ** (dim - 1 - axis) for axis in range(dim)])).sum(dim=1)


@lru_cache(maxsize=8)
@torch.inference_mode(False)
def factors(waves: Int[Tensor, "mode dim"]) -> Float[Tensor, " mode"]:
    """Return the factor of each function, that of its cosines along all axes."""
    return amplitudes(waves).prod(dim=1)


@lru_cache(maxsize=8)
def _size(waves: Int[Tensor, "*shape"]) -> int:
    """Return the number of cosines along an axis."""
    return int(waves.max()) + 1
