"""Kernel ridge regression on functions, for operators that are not linear."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gola.data.mirror import Components
from gola.geometry.symmetry import Symmetry
from gola.operators.closed_form.closed_form import ClosedForm, ComparingConfig
from gola.operators.closed_form.copies import Channels, CopiedSamples, without_amplitudes
from gola.operators.closed_form.homogeneity import Homogeneity
from gola.operators.closed_form.input_features import COMPARISON_PADDING, InputFeatures
from gola.operators.closed_form.input_kernel import InputKernel, all_kernels, best_kernel
from gola.operators.closed_form.kriging import error_covariance, held_out_variances
from gola.operators.closed_form.preprocessing import Preprocessing, transformed, transforms
from gola.operators.closed_form.ridge import fit_ridge
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.scores import Probes
from gola.operators.cloud import Cloud
from gola.operators.operator import FitResult, OperatorConfig
from gola.protocol import FitTask
from gola.representation.function_space import FunctionSpace
from gola.representation.nodal import NodalSpace
from gola.representation.symmetry import with_whole_shells

# Amplitudes are taken out if that lowers the leave-one-out error by this share: what is left to chance stays as it is.
_LEAST_GAIN = 0.02
_MOST_CHANGES = 8
# Copies by symmetries are kept if they lower the leave-one-out error by this share.
_LEAST_GAIN_OF_COPIES = 0.03


@final
@dataclass(frozen=True, kw_only=True)
class KernelConfig(ComparingConfig):
    """Settings of the kernel operator.

    Attributes:
        homogeneity: Whether to look for inputs that the operator scales with, and to take their amplitudes out.
        symmetries: Whether to look for symmetries of the operator, and to add copies of the samples by these.
    """

    homogeneity: bool = True
    symmetries: bool = True


@final
class Kernel(ClosedForm):
    r"""Kernel ridge regression from input functions to solutions, for operators that are not linear.

    .. math:: u = \sum_j k(f, f_j)\, \alpha_j + c

    No penalty holds c back. The kernel (:class:`InputKernel`) and the ridge are chosen by exact leave-one-out, and
    so is whether the operator scales with its inputs (:class:`~gola.operators.closed_form.homogeneity.Homogeneity`).
    Where it has symmetries, copies of the samples by these are further samples, held out together with their sample,
    and the regression has the same symmetries.
    """

    name: ClassVar[str] = "kernel"
    title: ClassVar[str] = "kernel operator"
    refines: ClassVar[bool] = True
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
        self._channels = Channels.scalars(config.num_channels, config.num_outputs)
        self._register_empty("positive", "known_inputs", "centre", "dual", "offset")

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:
        """Whether there are input functions: numbers alone are better compared as numbers."""
        return task.num_fields > 0

    def fit(self, task: FitTask) -> FitResult:
        """Fit to the samples of a task; the names of its channels tell which are components of vectors."""
        if task.inputs or task.parameters:
            inputs = Components.of((*task.inputs, *task.parameters))
            self._channels = Channels(inputs=inputs, targets=Components.of(task.targets))
        return super().fit(task)

    @property
    def kernel(self) -> InputKernel:
        """The kernel that was chosen."""
        self._require_fit()
        return InputKernel(**{name: value for name, value in self.choice.items() if name != "symmetries"})

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The symmetries that samples were copied by."""
        return tuple(Symmetry.from_dict(one) for one in self.choice.get("symmetries", ()))

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample kept_mode channel"]:
        """Try all kernels, on the inputs as they are and transformed, with their amplitudes and without."""
        self.positive = torch.cat(list(samples.inputs)).min(dim=0).values > 0.0
        best = self._best(samples, solutions, Homogeneity(self.config.num_channels))
        suspected = Homogeneity.suspected(samples.inputs, samples.targets)
        if self.config.homogeneity and suspected.is_any:
            best = self._better(samples, solutions, [suspected], best)
            # Among few samples a channel may be suspected by chance, or missed; of many, all changes take too long.
            changes = suspected.nearby(self.positive)
            best = self._better(samples, solutions, changes, best) if len(changes) <= _MOST_CHANGES else best
        copied = self._copied(samples, solutions, best.inputs, best.homogeneity, best.kernel)
        if self.config.symmetries and not samples.nodes_move:
            best = self._with_copies(copied, best)
        self.choice = {**asdict(best.kernel), "symmetries": [asdict(symmetry) for symmetry in best.symmetries]}
        self.inputs, self.homogeneity = best.inputs, best.homogeneity
        return self._fit(copied.under(best.homogeneity))

    def _better(
        self,
        samples: Samples,
        solutions: Float[Tensor, "sample mode channel"],
        homogeneities: Sequence[Homogeneity],
        known: "_Candidate",
    ) -> "_Candidate":
        """Return the best of some ways to take amplitudes out, if it is clearly better than what is known.

        Only those that the sizes of solutions support: a lower error alone may be chance, and what is said of scaling
        must be true.
        """
        supported = [one for one in homogeneities if one.is_supported(samples.inputs, samples.targets)]
        others = [self._best(samples, solutions, homogeneity) for homogeneity in supported]
        best = min(others, key=lambda candidate: candidate.error, default=known)
        return best if best.error < (1.0 - _LEAST_GAIN) * known.error else known

    def _best(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"], homogeneity: Homogeneity
    ) -> "_Candidate":
        """Return the best of all kernels on inputs without amplitudes."""
        space = self.space_for(samples, self.config.num_input_modes, COMPARISON_PADDING)
        values, factors = without_amplitudes(samples.inputs, homogeneity)
        probes = Probes.of(self.solutions, solutions / factors[:, None, None], samples)
        candidates = []
        for transform in transforms(self.positive):
            seen = [transformed(one, self.positive, transform) for one in values]
            inputs, features = InputFeatures.fitted(space, samples.points, seen)
            error, kernel = best_kernel(all_kernels(transform), inputs, features, probes)
            candidates.append(_Candidate(error, kernel, inputs, homogeneity))
        return min(candidates, key=lambda candidate: candidate.error)

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample kept_mode channel"]:
        """Fit with the kernel chosen before."""
        return self._fit(self._copied(samples, solutions, self.inputs, self.homogeneity, self.kernel))

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample."""
        cloud, factors = self.homogeneity.of_cloud(cloud)
        features = self.inputs.of_cloud(replace(cloud, values=self._checked(cloud.values.double())))
        kernel = self.kernel(self.kernel.weighted(self.inputs, features) - self.centre, self.known_inputs)
        return (torch.einsum("ts,smc->tmc", kernel, self.dual) + self.offset) * factors[:, None, None]

    @property
    def expects_errors(self) -> bool:
        """Yes."""
        return True

    def error_covariance(self, cloud: Cloud) -> Float[Tensor, "sample sample"]:
        """Return the covariance of errors under the kernel as a prior, given the samples without their copies."""
        cloud, factors = self.homogeneity.of_cloud(self.seen(cloud))
        features = self.inputs.of_cloud(replace(cloud, values=self._checked(cloud.values.double())))
        kernel, known = self.kernel, self.known_inputs[: len(self.held_out)]
        new = kernel.weighted(self.inputs, features) - self.centre
        found = error_covariance(kernel(known, known), kernel(new, known), kernel(new, new), kernel.penalty)
        return factors[:, None] * found * factors

    def held_out_variances(self, cloud: Cloud) -> Float[Tensor, " sample"]:
        """Return the variances of errors of training samples, had each been held out."""
        _, factors = self.homogeneity.of_cloud(self.seen(cloud))
        known = self.known_inputs[: len(self.held_out)]
        return factors**2 * held_out_variances(self.kernel(known, known), self.kernel.penalty)

    def preprocessing(self) -> Preprocessing:
        """Return the amplitudes and transforms that the kernel works best with."""
        return Preprocessing.of(self.homogeneity, self.positive, self.kernel.transform)

    def _fit(self, copied: CopiedSamples) -> Float[Tensor, "sample kept_mode channel"]:
        """Fit with what was chosen, to samples and their copies; return predictions of the samples, held out."""
        copies = [copied.copy_by(symmetry) for symmetry in self.symmetries]
        features, factors = copied.features(copies)
        self.solutions, solutions = copied.solutions_with(copies)
        weighted, shape = self.kernel.weighted(self.inputs, features), solutions.shape[1:]
        self.centre = weighted.mean(dim=0)
        self.known_inputs = weighted - self.centre
        matrix = self.kernel(self.known_inputs, self.known_inputs)
        targets, groups = solutions.flatten(1) / factors[:, None], copied.groups(copies)
        count = len(copied.samples)
        fit = fit_ridge(matrix, targets, self.kernel.penalty, groups=groups, num_held_out=count)
        self.dual, self.offset = fit.dual.unflatten(1, shape), fit.free[0].unflatten(0, shape)
        return (fit.held_out * factors[:count, None]).unflatten(1, shape)

    def _copied(
        self,
        samples: Samples,
        solutions: Float[Tensor, "sample mode channel"],
        inputs: InputFeatures,
        homogeneity: Homogeneity,
        kernel: InputKernel,
    ) -> CopiedSamples:
        assert isinstance(self.solutions, FunctionSpace | NodalSpace)
        return CopiedSamples(
            samples=samples,
            space=self.solutions,
            solutions=solutions,
            inputs=inputs,
            homogeneity=homogeneity,
            transform=kernel.transform,
            positive=self.positive,
            channels=self._channels,
        )

    def _with_copies(self, copied: CopiedSamples, best: "_Candidate") -> "_Candidate":
        """Return the best kernel on samples and their copies, if there are symmetries and it is clearly better.

        Amplitudes that hold for the samples need not hold for their copies: a vector turns, and so does what the
        operator scales with.
        """
        symmetries = copied.symmetries(best.kernel)
        if not symmetries:
            return best
        copies = [copied.copy_by(symmetry) for symmetry in symmetries]
        probes, tried = copied.probes(copies), []
        for homogeneity in copied.homogeneities(copies) if self.config.homogeneity else [best.homogeneity]:
            error, kernel = copied.under(homogeneity).best_kernel(best.kernel, copies, probes)
            tried.append(replace(best, error=error, kernel=kernel, homogeneity=homogeneity, symmetries=symmetries))
        found = min(tried, key=lambda candidate: candidate.error)
        return found if found.error < (1.0 - _LEAST_GAIN_OF_COPIES) * best.error else best

    @staticmethod
    def space_for(samples: Samples, num_modes: int, padding: float) -> FunctionSpace:
        """Make a space that symmetries of the bounding box map to itself, which costs it a few functions."""
        return with_whole_shells(ClosedForm.space_for(samples, num_modes, padding))

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
    """A kernel with its leave-one-out error, and how inputs are seen."""

    error: float
    kernel: InputKernel
    inputs: InputFeatures
    homogeneity: Homogeneity
    symmetries: tuple[Symmetry, ...] = ()
