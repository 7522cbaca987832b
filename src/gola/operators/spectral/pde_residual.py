r"""A PDE residual that is learned from samples, and required to vanish for other inputs.

A differential equation holds at every point: it says what the input function f is where the solution u has this value
and this slope, :math:`f(x) = \psi(u(x), \nabla u(x), x)`; parameters of the sample enter ψ too. Thirty samples of a
thousand points show it thirty thousand times; a small network ψ learns it. Then inputs whose solution nobody knows
teach as well: the residual :math:`f - \psi(u, \nabla u, x)` of what an operator predicts for them must be small.
(Learning such a relation to use inputs without solutions is the idea of PPI-NO, arXiv 2502.02682, on grids; here slopes
come from exact projections on scattered points.)
"""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.operators.cloud import Cloud
from gola.operators.operator import Operator
from gola.operators.spectral.unlabelled_inputs import fine_spectrum, other_inputs

_WIDTH = 64
_NUM_STEPS, _BATCH, _LEARNING_RATE, _WEIGHT_DECAY = 2000, 1000, 3e-3, 1e-3
# Inputs without a solution: more teach little more, and their functions at the points are kept, a gigabyte at most.
_MOST_INPUTS, _FEWEST_INPUTS = 200, 8
_MOST_NUMBERS = 2**28
_DRAWING = threading.Lock()

Labelled = tuple[Cloud, Float[Tensor, "point channel"]]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Slopes:
    """The way from values at the points of one sample to smooth values and slopes there.

    Attributes:
        analysis: From values at the points to coefficients of functions.
        functions: The functions at the points, then their derivatives along each axis.
    """

    analysis: Float[Tensor, "function point"]
    functions: Float[Tensor, "order point function"]

    @staticmethod
    def on(cloud: Cloud) -> "Slopes":
        """Prepare a cloud of one sample."""
        spectrum = fine_spectrum(cloud)
        gradients = spectrum.basis.gradients(cloud.points.double().cpu().numpy())
        orders = [spectrum.functions, *torch.from_numpy(gradients).to(spectrum.functions)]
        return Slopes(analysis=spectrum.analysis, functions=torch.stack(orders))

    @property
    def num_numbers(self) -> int:
        """How many numbers are kept."""
        return self.analysis.numel() + self.functions.numel()

    def of(self, values: Float[Tensor, "point channel"]) -> Float[Tensor, "point feature"]:
        """Return value and slopes of every channel at every point."""
        found = self.functions.to(values) @ (self.analysis.to(values) @ values)
        return found.transpose(0, 1).flatten(1)


@final
class InverseMap(nn.Module):
    """A network ψ: the input function at a point from value and slope of the solution there, the place and parameters.

    Args:
        dim: Number of coordinates.
        num_inputs: Channels of the input function.
        num_outputs: Channels of the solution.
        num_parameters: Numbers of each sample.
    """

    def __init__(self, *, dim: int, num_inputs: int, num_outputs: int, num_parameters: int = 0) -> None:
        super().__init__()
        num_features = num_outputs * (1 + dim) + dim + num_parameters
        self.register_buffer("mean", torch.zeros(num_features))
        self.register_buffer("scale", torch.ones(num_features))
        self.network = nn.Sequential(
            nn.Linear(num_features, _WIDTH),
            nn.GELU(),
            nn.Linear(_WIDTH, _WIDTH),
            nn.GELU(),
            nn.Linear(_WIDTH, num_inputs),
        )

    mean: Tensor
    scale: Tensor

    def forward(
        self, solution: Float[Tensor, "point channel"], cloud: Cloud, slopes: Slopes
    ) -> Float[Tensor, "point input_channel"]:
        """Return what the input function should be for this solution."""
        return self.network((residual_features(solution, cloud, slopes) - self.mean) / self.scale)

    def residual(self, solution: Float[Tensor, "point channel"], cloud: Cloud, slopes: Slopes) -> Float[Tensor, ""]:
        """Return the root mean square difference from the input function of the cloud, in its unit."""
        return (self(solution, cloud, slopes) - cloud.values.to(solution)).square().mean().sqrt()

    @staticmethod
    def learned(samples: Sequence[Labelled], *, seed: int) -> "InverseMap":
        """Learn from the points of all samples together.

        Args:
            samples: Clouds of one sample each, and their solutions.
            seed: Decides the initial weights and the order of the points.
        """
        features = torch.cat([residual_features(solution, cloud, Slopes.on(cloud)) for cloud, solution in samples])
        values = torch.cat([cloud.values for cloud, _ in samples])
        # The initial weights of the operator should not depend on whether there is a residual, nor those of ψ on what
        # another thread draws.
        with _DRAWING, torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            first, solution = samples[0]
            inverse = InverseMap(
                dim=first.dim,
                num_inputs=values.shape[1],
                num_outputs=solution.shape[1],
                num_parameters=first.parameters.shape[1],
            )
        inverse.mean, spread = features.mean(dim=0), features.std(dim=0)
        inverse.scale = torch.where(spread > 0, spread, 1.0)
        inverse._fit(features, values, np.random.default_rng([seed, len(samples)]))
        inverse.zero_grad()
        return inverse.requires_grad_(requires_grad=False)

    def _fit(
        self,
        features: Float[Tensor, "row feature"],
        values: Float[Tensor, "row input_channel"],
        rng: np.random.Generator,
    ) -> None:
        optimiser = torch.optim.AdamW(self.parameters(), weight_decay=_WEIGHT_DECAY)
        normalised = (features - self.mean) / self.scale
        for step in range(_NUM_STEPS):
            for group in optimiser.param_groups:
                group["lr"] = _LEARNING_RATE * 0.5 * (1.0 + math.cos(math.pi * step / _NUM_STEPS))
            rows = torch.from_numpy(rng.integers(len(values), size=min(_BATCH, len(values))))
            loss = (self.network(normalised[rows]) - values[rows]).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ResidualRegulariser:
    """Inputs without a solution, and the learned relation that predictions for them must satisfy.

    Attributes:
        inverse: The learned relation ψ.
        weight: How much it counts beside the error on samples with a solution.
        clouds: The inputs, prepared for the operator.
        slopes: Of each of them.
        seed: Decides which are looked at in which step.
    """

    inverse: InverseMap
    weight: float
    clouds: tuple[Cloud, ...]
    slopes: tuple[Slopes, ...]
    seed: int

    @staticmethod
    def prepared(samples: Sequence[Labelled], operator: Operator, *, weight: float, seed: int) -> "ResidualRegulariser":
        """Learn the relation from samples, and make other inputs from theirs."""
        known = [cloud for cloud, _ in samples]
        if not known[0].values.shape[1]:
            raise ValueError(
                "A learned PDE residual needs an input function, which it says the value of; these samples have none."
                " Train without it, residual_weight=0."
            )
        size = Slopes.on(max(known, key=lambda cloud: cloud.num_points)).num_numbers
        count = max(_FEWEST_INPUTS, min(_MOST_INPUTS, _MOST_NUMBERS // size))
        clouds = tuple(operator.prepare(cloud) for cloud in other_inputs(known, count=count, seed=seed))
        return ResidualRegulariser(
            inverse=InverseMap.learned(samples, seed=seed),
            weight=weight,
            clouds=clouds,
            slopes=tuple(Slopes.on(cloud) for cloud in clouds),
            seed=seed,
        )

    def drawn(self, count: int, *key: int) -> list[int]:
        """Draw inputs, always the same for the same key."""
        return np.random.default_rng([self.seed, *key]).integers(len(self.clouds), size=count).tolist()

    def penalties(
        self, predictions: Sequence[Float[Tensor, "_ channel"]], rows: Sequence[int]
    ) -> Float[Tensor, " sample"]:
        """Return the weighted residuals of predictions for the inputs with these numbers."""
        inverse = self.inverse.to(predictions[0].device)
        return self.weight * torch.stack(
            [
                inverse.residual(found, self.clouds[row], self.slopes[row])
                for found, row in zip(predictions, rows, strict=True)
            ]
        )


def residual_features(
    solution: Float[Tensor, "point channel"], cloud: Cloud, slopes: Slopes
) -> Float[Tensor, "point feature"]:
    """Return all that ψ looks at."""
    parameters = cloud.parameters[cloud.sample_of_point]
    return torch.cat([slopes.of(solution), cloud.points.to(solution), parameters.to(solution)], dim=1)
