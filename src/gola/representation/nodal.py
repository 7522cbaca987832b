"""Functions that are all known at the same nodes: their values there are what they are, to rounding."""

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.spatial import cKDTree
from torch import Tensor

from gola.geometry.interpolation import Degree
from gola.geometry.interpolation import interpolation_weights as plain_weights
from gola.geometry.layers import Layers
from gola.representation.common_nodes import by_splines
from gola.representation.fitted import Fitted
from gola.representation.interpolated import cell_weights, interpolation_weights, line_weights

# Places that are nearer to a node than this share of the extent are the node.
_SAME = 1e-9
# So many places are looked at first.
_FIRST_LOOKED_AT = 64
# Modes below this share of the first are rounding.
_NEGLIGIBLE = 1e-13
# Splines of degree 2 are taken where their squared error is below this share of that of degree 1, at so many nodes
# drawn from all and so many outermost ones, held out in so many parts: the others are about as dense as all are.
_CLEARLY_BETTER, _TRIED, _NUM_PARTS = 0.8, 200, 10
DEGREES: tuple[Degree, ...] = (1, 2)
"""Of splines that are tried."""


@final
class NodalSpace(Fitted):
    r"""The span of some functions that share their nodes, in orthonormal modes of their values there (POD).

    .. math:: u(x_i) = \sum_k a_k \psi_k(x_i)

    Nothing is smoothed and nothing is lost, whatever the mesh. Nodes may lie elsewhere in every sample; then row i of
    its points is node i. Between the nodes functions are interpolated, in the cells of the mesh where they are known.
    Nodes in layers, as those of space and time, are interpolated within layers and then between them. Functions that
    are known at points of their own may be brought to the nodes by local splines first.

    Attributes:
        nodes: The nodes; of moved ones, those of the first sample.
        modes: The modes at the nodes.
        lower: Lower corner of the bounding box.
        sides: Sides of the bounding box.
        moves: Whether nodes lie elsewhere in every sample.
        cells: Simplices over the nodes, or over those of a layer; none where they are not known.
        degree: Of the splines that functions are interpolated by where there are no cells.
        gathers: Whether functions may be known elsewhere, and are interpolated to the nodes.
    """

    nodes: Float[Tensor, "node dim"]
    modes: Float[Tensor, "node mode"]
    lower: Float[Tensor, " dim"]
    sides: Float[Tensor, " dim"]
    moves: Bool[Tensor, ""]
    cells: Int[Tensor, "cell vertex"]
    degree: Int[Tensor, ""]
    gathers: Bool[Tensor, ""]

    def __init__(self) -> None:
        super().__init__()
        self._register_empty("nodes", "modes", "lower", "sides")
        self.register_buffer("moves", torch.tensor(False))
        self.register_buffer("cells", torch.empty(0, 0, dtype=torch.int64))
        self.register_buffer("degree", torch.tensor(1))
        self.register_buffer("gathers", torch.tensor(False))

    @staticmethod
    def spanning(
        nodes: Float[Tensor, "node dim"],
        values: Sequence[Float[Tensor, "node channel"]],
        *,
        moves: bool = False,
        cells: Int[Tensor, "cell vertex"] | None = None,
        gathering: Degree | None = None,
    ) -> "NodalSpace":
        """Make the space of some functions, all channels together.

        Args:
            nodes: The nodes.
            values: The functions there.
            moves: Whether nodes lie elsewhere in every sample.
            cells: Simplices over the nodes.
            gathering: The degree of the splines that brought the functions to the nodes, if they are known elsewhere.
        """
        space = NodalSpace()
        space.nodes = nodes.double()
        space.moves = torch.tensor(moves)
        # Cells of fewer dimensions than the nodes, a surface in space, are not interpolated in, unless it is a layer.
        in_layers = Layers.of(nodes.double().cpu().numpy()) is not None
        if cells is not None and cells.shape[1] in (nodes.shape[1] + 1, nodes.shape[1] + 1 - in_layers):
            space.cells = cells
        space.lower, upper = nodes.min(dim=0).values.double(), nodes.max(dim=0).values.double()
        space.sides = torch.where(upper > space.lower, upper - space.lower, 1.0)
        columns = torch.cat([one.double() for one in values], dim=1)
        modes, strengths, _ = torch.linalg.svd(columns, full_matrices=False)
        # With ≥ functions that are all 0 have a space too.
        space.modes = modes[:, strengths >= _NEGLIGIBLE * strengths[0]].contiguous()
        if gathering is not None:
            space.gathers, space.degree = torch.tensor(True), torch.tensor(gathering)
        elif not space.cells.numel() and not in_layers:
            space.degree = torch.tensor(_best_degree(nodes.double().cpu().numpy(), columns.cpu().numpy()))
        return space

    def _load_from_state_dict(self, state_dict: Mapping[str, Tensor], prefix: str, *rest: Any) -> None:
        # Older files know no degree, and functions at the nodes only.
        if prefix + "nodes" in state_dict:
            older = {prefix + "degree": torch.tensor(1), prefix + "gathers": torch.tensor(False)}
            state_dict = {**older, **state_dict}
        super()._load_from_state_dict(state_dict, prefix, *rest)

    @property
    def num_modes(self) -> int:
        """Number of modes."""
        return self.modes.shape[1] if self.modes.dim() == 2 else 0

    def fractions(self, points: Float[Tensor, "point dim"]) -> Float[Tensor, "point dim"]:
        """Return coordinates in which the bounding box is the unit cube."""
        return (points.double() - self.lower) / self.sides

    def coefficients(
        self, points: Sequence[Float[Tensor, "_ dim"]], values: Sequence[Float[Tensor, "_ channel"]]
    ) -> Float[Tensor, "sample mode channel"]:
        """Project functions onto the modes: known at the nodes, or brought there."""
        if bool(self.gathers):
            values = [self._gathered(*one) for one in zip(points, values, strict=True)]
            return torch.stack([self.modes.T @ one for one in values])
        for places in points:
            if places.shape != self.nodes.shape or not (bool(self.moves) or torch.equal(places.double(), self.nodes)):
                raise ValueError("These samples must have the nodes of the training samples, in the same order.")
        return torch.stack([self.modes.T @ one.double() for one in values])

    def _gathered(
        self, points: Float[Tensor, "point dim"], values: Float[Tensor, "point channel"]
    ) -> Float[Tensor, "node channel"]:
        values = values.double()
        return values if _equal(points, self.nodes) else by_splines(points, values, self.nodes, self._degree)

    @property
    def gathering(self) -> Degree | None:
        """The degree of the splines that brought the functions to the nodes; None where they are known there."""
        return self._degree if bool(self.gathers) else None

    @property
    def _degree(self) -> Degree:
        return 2 if int(self.degree) == 2 else 1

    def values(
        self,
        points: Float[Tensor, "point dim"],
        coefficients: Float[Tensor, "mode channel"],
        nodes: Float[Tensor, "node dim"] | None = None,
    ) -> Float[Tensor, "point channel"]:
        """Evaluate the function with these coefficients.

        Args:
            points: Where.
            coefficients: Of the modes.
            nodes: Where the nodes lie; where moved nodes are asked for themselves, this may be left out.
        """
        at_nodes = self.modes @ coefficients
        nodes = points if nodes is None and bool(self.moves) else nodes
        known = self.nodes if nodes is None or not bool(self.moves) else nodes.double()
        if len(known) != len(self.nodes):
            raise ValueError(
                f"The mesh must have the nodes of the training samples, moved: {len(self.nodes)} points in the same"
                f" order; got {len(known)}."
            )
        if points.is_meta:
            return at_nodes[:1].expand(len(points), -1)
        # A node's own value does not tell how the function changes from there; where nodes move with the points, that
        # is not asked.
        if _equal(points, known) and points.requires_grad == known.requires_grad:
            return at_nodes
        sources, places = known.detach().cpu().numpy(), points.detach().double().cpu().numpy()
        layers, asked = Layers.of(sources), Layers.of(places)
        if layers is None or not layers.ascend or (asked is None and not points.requires_grad):
            return self._interpolated(sources, points, at_nodes[None])[0]
        in_layers = at_nodes.view(len(layers.heights), -1, at_nodes.shape[1])
        if points.requires_grad or asked is None:
            return self._between_layers(layers, points, in_layers)
        between = line_weights(layers.heights, torch.from_numpy(asked.heights)).to(at_nodes)
        at_heights = torch.einsum("ql,lnc->qnc", between, in_layers)
        return self._interpolated(layers.points, torch.from_numpy(asked.points), at_heights).flatten(0, 1)

    def _between_layers(
        self, layers: Layers, points: Float[Tensor, "point dim"], values: Float[Tensor, "layer node channel"]
    ) -> Float[Tensor, "point channel"]:
        """Interpolate at places that each have a height of their own, as derivatives do."""
        between = line_weights(layers.heights, points[:, -1]).to(values)
        rows, weights = self._interpolation(layers.points, points[:, :-1])
        return torch.einsum("ql,qk,lqkc->qc", between, weights.to(values), values[:, rows.to(values.device)])

    def _interpolated(
        self,
        nodes: Float[np.ndarray, "node dim"],
        places: Float[Tensor, "place dim"],
        values: Float[Tensor, "layer node channel"],
    ) -> Float[Tensor, "layer place channel"]:
        """Interpolate values at nodes, in every layer alike."""
        rows, weights = self._interpolation(nodes, places)
        shares = weights.to(values.device)[..., None]
        # One node after the other: all that are read at once would be many times as large as the result.
        parts = (share * values[:, read] for share, read in zip(shares.unbind(1), rows.unbind(1), strict=True))
        return sum(parts, start=values.new_zeros(len(values), len(places), values.shape[2]))

    def _interpolation(
        self, nodes: Float[np.ndarray, "node dim"], places: Float[Tensor, "place dim"]
    ) -> tuple[Int[Tensor, "place read"], Float[Tensor, "place read"]]:
        """Return the nodes that each place reads, and how much of each."""
        rows = None if places.requires_grad else self._rows(nodes, places.detach().cpu().double().numpy())
        if rows is not None:
            return rows[:, None], torch.ones_like(rows[:, None], dtype=torch.float64)
        if self.cells.shape[1] == nodes.shape[1] + 1:
            return cell_weights(nodes, self.cells.cpu().numpy(), places)
        return interpolation_weights(nodes, places, self._degree)

    def _rows(
        self, nodes: Float[np.ndarray, "node dim"], places: Float[np.ndarray, "place dim"]
    ) -> Int[Tensor, " place"] | None:
        """Return which node each place is; None where some are none."""
        tree, near = cKDTree(nodes), _SAME * float(self.sides.max())
        # Mostly none is, as few of them tell.
        for some in (places[:_FIRST_LOOKED_AT], places):
            distances, nearest = tree.query(some)
            if np.max(distances) > near:
                return None
        return torch.from_numpy(nearest)


def _best_degree(nodes: Float[np.ndarray, "node dim"], values: Float[np.ndarray, "node column"]) -> Degree:
    """Return the degree of the splines that predict some nodes best from the others, those at the rim among them."""
    rng = np.random.default_rng(0)
    outermost = np.argsort(-np.abs((nodes - nodes.mean(axis=0)) / np.ptp(nodes, axis=0).clip(min=1e-300)).max(axis=1))
    tried = np.unique(np.concatenate([outermost[:_TRIED], rng.permutation(len(nodes))[:_TRIED]]))
    parts = np.array_split(rng.permutation(tried), _NUM_PARTS)
    squares = {degree: sum(_square(nodes, values, part, degree) for part in parts) for degree in DEGREES}
    return 2 if squares[2] < _CLEARLY_BETTER * squares[1] else 1


def _square(
    nodes: Float[np.ndarray, "node dim"],
    values: Float[np.ndarray, "node column"],
    held_out: Int[np.ndarray, " row"],
    degree: Degree,
) -> float:
    """Return the squared error of some nodes as predicted from all others."""
    others = np.delete(np.arange(len(nodes)), held_out)
    if not len(others) or not len(held_out):
        return 0.0
    rows, weights = plain_weights(nodes[others], nodes[held_out], degree)
    found = np.einsum("qk,qkc->qc", weights, values[others[rows]])
    return float(np.square(found - values[held_out]).sum())


def _equal(points: Float[Tensor, "point dim"], others: Float[Tensor, "node dim"]) -> bool:
    return points.shape == others.shape and torch.equal(points.double(), others)
