"""Small data sets with a known operator, each sample on its own scattered points."""

from dataclasses import replace

import torch

from gola.operators import (
    KernelConfig,
    LinearConfig,
    MeanConfig,
    MorphedGpConfig,
    NearestConfig,
    PeriodicKernelConfig,
    PodGpConfig,
    PodRbfConfig,
)
from gola.operators.closed_form.samples import Mesh
from gola.operators.cloud import Cloud
from gola.registry import OPERATORS


def without(*steps):
    """All steps of the linear operator but some."""
    return tuple(name for name in LinearConfig().steps if name not in steps)


# A config of each operator that is quick.
SMALL = {
    "mean": MeanConfig(num_modes=40),
    "nearest": NearestConfig(num_modes=40, num_input_modes=30),
    "linear": LinearConfig(num_modes=40, num_wide_modes=30, steps=without("diffusion")),
    "kernel": KernelConfig(num_modes=40, num_input_modes=30),
    "periodic_kernel": PeriodicKernelConfig(),
    "pod_gp": PodGpConfig(num_modes=40, num_input_modes=30),
    "morphed_gp": MorphedGpConfig(num_modes=40, num_input_modes=30),
    "pod_rbf": PodRbfConfig(num_modes=40),
}


# Only operators for periodic boxes read it.
UNIT_PERIODS = Mesh(periods=torch.ones(2, dtype=torch.float64))


def small_operator(name, **settings):
    return OPERATORS[name](replace(SMALL[name], **settings))


def scattered(functions, *, sizes, dim=2, seed=0, dtype=torch.float64):
    """Evaluate pairs of functions (input, solution) at random points, as many as each size says."""
    generator = torch.Generator().manual_seed(seed)
    clouds, targets = [], []
    for (inputs, solution), size in zip(functions, sizes, strict=True):
        points = torch.rand(size, dim, generator=generator, dtype=torch.float64)
        clouds.append(Cloud.of(points.to(dtype), inputs(points).to(dtype)))
        targets.append(solution(points).to(dtype))
    return Cloud.collate(clouds), torch.cat(targets)


def samples_of(cloud, targets, rows):
    """Take some samples of a batch apart, and put them together again."""
    points, values = torch.split(cloud.points, cloud.sizes), torch.split(cloud.values, cloud.sizes)
    wanted = torch.split(targets, cloud.sizes)
    return Cloud.collate([Cloud.of(points[row], values[row]) for row in rows]), torch.cat([wanted[row] for row in rows])


def waves(dim, num_channels, seed, most=3):
    """A function that is a sum of a few cosines, and its image under a map that is linear, smooth and not diagonal."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.cartesian_prod(*[torch.arange(most)] * dim).reshape(-1, dim).double()
    coefficients = torch.randn(len(numbers), num_channels, generator=generator, dtype=torch.float64)
    damping = 1.0 / (1.0 + numbers.square().sum(dim=1, keepdim=True))

    def inputs(points):
        return torch.cos(torch.pi * points[:, None] * numbers).prod(dim=2) @ coefficients

    def solution(points):
        return 2.0 + (1.0 + points[:, :1]) * (
            torch.cos(torch.pi * points[:, None] * numbers).prod(dim=2) @ (damping * coefficients)
        )

    return inputs, solution


def wave_samples(count, *, num_points=80, dim=2, num_channels=1, seed=0, dtype=torch.float64):
    """Samples of differing numbers of points under the map of :func:`waves`."""
    functions = [waves(dim, num_channels, seed=1000 * seed + number) for number in range(count)]
    sizes = [num_points + 3 * (number % 4) for number in range(count)]
    return scattered(functions, sizes=sizes, dim=dim, seed=seed, dtype=dtype)


def parameter_samples(count, *, num_points=60, seed=0, dtype=torch.float64):
    """Samples whose two inputs are constant, with solutions that depend on them smoothly."""
    generator = torch.Generator().manual_seed(seed)
    functions = []
    for first, second in torch.rand(count, 2, generator=generator, dtype=torch.float64).tolist():
        functions.append(
            (
                lambda points, first=first, second=second: points.new_tensor([[first, 5.0 + second]]).repeat(
                    len(points), 1
                ),
                lambda points, first=first, second=second: (
                    torch.exp(first * points[:, :1]) + second**2 * points[:, 1:2]
                ),
            )
        )
    return scattered(functions, sizes=[num_points + number % 3 for number in range(count)], seed=seed, dtype=dtype)


def training_samples(name, count, *, seed=0, dtype=torch.float64):
    """Samples that the operator of this name can be fitted to."""
    make = parameter_samples if name == "pod_rbf" else wave_samples
    return make(count, seed=seed, dtype=dtype)


def num_inputs_of(name):
    return 2 if name == "pod_rbf" else 1


def relative_error(predictions, targets, sizes):
    """Mean over samples of the relative L2 error."""
    pairs = zip(predictions.split(sizes), targets.split(sizes), strict=True)
    return sum(float((found - wanted).norm() / wanted.norm()) for found, wanted in pairs) / len(sizes)
