"""A network like MeshGraphNets (Pfaff et al., 2021): PyTorch Geometric's message passing along the edges of a mesh."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from gola.geometry.filling import filling

WIDTH, NUM_ROUNDS = 64, 10


def mesh_graph_net(train: list[tuple[Tensor, Tensor, Tensor]]) -> tuple[nn.Module, Callable[..., Tensor]]:
    """Return the network, and how it predicts at points with given values.

    Encoders of nodes and edges, rounds of messages with residual connections, a decoder, layer norms as in the paper;
    the relative place of its ends is what is known of an edge.
    """
    from torch_geometric.nn import MessagePassing

    class Round(MessagePassing):  # type: ignore[misc]
        """Edges hear of their ends, and nodes the sum of their edges."""

        def __init__(self) -> None:
            super().__init__(aggr="sum")
            self.of_edges, self.of_nodes = _mlp(3 * WIDTH, WIDTH), _mlp(2 * WIDTH, WIDTH)

        def forward(self, nodes: Tensor, edges: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
            edges = edges + self.of_edges(torch.cat([nodes[ends[0]], nodes[ends[1]], edges], dim=1))
            heard = self.propagate(ends, nodes=nodes, edges=edges, size=(len(nodes), len(nodes)))
            return nodes + self.of_nodes(torch.cat([nodes, heard], dim=1)), edges

        def message(self, edges: Tensor) -> Tensor:
            return edges

    points, values, targets = train[0]
    module = nn.ModuleDict(
        {
            "nodes": _mlp(values.shape[1], WIDTH),
            "edges": _mlp(points.shape[1] + 1, WIDTH),
            "rounds": nn.ModuleList(Round() for _ in range(NUM_ROUNDS)),
            "decoder": _mlp(WIDTH, targets.shape[1], normalised=False),
        }
    )
    known: dict[bytes, Tensor] = {}

    def predict(places: Tensor, given: Tensor) -> Tensor:
        key = places.numpy().tobytes()
        if key not in known:
            known[key] = _edges(places)
        ends = known[key]
        moves = places[ends[1]] - places[ends[0]]
        lengths = moves.norm(dim=1, keepdim=True)
        edges = module["edges"](torch.cat([moves, lengths], dim=1) / lengths.mean())
        nodes = module["nodes"](given)
        for one in module["rounds"]:  # type: ignore[union-attr]
            nodes, edges = one(nodes, edges, ends)
        out: Tensor = module["decoder"](nodes)
        return out

    return module, predict


def _mlp(num_inputs: int, num_outputs: int, *, normalised: bool = True) -> nn.Sequential:
    layers = [
        nn.Linear(num_inputs, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, num_outputs),
    ]
    return nn.Sequential(*layers, *([nn.LayerNorm(num_outputs)] if normalised else []))


def _edges(places: Tensor) -> Tensor:
    """Return both directions of the edges of the mesh that fills the points."""
    cells = filling(places.double().numpy()).cells
    corners = cells.shape[1]
    first, second = np.repeat(cells, corners, axis=1).ravel(), np.tile(cells, (1, corners)).ravel()
    pairs = np.unique(np.stack([first, second], axis=1)[first != second], axis=0)
    return torch.from_numpy(np.ascontiguousarray(pairs.T))
