"""The interface that every operator has, learned or closed-form, and what fitting one gives."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, TypeVar, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from gola.graph import radius_for
from gola.operators.cloud import Cloud
from gola.operators.held_out_folds import held_out_by_folds
from gola.operators.queries import Queries, with_queries
from gola.operators.scaling import Scaling
from gola.protocol import FitTask
from gola.registry import OPERATORS, unknown

Structure = Literal["neighbours", "spectra", "parameters"]
"""What an operator may need besides points and values; parameters are numbers of a sample, or inputs that are constant
within each sample."""

ConfigType = TypeVar("ConfigType", bound="OperatorConfig")
GraphConfigType = TypeVar("GraphConfigType", bound="GraphConfig")

# As many as the radius 0.1 gives to 1000 random points in the unit square, with which the presets were chosen.
_NUM_NEIGHBOURS = 28


@dataclass(frozen=True, kw_only=True)
class OperatorConfig:
    """Settings of an operator, checked when made; each operator extends them with its own.

    Attributes:
        dim: Number of coordinates of a point.
        has_time_axis: Whether the last of them is the time.
        num_inputs: Channels of the input function; 0 where there is none.
        num_outputs: Channels of the predicted function.
        num_parameters: Numbers of each sample that the operator is given besides.
    """

    operator: ClassVar[type["Operator"]]
    """The operator that these settings are for."""

    largest_dim: ClassVar[int] = 4
    """The most coordinates that the operator knows; 4 for space and time."""

    dim: int = 2
    has_time_axis: bool = False
    num_inputs: int = 1
    num_outputs: int = 1
    num_parameters: int = 0

    def __post_init__(self) -> None:
        self._require_dim()
        self._require_positive("num_outputs")
        for name in ("num_inputs", "num_parameters"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative; got {getattr(self, name)}.")

    def _require_dim(self) -> None:
        if self.dim == 4 and self.has_time_axis and self.largest_dim < 4:
            knowing = [name for name, kind in OPERATORS.items() if kind.config_type.largest_dim >= 4]
            raise ValueError(
                f"The {self.operator.title} does not know space and time in 4 dimensions; use one of"
                f" {', '.join(knowing)}."
            )
        if not 1 <= self.dim <= 3 + self.has_time_axis:
            raise ValueError(f"dim must be 1, 2 or 3, and one more with the time; got {self.dim}.")

    @property
    def num_channels(self) -> int:
        """Channels of an input function with parameters as constant channels; 1, the domain itself, without either."""
        return self.num_inputs + self.num_parameters or 1

    def adapted_to(self: ConfigType, points: Float[np.ndarray, "point dim"]) -> ConfigType:  # noqa: ARG002
        """Return these settings with those that the points of a typical sample should decide."""
        return self

    def within(self: ConfigType, corners: Float[np.ndarray, "sample 2 dim"]) -> ConfigType:  # noqa: ARG002
        """Return these settings with those that the boxes around all samples should decide.

        Args:
            corners: Lower and upper corner of each box, as operators see them.
        """
        return self

    def limited_to(self: ConfigType, seconds: float) -> ConfigType:
        """Return these settings with a limit on the time of a fit, for operators that can keep to one."""
        raise ValueError(
            f"A time limit of {seconds:g} s is a setting of the automatic choice; {self.operator.name} takes as long as"
            " it needs. Leave the operator out, or for networks set the number of training steps."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))  # tuples become lists, as a file gives them back
        return plain

    @classmethod
    def from_dict(cls: type[ConfigType], settings: Mapping[str, Any]) -> ConfigType:
        """Rebuild a config from what :meth:`to_dict` gave."""
        defaults = cls()
        known = {one.name: one.type for one in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in settings.items():
            if name not in known:
                raise ValueError(unknown(f"setting of {cls.__name__}", name, list(known)))
            values[name] = tuple(value) if isinstance(value, list) else value
            if not _is_like(values[name], getattr(defaults, name), known[name]):
                raise ValueError(f"{name} must be like its default, {getattr(defaults, name)!r}; got {value!r}.")
        return cls(**values)

    def _require_positive(self, *names: str) -> None:
        for name in names:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be greater than 0; got {getattr(self, name)}.")

    def _require_one_of(self, name: str, choices: tuple[str, ...]) -> None:
        if getattr(self, name) not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}; got {getattr(self, name)!r}.")


def _is_like(value: Any, default: Any, declared: Any) -> bool:
    """Whether a value is of the type of its default; None stands for a number that is left open."""
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if default is None:
        return value is None or isinstance(value, int) or (float in get_args(declared) and _is_like(value, 0.0, float))
    if isinstance(default, float):
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, Mapping if isinstance(default, Mapping) else type(default))


@dataclass(frozen=True, kw_only=True)
class GraphConfig(OperatorConfig):
    """Settings of an operator that needs neighbours.

    Attributes:
        radius: Largest distance of neighbours: what to build a cloud's neighbourhood with.
    """

    radius: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("radius")

    def adapted_to(self: GraphConfigType, points: Float[np.ndarray, "point dim"]) -> GraphConfigType:
        """Return these settings with the radius that gives points as many neighbours as presets were chosen with."""
        return replace(self, radius=radius_for(points, min(_NUM_NEIGHBOURS, (len(points) - 1) / 2)))


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOut:
    """Predictions of training samples, each by an operator that was fitted without it.

    Attributes:
        predictions: In the units of the data, at the points of each sample.
        method: How samples were held out: ``"leave-one-out"``, or a number of folds such as ``"5-fold"``.
    """

    predictions: Sequence[Float[np.ndarray, "_ channel"]]
    method: str


@dataclass(frozen=True, kw_only=True, eq=False)
class FitResult:
    """What fitting gives, whatever the operator.

    Attributes:
        operator: The fitted operator.
        scaling: Between the units of the data and those of the operator.
        held_out: Predictions of training samples that were held out; None where the fit has none.
        scores: Errors known from fitting: ``cv_error`` (on training samples that were held out, by the method that
            ``held_out`` names), ``training_error``, ``validation_error``.
        details: What was done and chosen, ready for JSON.
    """

    operator: "Operator"
    scaling: Scaling
    held_out: HeldOut | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


class Operator(torch.nn.Module, ABC):
    """A map from a function known at scattered points to another function: ``operator(cloud) -> values``.

    Attributes:
        name: What users select it by.
        title: Its name in sentences.
        needs: The structure it needs on a cloud.
        min_samples: The fewest samples that it can be fitted to.
        normalised: Whether it wants inputs and targets of zero mean and unit spread, or their own units.
        heeds: Which settings of a task it reads besides samples and seed: ``"training"``, ``"session"``.
        holds_out: Whether fitting it gives predictions of held-out training samples at no further cost.
        reads_parameters: Whether it reads the parameters of a cloud; if not, it sees them as further channels of the
            input function, constant in each sample.
        config_type: The class of its config.
        presets: Named configs to start from.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs: tuple[Structure, ...] = ()
    min_samples: ClassVar[int] = 1
    normalised: ClassVar[bool] = True
    heeds: ClassVar[frozenset[str]] = frozenset()
    holds_out: ClassVar[bool] = False
    reads_parameters: ClassVar[bool] = False
    config_type: ClassVar[type[OperatorConfig]]
    presets: ClassVar[Mapping[str, OperatorConfig]]

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the config of an operator know whose it is."""
        super().__init_subclass__(**options)
        if "config_type" in cls.__dict__:
            cls.config_type.operator = cls

    def __init__(self, config: OperatorConfig) -> None:
        super().__init__()
        self.config = config

    @abstractmethod
    def fit(self, task: FitTask) -> FitResult:
        """Fit to the samples of a task, in place; the operator of the result may be another one."""

    def forward(
        self, cloud: Cloud, at: Float[Tensor, "query dim"] | Queries | None = None
    ) -> Float[Tensor, "row channel"]:
        """Predict at the points of the cloud, or elsewhere.

        Args:
            cloud: The input function.
            at: Points at which to predict instead, where the input function need not be known: the same points for
                every sample, or :class:`Queries`. Predictions come sample after sample.
        """
        seen = self.seen(cloud)
        if at is None:
            return self.predict(seen)
        queries = at if isinstance(at, Queries) else Queries.repeated(at, cloud.num_samples)
        return self.predict_at(seen, queries)

    def seen(self, cloud: Cloud) -> Cloud:
        """Return a cloud as this operator sees it, after checking that it is one that it was made for."""
        self._check(cloud)
        return cloud if self.reads_parameters else cloud.with_parameters_as_values()

    @abstractmethod
    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud, which is as :meth:`seen` returns it."""

    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries: they join the cloud as points that listen and never speak."""
        joined, is_query = with_queries(cloud, queries)
        return self.predict(joined)[is_query]

    def prepare(self, cloud: Cloud) -> Cloud:
        """Return the cloud with the structure that this operator needs, which is best built once and kept."""
        return cloud.with_neighbours(self.config.radius) if isinstance(self.config, GraphConfig) else cloud

    @property
    def relates_targets(self) -> bool:
        """Whether this fitted operator reads some targets off others, so that they had better stay together."""
        return False

    def preprocessing(self) -> torch.nn.Module | None:
        """Return how this fitted operator found that inputs are best seen, if it looked into that."""
        return None

    def error_covariance(self, cloud: Cloud) -> Float[Tensor, "sample sample"] | None:  # noqa: ARG002
        """Return how errors of predictions should vary together, up to a factor; None where the operator cannot say."""
        return None

    @property
    def expects_errors(self) -> bool:
        """Whether this operator can say how its errors vary: only then is it asked, with a cloud of all samples."""
        return False

    def held_out_variances(self, cloud: Cloud) -> Float[Tensor, " sample"] | None:  # noqa: ARG002
        """Return the same variances of the training samples, had each been held out.

        Args:
            cloud: The training samples, in the order in which they were fitted to.
        """
        return None

    def parameter_counts(self) -> dict[str, int]:
        """Return the size of each parameter by name, a complex number counted once."""
        return {name: parameter.numel() for name, parameter in self.named_parameters()}

    @property
    def num_parameters(self) -> int:
        """Number of parameters, a complex number counted once."""
        return sum(self.parameter_counts().values())

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:  # noqa: ARG003
        """Whether an automatic choice should compare this operator on samples like those of a task."""
        return True

    def require_samples(self, task: FitTask) -> None:
        """Check that a task has as many samples as this operator needs."""
        if len(task.samples) < self.min_samples:
            fitting = [name for name, kind in OPERATORS.items() if kind.min_samples <= len(task.samples)]
            raise ValueError(
                f"The {self.title} needs at least {self.min_samples} training samples; got {len(task.samples)}, enough"
                f" for {', '.join(fitting)}."
            )

    def _check(self, cloud: Cloud) -> None:
        if "neighbours" in self.needs and cloud.neighbourhood is None:
            raise ValueError(f"The {self.title} needs neighbours; build them with cloud.with_neighbours(radius).")
        if "spectra" in self.needs and cloud.spectra is None:
            raise ValueError(f"The {self.title} needs spectra; build them with operator.prepare(cloud).")
        for what, wanted, given in (
            ("coordinates", self.config.dim, cloud.dim),
            ("input channels", self.config.num_inputs, cloud.values.shape[1]),
            ("parameters", self.config.num_parameters, cloud.parameters.shape[1]),
        ):
            if wanted != given:
                raise ValueError(
                    f"This {self.title} was made for {wanted} {what} and the cloud has {given};"
                    f" give it a cloud with {wanted}, or make one with another config."
                )


class Network(Operator):
    """An operator whose parameters are trained step by step."""

    heeds: ClassVar[frozenset[str]] = frozenset({"training", "session"})

    @classmethod
    def is_worth_trying(cls, task: FitTask) -> bool:
        """Whether there are functions or shapes to learn from: a few numbers on one mesh teach a network little."""
        return task.num_fields > 0 or task.correspondence == "none"

    def fit(self, task: FitTask) -> FitResult:
        """Train as the task says."""
        self.require_samples(task)
        scaling = Scaling.fit(task.samples, normalised=self.normalised)
        history = task.train(self, task, scaling)
        validated = [epoch.validation_error for epoch in history if epoch.validation_error is not None]
        scores = {"training_error": history[-1].training_error}
        held_out = self._held_out(task)
        if held_out is not None:
            pairs = zip(held_out.predictions, task.samples, strict=True)
            units = np.array(scaling.targets.scale)
            errors = [np.linalg.norm((a - b.targets) / units) / np.linalg.norm(b.targets / units) for a, b in pairs]
            scores["cv_error"] = float(np.mean(errors))
        return FitResult(
            operator=self,
            scaling=scaling,
            held_out=held_out,
            scores={**scores, "validation_error": min(validated)} if validated else scores,
            details={"training": task.training.to_dict(), "history": [asdict(epoch) for epoch in history]},
        )

    def _held_out(self, task: FitTask) -> HeldOut | None:
        """Predict training samples by further networks that have not seen them, if the task asks for it."""
        if not task.training.held_out_folds:
            return None
        return HeldOut(
            predictions=held_out_by_folds(self, task), method=f"{task.training.held_out_folds}-fold cross-validation"
        )
