"""Proper orthogonal decomposition with radial basis functions, for inputs that are a few numbers."""

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from gola.operators.closed_form.closed_form import ClosedForm, ClosedFormConfig
from gola.operators.closed_form.ridge import RidgeFit, fit_ridge
from gola.operators.closed_form.roles import roles_of
from gola.operators.closed_form.samples import Samples
from gola.operators.closed_form.scores import Probes
from gola.operators.cloud import Cloud
from gola.operators.operator import OperatorConfig, Structure

# Differences within a sample below this share of the largest value are rounding in float32.
_CONSTANT_BELOW = 1e-5
# Modes below this share of the first are rounding.
_NEGLIGIBLE = 1e-12
_LENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0)
_PENALTIES = tuple(10.0**power for power in range(-10, 1))


@final
@dataclass(frozen=True, kw_only=True)
class Interpolation:
    r"""How numbers are interpolated between parameters: by the Matérn kernel 5/2 and free polynomials.

    Attributes:
        degree: 0 for a free constant, 1 for free linear functions of the parameters besides.
        length: Length of the kernel, where every parameter has unit variance.
        penalty: The ridge.
    """

    degree: int
    length: float
    penalty: float

    def kernel(
        self, parameters: Float[Tensor, "row parameter"], others: Float[Tensor, "column parameter"]
    ) -> Float[Tensor, "row column"]:
        """Evaluate the kernel."""
        distances = torch.cdist(parameters, others) * 5.0**0.5 / self.length
        return (1.0 + distances + distances**2 / 3.0) * torch.exp(-distances)

    def free(self, parameters: Float[Tensor, "row parameter"]) -> Float[Tensor, "row term"]:
        """Evaluate the free functions."""
        constant = torch.ones_like(parameters[:, :1])
        return torch.cat([constant, parameters], dim=1) if self.degree else constant

    def fit(self, parameters: Float[Tensor, "sample parameter"], values: Float[Tensor, "sample output"]) -> RidgeFit:
        """Fit values known at the parameters of the training samples."""
        return fit_ridge(self.kernel(parameters, parameters), values, self.penalty, self.free(parameters))

    def held_out(
        self,
        parameters: Float[Tensor, "sample parameter"],
        values: Float[Tensor, "sample output"],
        penalties: Float[Tensor, " penalty"],
    ) -> Float[Tensor, "penalty sample output"]:
        """Return the held-out predictions of :meth:`fit` under each of some penalties."""
        kernel = self.kernel(parameters, parameters).expand(len(penalties), -1, -1)
        outputs = values.expand(len(penalties), -1, -1)
        return fit_ridge(kernel, outputs, penalties[:, None, None], self.free(parameters)).held_out


@final
@dataclass(frozen=True, kw_only=True)
class PodRbfConfig(ClosedFormConfig):
    """Settings of POD with radial basis functions, which has none of its own."""


@final
class PodRbf(ClosedForm):
    r"""Principal modes of the solutions, interpolated between inputs that are scalar parameters.

    .. math:: u = \sum_p c_p(\mu)\, \psi_p

    The modes ψ are those of the proper orthogonal decomposition of the training solutions. Their coefficients c are
    radial basis functions of the parameters μ, by the :class:`Interpolation` that leave-one-out finds best. Each input
    channel is one parameter: constant over the points of a sample. Those that were drawn on a logarithmic scale, as
    their values say (:mod:`~gola.operators.closed_form.roles`), are seen as their logarithms.
    """

    name: ClassVar[str] = "pod_rbf"
    title: ClassVar[str] = "POD operator"
    needs: tuple[Structure, ...] = ("parameters",)
    config_type: ClassVar[type[OperatorConfig]] = PodRbfConfig
    presets: ClassVar[dict[str, PodRbfConfig]] = {"default": PodRbfConfig()}

    modes: Float[Tensor, "pod mode channel"]
    known_parameters: Float[Tensor, "sample parameter"]
    is_logarithmic: Bool[Tensor, " parameter"]
    centre: Float[Tensor, " parameter"]
    scales: Float[Tensor, " parameter"]
    dual: Float[Tensor, "sample pod"]
    polynomial: Float[Tensor, "term pod"]

    def __init__(self, config: PodRbfConfig) -> None:
        super().__init__(config)
        self._register_empty("modes", "known_parameters", "is_logarithmic", "centre", "scales", "dual", "polynomial")

    @property
    def interpolation(self) -> Interpolation:
        """The interpolation that was chosen."""
        self._require_fit()
        return Interpolation(**self.choice)

    def choose(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Try all interpolations."""
        raw = self._parameters_of(samples.inputs)
        roles = roles_of(raw.split(1, dim=1), [False] * raw.shape[1])
        varies = (raw != raw[0]).any(dim=0)
        self.is_logarithmic = torch.tensor([role.is_likely_log for role in roles]) & varies
        seen = self._logarithms(raw)
        self.centre, spread = seen.mean(dim=0), seen.std(dim=0, correction=0)
        self.scales = torch.where(spread > 0.0, spread, 1.0)
        parameters = (seen - self.centre) / self.scales
        probes = Probes.of(self.solutions, solutions, samples)
        # Free linear functions take a sample each, and one of what is left is left out.
        degrees = (0, 1) if len(samples) > parameters.shape[1] + 2 and bool((spread > 0.0).all()) else (0,)
        penalties = torch.tensor(_PENALTIES, dtype=torch.float64)
        errors: dict[Interpolation, float] = {}
        for degree, length in itertools.product(degrees, _LENGTHS):
            tried = [Interpolation(degree=degree, length=length, penalty=penalty) for penalty in _PENALTIES]
            held_out = tried[0].held_out(parameters, probes.rows, penalties)
            errors |= {one: probes.error_of_rows(found) for one, found in zip(tried, held_out, strict=True)}
        self.choice = asdict(min(errors, key=errors.__getitem__))
        return self.solve(samples, solutions)

    def solve(
        self, samples: Samples, solutions: Float[Tensor, "sample mode channel"]
    ) -> Float[Tensor, "sample mode channel"]:
        """Decompose the solutions, and fit the coefficients of their modes."""
        parameters = self._seen(samples.inputs)
        modes, coordinates = principal_modes(solutions)
        fit = self.interpolation.fit(parameters, coordinates)
        self.modes, self.known_parameters = modes, parameters
        self.dual, self.polynomial = fit.dual, fit.free
        return torch.einsum("sp,pmc->smc", fit.held_out, modes)

    def coefficients(self, cloud: Cloud) -> Float[Tensor, "sample mode channel"]:
        """Predict the coefficients of the solution of each sample."""
        values = torch.split(cloud.values.double(), cloud.sizes)
        parameters = self._seen(values)
        interpolation = self.interpolation
        coordinates = interpolation.kernel(parameters, self.known_parameters) @ self.dual
        coordinates = coordinates + interpolation.free(parameters) @ self.polynomial
        return torch.einsum("sp,pmc->smc", coordinates, self.modes)

    def _seen(self, values: Sequence[Float[Tensor, "_ channel"]]) -> Float[Tensor, "sample channel"]:
        """Return the parameters as the kernel sees them."""
        return (self._logarithms(self._parameters_of(values)) - self.centre) / self.scales

    def _logarithms(self, parameters: Float[Tensor, "sample channel"]) -> Float[Tensor, "sample channel"]:
        if not parameters.is_meta and bool((parameters[:, self.is_logarithmic] <= 0.0).any()):
            raise ValueError(
                f"This {self.title} takes the logarithm of parameters that were positive in all training samples; here"
                " one is not."
            )
        return torch.where(self.is_logarithmic, torch.where(self.is_logarithmic, parameters, 1.0).log(), parameters)

    def _parameters_of(self, values: Sequence[Float[Tensor, "_ channel"]]) -> Float[Tensor, "sample channel"]:
        for number, sample in enumerate(values):
            lowest, highest = sample.min(dim=0).values, sample.max(dim=0).values
            varies = highest - lowest > _CONSTANT_BELOW * sample.abs().max(dim=0).values
            if varies.any():
                channel = int(varies.int().argmax())
                raise ValueError(
                    f"The {self.title} needs inputs that are parameters, constant within each sample; channel {channel}"
                    f" of sample {number} goes from {lowest[channel]:.4g} to {highest[channel]:.4g}. For inputs that"
                    " are functions use the linear or the kernel operator."
                )
        return torch.stack([sample.mean(dim=0) for sample in values])


def principal_modes(
    solutions: Float[Tensor, "sample mode channel"],
) -> tuple[Float[Tensor, "pod mode channel"], Float[Tensor, "sample pod"]]:
    """Return orthonormal modes that span the solutions, the strongest first, and the solutions' coordinates in them."""
    left, strengths, right = torch.linalg.svd(solutions.flatten(1), full_matrices=False)
    kept = strengths > _NEGLIGIBLE * strengths[0]
    return right[kept].unflatten(1, solutions.shape[1:]), (left * strengths)[:, kept]
