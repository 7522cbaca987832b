"""Several operators in one, weighed by how they do on held-out training samples."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gola.fitting.auto.channel_groups import joined_choice, joined_held_out, task_of_channels
from gola.fitting.auto.choice import choose
from gola.fitting.auto.ensemble import NetworkEnsemble
from gola.operators.cloud import Cloud
from gola.operators.operator import FitResult, Operator, OperatorConfig
from gola.operators.queries import Queries
from gola.operators.scaling import Scaling
from gola.protocol import FitTask
from gola.registry import OPERATORS

# Groups of channels get at least this share of the time limit, together.
_LEAST_SHARE = 0.1


@final
@dataclass(frozen=True, kw_only=True)
class AutoConfig(OperatorConfig):
    """Settings of the automatic choice.

    Attributes:
        members: Names of the operators to choose from, in the order in which they are fitted. Each either gives
            held-out predictions by itself, as closed forms do, or is trained. Those that do not suit the samples are
            left out.
        num_networks: Networks of an ensemble. The training samples are dealt into as many folds, and each network
            learns from all folds but one, by which it is judged.
        num_steps: Training steps of each network, of two samples each.
        residual_weight: Weight of the learned PDE residual that networks are tried with, beside without.
        symmetries: Whether networks are also tried on samples augmented by symmetries of the domain.
        corrections: Whether networks are also tried as corrections of the best closed form.
        num_modes: Largest wave number of spectral networks; None for 32, 8 or 4 in one, two or three dimensions.
        time_limit: Seconds that the choice may take; None for as many as it needs. Operators that do not fit in are
            left out, and networks are trained for fewer steps. At least one operator is fitted, however long it takes.
        chosen: Of a fitted choice, what it predicts with: by name the config of the operator and, for networks, their
            number and the member that they correct.
        groups: Of a fitted choice that treats target channels apart, the channels and the config of each part.
    """

    # The cheapest first: where the time is short, it is the last ones that are left out.
    members: tuple[str, ...] = (
        "pod_gp",
        "kernel",
        "periodic_kernel",
        "linear",
        "fitted_evolution",
        "fitted_pde",
        "morphed_gp",
        "spectral",
    )
    num_networks: int = 5
    num_steps: int = 1500
    residual_weight: float = 0.1
    symmetries: bool = True
    corrections: bool = True
    num_modes: int | None = None
    time_limit: float | None = None
    chosen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    groups: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("num_networks", "num_steps")
        if not isinstance(self.members, tuple) or not self.members:
            raise ValueError(f"members must be names of operators, like ('linear', 'kernel'); got {self.members!r}.")
        if self.num_networks < 2:
            raise ValueError(f"num_networks must be at least 2, to hold samples out; got {self.num_networks}.")
        limit = self.time_limit
        if limit is not None and not (isinstance(limit, int | float) and limit > 0):
            raise ValueError(f"time_limit must be a positive number of seconds, or None; got {limit!r}.")
        if not self.residual_weight >= 0:
            raise ValueError(f"residual_weight must not be negative; got {self.residual_weight}.")
        for name in self.members:
            kind = OPERATORS[name]
            if not (kind.holds_out or "training" in kind.heeds):
                raise ValueError(
                    f"{name} cannot be a member of the automatic choice: it gives no held-out predictions and is not"
                    " trained."
                )

    def limited_to(self, seconds: float) -> "AutoConfig":
        """Return these settings with a limit on the time."""
        return replace(self, time_limit=seconds)


@final
class Auto(Operator):
    r"""Best of several operators or their blend, judged on held-out training samples.

    .. math:: u = \sum_m w_m u_m, \qquad w_m \ge 0, \quad \sum_m w_m = 1

    A network's part is the mean over an ensemble. Members that are not worth their weight are dropped, so this may well
    be a single closed form. :func:`gola.fitting.auto.choice.choose` says how it is decided.
    """

    name: ClassVar[str] = "auto"
    title: ClassVar[str] = "automatic choice"
    min_samples: ClassVar[int] = 4
    normalised: ClassVar[bool] = False
    heeds: ClassVar[frozenset[str]] = frozenset({"session"})
    holds_out: ClassVar[bool] = True
    reads_parameters: ClassVar[bool] = True  # and leaves it to its members how they see them
    config_type: ClassVar[type[OperatorConfig]] = AutoConfig
    presets: ClassVar[dict[str, AutoConfig]] = {"default": AutoConfig()}

    config: AutoConfig
    weights: Float[Tensor, " member"]

    def __init__(self, config: AutoConfig) -> None:
        super().__init__(config)
        operators: dict[str, Operator] = {}
        ensembles: dict[str, NetworkEnsemble] = {}
        for name, settings in config.chosen.items():
            kind = OPERATORS[name]
            member = kind.config_type.from_dict(settings["config"])
            if "count" in settings:
                ensembles[name] = NetworkEnsemble(
                    [kind(member) for _ in range(settings["count"])],
                    num_channels=config.num_channels,
                    base=settings["base"],
                )
            else:
                operators[name] = kind(member)
        self._hold(operators, ensembles)
        self.groups = nn.ModuleList(Auto(AutoConfig.from_dict(group["config"])) for group in config.groups)
        self.register_buffer("weights", torch.full((len(config.chosen),), 1.0 / max(1, len(config.chosen))).double())

    @staticmethod
    def of(
        config: AutoConfig,
        operators: Mapping[str, Operator],
        ensembles: Mapping[str, NetworkEnsemble],
        weights: Mapping[str, float],
    ) -> "Auto":
        """Put fitted members together.

        Args:
            config: What there was to choose from.
            operators: Fitted operators, those that ensembles correct among them.
            ensembles: Trained ensembles.
            weights: Of each member that predicts; members that are only corrected have none.
        """
        chosen: dict[str, dict[str, Any]] = {
            name: {"config": operator.config.to_dict()} for name, operator in operators.items()
        }
        for name, ensemble in ensembles.items():
            settings = ensemble.network(0).config.to_dict()
            chosen[name] = {"config": settings, "count": len(ensemble.networks), "base": ensemble.base}
        made = Auto(replace(config, chosen=chosen))
        made._hold(operators, ensembles)
        made.weights = torch.tensor([weights.get(name, 0.0) for name in chosen], dtype=torch.float64)
        return made

    def fit(self, task: FitTask) -> FitResult:
        """Fit and train all members, and keep what predicts held-out samples best."""
        self.require_samples(task)
        began = time.monotonic()
        chosen = choose(self.config, task)
        if isinstance(chosen, list):
            return self._fit_groups(task, chosen, time.monotonic() - began)
        auto = Auto.of(self.config, chosen.operators, chosen.ensembles, chosen.weights)
        return FitResult(
            operator=auto,
            scaling=chosen.scaling,
            held_out=chosen.held_out,
            scores={"cv_error": chosen.choice.error},
            details={"choice": asdict(chosen.choice)},
        )

    def _fit_groups(self, task: FitTask, groups: Sequence[Sequence[int]], seconds: float) -> FitResult:
        """Choose for groups of target channels apart, in what is left of the time, and put the results together."""
        limit = self.config.time_limit
        share = None if limit is None else max(limit - seconds, _LEAST_SHARE * limit) / len(groups)
        results = [
            Auto(replace(self.config, num_outputs=len(channels), time_limit=share)).fit(
                task_of_channels(task, channels)
            )
            for channels in groups
        ]
        parts = [result.operator for result in results]
        described = tuple(
            {"channels": list(channels), "config": part.config.to_dict()}
            for channels, part in zip(groups, parts, strict=True)
        )
        made = Auto(replace(self.config, groups=described))
        made.groups = nn.ModuleList(parts)
        made.needs = tuple(dict.fromkeys(need for part in parts for need in part.needs))
        scaling = Scaling.fit(task.samples, normalised=False)
        held_out = joined_held_out([result.held_out for result in results if result.held_out], groups)
        choice = joined_choice([result.details["choice"] for result in results], groups, task, held_out, scaling)
        return FitResult(
            operator=made,
            scaling=scaling,
            held_out=held_out,
            scores={"cv_error": choice["error"]},
            details={"choice": choice},
        )

    def prepare(self, cloud: Cloud) -> Cloud:
        """Return the cloud with the structure that the members need."""
        for part in self.groups:
            assert isinstance(part, Auto)
            cloud = part.prepare(cloud)
        for operator in self.operators.values():
            assert isinstance(operator, Operator)
            cloud = operator.prepare(cloud)
        for ensemble in self.ensembles.values():
            assert isinstance(ensemble, NetworkEnsemble)
            cloud = ensemble.prepare(cloud)
        return cloud

    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        return self._sum(cloud, cloud.sizes, lambda operator, seen: operator(seen))

    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries."""

        def predicted(operator: Operator, seen: Cloud) -> Tensor:
            return operator(seen, at=replace(queries, points=queries.points.to(seen.points.dtype)))

        return self._sum(cloud, queries.sizes, predicted)

    @property
    def expects_errors(self) -> bool:
        """As the operator that was chosen."""
        return (main := self._main()) is not None and main.expects_errors

    def error_covariance(self, cloud: Cloud) -> Float[Tensor, "sample sample"] | None:
        """Return how the errors of the member with the largest weight should vary together, where it says so."""
        return None if (main := self._main()) is None else main.error_covariance(cloud)

    def held_out_variances(self, cloud: Cloud) -> Float[Tensor, " sample"] | None:
        """Return the same variances of the training samples, had each been held out."""
        return None if (main := self._main()) is None else main.held_out_variances(cloud)

    def _main(self) -> Operator | None:
        """Return the member with the largest weight, if it is not a network."""
        if len(self.groups):
            return None
        name = list(self.config.chosen)[int(self.weights.argmax())]
        if name not in self.operators:
            return None
        found = self.operators[name]
        assert isinstance(found, Operator)
        return found

    def parameter_counts(self) -> dict[str, int]:
        """Return how many numbers a prediction draws on, by name."""
        counts = {name: parameter.numel() for name, parameter in self.named_parameters()}
        for name, operator in self.operators.items():
            assert isinstance(operator, Operator)
            counts |= {f"operators.{name}.{part}": count for part, count in operator.parameter_counts().items()}
        for number, group in enumerate(self.groups):
            assert isinstance(group, Auto)
            counts |= {f"groups.{number}.{part}": count for part, count in group.parameter_counts().items()}
        return counts

    def _hold(self, operators: Mapping[str, Operator], ensembles: Mapping[str, NetworkEnsemble]) -> None:
        self.operators = nn.ModuleDict(dict(operators))
        self.ensembles = nn.ModuleDict(dict(ensembles))
        networks = (ensemble.network(0) for ensemble in ensembles.values())
        self.needs = tuple(dict.fromkeys(need for member in (*operators.values(), *networks) for need in member.needs))

    def _columns(
        self, cloud: Cloud, sizes: Sequence[int], predict: Callable[[Operator, Cloud], Tensor]
    ) -> Float[Tensor, "row channel"]:
        """Predict groups of channels apart, and bring the columns into their order."""
        parts, channels = [], []
        for described, part in zip(self.config.groups, self.groups, strict=True):
            assert isinstance(part, Auto)
            parts.append(part._sum(cloud, sizes, predict))
            channels += described["channels"]
        return torch.cat(parts, dim=1)[:, torch.tensor(channels).argsort()]

    def _sum(
        self, cloud: Cloud, sizes: Sequence[int], predict: Callable[[Operator, Cloud], Tensor]
    ) -> Float[Tensor, "row channel"]:
        if len(self.groups):
            return self._columns(cloud, sizes, predict)
        parts: dict[str, Tensor] = {}
        for name, operator in self.operators.items():
            assert isinstance(operator, Operator)
            parts[name] = predict(operator, cloud).double()
        for name, ensemble in self.ensembles.items():
            assert isinstance(ensemble, NetworkEnsemble)
            base = self.operators[ensemble.base] if ensemble.base else None
            seen, factors = ensemble.seen(cloud, None if base is None else base(cloud).double())
            part = ensemble.decoded(torch.stack([predict(network, seen) for network in ensemble]), factors, sizes)
            parts[name] = part + parts[ensemble.base] if ensemble.base else part
        members = torch.stack([parts[name] for name in self.config.chosen])
        return torch.tensordot(self.weights, members, dims=1).to(cloud.points.dtype)
