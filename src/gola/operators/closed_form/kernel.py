"""Kernel ridge regression on functions, for operators that are not linear."""

import itertools
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, Literal, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gola.data.cloud import Cloud
from gola.operators.closed_form.closed_form import ClosedForm, ComparingConfig
from gola.operators.closed_form.input_features import COMPARISON_PADDING, InputFeatures
from gola.operators.closed_form.ridge import fit_ridge
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.scores import Probes
from gola.operators.closed_form.smoothness import growth
from gola.operators.operator import OperatorConfig

Transform = Literal["identity", "reciprocal", "logarithm"]

_EXPONENTS = (0.0, 1.0, 2.0)
_RATES = (3.0, 10.0)
# In units of the root mean square distance of the training inputs.
_LENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0)
_PENALTIES = tuple(10.0**power for power in range(-8, 1))


@final
@dataclass(frozen=True, kw_only=True)
class KernelConfig(ComparingConfig):
    """Settings of the kernel operator."""


@final
@dataclass(frozen=True, kw_only=True)
class InputKernel:
    r"""A kernel :math:`k(f, g) = m(\lVert f - g \rVert / \ell) + \langle f, g \rangle` of input functions.

    m is the Matérn kernel of smoothness 5/2. Distance and inner product are those of coefficients with the weights
    :math:`(1 + \omega_k^2/\tau^2)^{-s}`. The second term is the kernel of linear operators, so that only the rest has
    to be learned from how near inputs are.

    Attributes:
        transform: What is done to the values of positive channels first: slowness may suit a problem that speed does
            not, and the logarithm suits what spans decades.
        exponent: The exponent s of the inner product.
        rate: The frequency τ.
        scale: The unit of squared distances and inner products.
        length: The length ℓ.
        penalty: The ridge.
    """

    transform: Transform
    exponent: float
    rate: float
    scale: float
    length: float = 1.0
    penalty: float = 1.0

    def __call__(
        self, inputs: Float[Tensor, "row feature"], others: Float[Tensor, "column feature"]
    ) -> Float[Tensor, "row column"]:
        """Evaluate the kernel between weighted coefficients."""
        distances = torch.cdist(inputs, others) * (5.0 / self.scale) ** 0.5 / self.length
        matern = (1.0 + distances + distances**2 / 3.0) * torch.exp(-distances)
        return matern + inputs @ others.T / self.scale


@final
class Kernel(ClosedForm):
    r"""Kernel ridge regression from input functions to solutions, for operators that are not linear.

    .. math:: u = \sum_j k(f, f_j)\, \alpha_j + c

    No penalty holds c back. The kernel (:class:`InputKernel`) and the ridge are chosen by exact leave-one-out.
    """

    name: ClassVar[str] = "kernel"
    title: ClassVar[str] = "kernel operator"
    config_type: ClassVar[type[OperatorConfig]] = KernelConfig
    presets: ClassVar[dict[str, KernelConfig]] = {"default": KernelConfig()}

    config: KernelConfig
    inputs: InputFeatures
    positive: Bool[Tensor, " input_channel"]
    known_inputs: Float[Tensor, "sample feature"]
    centre: Float[Tensor, " feature"]
    dual: Float[Tensor, "sample mode channel"]
    offset: Float[Tensor, "mode channel"]

    def __init__(self, config: KernelConfig) -> None:
        super().__init__(config)
        self.inputs = InputFeatures()
        self._register_empty("positive", "known_inputs", "centre", "dual", "offset")

    @property
    def kernel(self) -> InputKernel:
        """The kernel that was chosen."""
        self._require_fit()
        return InputKernel(**self.choice)

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Try all kernels, on the inputs as they are and transformed."""
        probes = Probes.of(self.solutions, solutions, samples)
        space = self.space_for(samples, self.config.num_input_modes, COMPARISON_PADDING)
        self.positive = torch.cat(list(samples.inputs)).min(dim=0).values > 0.0
        candidates = []
        for transform in transforms(self.positive):
            values = [transformed(one, self.positive, transform) for one in samples.inputs]
            inputs, features = InputFeatures.fitted(space, samples.points, values)
            candidates.append((*best_kernel(transform, inputs, features, probes), inputs, features))
        _, kernel, self.inputs, features = min(candidates, key=lambda candidate: candidate[0])
        self.choice = asdict(kernel)
        return self._fit(features, solutions)

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit with the kernel chosen before."""
        values = [self._checked(one) for one in samples.inputs]
        return self._fit(self.inputs.of(samples.points, values), solutions)

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample."""
        features = self.inputs.of_cloud(replace(cloud, values=self._checked(cloud.values.double())))
        kernel = self.kernel(self._weighted(features) - self.centre, self.known_inputs)
        return torch.einsum("ts,smc->tmc", kernel, self.dual) + self.offset

    def _fit(
        self,
        features: Float[Tensor, "sample input_channel input_mode"],
        solutions: Float[Tensor, "sample mode channel"],
    ) -> Float[Tensor, "sample mode channel"]:
        weighted, shape = self._weighted(features), solutions.shape[1:]
        self.centre = weighted.mean(dim=0)
        self.known_inputs = weighted - self.centre
        kernel = self.kernel
        fit = fit_ridge(kernel(self.known_inputs, self.known_inputs), solutions.flatten(1), kernel.penalty)
        self.dual, self.offset = fit.dual.unflatten(1, shape), fit.free[0].unflatten(0, shape)
        return fit.left_out.unflatten(1, shape)

    def _weighted(self, features: Float[Tensor, "sample channel mode"]) -> Float[Tensor, "sample feature"]:
        return weighted_rows(self.inputs, features, self.kernel)

    def _checked(self, values: Float[Tensor, "point channel"]) -> Float[Tensor, "point channel"]:
        transform = self.kernel.transform
        if transform != "identity" and bool((values[:, self.positive] <= 0.0).any()):
            raise ValueError(
                f"This {self.title} takes the {transform} of input channels that were positive in all training samples;"
                " give it positive values there, or fit it to samples that are not."
            )
        return transformed(values, self.positive, transform)


def transforms(positive: Bool[Tensor, " channel"]) -> tuple[Transform, ...]:
    """Return the transforms that make sense."""
    return ("identity", "reciprocal", "logarithm") if bool(positive.any()) else ("identity",)


def transformed(
    values: Float[Tensor, "point channel"], positive: Bool[Tensor, " channel"], transform: Transform
) -> Float[Tensor, "point channel"]:
    """Transform the positive channels.

    >>> transformed(torch.tensor([[2.0, -1.0]]), torch.tensor([True, False]), "reciprocal").tolist()
    [[0.5, -1.0]]
    """
    if transform == "identity":
        return values
    # What is not positive may be zero, and is left alone.
    safe = torch.where(positive, values, 1.0)
    return torch.where(positive, 1.0 / safe if transform == "reciprocal" else safe.log(), values)


def weighted_rows(
    inputs: InputFeatures, features: Float[Tensor, "sample channel mode"], kernel: InputKernel
) -> Float[Tensor, "sample feature"]:
    """Weigh coefficients so that their plain inner product is that of the kernel."""
    return (features * growth(inputs.space, -0.5 * kernel.exponent, kernel.rate)).flatten(1)


def best_kernel(
    transform: Transform, inputs: InputFeatures, features: Float[Tensor, "sample channel mode"], probes: Probes
) -> tuple[float, InputKernel]:
    """Try all kernels, and return the one with the smallest leave-one-out error after that error."""
    scored = []
    for exponent, rate in itertools.product(_EXPONENTS, _RATES):
        plain = InputKernel(transform=transform, exponent=exponent, rate=rate, scale=1.0)
        rows = weighted_rows(inputs, features, plain)
        rows = rows - rows.mean(dim=0)
        scale = 2.0 * float(rows.square().sum(dim=1).mean()) or 1.0
        for length in _LENGTHS:
            candidate = replace(plain, scale=scale, length=length)
            matrix = candidate(rows, rows)
            for penalty in _PENALTIES:
                error = probes.error_of_rows(fit_ridge(matrix, probes.rows, penalty).left_out)
                scored.append((error, replace(candidate, penalty=penalty)))
    return min(scored, key=lambda one: one[0])
