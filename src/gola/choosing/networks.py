"""Networks of an ensemble, trained side by side, each without one part of the samples."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int

from gola.choosing.views import Predictions, View
from gola.data.sample import Channel, Sample
from gola.geometry import draw_rows
from gola.operators import Spectral, SpectralConfig
from gola.training import Progress, Session, TrainingConfig, train

# With these the spectral operator was measured; a schedule this steep suits it and few others.
_TRAINING = TrainingConfig(batch_size=2, learning_rate=4e-3, validation_share=0.0, patience=None)
# Points of a sample that a network learns from, at most, so that time does not grow with the mesh; each function of a
# network in two dimensions then still has eight of them.
_MOST_POINTS = 1500


@dataclass(frozen=True, kw_only=True)
class Course:
    """How one network is trained.

    Attributes:
        name: Of the folder of its states.
        part: The part of the samples that it does not learn from.
        num_steps: Steps of the training.
        law: Weight of the local law.
        symmetries: Symmetries by whose images of the samples it learns as well.
        start: The closed form whose errors it learns; empty for none.
    """

    name: str
    part: int
    num_steps: int
    law: float = 0.0
    symmetries: str = ""
    start: str = ""

    @property
    def how(self) -> str:
        """The way of training in words."""
        if self.start:
            return f"to correct {self.start}"
        if self.symmetries:
            return f"on images of the samples as well ({self.symmetries.replace(' ', ', ')})"
        return "with a local law" if self.law else "without law or symmetries"


@dataclass(frozen=True, kw_only=True, eq=False)
class Ensemble:
    """Networks of one kind and the samples that they learn from.

    Attributes:
        config: Of every network that starts from nothing.
        views: The samples as networks see them, by the closed form that these start from.
        parts: Numbers of the samples of each part.
        seed: Decides the initial weights, and the order of samples.
        session: How to run the trainings.
        provenance: Further facts that states to resume from must agree with.
        num_steps: Steps of all courses that may come, for telling how far it is.
        inputs: Input channels of the samples.
        targets: Their target channels.
    """

    config: SpectralConfig
    views: Mapping[str, View]
    parts: Sequence[Int[np.ndarray, " _"]]
    seed: int
    session: Session
    provenance: Mapping[str, Any]
    num_steps: int
    inputs: Sequence[Channel] = ()
    targets: Sequence[Channel] = ()
    _steps: dict[str, int] = field(default_factory=dict, init=False)
    _telling: threading.Lock = field(default_factory=threading.Lock, init=False)

    def trained(self, *courses: Course) -> list[tuple[Spectral, Predictions]]:
        """Train networks, and let each predict the part of the samples that it did not learn from, in their units.

        Networks this small gain little from a second core, so each gets its own. If one fails or is interrupted, all
        keep their state and end.
        """
        networks = [self._initial(course) for course in courses]
        stop = threading.Event()
        with _shared_cores(len(courses), self.session) as workers, ThreadPoolExecutor(workers) as pool:
            pairs = zip(courses, networks, strict=True)
            futures = [pool.submit(self._train, course, network, stop) for course, network in pairs]
            try:
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
            except BaseException:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [(network, future.result()) for network, future in zip(networks, futures, strict=True)]

    def _initial(self, course: Course) -> Spectral:
        # Networks without the same part differ in how they are trained, not in how they start.
        torch.manual_seed(self.seed + course.part)
        num_inputs = self.views[course.start].samples[0].inputs.shape[1]
        return Spectral(replace(self.config, num_inputs=num_inputs))

    def _train(self, course: Course, network: Spectral, stop: threading.Event) -> dict[int, np.ndarray]:
        view = self.views[course.start]
        held_out = self.parts[course.part].tolist()
        rng = np.random.default_rng([self.seed, course.part])
        train(
            network,
            [_thinned(sample, rng) for row, sample in enumerate(view.samples) if row not in held_out],
            view.scaling,
            replace(_TRAINING, num_steps=course.num_steps, law=course.law, symmetries=course.symmetries),
            seed=self.seed + course.part,
            session=self._session(course, stop),
            provenance={**self.provenance, "part": course.part},
            inputs=self.inputs,
            targets=self.targets,
        )
        network.eval()
        with torch.no_grad():
            return {row: view.in_units(row, _predicted(network, view, row)) for row in held_out}

    def _session(self, course: Course, stop: threading.Event) -> Session:
        """Return a session that tells the progress of all networks together."""

        def on_progress(now: Progress) -> None:
            with self._telling:
                self._steps[course.name] = now.step
                done = sum(self._steps.values())
                self.session.on_progress(replace(now, step=done, num_steps=max(self.num_steps, done)))

        folder = None if self.session.folder is None else self.session.folder / course.name
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        return replace(
            self.session,
            folder=folder,
            loggers=(),
            on_progress=on_progress,
            stop=lambda: stop.is_set() or self.session.stop(),
        )


def _predicted(network: Spectral, view: View, row: int) -> Float[np.ndarray, "point channel"]:
    sample = view.samples[row]
    cloud = network.prepare(view.scaling.cloud(sample.points, sample.inputs))
    return view.scaling.decode(network(cloud).double()).numpy()


def _thinned(sample: Sample, rng: np.random.Generator) -> Sample:
    if sample.num_points <= _MOST_POINTS:
        return sample
    return sample.select(draw_rows(sample.num_points, _MOST_POINTS, rng))


@contextmanager
def _shared_cores(most: int, session: Session) -> Iterator[int]:
    """Deal out PyTorch's threads to at most so many trainings at once, and give back to how many."""
    num_threads = torch.get_num_threads()
    on_cpu = session.accelerator == "cpu" or not torch.cuda.is_available()
    workers = min(most, num_threads) if on_cpu else 1
    torch.set_num_threads(num_threads // workers)
    try:
        yield workers
    finally:
        torch.set_num_threads(num_threads)
