"""The periodic kernel operator: kernel regression that commutes with shifts, and reflections where the data allow."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, final

import numpy as np
import torch
from jaxtyping import Complex, Float, Int
from scipy.optimize import minimize
from torch import Tensor

from gola.geometry.symmetry import Symmetry, candidates, largest_group
from gola.operators.closed_form.closed_form import ClosedForm, ClosedFormConfig
from gola.operators.closed_form.covariance import FAMILIES
from gola.operators.closed_form.periodic_samples import looks_periodic, periodic_grid
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.shift_kernel import (
    ShiftKernel,
    ShiftRegression,
    Spectra,
    from_waves,
    halved,
    mean_diagonal,
    predicted,
    strong_waves,
    to_waves,
    transformed_kernel,
)
from gola.operators.cloud import Cloud
from gola.operators.operator import OperatorConfig
from gola.operators.symmetry_test import not_refuted
from gola.protocol import FitTask
from gola.representation.periodic_grid import PeriodicGrid
from gola.representation.representatives import spread
from gola.threads import one_thread

# Samples that kernels are compared on, and steps of the optimiser.
_SEARCH_SAMPLES, _NUM_STEPS = 24, 25
# Ranges of the exponent, and of the logarithms of length, trend and penalty.
_BOUNDS = ((0.0, 6.0), (-3.0, 4.0), (-10.0, 4.0), (math.log(1e-11), 0.0))
# Samples with their copies: time grows with the cube of this, and memory with its square times the number of waves.
_MOST_COPIES, _MOST_NUMBERS, _NUMBERS_AT_ONCE = 500, 3e7, 1e7
# The share of the squares of solutions that is left out with waves: at first, and as a share of squared errors.
_NEGLIGIBLE, _NEGLIGIBLE_ERROR = 1e-13, 1e-3
# Kernels are compared on a grid half as fine, if this share of the squares of functions is lost at most, or finer.
_LOST, _COARSEST = 1e-3, 16
# A grid of scattered points has at most so many nodes; those of points that form a grid are all taken.
_MOST_NODES = 4096


@final
@dataclass(frozen=True, kw_only=True)
class PeriodicKernelConfig(ClosedFormConfig):
    """Settings of the periodic kernel operator, which has none of its own."""


@final
class PeriodicKernel(ClosedForm):
    """Kernel ridge regression on a periodic box with all shifts of the training samples, see :mod:`.shift_kernel`.

    Reflections and swaps of axes, with or without a change of sign, join as symmetries where a first fit predicts
    copies of the training samples about as well as held-out samples.
    """

    name: ClassVar[str] = "periodic_kernel"
    title: ClassVar[str] = "periodic kernel operator"
    config_type: ClassVar[type[OperatorConfig]] = PeriodicKernelConfig
    presets: ClassVar[dict[str, PeriodicKernelConfig]] = {"default": PeriodicKernelConfig()}

    config: PeriodicKernelConfig
    solutions: PeriodicGrid
    input_mean: Float[Tensor, " input_channel"]
    input_scale: Float[Tensor, " input_channel"]
    known_inputs: Float[Tensor, "copy node input_channel"]
    dual: Tensor
    offset: Float[Tensor, " channel"]
    kept: Int[Tensor, " wave"]
    unit: Float[Tensor, ""]
    ridge: Float[Tensor, ""]

    def __init__(self, config: PeriodicKernelConfig) -> None:
        super().__init__(config)
        self.solutions = PeriodicGrid()
        self._register_empty("input_mean", "input_scale", "known_inputs", "dual", "offset", "unit", "ridge")
        self.register_buffer("kept", torch.empty(0, dtype=torch.int64))

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:
        """Whether every axis is periodic, as declared or as the samples look."""
        return looks_periodic(task)

    @property
    def kernel(self) -> ShiftKernel:
        """The kernel that was chosen."""
        return ShiftKernel(**self.choice["kernel"])

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The symmetries that were found, the identity first."""
        return tuple(Symmetry.from_dict(one) for one in self.choice["symmetries"])

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample node channel"]
    ) -> Float[Tensor, "sample node channel"]:
        """Search for a kernel, then for symmetries."""
        inputs = self.solutions.coefficients(samples.points, samples.inputs)
        self.input_mean = inputs.mean(dim=(0, 1))
        scale = inputs.std(dim=(0, 1), correction=0)
        self.input_scale = torch.where(scale > 0.0, scale, 1.0)
        scaled = solutions / samples.target_scales
        identity = Symmetry.identity(self.config.dim)
        rows = spread(len(inputs), at_most=_SEARCH_SAMPLES)
        found = _Search.of(self._scaled(inputs[rows]), scaled[rows], self.solutions.sides).found()
        # More samples and symmetries may do a few times better than those of the search.
        error = min(error for error, _ in found)
        self.kept = strong_waves(scaled, self.solutions.sides, max(_NEGLIGIBLE, _NEGLIGIBLE_ERROR * error**2))
        # Which family is better shows among all samples only.
        tried = [self._tried(kernel, inputs, solutions) for _, kernel in found]
        self._choose(found[int(np.argmin(tried))][1], (identity,))
        held_out = self._fit(inputs, solutions)
        symmetries = self._found_symmetries(inputs, solutions, held_out)
        if len(symmetries) == 1:
            return held_out
        self._choose(self.kernel, symmetries)
        augmented = self._fit(inputs, solutions)
        if float(_errors(augmented, solutions).mean()) < float(_errors(held_out, solutions).mean()):
            return augmented
        self._choose(self.kernel, (identity,))
        return self._fit(inputs, solutions)

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample node channel"]
    ) -> Float[Tensor, "sample node channel"]:
        """Fit with kernel and symmetries chosen before."""
        inputs = self.solutions.coefficients(samples.points, samples.inputs)
        return self._fit(inputs, solutions, is_new=False)

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample node channel"]:
        """Predict the solution of each sample at the nodes of the grid."""
        points, values = (torch.split(part.double(), cloud.sizes) for part in (cloud.points, cloud.values))
        return self._predicted(self.solutions.coefficients(points, values))

    def _solution_space(self, samples: Samples, num_modes: int) -> PeriodicGrid:  # noqa: ARG002 - the grid decides
        return periodic_grid(samples, self.title, most=_MOST_NODES)

    def _tried(
        self,
        kernel: ShiftKernel,
        inputs: Float[Tensor, "sample node input_channel"],
        solutions: Float[Tensor, "sample node channel"],
    ) -> float:
        """Return the error of a kernel on held-out samples."""
        self._choose(kernel, (Symmetry.identity(self.config.dim),))
        return float(_errors(self._fit(inputs, solutions), solutions).log().mean())

    def _choose(self, kernel: ShiftKernel, symmetries: Sequence[Symmetry]) -> None:
        self.choice = {"kernel": asdict(kernel), "symmetries": [asdict(one) for one in symmetries]}

    def _scaled(self, inputs: Float[Tensor, "sample node input_channel"]) -> Float[Tensor, "sample node input_channel"]:
        return (inputs - self.input_mean) / self.input_scale

    def _fit(
        self,
        inputs: Float[Tensor, "sample node input_channel"],
        solutions: Float[Tensor, "sample node channel"],
        *,
        is_new: bool = True,
    ) -> Float[Tensor, "sample node channel"]:
        """Fit with the kernel; units of distances and ridge are those of the samples it was chosen for."""
        grid, symmetries = self.solutions, self.symmetries
        copies = torch.cat([one.input_sign * grid.image(one, inputs) for one in symmetries])
        wanted = torch.cat([one.output_sign * grid.image(one, solutions) for one in symmetries])
        self.known_inputs = self._scaled(copies)
        groups = torch.arange(len(copies)).view(len(symmetries), len(inputs)).T
        if is_new:
            exponent = inputs.new_tensor(self.kernel.exponent)
            self.unit = 2.0 * Spectra.of(self.known_inputs, grid.sides, exponent).squares.mean()
        matrix = self._matrix(self.known_inputs)
        if is_new:
            self.ridge = self.kernel.penalty * mean_diagonal(matrix)
        found = ShiftRegression.fit(matrix, wanted, grid.sides, self.ridge, groups, self.kept)
        self.dual, self.offset = torch.view_as_real(found.dual).contiguous(), found.offset
        # Waves that are left out are not predicted.
        known = from_waves(to_waves(solutions, grid.sides)[self.kept], grid.sides, self.kept)
        return known - found.residuals[: len(solutions)]

    def _predicted(self, inputs: Float[Tensor, "sample node input_channel"]) -> Float[Tensor, "sample node channel"]:
        matrix = self._matrix(self._scaled(inputs))
        return predicted(matrix, torch.view_as_complex(self.dual), self.offset, self.solutions.sides, self.kept)

    def _matrix(self, rows: Float[Tensor, "row node input_channel"]) -> Complex[Tensor, "wave row copy"]:
        kernel, sides = self.kernel, self.solutions.sides
        exponent, length, trend = (rows.new_tensor(value) for value in (kernel.exponent, kernel.length, kernel.trend))
        others = Spectra.of(self.known_inputs, sides, exponent)
        # Of each pair all shifts are compared, so that many pairs at once would not fit into memory.
        size = max(1, int(_NUMBERS_AT_ONCE / (len(self.known_inputs) * self.solutions.num_modes)))
        parts = [
            transformed_kernel(
                Spectra.of(part, sides, exponent), others, kernel.family, self.unit, length, trend, self.kept
            )
            for part in rows.split(size)
        ]
        return torch.cat(parts, dim=1)

    def _found_symmetries(
        self,
        inputs: Float[Tensor, "sample node input_channel"],
        solutions: Float[Tensor, "sample node channel"],
        held_out: Float[Tensor, "sample node channel"],
    ) -> tuple[Symmetry, ...]:
        """Return a group of symmetries that the fit does not refute, the identity first."""
        grid, rows = self.solutions, spread(len(inputs), at_most=_SEARCH_SAMPLES)
        errors = {}
        for one in filter(grid.allows, _signed(self.config.dim)):
            found = self._predicted(one.input_sign * grid.image(one, inputs[rows]))
            errors[one] = _errors(found, one.output_sign * grid.image(one, solutions[rows])).numpy()
        accepted = not_refuted(errors, _errors(held_out, solutions)[rows].numpy())
        most = min(_MOST_COPIES, math.sqrt(_MOST_NUMBERS / len(self.kept)))
        return largest_group(accepted, self.config.dim, at_most=max(1, int(most / len(inputs))))


@final
@dataclass(frozen=True)
class _Search:
    """The leave-one-out error of kernels without symmetries, on some samples."""

    inputs: Float[Tensor, "sample node input_channel"]
    solutions: Float[Tensor, "sample node channel"]
    sides: tuple[int, ...]
    kept: Int[Tensor, " wave"]

    @staticmethod
    def of(
        inputs: Float[Tensor, "sample node input_channel"],
        solutions: Float[Tensor, "sample node channel"],
        sides: tuple[int, ...],
    ) -> "_Search":
        """Search on the coarsest grid that holds nearly all of the functions: a kernel that suits them suits both."""
        while all(side % 2 == 0 and side >= _COARSEST for side in sides):
            coarse = [halved(functions, sides) for functions in (inputs, solutions)]
            ratio = inputs.shape[1] / coarse[0].shape[1]
            shares = [
                ratio * float(few.square().sum() / all_.square().sum())
                for few, all_ in zip(coarse, (inputs, solutions), strict=True)
            ]
            if min(shares) < 1.0 - _LOST:
                break
            inputs, solutions = coarse
            sides = tuple(side // 2 for side in sides)
        return _Search(inputs, solutions, sides, strong_waves(solutions, sides, _NEGLIGIBLE))

    @one_thread()
    def found(self) -> list[tuple[float, ShiftKernel]]:
        """Optimise the kernel of each family, and return them after their relative errors."""
        found: list[tuple[float, ShiftKernel]] = []
        for family in FAMILIES:
            # What suits one family is a good start for the next.
            start = replace(found[-1][1] if found else ShiftKernel(), family=family)
            vector = np.array([start.exponent, *np.log([start.length, start.trend, start.penalty])])
            result = minimize(
                self._value, vector, args=(start,), jac=True, method="SLSQP", bounds=_BOUNDS,
                options={"maxiter": _NUM_STEPS},
            )  # fmt: skip
            exponent, *logarithms = result.x.tolist()
            length, trend, penalty = np.exp(logarithms).tolist()
            kernel = replace(start, exponent=exponent, length=length, trend=trend, penalty=penalty)
            found.append((math.exp(result.fun), kernel))
        return found

    def _value(self, vector: Float[np.ndarray, " number"], kernel: ShiftKernel) -> tuple[float, np.ndarray]:
        numbers = torch.from_numpy(vector).requires_grad_()
        length, trend, penalty = numbers[1:].exp()
        spectra = Spectra.of(self.inputs, self.sides, numbers[0])
        unit = 2.0 * spectra.squares.mean()
        matrix = transformed_kernel(spectra, spectra, kernel.family, unit, length, trend, self.kept)
        groups = torch.arange(len(self.inputs))[:, None]
        try:
            found = ShiftRegression.fit(
                matrix, self.solutions, self.sides, penalty * mean_diagonal(matrix), groups, self.kept
            )
        except RuntimeError:  # not positive definite, by rounding
            return 1e10, np.zeros_like(vector)
        ratios = found.residuals.square().sum(dim=(1, 2)) / self.solutions.square().sum(dim=(1, 2))
        # The geometric mean: a sample with a tiny solution, or an unusual one, does not dominate it.
        loss = 0.5 * ratios.log().mean()
        (gradient,) = torch.autograd.grad(loss, numbers)
        return float(loss.detach()), gradient.numpy()


def _errors(
    found: Float[Tensor, "sample node channel"], wanted: Float[Tensor, "sample node channel"]
) -> Float[Tensor, " sample"]:
    return (found - wanted).flatten(1).norm(dim=1) / wanted.flatten(1).norm(dim=1)


def _signed(dim: int) -> list[Symmetry]:
    """Return reflections and swaps of axes, each with both signs changed or none, and the change of signs alone."""
    plain = [one for one in candidates(dim) if (one.input_sign, one.output_sign) == (1, 1)]
    both = [*plain, Symmetry.identity(dim)]
    return [*plain, *(replace(one, input_sign=-1, output_sign=-1) for one in both)]
