"""The interface that every operator has, learned or closed-form."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from gola.data.cloud import Cloud
from gola.operators.queries import Queries, with_queries

Structure = Literal["neighbours", "spectra", "parameters"]
"""What an operator may need besides points and values; parameters are inputs that are constant within each sample."""

ConfigType = TypeVar("ConfigType", bound="OperatorConfig")


@dataclass(frozen=True, kw_only=True)
class OperatorConfig:
    """Settings of an operator, checked when made; each operator extends them with its own.

    Attributes:
        dim: Number of coordinates of a point.
        num_inputs: Channels of the input function.
        num_outputs: Channels of the predicted function.
    """

    dim: int = 2
    num_inputs: int = 1
    num_outputs: int = 1

    def __post_init__(self) -> None:
        if self.dim not in (1, 2, 3):
            raise ValueError(f"dim must be 1, 2 or 3; got {self.dim}.")
        self._require_positive("num_inputs", "num_outputs")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls: type[ConfigType], settings: Mapping[str, Any]) -> ConfigType:
        """Rebuild a config from what :meth:`to_dict` gave."""
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(settings) - set(known))
        if unknown:
            raise ValueError(f"{cls.__name__} has no setting {', '.join(unknown)}; it has {', '.join(known)}.")
        return cls(**settings)

    def _require_positive(self, *names: str) -> None:
        for name in names:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be greater than 0; got {getattr(self, name)}.")

    def _require_one_of(self, name: str, choices: tuple[str, ...]) -> None:
        if getattr(self, name) not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}; got {getattr(self, name)!r}.")


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


class Operator(torch.nn.Module, ABC):
    """A map from a function known at scattered points to another function: ``operator(cloud) -> values``.

    Attributes:
        name: What users select it by.
        title: Its name in sentences.
        needs: The structure it needs on a cloud.
        normalised: Whether it wants inputs and targets of zero mean and unit spread, or their own units.
        trained: Whether it is a network, fitted step by step as users say; others decide by themselves how.
        config_type: The class of its config.
        presets: Named configs to start from.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    needs: tuple[Structure, ...] = ()
    normalised: ClassVar[bool] = True
    trained: ClassVar[bool] = True
    config_type: ClassVar[type[OperatorConfig]]
    presets: ClassVar[Mapping[str, OperatorConfig]]

    def __init__(self, config: OperatorConfig) -> None:
        super().__init__()
        self.config = config

    def forward(
        self, cloud: Cloud, at: Float[Tensor, "query dim"] | Queries | None = None
    ) -> Float[Tensor, "row channel"]:
        """Predict at the points of the cloud, or elsewhere.

        Args:
            cloud: The input function.
            at: Points at which to predict instead, where the input function need not be known: the same points for
                every sample, or :class:`Queries`. Predictions come sample after sample.
        """
        self._check(cloud)
        if at is None:
            return self.predict(cloud)
        queries = at if isinstance(at, Queries) else Queries.repeated(at, cloud.num_samples)
        return self.predict_at(cloud, queries)

    @abstractmethod
    def predict(self, cloud: Cloud) -> Float[Tensor, "point channel"]:
        """Predict at the points of the cloud."""

    def predict_at(self, cloud: Cloud, queries: Queries) -> Float[Tensor, "query channel"]:
        """Predict at the queries: they join the cloud as points that listen and never speak."""
        joined, is_query = with_queries(cloud, queries)
        return self.predict(joined)[is_query]

    def prepare(self, cloud: Cloud) -> Cloud:
        """Return the cloud with the structure that this operator needs, which is best built once and kept."""
        return cloud.with_neighbours(self.config.radius) if isinstance(self.config, GraphConfig) else cloud

    def parameter_counts(self) -> dict[str, int]:
        """Return the size of each parameter by name, a complex number counted once."""
        return {name: parameter.numel() for name, parameter in self.named_parameters()}

    @property
    def num_parameters(self) -> int:
        """Number of parameters, a complex number counted once."""
        return sum(self.parameter_counts().values())

    def _check(self, cloud: Cloud) -> None:
        if "neighbours" in self.needs and cloud.neighbourhood is None:
            raise ValueError(f"{self.title} needs neighbours; build them with cloud.with_neighbours(radius).")
        if "spectra" in self.needs and cloud.spectra is None:
            raise ValueError(f"{self.title} needs spectra; build them with operator.prepare(cloud).")
        for what, wanted, given in (
            ("coordinates", self.config.dim, cloud.dim),
            ("input channels", self.config.num_inputs, cloud.values.shape[1]),
        ):
            if wanted != given:
                raise ValueError(
                    f"This {self.title} was made for {wanted} {what} and the cloud has {given};"
                    f" give it a cloud with {wanted}, or make one with another config."
                )
