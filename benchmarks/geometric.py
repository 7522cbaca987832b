"""The paper's network as one would assemble it from library layers, carrying the weights of ours."""

import warnings

import torch
from torch import Tensor, nn

from gola.graph import Neighbourhood
from gola.operators import Gola
from gola.operators.cloud import Cloud
from gola.operators.gola.attention_message_passing import AttentionMessagePassing
from gola.operators.gola.global_attention import NORM_EPSILON, GlobalAttention
from gola.operators.gola.gola import GolaBlock
from gola.operators.gola.message_passing import MessagePassing

with warnings.catch_warnings():
    # It still calls torch.jit.script, which torch deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric.nn import PNAConv, TransformerConv


class LibraryGola(nn.Module):
    """GOLA with PyTorch Geometric's message passing layers and plain PyTorch for the rest."""

    def __init__(self, ours: Gola, neighbourhood: Neighbourhood) -> None:
        super().__init__()
        self.encoder = ours.encoder
        self.blocks = nn.ModuleList(
            LibraryBlock(block, neighbourhood) for block in ours.blocks if isinstance(block, GolaBlock)
        )
        self.output = ours.output

    def forward(self, cloud: Cloud, edges: Tensor, edge_attributes: Tensor) -> Tensor:
        """Predict at the points of the cloud."""
        features = self.encoder(cloud.points, cloud.values, cloud.weights, cloud.sizes)
        for block in self.blocks:
            features = block(features, cloud, edges, edge_attributes)
        return self.output(features)


class LibraryBlock(nn.Module):
    """One layer of each kind."""

    def __init__(self, ours: GolaBlock, neighbourhood: Neighbourhood) -> None:
        super().__init__()
        self.message_passing = pna_conv(ours.message_passing, neighbourhood)
        self.mlp = ours.mlp
        self.global_attention = LibraryAttention(ours.global_attention)
        self.attention = transformer_conv(ours.attention_message_passing)
        self.skip = ours.attention_message_passing.skip

    def forward(self, features: Tensor, cloud: Cloud, edges: Tensor, edge_attributes: Tensor) -> Tensor:
        """Update the features of all points."""
        features = self.mlp(self.message_passing(features, edges, edge_attributes))
        features = self.global_attention(features, cloud)
        return self.attention(features, edges, edge_attributes) + self.skip(features)


class LibraryAttention(nn.Module):
    """Global attention written as the paper writes it: queries, normalised keys and values, and their products."""

    def __init__(self, ours: GlobalAttention) -> None:
        super().__init__()
        self.num_heads = ours.num_heads
        self.query, self.key, self.value = ours.query, ours.key, ours.value
        self.output, self.projection = ours.output, ours.projection

    def forward(self, features: Tensor, cloud: Cloud) -> Tensor:
        """Attend within each sample; all have the same number of points."""
        rows = features.unflatten(0, (cloud.num_samples, -1))
        query, key, value = (
            layer(rows).unflatten(2, (self.num_heads, -1)) for layer in (self.query, self.key, self.value)
        )
        key, value = _instance_norm(key), _instance_norm(value)
        products = torch.einsum("bnhd,bnhe->bhde", key, value) / rows.shape[1]
        read = torch.einsum("bnhd,bhde->bnhe", query, products)
        return self.projection(self.output(read.flatten(2))).flatten(0, 1)


def pna_conv(ours: MessagePassing, neighbourhood: Neighbourhood) -> nn.Module:
    """Return a ``PNAConv`` with the weights of our message passing."""
    width = ours.output.in_features
    theirs = PNAConv(
        width,
        width,
        aggregators=["mean", "max", "min", "std"],
        scalers=["identity"],
        deg=torch.bincount(neighbourhood.degrees),
        edge_dim=ours.edge.linear.in_features,
    )
    _carry(
        {
            theirs.edge_encoder: ours.edge.linear,
            theirs.pre_nns[0][0]: ours.message,
            theirs.post_nns[0][0]: ours.update,
            theirs.lin: ours.output,
        }
    )
    return theirs


def transformer_conv(ours: AttentionMessagePassing) -> nn.Module:
    """Return a ``TransformerConv`` with the weights of our attention over neighbours, without the skip."""
    width = ours.root.in_features
    edge_dim = ours.edge.linear.in_features
    theirs = TransformerConv(width, width, heads=ours.num_heads, concat=False, edge_dim=edge_dim)
    _carry(
        {
            theirs.lin_query: ours.query,
            theirs.lin_key: ours.key,
            theirs.lin_value: ours.value,
            theirs.lin_edge: ours.edge.linear,
            theirs.lin_skip: ours.root,
        }
    )
    return theirs


def edges_of(neighbourhood: Neighbourhood) -> Tensor:
    """Return the edges as PyTorch Geometric wants them."""
    return torch.stack([neighbourhood.senders, neighbourhood.receivers])


def edge_attributes(points: Tensor, values: Tensor, neighbourhood: Neighbourhood) -> Tensor:
    """Return (x_i, x_j, f_i, f_j) for each edge."""
    i, j = neighbourhood.receivers, neighbourhood.senders
    return torch.cat([points[i], points[j], values[i], values[j]], dim=1)


def _instance_norm(rows: Tensor) -> Tensor:
    variance, mean = torch.var_mean(rows, dim=1, correction=0, keepdim=True)
    return (rows - mean) / (variance + NORM_EPSILON).sqrt()


def _carry(pairs: dict[nn.Module, nn.Module]) -> None:
    for theirs, ours in pairs.items():
        theirs.load_state_dict(ours.state_dict())
