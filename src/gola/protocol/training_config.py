"""How a network is trained."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from gola.geometry.symmetry import Symmetry
from gola.registry import unknown


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Settings that decide the result of a training, checked when made.

    Attributes:
        num_epochs: Passes over the training samples; None for as many as make about ``num_steps`` steps.
        num_steps: Steps, where the number of epochs is left open.
        batch_size: Samples per step.
        learning_rate: Peak of the schedule: a linear warm-up, then half a cosine down to zero.
        rates: Learning rates to choose from instead, by the error on held-out samples of short training runs; none to
            use ``learning_rate``.
        weight_decay: Decoupled, as in AdamW.
        warmup: Share of the steps that warm up.
        clip: Largest norm of a gradient; longer ones are shortened to it.
        averaging: Decay of the running mean of the weights, which replaces them in the end; 0 for no mean.
        residual_weight: Weight of a PDE residual, which is learned from the samples and required to vanish for other
            inputs; 0 for none. See :mod:`gola.operators.spectral.pde_residual`.
        symmetries: Reflections and rotations of the domain that the operator is known to have: ("-xy", "yx") for all of
            a square. Networks learn from samples augmented by them. Channels whose names end in _x, _y, _z, or in two
            of these letters, are rotated as parts of vectors and tensors.
        points_per_epoch: Points drawn from each sample, again in every epoch; None for all points of a sample.
        validation_share: Share of the training samples that is set aside to choose the best epoch, and to stop early.
        validation_from: Number of training samples below which none is set aside.
        patience: Epochs without improvement on the samples set aside after which training stops; None for never.
        held_out_folds: Folds of the training samples, each predicted by a further training run that has not seen it: so
            many more runs, by which bands and an estimated error are known, as they are for closed forms without
            further cost; 0 for none.
    """

    num_epochs: int | None = None
    num_steps: int = 1000
    batch_size: int = 5
    learning_rate: float = 1e-3
    rates: tuple[float, ...] = ()
    weight_decay: float = 1e-4
    warmup: float = 0.1
    clip: float = 1.0
    averaging: float = 0.0
    residual_weight: float = 0.0
    symmetries: tuple[str, ...] = ()
    points_per_epoch: int | None = None
    validation_share: float = 0.1
    validation_from: int = 50
    patience: int | None = 50
    held_out_folds: int = 0

    def __post_init__(self) -> None:
        for name in ("num_epochs", "num_steps", "batch_size", "learning_rate", "clip", "points_per_epoch", "patience"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be greater than 0; got {value}.")
        for name in ("warmup", "averaging", "validation_share"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name} is a share, from 0 up to 1; got {getattr(self, name)}.")
        for name in ("weight_decay", "residual_weight"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must not be negative; got {getattr(self, name)}.")
        if self.held_out_folds < 0 or self.held_out_folds == 1:
            raise ValueError(f"held_out_folds must be 0, for none, or at least 2; got {self.held_out_folds}.")
        if not isinstance(self.symmetries, tuple):
            raise ValueError(f"symmetries must be a sequence, like ('-xy', 'yx'); got {self.symmetries!r}.")
        if not isinstance(self.rates, tuple) or not all(rate > 0 for rate in self.rates):
            raise ValueError(f"rates must be learning rates greater than 0, like (1e-3, 4e-3); got {self.rates!r}.")
        for text in self.symmetries:
            Symmetry.parse(text)

    def num_validation(self, num_samples: int) -> int:
        """Return how many of the training samples are set aside; at least one is left to learn from."""
        if num_samples < self.validation_from:
            return 0
        return min(round(self.validation_share * num_samples), num_samples - 1)

    def resolved(self, num_samples: int) -> "TrainingConfig":
        """Return these settings with the number of epochs decided for that many samples to learn from."""
        num_batches = math.ceil(num_samples / self.batch_size)
        return replace(self, num_epochs=self.num_epochs or math.ceil(self.num_steps / num_batches))

    def learning_rate_at(self, progress: float) -> float:
        """Return the learning rate after this share of the steps."""
        if progress < self.warmup:
            return self.learning_rate * progress / self.warmup
        return self.learning_rate * 0.5 * (1.0 + math.cos(math.pi * (progress - self.warmup) / (1.0 - self.warmup)))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        settings = asdict(self)
        if not self.held_out_folds:
            del settings["held_out_folds"]  # runs from before there was a choice keep their names
        return settings

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> "TrainingConfig":
        """Undo ``to_dict``."""
        known = [field.name for field in fields(cls)]
        for name in settings:
            if name not in known:
                raise ValueError(unknown("setting of training", name, known))
        several = {name: tuple(settings.get(name, ())) for name in ("rates", "symmetries")}
        return cls(**{**settings, **several})
