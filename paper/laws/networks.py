"""The two grid networks of PPI-NO (arXiv 2502.02682), as its authors build and train them."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu, pad, relu

Fields = Float[Tensor, "sample row row"]

EPOCHS, BATCH, LEARNING_RATE, WEIGHT_DECAY, HALVED_EVERY = 150, 10, 1e-3, 1e-4, 100
_WIDTH, _MODES, _LAYERS = 32, 12, 4
# Nine zeros behind 128 nodes.
_PADDING = 9 / 128


class SpectralConvolution(nn.Module):
    """A learned filter of the lowest waves."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(2, _WIDTH, _WIDTH, _MODES, _MODES, 2) / _WIDTH**2)

    def forward(self, features: Float[Tensor, "sample channel row column"]) -> Tensor:
        """Filter."""
        shape = features.shape[2:]
        waves = torch.fft.rfft2(features)
        low, high = torch.view_as_complex(self.weight)
        filtered = torch.zeros_like(waves)
        filtered[..., :_MODES, :_MODES] = torch.einsum("bixy,ioxy->boxy", waves[..., :_MODES, :_MODES], low)
        filtered[..., -_MODES:, :_MODES] = torch.einsum("bixy,ioxy->boxy", waves[..., -_MODES:, :_MODES], high)
        return torch.fft.irfft2(filtered, s=shape)


class GroupFno(nn.Module):
    """Fourier neural operator: 12 modes, width 32, 4 layers, zeros behind the grid."""

    def __init__(self, resolution: int) -> None:
        super().__init__()
        zeros = round(_PADDING * resolution)
        self.zeros = zeros + (resolution + zeros) % 2
        self.lift = nn.Linear(3, _WIDTH)
        self.convolutions = nn.ModuleList(SpectralConvolution() for _ in range(_LAYERS))
        self.skips = nn.ModuleList(nn.Conv2d(_WIDTH, _WIDTH, 1) for _ in range(_LAYERS))
        self.project = nn.Sequential(nn.Linear(_WIDTH, 128), nn.GELU(), nn.Linear(128, 1))

    def forward(self, fields: Fields) -> Fields:
        """Predict."""
        size = fields.shape[1]
        axis = torch.linspace(0.0, 1.0, size)
        places = [axis[:, None].expand_as(fields), axis.expand_as(fields)]
        features = self.lift(torch.stack([fields, *places], dim=-1)).permute(0, 3, 1, 2)
        features = pad(features, [0, self.zeros, 0, self.zeros])
        for layer, (convolution, skip) in enumerate(zip(self.convolutions, self.skips, strict=True)):
            features = convolution(features) + skip(features)
            features = gelu(features) if layer < _LAYERS - 1 else features
        result: Tensor = self.project(features[..., :size, :size].permute(0, 2, 3, 1))
        return result[..., 0]


class GroupDeepONet(nn.Module):
    """DeepONet of width 50; the branch's last layer is applied twice, as in the authors' code."""

    def __init__(self, resolution: int, width: int = 50) -> None:
        super().__init__()
        self.branch = nn.Linear(resolution**2, width)
        self.again = nn.Linear(width, width)
        self.trunk = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, fields: Fields) -> Fields:
        """Predict."""
        axis = torch.linspace(0.0, 1.0, fields.shape[1])
        coefficients = self.again(relu(self.again(relu(self.branch(fields.flatten(1))))))
        return (coefficients @ self.trunk(torch.cartesian_prod(axis, axis)).mT + self.bias).reshape(fields.shape)


NETWORKS: dict[str, Callable[[int], nn.Module]] = {"FNO": GroupFno, "DeepONet": GroupDeepONet}


def relative_errors(predictions: Fields, targets: Fields) -> Float[Tensor, " sample"]:
    """Return the relative L2 error of each sample."""
    return (predictions - targets).flatten(1).norm(dim=1) / targets.flatten(1).norm(dim=1)


def _spread(inputs: Fields) -> Float[Tensor, "row row"]:
    """Return the spread of the inputs at each grid point.

    Where all samples agree, as five Eikonal samples do at some points, it is that of all points: a test sample that
    differs there would be ten thousand spreads away, and the published errors are not those of such inputs.
    """
    spread, overall = inputs.std(0), inputs.std()
    return torch.where(spread > 1e-3 * overall, spread, overall)


def trained_error(
    name: str, train: tuple[Fields, Fields], test: tuple[Fields, Fields], *, seed: int, epochs: int = EPOCHS
) -> float:
    """Train as the authors do, but for choosing the epoch on the test samples; return the mean error on these."""
    torch.manual_seed(seed)
    inputs, targets = train
    network = NETWORKS[name](inputs.shape[1])
    # Each grid point is normalised by itself.
    centre, scale, mean, spread = inputs.mean(0), _spread(inputs) + 1e-5, targets.mean(0), targets.std(0) + 1e-5
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, HALVED_EVERY, 0.5)
    for _ in range(epochs):
        for rows in torch.randperm(len(inputs)).split(BATCH):
            predictions = network((inputs[rows] - centre) / scale) * spread + mean
            optimiser.zero_grad()
            relative_errors(predictions, targets[rows]).sum().backward()
            optimiser.step()
        schedule.step()
    with torch.no_grad():
        parts = [network((part - centre) / scale) * spread + mean for part in test[0].split(20)]
    return float(relative_errors(torch.cat(parts), test[1]).mean())
