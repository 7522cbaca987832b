"""Fit a network operator to a few samples."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch

from gola.data.mirror import Mirror
from gola.data.sample import Sample
from gola.fitting.training.augmentation import augmented
from gola.fitting.training.checkpoint import Checkpoints
from gola.fitting.training.devices import Devices, launch
from gola.fitting.training.rates import with_chosen_rate
from gola.fitting.training.running_mean import RunningMean
from gola.fitting.training.samples import Objective, PreparedSamples
from gola.operators.operator import Operator
from gola.operators.scaling import Scaling
from gola.operators.spectral.pde_residual import ResidualRegulariser
from gola.protocol import Epoch, FitTask, Progress, Session, TrainingConfig


def train(operator: Operator, task: FitTask, scaling: Scaling) -> list[Epoch]:
    """Minimise the mean relative L2 error of decoded predictions over the training samples.

    Everything random follows from the seed and the number of the epoch, so a training run that was interrupted at any
    step and resumed ends with the very same weights as one that was not.

    Args:
        operator: Trained in place.
        task: The training samples, of which a share is set aside for choosing the best epoch where they are many; how
            to train, and how to run it.
        scaling: How the samples are normalised.

    Returns:
        The finished epochs.
    """
    samples, seed, session = task.samples, task.seed, task.session
    config = with_chosen_rate(operator, task, scaling, train)
    devices = launch(session)
    learned, validated = _split(samples, config.num_validation(len(samples)), seed)
    # After the split: copies of a sample that is set aside would give it away.
    mirror = Mirror.of(scaling.frame, task.inputs, task.targets, task.parameters)
    learned = augmented(learned, config.symmetries, mirror, seed=seed, has_time_axis=task.has_time_axis)
    config = config.resolved(len(learned))
    prepared = PreparedSamples(
        samples=learned, operator=operator, scaling=scaling, num_points=config.points_per_epoch, seed=seed
    )
    settings = {
        "operator": operator.name,
        "seed": seed,
        "precision": devices.precision,
        **config.to_dict(),
        **operator.config.to_dict(),
        **task.provenance,
    }
    training = _Training(
        devices=devices,
        config=config,
        seed=seed,
        objective=Objective(operator, prepared, _regulariser(prepared, config, seed)),
        validation=Objective(operator, replace(prepared, samples=validated, kept={})),
        checkpoints=Checkpoints(folder=session.folder, settings=settings, seconds=session.checkpoint_seconds),
    )
    if session.resume:
        training.resume()
    for epoch in training.run(session):
        for logger in session.loggers if devices.is_first else ():
            logger.log_metrics(_numbers(epoch), step=epoch.number)
    training.finish()
    return training.history


@dataclass(kw_only=True, eq=False)
class _Training:
    """A training run and where it stands."""

    devices: Devices
    config: TrainingConfig
    seed: int
    objective: Objective
    validation: Objective
    checkpoints: Checkpoints
    history: list[Epoch] = field(default_factory=list)
    batch: int = 0
    total: float = 0.0
    seconds: float = 0.0
    best_error: float = math.inf
    best_weights: dict[str, torch.Tensor] | None = None

    def __post_init__(self) -> None:
        operator = self.objective.operator
        weights = list(operator.parameters())
        # One pass over all: with many small ones the calls for each would take longer than the arithmetic.
        fused = all(weight.is_floating_point() for weight in weights)
        optimiser = torch.optim.AdamW(weights, weight_decay=self.config.weight_decay, fused=fused)
        self.devices.setup(self.objective, optimiser)
        self.mean = RunningMean(operator, self.config.averaging)
        self.began = time.monotonic()

    @property
    def num_batches(self) -> int:
        return math.ceil(len(self.objective.samples) / self.config.batch_size)

    def resume(self) -> None:
        """Continue from the saved state, if there is one."""
        # Read by one process and sent to the others: their machines need not share a disk.
        kept = self.checkpoints.load() if self.devices.is_first else None
        state = self.devices.from_first(kept)
        if state is not None:
            with self.checkpoints.naming_the_file():
                self.load(state)

    def run(self, session: Session) -> Iterator[Epoch]:
        """Yield every epoch that was not finished before."""
        num_epochs = self.config.num_epochs
        assert num_epochs is not None
        while len(self.history) < num_epochs and not self._stops_early():
            for rows in self._batches()[self.batch :]:
                stop = self._step(rows, stop=session.stop())
                if stop or self.checkpoints.due:
                    self._keep_state()
                if stop:
                    raise KeyboardInterrupt
                if self.devices.is_first:
                    last = self.history[-1] if self.history else None
                    num_steps = num_epochs * self.num_batches
                    session.on_progress(Progress(step=self._steps_done(), num_steps=num_steps, last=last))
            yield self._end_epoch()
        self._keep_state()

    def finish(self) -> None:
        """Leave the operator with its best weights on the CPU."""
        operator = self.objective.operator
        if self.best_weights is not None:
            operator.load_state_dict(self.best_weights)
        else:
            self.mean.keep()
        operator.to("cpu")
        self.devices.wait()

    def state(self) -> dict[str, Any]:
        """Return all that it takes to continue from here."""
        return {
            "weights": self.objective.operator.state_dict(),
            "mean": self.mean.mean,
            **self.devices.state(),
            "history": [asdict(epoch) for epoch in self.history],
            "batch": self.batch,
            "total": self.total,
            "seconds": self._elapsed(),
            "best_error": self.best_error,
            "best_weights": self.best_weights,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go back to where a state was taken."""
        self.objective.operator.load_state_dict(state["weights"])
        self.mean.load(state["mean"])
        self.devices.load(state)
        self.history = [Epoch(**epoch) for epoch in state["history"]]
        for name in ("batch", "total", "seconds", "best_error", "best_weights"):
            setattr(self, name, state[name])

    def _batches(self) -> list[np.ndarray]:
        """Shuffle the samples of the current epoch, and deal them out."""
        rng = np.random.default_rng([self.seed, len(self.history)])
        return np.array_split(rng.permutation(len(self.objective.samples)), self.num_batches)

    def _step(self, rows: np.ndarray, *, stop: bool) -> bool:
        """Take one step, and return whether any process wants to stop."""
        own = rows[self.devices.rank :: self.devices.num_processes].tolist()
        # A process without a sample joins with one that counts nothing: all must take part in every step.
        errors, penalties = self.devices.errors(own or rows[:1].tolist(), len(self.history))
        losses = errors if penalties is None else errors + penalties
        errors, losses = (errors, losses) if own else (0.0 * errors, 0.0 * losses)
        # Gradients are averaged over the processes, and the error is one over the samples of the whole batch.
        self.devices.descend(
            losses.sum() * (self.devices.num_processes / len(rows)),
            learning_rate=self._learning_rate(self._steps_done() + 1),
            max_norm=self.config.clip,
        )
        self.batch += 1
        total, num_stopping = self.devices.sums(float(errors.detach().sum()), float(stop))
        self.total += total
        self.mean.update(self._steps_done())
        return num_stopping > 0

    def _keep_state(self) -> None:
        if self.devices.is_first:
            self.checkpoints.save(self.state())

    def _end_epoch(self) -> Epoch:
        epoch = Epoch(
            number=len(self.history) + 1,
            training_error=self.total / len(self.objective.samples),
            validation_error=self._validate(),
            learning_rate=self._learning_rate(self._steps_done()),
            seconds=self._elapsed(),
        )
        if not math.isfinite(epoch.training_error):
            raise ValueError(
                f"The training error is {epoch.training_error} after epoch {epoch.number}: the weights have run away."
                f" Lower the learning rate, now {self.config.learning_rate}, and look at the data with `gola inspect`."
            )
        self.history.append(epoch)
        self.batch, self.total = 0, 0.0
        return epoch

    @torch.no_grad()
    def _validate(self) -> float | None:
        count = len(self.validation.samples)
        if not count:
            return None
        own = range(self.devices.rank, count, self.devices.num_processes)
        with self.mean.in_place():
            # All processes get the same sum, so that all choose the same epoch and stop in the same one.
            error = self.devices.sums(math.fsum(float(self.validation([row], 0)[0]) for row in own))[0] / count
            if error < self.best_error:
                self.best_error = error
                weights = self.objective.operator.state_dict()
                self.best_weights = {name: value.detach().clone() for name, value in weights.items()}
        return error

    def _stops_early(self) -> bool:
        errors = [epoch.validation_error for epoch in self.history if epoch.validation_error is not None]
        if not errors or self.config.patience is None:
            return False
        return len(errors) - 1 - int(np.argmin(errors)) >= self.config.patience

    def _steps_done(self) -> int:
        return len(self.history) * self.num_batches + self.batch

    def _learning_rate(self, step: int) -> float:
        assert self.config.num_epochs is not None
        return self.config.learning_rate_at(step / (self.config.num_epochs * self.num_batches))

    def _elapsed(self) -> float:
        return self.seconds + time.monotonic() - self.began


def _split(samples: Sequence[Sample], num_validation: int, seed: int) -> tuple[list[Sample], list[Sample]]:
    """Set some samples aside for validation."""
    order = np.random.default_rng(seed).permutation(len(samples)).tolist()
    return [samples[row] for row in sorted(order[num_validation:])], [samples[row] for row in order[:num_validation]]


def _regulariser(samples: PreparedSamples, config: TrainingConfig, seed: int) -> ResidualRegulariser | None:
    """Learn the PDE residual, if there is to be one."""
    if not config.residual_weight:
        return None
    labelled = [samples.batch([row], 0) for row in range(len(samples))]
    return ResidualRegulariser.prepared(labelled, samples.operator, weight=config.residual_weight, seed=seed)


def _numbers(epoch: Epoch) -> dict[str, float]:
    return {name: value for name, value in asdict(epoch).items() if name != "number" and value is not None}
