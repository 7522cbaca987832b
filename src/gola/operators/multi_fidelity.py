"""Learn the correction of a cheap approximation that is known for every sample, instead of the solution itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.sample import Sample
from gola.metrics import relative_l2_errors
from gola.operators.cloud import Cloud
from gola.operators.normaliser import Normaliser
from gola.operators.operator import FitResult, HeldOut, Operator, OperatorConfig
from gola.operators.queries import Queries, interpolated_values
from gola.operators.scaling import Scaling
from gola.protocol import FitTask
from gola.registry import OPERATORS

NO_APPROXIMATION = -1


@final
@dataclass(frozen=True, kw_only=True)
class MultiFidelityConfig(OperatorConfig):
    """Settings of the correction of an approximation.

    Attributes:
        base: Name of the operator that learns the correction.
        settings: Its settings as plain values; its default preset's if empty.
        approximations: For each target channel the input channel that approximates it, −1 where none does; none does
            if empty.
    """

    base: str = "kernel"
    settings: Mapping[str, Any] = field(default_factory=dict)
    approximations: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.approximations
        if given and (len(given) != self.num_outputs or not all(-1 <= one < self.num_inputs for one in given)):
            raise ValueError(
                f"approximations needs an input channel, 0 to {self.num_inputs - 1}, or −1 for each of"
                f" {self.num_outputs} targets; got {given}."
            )

    @property
    def base_config(self) -> OperatorConfig:
        """Settings of the operator that learns the correction."""
        kind = OPERATORS[self.base].config_type
        plain: OperatorConfig = (
            kind.from_dict(self.settings) if self.settings else OPERATORS[self.base].presets["default"]
        )
        names = ("dim", "has_time_axis", "num_inputs", "num_outputs", "num_parameters")
        return replace(plain, **{name: getattr(self, name) for name in names})

    def limited_to(self, seconds: float) -> "MultiFidelityConfig":
        """Return these settings with a limit on the time: two fits share it."""
        return replace(self, settings=self.base_config.limited_to(0.5 * seconds).to_dict())


@final
class MultiFidelity(Operator):
    r"""An approximation times a factor, and a learned correction.

    .. math:: u = \rho\,a + \delta(f, a)

    with an input channel a that approximates the target u, such as the solution on a coarse mesh (Kennedy and O'Hagan,
    2000, in its simplest form). The factor is that of least squares of relative errors. Any operator learns the
    correction :math:`\delta`, and sees a as an input like others.

    Where fits tell held-out errors, they decide among the correction, the approximation alone, and the operator
    without this step. Where they do not, as of networks, the correction is learned if it is smaller than the solution.

    Attributes:
        gains: What predictions of the base operator are multiplied by.
        weights: What inputs are multiplied by and added then.
        offsets: What is added.
    """

    name: ClassVar[str] = "multi_fidelity"
    title: ClassVar[str] = "multi-fidelity correction"
    heeds: ClassVar[frozenset[str]] = frozenset({"training", "session"})
    config_type: ClassVar[type[OperatorConfig]] = MultiFidelityConfig
    presets: ClassVar[Mapping[str, MultiFidelityConfig]] = {"default": MultiFidelityConfig()}
    # The base operator decides how it sees them.
    reads_parameters: ClassVar[bool] = True

    config: MultiFidelityConfig
    base: Operator
    gains: Float[Tensor, " target"]
    weights: Float[Tensor, "input target"]
    offsets: Float[Tensor, " target"]

    def __init__(self, config: MultiFidelityConfig) -> None:
        super().__init__(config)
        self._hold(OPERATORS[config.base](config.base_config))
        self.register_buffer("gains", torch.ones(config.num_outputs, dtype=torch.float64))
        self.register_buffer("weights", torch.zeros(config.num_inputs, config.num_outputs, dtype=torch.float64))
        self.register_buffer("offsets", torch.zeros(config.num_outputs, dtype=torch.float64))

    def fit(self, task: FitTask) -> FitResult:
        """Fit the base operator to the correction, and as it is; keep what has the least held-out error."""
        channels = self.config.approximations or (NO_APPROXIMATION,) * self.config.num_outputs
        approximated = Approximated.of(task.samples, channels)
        scaling = Scaling.fit(task.samples, normalised=False)
        if not self.base.holds_out and not task.training.held_out_folds:
            is_smaller = approximated.is_smaller()
            return self._corrected(task, approximated, scaling) if is_smaller else self._plain(task)
        results = [self._corrected(task, approximated, scaling), self._plain(task)]
        errors = {
            "corrected": _error(results[0].held_out, task.samples, scaling),
            "approximation": _error(approximated.held_out, task.samples, scaling),
            "plain": _error(results[1].held_out, task.samples, scaling),
        }
        best = min(errors, key=errors.__getitem__)
        chosen = results[1] if best == "plain" else results[0]
        if best == "approximation":
            chosen = _without_correction(chosen, approximated.held_out)
        details = {"multi_fidelity": {"chosen": best, "held_out_errors": errors}}
        return replace(chosen, scores={"cv_error": errors[best]}, details={**chosen.details, **details})

    def _plain(self, task: FitTask) -> FitResult:
        """Fit the base operator as if there were no approximation: it is what remains."""
        return type(self.base)(self.config.base_config).fit(task)

    def _corrected(self, task: FitTask, approximated: "Approximated", scaling: Scaling) -> FitResult:
        result = self.base.fit(_of_corrections(task, approximated))
        config = replace(self.config, base=result.operator.name, settings=result.operator.config.to_dict())
        made = MultiFidelity(config)
        made._hold(result.operator)
        # The base operator's inputs are scaled as without this step, its targets as corrections are.
        wanted = replace(result.scaling, targets=scaling.targets)
        made._set(approximated, result.scaling, wanted)
        held_out = None
        if result.held_out is not None:
            pairs = zip(result.held_out.predictions, approximated.parts, strict=True)
            held_out = replace(result.held_out, predictions=[found + part for found, part in pairs])
        return replace(result, operator=made, scaling=wanted, held_out=held_out)

    def _set(self, approximated: "Approximated", learned: Scaling, wanted: Scaling) -> None:
        """Take over how to get from what the base operator predicts to the solution, as operators see both."""
        factors = torch.zeros_like(self.weights)
        for target, channel in enumerate(approximated.channels):
            if channel != NO_APPROXIMATION:
                factors[channel, target] = approximated.factors[target]
        if not wanted.normalised:
            self.weights = factors
            return
        (mean, scale), (other, unit) = _units(learned.targets), _units(wanted.targets)
        centre, spread = _units(wanted.inputs)
        self.gains = scale / unit
        self.weights = factors * spread[:, None] / unit
        self.offsets = (mean - other + centre @ factors) / unit

    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        return self._joined(self.base(cloud), cloud.values)

    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries, where the approximation is interpolated."""
        return self._joined(self.base(cloud, at=queries), interpolated_values(cloud, queries))

    def prepare(self, cloud: Cloud) -> Cloud:
        """Return the cloud with the structure that the base operator needs."""
        return self.base.prepare(cloud)

    def preprocessing(self) -> torch.nn.Module | None:
        """Return nothing: what suits the correction may not suit the solution."""
        return None

    @property
    def expects_errors(self) -> bool:
        """As the operator that learns the correction."""
        return self.base.expects_errors

    def error_covariance(self, cloud: Cloud) -> Float[Tensor, "sample sample"] | None:
        """Return how errors of the correction should vary together."""
        return self.base.error_covariance(cloud)

    def held_out_variances(self, cloud: Cloud) -> Float[Tensor, " sample"] | None:
        """Return the same variances of the training samples, had each been held out."""
        return self.base.held_out_variances(cloud)

    def parameter_counts(self) -> dict[str, int]:
        """Return how many numbers a prediction draws on, by name."""
        counts = {f"base.{name}": count for name, count in self.base.parameter_counts().items()}
        used = int(torch.count_nonzero(self.weights))
        return counts | ({"factors": used} if used else {})

    def _joined(
        self, found: Float[Tensor, "row target"], values: Float[Tensor, "row input"]
    ) -> Float[Tensor, "row target"]:
        approximation = values.double() @ self.weights + self.offsets
        return (self.gains * found.double() + approximation).to(found.dtype)

    def _hold(self, base: Operator) -> None:
        self.base = base
        # Surrogates ask an operator, not its class.
        self.__dict__.update(
            {name: getattr(base, name) for name in ("needs", "normalised", "min_samples", "heeds", "holds_out")}
        )


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Approximated:
    """Training samples and what approximates their solutions.

    Attributes:
        channels: For each target the input channel that approximates it, or −1.
        factors: What the approximation is multiplied by, for each target; 0 where there is none.
        parts: Approximations times factors of each sample.
        remainders: The samples with what is left of their targets.
        held_out: Approximations times factors that have not seen the sample.
    """

    channels: tuple[int, ...]
    factors: Float[np.ndarray, " target"]
    parts: list[Float[np.ndarray, "_ target"]]
    remainders: list[Sample]
    held_out: HeldOut

    @staticmethod
    def of(samples: Sequence[Sample], channels: tuple[int, ...]) -> "Approximated":
        """Fit factors by least squares of relative errors."""
        given = [_approximations(sample, channels) for sample in samples]
        squares, products = np.zeros((2, len(samples), len(channels)))
        for row, (sample, known) in enumerate(zip(samples, given, strict=True)):
            size = np.square(sample.targets).sum(axis=0)
            size = np.where(size > 0.0, size, 1.0)
            squares[row] = np.square(known).sum(axis=0) / size
            products[row] = (known * sample.targets).sum(axis=0) / size
        factors = _ratio(products.sum(axis=0), squares.sum(axis=0))
        others = _ratio(products.sum(axis=0) - products, squares.sum(axis=0) - squares)
        parts = [factors * known for known in given]
        return Approximated(
            channels=channels,
            factors=factors,
            parts=parts,
            remainders=[
                replace(sample, targets=sample.targets - part) for sample, part in zip(samples, parts, strict=True)
            ],
            held_out=HeldOut(
                predictions=[row * known for row, known in zip(others, given, strict=True)], method="leave-one-out"
            ),
        )

    def is_smaller(self) -> bool:
        """Whether corrections vary less than solutions, in the mean over targets that have an approximation."""
        chosen = [target for target, channel in enumerate(self.channels) if channel != NO_APPROXIMATION]
        if not chosen:
            return False
        targets = [one.targets + part for one, part in zip(self.remainders, self.parts, strict=True)]
        learned = np.array(Normaliser.fit(one.targets for one in self.remainders).scale)
        return bool(np.mean((learned / np.array(Normaliser.fit(targets).scale))[chosen]) < 1.0)


def _of_corrections(task: FitTask, approximated: Approximated) -> FitTask:
    """Return the task of fitting to corrections, with a folder of its own for what is resumed."""
    session, folder = task.session, task.session.folder
    if folder is not None:
        folder = folder / "correction"
        folder.mkdir(parents=True, exist_ok=True)
        session = replace(session, folder=folder)
    provenance = {**task.provenance, "approximations": list(approximated.channels)}
    return replace(task, samples=approximated.remainders, session=session, provenance=provenance)


def _approximations(sample: Sample, channels: Sequence[int]) -> Float[np.ndarray, "_ target"]:
    found = np.zeros_like(sample.targets)
    for target, channel in enumerate(channels):
        if channel != NO_APPROXIMATION:
            found[:, target] = sample.inputs[:, channel]
    return found


def _without_correction(result: FitResult, held_out: HeldOut) -> FitResult:
    """Return the same with a correction of 0."""
    operator = result.operator
    assert isinstance(operator, MultiFidelity)
    if result.scaling.normalised:
        other, unit = _units(result.scaling.targets)
        centre, spread = _units(result.scaling.inputs)
        operator.offsets = (centre / spread) @ operator.weights - other / unit
    operator.gains = torch.zeros_like(operator.gains)
    return replace(result, held_out=held_out)


def _units(normaliser: Normaliser) -> tuple[Float[Tensor, " channel"], Float[Tensor, " channel"]]:
    return torch.tensor(normaliser.mean, dtype=torch.float64), torch.tensor(normaliser.scale, dtype=torch.float64)


def _ratio(
    above: Float[np.ndarray, "*row target"], below: Float[np.ndarray, "*row target"]
) -> Float[np.ndarray, "*row target"]:
    return np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), 0.0)


def _error(held_out: HeldOut | None, samples: Sequence[Sample], scaling: Scaling) -> float:
    """Return the mean relative L2 error of held-out predictions, all channels counting alike."""
    if held_out is None:
        return float("inf")
    found, truth = (
        torch.from_numpy(np.concatenate(some))
        for some in (held_out.predictions, [sample.targets for sample in samples])
    )
    sizes = [sample.num_points for sample in samples]
    return float(relative_l2_errors(found, truth, sizes, scaling.targets.scale).mean())
