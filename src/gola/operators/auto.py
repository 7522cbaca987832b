"""Several operators in one: closed forms and an ensemble of networks, weighed by how they do on samples left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from gola.data.cloud import Cloud
from gola.data.normaliser import Normaliser
from gola.operators.closed_form import ClosedForm, Kernel, Linear
from gola.operators.closed_form.homogeneity import Homogeneity
from gola.operators.closed_form.kernel import transformed
from gola.operators.operator import Operator, OperatorConfig, Structure
from gola.operators.queries import Queries
from gola.operators.spectral import Spectral

NETWORK = Spectral.name
# Fewer waves than the spectral operator has by default: as accurate on Eikonal in half the time.
_NETWORK_MODES = {1: 32, 2: 8, 3: 4}
_CLOSED_FORMS: dict[str, type[ClosedForm]] = {kind.name: kind for kind in (Linear, Kernel)}


@final
@dataclass(frozen=True, kw_only=True)
class AutoConfig(OperatorConfig):
    """Settings of the automatic choice.

    Attributes:
        members: Names of the operators to choose from, with commas between them; of a fitted one, those that it
            predicts with.
        num_networks: Networks of the ensemble. The training samples are dealt into as many parts, and each network
            learns from all parts but one, by which it is judged.
        num_steps: Steps of the training of each network, of two samples each.
        law: Weight of the local law that networks are tried with, beside without.
        symmetries: Whether networks are also tried with the images of samples under symmetries of the domain.
        start: The closed form that networks start from, to learn only what it misses: a name, "" for none, None to find
            out whether it helps.
        num_modes: Largest wave number of the networks; None for 32, 8 or 4 in one, two or three dimensions.
    """

    members: str = ",".join([*_CLOSED_FORMS, NETWORK])
    num_networks: int = 5
    num_steps: int = 2000
    law: float = 0.1
    symmetries: bool = True
    start: str | None = None
    num_modes: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_positive("num_networks", "num_steps")
        if self.num_networks < 2:
            raise ValueError(f"num_networks must be at least 2, to leave samples out; got {self.num_networks}.")
        if not self.law >= 0:
            raise ValueError(f"law must not be negative; got {self.law}.")
        known = [*_CLOSED_FORMS, NETWORK]
        if not set(self.names) <= set(known):
            raise ValueError(f"members must be some of {', '.join(known)}; got {self.members!r}.")
        if self.start and self.start not in _CLOSED_FORMS:
            raise ValueError(f"start must be one of {', '.join(_CLOSED_FORMS)}, or empty; got {self.start!r}.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members one by one."""
        return tuple(self.members.split(","))


@final
class Auto(Operator):
    r"""Closed forms and networks, weighed by how they do on samples left out: see :func:`gola.choosing.choose`.

    .. math:: u = \sum_m w_m u_m, \qquad w_m \ge 0, \quad \sum_m w_m = 1

    where the network's part is the mean over an ensemble. Members that are not worth their weight are left out, so this
    may well be a single closed form. Values come in their own units. Networks see them normalised, and in the way that
    `kernel` found to suit the problem: without amplitudes that the operator scales with, and reciprocals or logarithms
    of positive channels. Where that helps, they start from what a closed form predicts, which is an input to them too.
    """

    name: ClassVar[str] = "auto"
    title: ClassVar[str] = "automatic choice"
    needs: tuple[Structure, ...] = Spectral.needs
    normalised: ClassVar[bool] = False
    trained: ClassVar[bool] = False
    config_type: ClassVar[type[OperatorConfig]] = AutoConfig
    presets: ClassVar[dict[str, AutoConfig]] = {"default": AutoConfig()}

    config: AutoConfig
    weights: Float[Tensor, " member"]
    reciprocal: Bool[Tensor, " input_channel"]
    logarithm: Bool[Tensor, " input_channel"]
    input_mean: Float[Tensor, " input_channel"]
    input_scale: Float[Tensor, " input_channel"]
    target_mean: Float[Tensor, " channel"]
    target_scale: Float[Tensor, " channel"]

    def __init__(self, config: AutoConfig) -> None:
        super().__init__(config)
        facts: dict[str, Any] = {name: getattr(config, name) for name in ("dim", "num_inputs", "num_outputs")}
        self.closed_forms = nn.ModuleDict(
            {name: kind(replace(kind.presets["default"], **facts)) for name, kind in _CLOSED_FORMS.items()}
        )
        for name in set(_CLOSED_FORMS) - {*config.names, config.start}:
            del self.closed_forms[name]
        count = config.num_networks if NETWORK in config.names else 0
        num_modes = config.num_modes or _NETWORK_MODES[config.dim]
        num_seen = config.num_inputs + (config.num_outputs if config.start else 0)
        network = replace(Spectral.presets["default"], num_modes=num_modes, **{**facts, "num_inputs": num_seen})
        self.networks = nn.ModuleList(Spectral(network) for _ in range(count))
        self.needs = Spectral.needs if count else ()
        self.homogeneity = Homogeneity(config.num_inputs)
        for transform in ("reciprocal", "logarithm"):
            self.register_buffer(transform, torch.zeros(config.num_inputs, dtype=torch.bool))
        self.register_buffer("weights", torch.full((len(config.names),), 1.0 / len(config.names)).double())
        for which, channels in (("input", num_seen), ("target", config.num_outputs)):
            self.register_buffer(f"{which}_mean", torch.zeros(channels, dtype=torch.float64))
            self.register_buffer(f"{which}_scale", torch.ones(channels, dtype=torch.float64))

    def see_like(self, kernel: Kernel) -> None:
        """Let networks see inputs without the amplitudes that a kernel operator takes out, and transformed as there."""
        self.reciprocal = kernel.positive & (kernel.kernel.transform == "reciprocal")
        self.logarithm = kernel.positive & (kernel.kernel.transform == "logarithm")
        self.homogeneity = kernel.homogeneity

    def seen(self, values: Float[Tensor, "point channel"]) -> tuple[Float[Tensor, "point channel"], Float[Tensor, ""]]:
        """Return the input of one sample as networks see it, not yet normalised, and the factor of its solution."""
        values, factor = self.homogeneity.taken_out(values)
        return self._transformed(values), factor

    def set_units(self, inputs: Normaliser, targets: Normaliser) -> None:
        """Keep the normalisers of what networks see."""
        for which, normaliser in (("input", inputs), ("target", targets)):
            setattr(self, f"{which}_mean", torch.tensor(normaliser.mean, dtype=torch.float64))
            setattr(self, f"{which}_scale", torch.tensor(normaliser.scale, dtype=torch.float64))

    def prepare(self, cloud: Cloud) -> Cloud:
        """Return the cloud with the structure that the networks need."""
        if not len(self.networks):
            return cloud
        return replace(cloud, spectra=self._network(0).prepare(_rounded(cloud)).spectra)

    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""
        return self._sum(cloud, cloud.sizes, lambda operator, seen: operator.predict(seen))

    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries."""
        rounded = replace(queries, points=queries.points.float())
        return self._sum(
            cloud,
            queries.sizes,
            lambda operator, seen: operator.predict_at(seen, rounded if operator.name == NETWORK else queries),
        )

    def parameter_counts(self) -> dict[str, int]:
        """Return how many numbers a prediction draws on, by name."""
        counts = {name: parameter.numel() for name, parameter in self.named_parameters()}
        for name, closed_form in self.closed_forms.items():
            assert isinstance(closed_form, ClosedForm)
            counts |= {f"closed_forms.{name}.{part}": count for part, count in closed_form.parameter_counts().items()}
        return counts

    def _sum(self, cloud: Cloud, sizes: Sequence[int], predict: Any) -> Float[Tensor, "row channel"]:
        parts = {name: predict(closed_form, cloud).double() for name, closed_form in self.closed_forms.items()}
        if len(self.networks):
            seen, factors = self._seen_cloud(cloud)
            mean = torch.stack([predict(network, seen) for network in self.networks]).mean(dim=0)
            by_row = torch.cat([factor.expand(size) for factor, size in zip(factors, sizes, strict=True)])
            learned = (mean.double() * self.target_scale + self.target_mean) * by_row[:, None]
            parts[NETWORK] = learned + parts[self.config.start] if self.config.start else learned
        members = torch.stack([parts[name] for name in self.config.names])
        return torch.tensordot(self.weights, members, dims=1).to(cloud.points.dtype)

    def _seen_cloud(self, cloud: Cloud) -> tuple[Cloud, Float[Tensor, " sample"]]:
        """Return a cloud as networks see it, and the factor of each sample's solution."""
        # On the meta device nothing has a value.
        if not cloud.values.is_meta and bool((cloud.values[:, self.reciprocal | self.logarithm] <= 0.0).any()):
            raise ValueError(
                f"This {self.title} takes reciprocals or logarithms of input channels that were positive in all"
                " training samples; give it positive values there, or fit it to samples that are not."
            )
        scaled, factors = self.homogeneity.of_cloud(cloud)
        values = self._transformed(scaled.values.double())
        if self.config.start:
            closed_form = self.closed_forms[self.config.start]
            assert isinstance(closed_form, ClosedForm)
            start = closed_form.predict(cloud).double()
            values = torch.cat([values, start / factors[cloud.sample_of_point][:, None]], dim=1)
        return _rounded(replace(cloud, values=(values - self.input_mean) / self.input_scale)), factors

    def _transformed(self, values: Float[Tensor, "point channel"]) -> Float[Tensor, "point channel"]:
        return transformed(transformed(values, self.reciprocal, "reciprocal"), self.logarithm, "logarithm")

    def _network(self, number: int) -> Spectral:
        network = self.networks[number]
        assert isinstance(network, Spectral)
        return network


def _rounded(cloud: Cloud) -> Cloud:
    """Return a cloud in the precision of networks."""
    points, values, weights = (one.float() for one in (cloud.points, cloud.values, cloud.weights))
    return replace(cloud, points=points, values=values, weights=weights)
