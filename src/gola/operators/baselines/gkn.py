"""The graph kernel network of Li et al., 2020 (arXiv 2003.03485), without its edge-by-edge kernel matrices."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import relu
from torch.utils.checkpoint import checkpoint

from gola.graph.neighbourhood import Neighbourhood
from gola.operators.cloud import Cloud
from gola.operators.operator import GraphConfig, Network, OperatorConfig, Structure

Features = Float[Tensor, "point channel"]

# Receivers are taken in portions of about this many numbers, which stay in the cache from one product to the next,
_PORTION = 2**20
# but of 64 receivers or more, so that reading the kernel's matrices for each portion does not count,
_FEWEST_RECEIVERS = 64
# as long as those have no more numbers than this, 256 MB.
_LARGEST_PORTION = 2**26
# The kernel's basis is kept for all iterations up to this size; a larger one is computed anew whenever it is needed.
_KEPT_BYTES = 2**30


@final
@dataclass(frozen=True, kw_only=True)
class GknConfig(GraphConfig):
    """Settings of the graph kernel network; their sources are in the decision record on baselines.

    Attributes:
        width: Channels C of the features.
        kernel_width: Width K of the kernel network's last hidden layer; the one before has half of it.
        num_layers: Iterations T, all with the same kernel.
        radius: Largest distance of neighbours.
    """

    width: int = 64
    kernel_width: int = 256
    num_layers: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("width", "num_layers")
        if self.kernel_width < 2:
            raise ValueError(f"kernel_width must be at least 2; got {self.kernel_width}.")


PRESETS: dict[str, GknConfig] = {
    "default": GknConfig(),
    "original": GknConfig(kernel_width=1024, num_layers=6),
}


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Portion:
    """Some receivers and their senders, as a rectangle.

    Attributes:
        receivers: Rows of the receivers.
        senders: Rows of their senders; the number of rows where a receiver has fewer senders than others.
    """

    receivers: Int[Tensor, " receiver"]
    senders: Int[Tensor, "receiver place"]


def portions(neighbourhood: Neighbourhood, *, width: int, kernel_width: int) -> list[Portion]:
    """Cut the neighbour lists into rectangles of similar receivers, those with most senders first."""
    degrees = neighbourhood.degrees
    # On the meta device, where nothing has a number, all lists count as empty.
    lengths = torch.zeros(len(degrees), dtype=torch.int64) if degrees.is_meta else degrees.cpu()
    lengths, order = torch.sort(lengths, descending=True, stable=True)
    cut = []
    start = 0
    while start < len(order):
        longest = int(lengths[start])
        numbers = max(longest, width) * kernel_width
        stop = start + max(_PORTION // numbers, min(_FEWEST_RECEIVERS, _LARGEST_PORTION // numbers), 1)
        cut.append(_portion(order[start:stop].to(degrees.device), longest, neighbourhood))
        start = stop
    return cut


def _portion(receivers: Int[Tensor, " receiver"], longest: int, neighbourhood: Neighbourhood) -> Portion:
    places = torch.arange(longest, device=receivers.device)
    taken = places < neighbourhood.degrees[receivers][:, None]
    edges = torch.where(taken, neighbourhood.offsets[receivers][:, None] + places, 0)
    return Portion(
        receivers=receivers, senders=torch.where(taken, neighbourhood.senders[edges], neighbourhood.num_senders)
    )


@final
class KernelSum(torch.autograd.Function):
    r"""Sum a kernel, given in a basis, against what the senders say.

    .. math::
        s_i = \sum_j \sum_k \varphi_k(e_{ij}) \, W_k h_j = \sum_k W_k \, m_{ik}, \qquad
        m_{ik} = \sum_j \varphi_k(e_{ij}) \, h_j

    The moments m are small matrix products, one for each receiver, and all the :math:`W_k` are applied in one more.
    They are cheap and large (receivers × K × C), so the backward pass computes them again rather than keep them.
    """

    @staticmethod
    def forward(
        ctx: Any,
        basis: Float[Tensor, "receiver place kernel"],
        heard: Float[Tensor, "receiver place channel"],
        weight: Float[Tensor, "channel_times_kernel output"],
    ) -> Float[Tensor, "receiver output"]:
        """Return the sums."""
        ctx.save_for_backward(basis, heard, weight)
        return torch.bmm(heard.mT, basis).flatten(1) @ weight

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradients: Float[Tensor, "receiver output"]) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of basis, heard features and weight."""
        basis, heard, weight = ctx.saved_tensors
        grad_weight = torch.bmm(heard.mT, basis).flatten(1).mT @ gradients
        grad_moments = torch.unflatten(gradients @ weight.mT, 1, (heard.shape[2], -1))
        return torch.bmm(heard, grad_moments), torch.bmm(basis, grad_moments.mT), grad_weight


@final
class GraphKernel(nn.Module):
    r"""The mean over neighbours of a learned kernel matrix times their features.

    .. math::
        v_i = \frac{1}{|\mathcal{N}(i)|} \sum_{j \in \mathcal{N}(i)} \kappa(e_{ij}) \, h_j, \qquad
        \kappa(e) = W_0 + \sum_k \varphi_k(e) \, W_k, \qquad e_{ij} = (x_i, f(x_i), x_j, f(x_j))

    The basis :math:`\varphi` is a network with two layers. Because :math:`\kappa` is linear in it, the matrix
    :math:`\kappa(e_{ij})` of an edge is never built: memory grows with edges × K instead of edges × C², and beyond
    a limit, where the basis is not kept either, with neither.

    Args:
        dim: Number of coordinates.
        num_inputs: Channels of the input function.
        width: Channels C of h.
        kernel_width: Number K of basis functions.
    """

    def __init__(self, *, dim: int, num_inputs: int, width: int, kernel_width: int) -> None:
        super().__init__()
        self.width, self.kernel_width = width, kernel_width
        self.hidden = nn.Linear(2 * (dim + num_inputs), kernel_width // 2)
        self.basis = nn.Linear(kernel_width // 2, kernel_width)
        self.matrix = nn.Linear(kernel_width, width * width)

    def between(
        self, attributes: Float[Tensor, "point attribute"], neighbourhood: Neighbourhood
    ) -> Callable[[Features], Features]:
        """Return the map from h to v on these points; ``attributes`` are their coordinates and the input function."""
        parts = portions(neighbourhood, width=self.width, kernel_width=self.kernel_width)
        attributes, matrices = _with_silent_row(attributes), self._matrices()
        num_places = sum(part.senders.numel() for part in parts)
        kept = num_places * self.kernel_width * attributes.element_size() <= _KEPT_BYTES
        bases = [self._basis(attributes, part) for part in parts] if kept else [None] * len(parts)
        rows = torch.argsort(torch.cat([part.receivers for part in parts]))
        degrees = neighbourhood.degrees.clamp(min=1)[:, None]

        def averages(features: Features) -> Features:
            spoken = _with_silent_row(features)
            sums = [
                self._sums(basis, spoken, part, matrices)
                if basis is not None
                else _recomputed(self._sums_from, attributes, spoken, part, matrices)
                for part, basis in zip(parts, bases, strict=True)
            ]
            return torch.cat(sums)[rows] / degrees

        return averages

    def _matrices(self) -> Float[Tensor, "channel_times_kernel output"]:
        """The W_k, ordered as the moments are."""
        return torch.unflatten(self.matrix.weight, 0, (self.width, self.width)).mT.flatten(0, 1)

    def _basis(
        self, attributes: Float[Tensor, "row attribute"], part: Portion
    ) -> Float[Tensor, "receiver place kernel"]:
        senders = attributes[part.senders]
        receivers = attributes[part.receivers][:, None].expand_as(senders)
        edges = torch.cat([receivers, senders], dim=2)
        return relu(self.basis(relu(self.hidden(edges), inplace=True)), inplace=True)

    def _sums(
        self,
        basis: Float[Tensor, "receiver place kernel"],
        spoken: Float[Tensor, "row channel"],
        part: Portion,
        matrices: Float[Tensor, "channel_times_kernel output"],
    ) -> Float[Tensor, "receiver output"]:
        heard = torch.unflatten(spoken.index_select(0, part.senders.flatten()), 0, part.senders.shape)
        constant = torch.unflatten(self.matrix.bias, 0, (self.width, self.width))
        sums: Tensor = KernelSum.apply(basis, heard, matrices)  # type: ignore[no-untyped-call]
        return torch.addmm(sums, heard.sum(1), constant)

    def _sums_from(
        self,
        attributes: Float[Tensor, "row attribute"],
        spoken: Float[Tensor, "row channel"],
        part: Portion,
        matrices: Float[Tensor, "channel_times_kernel output"],
    ) -> Float[Tensor, "receiver output"]:
        return self._sums(self._basis(attributes, part), spoken, part, matrices)


@final
class Gkn(Network):
    r"""Graph kernel network: lift, iterate, project.

    .. math::
        h^0 = P (x, f(x)) + p, \qquad
        h^{t+1}_i = \mathrm{ReLU} \Big( W h^t_i + w
            + \frac{1}{|\mathcal{N}(i)|} \sum_{j \in \mathcal{N}(i)} \kappa(e_{ij}) \, h^t_j \Big), \qquad
        u = Q h^T + q

    The iterations share W and the kernel, so the kernel's basis is computed once for all of them.

    >>> points = torch.rand(100, 2)
    >>> cloud = Cloud.of(points, values=points.sin()[:, :1]).with_neighbours(radius=0.2)
    >>> Gkn(GknConfig(width=8, kernel_width=16))(cloud).shape
    torch.Size([100, 1])
    """

    name: ClassVar[str] = "gkn"
    title: ClassVar[str] = "graph kernel network"
    needs: tuple[Structure, ...] = ("neighbours",)
    config_type: ClassVar[type[OperatorConfig]] = GknConfig
    presets: ClassVar[dict[str, GknConfig]] = PRESETS

    def __init__(self, config: GknConfig) -> None:
        super().__init__(config)
        self.num_layers = config.num_layers
        self.lift = nn.Linear(config.dim + config.num_channels, config.width)
        self.root = nn.Linear(config.width, config.width)
        self.kernel = GraphKernel(
            dim=config.dim, num_inputs=config.num_channels, width=config.width, kernel_width=config.kernel_width
        )
        self.project = nn.Linear(config.width, config.num_outputs)

    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        assert cloud.neighbourhood is not None
        attributes = torch.cat([cloud.points, cloud.values], dim=1)
        averages = self.kernel.between(attributes, cloud.neighbourhood)
        features = self.lift(attributes)
        for _ in range(self.num_layers):
            features = relu(self.root(features) + averages(features))
        return self.project(features)


def _with_silent_row(rows: Float[Tensor, "point channel"]) -> Float[Tensor, "row channel"]:
    """Append zeros, for the places of a portion that nobody takes."""
    return torch.cat([rows, rows.new_zeros(1, rows.shape[1])])


def _recomputed(function: Callable[..., Tensor], *arguments: object) -> Tensor:
    """Call a function and keep nothing of it but its result: the backward pass calls it again."""
    result = checkpoint(function, *arguments, use_reentrant=False, preserve_rng_state=False)
    assert isinstance(result, Tensor)
    return result
