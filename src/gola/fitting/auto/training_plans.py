"""Networks of an ensemble, trained side by side, each without one fold of the samples."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Float, Int

from gola.data.sample import Sample
from gola.fitting.auto.budget import Budget, OutOfTime
from gola.fitting.auto.preprocessed import Predictions, PreprocessedSamples
from gola.geometry import draw_rows
from gola.operators.operator import Operator, OperatorConfig
from gola.protocol import FitTask, Progress, Session, TrainingConfig

# With these the spectral operator was measured; a schedule this steep suits it and few others.
_TRAINING = TrainingConfig(batch_size=2, learning_rate=4e-3, validation_share=0.0, patience=None)
# Points of a sample that a network learns from, at most, so that time does not grow with the mesh; each function of a
# spectral network in two dimensions then still has eight of them.
_MOST_POINTS = 1500
# So many steps tell how long one takes.
_PACE_STEPS = 10


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """How one network is trained.

    Attributes:
        name: Of the folder of its checkpoints.
        fold: The fold of the samples that it does not learn from.
        num_steps: Number of training steps.
        residual_weight: Weight of the learned PDE residual.
        symmetries: Symmetries by which the samples are augmented.
        base: The operator that it corrects; empty for none.
    """

    name: str
    fold: int
    num_steps: int
    residual_weight: float = 0.0
    symmetries: tuple[str, ...] = ()
    base: str = ""

    @property
    def how(self) -> str:
        """The plan in words."""
        if self.base:
            return f"to correct {self.base}"
        if self.symmetries:
            return f"on samples augmented by symmetry ({', '.join(self.symmetries)})"
        return "with a learned PDE residual" if self.residual_weight else "without PDE residual or augmentation"


@dataclass(frozen=True, kw_only=True, eq=False)
class EnsembleTrainer:
    """Trains networks of one kind.

    Attributes:
        kind: The operator.
        config: Of every network that corrects nothing.
        samples: The samples as networks see them, by the operator that these correct.
        folds: Numbers of the samples of each fold.
        task: What the automatic choice is fitted to.
        num_steps: Steps of all plans that may come, for the progress.
        budget: The time that there is. Where it is limited, no state is kept: how far networks get is then a matter of
            time, so there is nothing that a later call could continue.
    """

    kind: type[Operator]
    config: OperatorConfig
    samples: Mapping[str, PreprocessedSamples]
    folds: Sequence[Int[np.ndarray, " _"]]
    task: FitTask
    num_steps: int
    budget: Budget = field(default_factory=Budget)
    _steps: dict[str, int] = field(default_factory=dict, init=False)
    _moments: dict[str, list[float]] = field(default_factory=dict, init=False)
    _reporting: threading.Lock = field(default_factory=threading.Lock, init=False)

    def trained(self, *plans: TrainingPlan) -> list[tuple[Operator, Predictions]]:
        """Train networks, and let each predict the fold that it did not learn from, in the units of the data.

        Networks this small gain little from a second core, so each gets its own. If one fails or is interrupted, all
        keep their state and end.
        """
        if not plans:
            return []
        networks = [self._initial(plan) for plan in plans]
        stop = threading.Event()
        with _shared_cores(len(plans), self.task.session) as workers, ThreadPoolExecutor(workers) as pool:
            pairs = zip(plans, networks, strict=True)
            futures = [pool.submit(self._train, plan, network, stop) for plan, network in pairs]
            try:
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
            except BaseException as error:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                if isinstance(error, KeyboardInterrupt) and self._is_out_of_time:
                    raise OutOfTime from None
                raise
        return [(network, future.result()) for network, future in zip(networks, futures, strict=True)]

    @property
    def _is_out_of_time(self) -> bool:
        """Whether training stopped because the time was over, not because somebody stopped it."""
        return self.budget.is_over and not self.task.session.stop()

    def seconds_per_step(self) -> float:
        """Train a network for a few steps, and return how long one takes where all cores train networks."""
        plan = TrainingPlan(name="pace", fold=0, num_steps=_PACE_STEPS)
        with _shared_cores(len(self.folds), self.task.session) as workers:
            try:
                self._train(plan, self._initial(plan), threading.Event())
            except KeyboardInterrupt:
                if self._is_out_of_time:
                    raise OutOfTime from None
                raise
        first, *_, last = self._moments.pop(plan.name)
        return (last - first) / (self._steps.pop(plan.name) - 1) / workers

    def _initial(self, plan: TrainingPlan) -> Operator:
        # Networks without the same fold differ in how they are trained, not in how they start.
        torch.manual_seed(self.task.seed + plan.fold)
        num_inputs = self.samples[plan.base].samples[0].inputs.shape[1]
        return self.kind(replace(self.config, num_inputs=num_inputs))

    def _train(self, plan: TrainingPlan, network: Operator, stop: threading.Event) -> dict[int, np.ndarray]:
        seen = self.samples[plan.base]
        held_out = self.folds[plan.fold].tolist()
        rng = np.random.default_rng([self.task.seed, plan.fold])
        task = replace(
            self.task,
            samples=[_thinned(sample, rng) for row, sample in enumerate(seen.samples) if row not in held_out],
            training=replace(
                _TRAINING,
                num_steps=plan.num_steps,
                residual_weight=plan.residual_weight,
                symmetries=plan.symmetries,
            ),
            seed=self.task.seed + plan.fold,
            session=self._session(plan, stop),
            provenance={**self.task.provenance, "fold": plan.fold},
        )
        task.train(network, task, seen.scaling)
        network.eval()
        with torch.no_grad():
            return {row: seen.in_units(row, _predicted(network, seen, row)) for row in held_out}

    def _session(self, plan: TrainingPlan, stop: threading.Event) -> Session:
        """Return a session that reports the progress of all networks together."""
        session = self.task.session

        def on_progress(now: Progress) -> None:
            with self._reporting:
                self._steps[plan.name] = now.step
                self._moments.setdefault(plan.name, []).append(time.monotonic())
                done = sum(self._steps.values())
                session.on_progress(replace(now, step=done, num_steps=max(self.num_steps, done)))

        keeps = session.folder is not None and self.budget.seconds is None
        folder = session.folder / plan.name if keeps and session.folder is not None else None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        return replace(
            session,
            folder=folder,
            loggers=(),
            on_progress=on_progress,
            stop=lambda: stop.is_set() or self.budget.is_over or session.stop(),
        )


def _predicted(network: Operator, seen: PreprocessedSamples, row: int) -> Float[np.ndarray, "point channel"]:
    sample = seen.samples[row]
    cloud = network.prepare(seen.scaling.cloud(sample.points, sample.inputs, parameters=sample.parameters))
    return seen.scaling.decode(network(cloud).double()).numpy()


def _thinned(sample: Sample, rng: np.random.Generator) -> Sample:
    if sample.num_points <= _MOST_POINTS:
        return sample
    return sample.select(draw_rows(sample.num_points, _MOST_POINTS, rng))


@contextmanager
def _shared_cores(most: int, session: Session) -> Iterator[int]:
    """Share PyTorch's threads among at most so many training runs at once, and yield their number."""
    num_threads = torch.get_num_threads()
    on_cpu = session.accelerator == "cpu" or not torch.cuda.is_available()
    workers = min(most, num_threads) if on_cpu else 1
    torch.set_num_threads(num_threads // workers)
    try:
        yield workers
    finally:
        torch.set_num_threads(num_threads)
