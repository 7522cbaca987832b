"""Kernel ridge regression on functions, for operators that are not linear."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gola.operators.closed_form.closed_form import ClosedForm, ComparingConfig
from gola.operators.closed_form.homogeneity import Homogeneity
from gola.operators.closed_form.input_features import COMPARISON_PADDING, InputFeatures
from gola.operators.closed_form.kriging import error_covariance, held_out_variances
from gola.operators.closed_form.preprocessing import Preprocessing, Transform, transformed, transforms
from gola.operators.closed_form.ridge import fit_ridge
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.scores import Probes
from gola.operators.cloud import Cloud
from gola.operators.operator import OperatorConfig
from gola.protocol import FitTask
from gola.representation.smoothness import growth

_EXPONENTS = (0.0, 1.0, 2.0)
_RATES = (3.0, 10.0)
# In units of the root mean square distance of the training inputs.
_LENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0)
_PENALTIES = tuple(10.0**power for power in range(-8, 1))
# Amplitudes are taken out if that lowers the leave-one-out error by this share: what is left to chance stays as it is.
_LEAST_GAIN = 0.02
_MOST_CHANGES = 8


@final
@dataclass(frozen=True, kw_only=True)
class KernelConfig(ComparingConfig):
    """Settings of the kernel operator.

    Attributes:
        homogeneity: Whether to look for inputs that the operator scales with, and to take their amplitudes out.
    """

    homogeneity: bool = True


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

    No penalty holds c back. The kernel (:class:`InputKernel`) and the ridge are chosen by exact leave-one-out, and
    so is whether the operator scales with its inputs (:class:`~gola.operators.closed_form.homogeneity.Homogeneity`).
    """

    name: ClassVar[str] = "kernel"
    title: ClassVar[str] = "kernel operator"
    config_type: ClassVar[type[OperatorConfig]] = KernelConfig
    presets: ClassVar[dict[str, KernelConfig]] = {"default": KernelConfig()}

    config: KernelConfig
    inputs: InputFeatures
    homogeneity: Homogeneity
    positive: Bool[Tensor, " input_channel"]
    known_inputs: Float[Tensor, "sample feature"]
    centre: Float[Tensor, " feature"]
    dual: Float[Tensor, "sample mode channel"]
    offset: Float[Tensor, "mode channel"]

    def __init__(self, config: KernelConfig) -> None:
        super().__init__(config)
        self.inputs = InputFeatures()
        self.homogeneity = Homogeneity(config.num_channels)
        self._register_empty("positive", "known_inputs", "centre", "dual", "offset")

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:
        """Whether there are input functions: numbers alone are better compared as numbers."""
        return task.num_fields > 0

    @property
    def kernel(self) -> InputKernel:
        """The kernel that was chosen."""
        self._require_fit()
        return InputKernel(**self.choice)

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Try all kernels, on the inputs as they are and transformed, with their amplitudes and without."""
        self.positive = torch.cat(list(samples.inputs)).min(dim=0).values > 0.0
        best = self._best(samples, solutions, Homogeneity(self.config.num_channels))
        suspected = Homogeneity.suspected(samples.inputs, samples.targets)
        if self.config.homogeneity and suspected.is_any:
            best = self._better(samples, solutions, [suspected], best)
            # Among few samples a channel may be suspected by chance, or missed; of many, all changes take too long.
            changes = suspected.nearby(self.positive)
            best = self._better(samples, solutions, changes, best) if len(changes) <= _MOST_CHANGES else best
        self.choice, self.inputs, self.homogeneity = asdict(best.kernel), best.inputs, best.homogeneity
        return self._fit(best.features, solutions, best.factors)

    def _better(
        self,
        samples: Samples,
        solutions: Float[Tensor, "sample mode channel"],
        homogeneities: Sequence[Homogeneity],
        known: "_Candidate",
    ) -> "_Candidate":
        """Return the best of some ways to take amplitudes out, if it is clearly better than what is known."""
        others = [self._best(samples, solutions, homogeneity) for homogeneity in homogeneities]
        best = min(others, key=lambda candidate: candidate.error, default=known)
        return best if best.error < (1.0 - _LEAST_GAIN) * known.error else known

    def _best(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"], homogeneity: Homogeneity
    ) -> "_Candidate":
        """Return the best of all kernels on inputs without amplitudes."""
        space = self.space_for(samples, self.config.num_input_modes, COMPARISON_PADDING)
        values, factors = _without_amplitudes(samples, homogeneity)
        probes = Probes.of(self.solutions, solutions / factors[:, None, None], samples)
        candidates = []
        for transform in transforms(self.positive):
            seen = [transformed(one, self.positive, transform) for one in values]
            inputs, features = InputFeatures.fitted(space, samples.points, seen)
            error, kernel = best_kernel(transform, inputs, features, probes)
            candidates.append(_Candidate(error, kernel, inputs, features, homogeneity, factors))
        return min(candidates, key=lambda candidate: candidate.error)

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Fit with the kernel chosen before."""
        values, factors = _without_amplitudes(samples, self.homogeneity)
        features = self.inputs.of(samples.points, [self._checked(one) for one in values])
        return self._fit(features, solutions, factors)

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample."""
        cloud, factors = self.homogeneity.of_cloud(cloud)
        features = self.inputs.of_cloud(replace(cloud, values=self._checked(cloud.values.double())))
        kernel = self.kernel(self._weighted(features) - self.centre, self.known_inputs)
        return (torch.einsum("ts,smc->tmc", kernel, self.dual) + self.offset) * factors[:, None, None]

    def error_covariance(self, cloud: Cloud) -> Float[Tensor, "sample sample"]:
        """Return the covariance of errors under the kernel as a prior."""
        cloud, factors = self.homogeneity.of_cloud(self.seen(cloud))
        features = self.inputs.of_cloud(replace(cloud, values=self._checked(cloud.values.double())))
        new, known = self._weighted(features) - self.centre, self.known_inputs
        found = error_covariance(
            self.kernel(known, known), self.kernel(new, known), self.kernel(new, new), self.kernel.penalty
        )
        return factors[:, None] * found * factors

    def held_out_variances(self, cloud: Cloud) -> Float[Tensor, " sample"]:
        """Return the variances of errors of training samples, had each been held out."""
        _, factors = self.homogeneity.of_cloud(self.seen(cloud))
        matrix = self.kernel(self.known_inputs, self.known_inputs)
        return factors**2 * held_out_variances(matrix, self.kernel.penalty)

    def preprocessing(self) -> Preprocessing:
        """Return the amplitudes and transforms that the kernel works best with."""
        return Preprocessing.of(self.homogeneity, self.positive, self.kernel.transform)

    def _fit(
        self,
        features: Float[Tensor, "sample input_channel input_mode"],
        solutions: Float[Tensor, "sample mode channel"],
        factors: Float[Tensor, " sample"],
    ) -> Float[Tensor, "sample mode channel"]:
        weighted, shape = self._weighted(features), solutions.shape[1:]
        self.centre = weighted.mean(dim=0)
        self.known_inputs = weighted - self.centre
        kernel = self.kernel
        matrix = kernel(self.known_inputs, self.known_inputs)
        fit = fit_ridge(matrix, solutions.flatten(1) / factors[:, None], kernel.penalty)
        self.dual, self.offset = fit.dual.unflatten(1, shape), fit.free[0].unflatten(0, shape)
        return (fit.held_out * factors[:, None]).unflatten(1, shape)

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


@dataclass(frozen=True)
class _Candidate:
    """A kernel with its leave-one-out error, and what it was fitted to."""

    error: float
    kernel: InputKernel
    inputs: InputFeatures
    features: Float[Tensor, "sample channel mode"]
    homogeneity: Homogeneity
    factors: Float[Tensor, " sample"]


def _without_amplitudes(
    samples: Samples, homogeneity: Homogeneity
) -> tuple[list[Float[Tensor, "_ channel"]], Float[Tensor, " sample"]]:
    """Return the inputs without amplitudes, and by what solutions were divided."""
    pairs = [homogeneity.taken_out(values) for values in samples.inputs]
    return [values for values, _ in pairs], torch.stack([factor for _, factor in pairs])


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
                error = probes.error_of_rows(fit_ridge(matrix, probes.rows, penalty).held_out)
                scored.append((error, replace(candidate, penalty=penalty)))
    return min(scored, key=lambda one: one[0])
