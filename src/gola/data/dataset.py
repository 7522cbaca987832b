"""A data set: simulations on scattered points, each with its own points, and how they were made."""

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, SupportsIndex, overload

import numpy as np
from jaxtyping import Float, Int

from gola.data.arrays import read_arrays
from gola.data.correspondence import Correspondence, correspondence_of, require_correspondence
from gola.data.fingerprint import fingerprint_of
from gola.data.low_fidelity import checked_approximations
from gola.data.periods import Periods, checked_periods
from gola.data.sample import Channel, Sample
from gola.data.storage import Header, StoredSamples, as_provenance, read_dataset, write_samples
from gola.data.validation import as_channels, checked_samples
from gola.geometry.points import draw_rows


# Not derived from Sequence: checkers of types at run time read an item of a Sequence at every call, here from disk.
@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """An immutable sequence of samples, in memory or read from a file sample by sample.

    Make one with ``from_arrays``, ``from_samples`` or ``load``. It has at least one sample; samples agree in their
    channels, parameters and dimension, and may differ in their points. What makes them differ are input functions,
    parameters, or their points alone. All of them are trajectories or none; trajectories may differ in their times, and
    nothing that a data set does divides one.

    Attributes:
        samples: The samples.
        inputs: Channels of the inputs; empty where parameters or the points alone make the difference.
        targets: Channels of the targets; empty for a set of inputs without solutions.
        parameters: Name and unit of each parameter.
        correspondence: How the points of one sample correspond to those of another: ``"same points"``, ``"moved
            nodes"`` of one mesh, or ``"none"``. It says nothing about times.
        periods: The period along each axis, None for an axis that is not periodic; None where none is.
        has_time_axis: Whether the last coordinate of points is the time: trajectories as operators see them, made by
            :func:`gola.data.trajectories.in_space_time`.
        low_fidelity: By name of a target the name of the input channel that approximates it, such as the solution on a
            coarse mesh: operators learn the correction. See :meth:`with_low_fidelity`.
        provenance: Where the samples came from, ready for JSON: problem, parameters, seed, version and, under
            ``"steps"``, what was done to them since.
    """

    samples: tuple[Sample, ...] | StoredSamples
    inputs: tuple[Channel, ...]
    targets: tuple[Channel, ...]
    parameters: tuple[Channel, ...] = ()
    correspondence: Correspondence = "none"
    periods: Periods | None = None
    has_time_axis: bool = False
    low_fidelity: Mapping[str, str] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_arrays(
        cls,
        points: Any,
        inputs: Any = None,
        targets: Any = None,
        *,
        parameters: Any = None,
        parameter_names: Sequence[str | Channel] | None = None,
        input_channels: Sequence[str | Channel] | None = None,
        target_channels: Sequence[str | Channel] | None = None,
        boundary: Any = None,
        cells: Any = None,
        weights: Any = None,
        times: Any = None,
        correspondence: Correspondence | None = None,
        periods: Sequence[float | None] | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> "Dataset":
        """Build a data set from arrays: lists with one array per sample, or arrays stacked along a first axis.

        Float64 arrays are not copied, so leave them alone afterwards.

        Args:
            points: Per sample (points, dim); or one such array that all samples share.
            inputs: Per sample (points, channels), or (points,) for a single channel; None where parameters or the
                points alone make the difference. For trajectories also (times, points, channels), or (times, points)
                for a single channel.
            targets: Per sample (points, channels), or (points,) for a single channel; for trajectories (times, points,
                channels), or (times, points) for a single channel. None for a set of inputs without solutions.
            parameters: Numbers of each sample, (samples, parameters); or a dict of columns by name; or a DataFrame.
            parameter_names: Names of the parameters, or names with units; by default those of the columns.
            input_channels: Names, or channels with units.
            target_channels: Names, or channels with units.
            boundary: Per sample (points,), True on the boundary; or one array for all.
            cells: Per sample (cells, vertices), simplices over the points; or one array for all.
            weights: Per sample (points,), quadrature weights; or one array for all.
            times: The times of trajectories, (times,) for all, or one such array per sample; None for samples without
                time.
            correspondence: How the points of one sample correspond to those of another; found by default.
            periods: The period along each axis, None for an axis that is not periodic, ``(1.0, None)``; the last point
                of a grid on a periodic axis may be there or not.
            provenance: Where the data came from; anything that JSON can hold.

        Examples:
            >>> points = np.random.default_rng(0).random((50, 2))
            >>> sources = [np.sin(k * points[:, 0]) for k in range(3)]
            >>> dataset = Dataset.from_arrays(points, sources, sources, input_channels=["f"], target_channels=["u"])
            >>> len(dataset), dataset[0].inputs.shape, dataset.inputs[0].name
            (3, (50, 1), 'f')

            Three simulations on one mesh that differ in two numbers:

            >>> loads = {"load [N]": [1.0, 2.0, 4.0], "angle": [0.0, 30.0, 10.0]}
            >>> Dataset.from_arrays(points, targets=sources, parameters=loads)
            Dataset(3 samples in 2D: load [N] angle -> target)

            The same over ten times:

            >>> times = np.linspace(0.0, 1.0, 10)
            >>> cooling = [np.exp(-times[:, None]) * source for source in sources]
            >>> Dataset.from_arrays(points, targets=cooling, parameters=loads, times=times)
            Dataset(3 trajectories in 2D: load [N] angle -> target)
        """
        arrays = read_arrays(
            points,
            inputs,
            targets,
            parameters=parameters,
            parameter_names=parameter_names,
            input_channels=input_channels,
            target_channels=target_channels,
            boundary=boundary,
            cells=cells,
            weights=weights,
            times=times,
        )
        return cls._held(
            arrays.samples,
            inputs=arrays.inputs,
            targets=arrays.targets,
            parameters=arrays.parameters,
            correspondence=correspondence,
            periods=periods,
            provenance=provenance,
        )

    @classmethod
    def from_samples(
        cls,
        samples: Iterable[Sample],
        *,
        inputs: Sequence[str | Channel] = (),
        targets: Sequence[str | Channel] = (),
        parameters: Sequence[str | Channel] = (),
        correspondence: Correspondence | None = None,
        periods: Sequence[float | None] | None = None,
        provenance: Mapping[str, Any] | None = None,
        labels: Iterable[str] | None = None,
    ) -> "Dataset":
        """Build a data set in memory from samples, after checking each of them.

        Args:
            samples: The samples.
            inputs: Names of the input channels, or channels with units.
            targets: Names of the target channels, or channels with units.
            parameters: Names of the parameters, or names with units.
            correspondence: How the points of one sample correspond to those of another; found by default.
            periods: The period along each axis, None for an axis that is not periodic, ``(1.0, None)``; the last point
                of a grid on a periodic axis may be there or not.
            provenance: Where the samples came from; anything that JSON can hold.
            labels: What error messages call the samples, for instance the names of their files.
        """
        inputs, targets, parameters = as_channels(inputs), as_channels(targets), as_channels(parameters)
        return cls._held(
            checked_samples(samples, inputs, targets, parameters, labels),
            inputs=inputs,
            targets=targets,
            parameters=parameters,
            correspondence=correspondence,
            periods=periods,
            provenance=provenance,
        )

    @classmethod
    def _held(
        cls,
        samples: Iterable[Sample],
        *,
        inputs: tuple[Channel, ...],
        targets: tuple[Channel, ...],
        parameters: tuple[Channel, ...],
        correspondence: Correspondence | None,
        periods: Sequence[float | None] | None,
        provenance: Mapping[str, Any] | None,
    ) -> "Dataset":
        """Keep samples that were checked before."""
        held = tuple(samples)
        if not held:
            raise ValueError("A data set needs at least one sample; got none.")
        as_channels([*inputs, *parameters])
        if taken := sorted({one.name for one in parameters} & {one.name for one in targets}):
            raise ValueError(f"{taken[0]!r} is the name of a parameter and of a target; rename one of them.")
        if correspondence is not None:
            require_correspondence(held, correspondence)
        found = correspondence or correspondence_of(held)
        if len(held) > 1 and not inputs and not parameters and found == "same points":
            raise ValueError(
                "A data set needs input channels, parameters, or points that differ between samples; these"
                f" {len(held)} samples have the same points and nothing else that tells them apart."
                " Give what differs between them: parameters=…, inputs=…, or `gola import --parameters cases.csv`."
            )
        return cls(
            samples=held,
            inputs=inputs,
            targets=targets,
            parameters=parameters,
            correspondence=found,
            periods=checked_periods(periods, held),
            provenance=as_provenance(provenance),
        )

    @classmethod
    def load(cls, path: str | Path) -> "Dataset":
        """Open a file; samples are read when they are asked for.

        The result can be sent to other processes, which then read the same file.

        Raises:
            ValueError: If the file is missing, truncated, foreign or of a newer format.
        """
        header, samples = read_dataset(path)
        assert header.correspondence is not None
        return cls(
            samples=samples,
            inputs=header.inputs,
            targets=header.targets,
            parameters=header.parameters,
            correspondence=header.correspondence,
            periods=header.periods,
            provenance=header.provenance,
        ).with_low_fidelity(header.low_fidelity)

    def save(self, path: str | Path, *, compress: bool = False) -> None:
        """Write one HDF5 file, which appears whole or not at all; an existing file is replaced at the very end.

        Args:
            path: The file.
            compress: Shrink the file, by a fifth for rough fields and more for smooth ones; writing takes about six
                times as long, reading twice.
        """
        header = Header(
            inputs=self.inputs,
            targets=self.targets,
            parameters=self.parameters,
            correspondence=self.correspondence,
            periods=self.periods,
            low_fidelity=self.low_fidelity,
            provenance=self.provenance,
        )
        write_samples(path, self, header, compress=compress)

    def in_memory(self) -> "Dataset":
        """Read all samples once, for repeated use; samples on the same points share one array."""
        if not isinstance(self.samples, StoredSamples):
            return self
        on_geometry: dict[int, Sample] = {}
        samples = []
        for sample, geometry in zip(self.samples, self.samples.geometries.tolist(), strict=True):
            first = on_geometry.setdefault(geometry, sample)
            shared = {name: getattr(first, name) for name in ("points", "boundary", "cells", "weights")}
            samples.append(replace(sample, **shared))
        return replace(self, samples=tuple(samples))

    def with_low_fidelity(self, approximations: Mapping[str, str]) -> "Dataset":
        """Return the same, saying which input channels approximate which targets.

        Args:
            approximations: By name of a target the name of an input channel, ``{"pressure": "coarse pressure"}``:
                the solution on a coarse mesh, of a simpler model, or of a method with few steps.
        """
        return replace(self, low_fidelity=checked_approximations(approximations, self.inputs, self.targets))

    def select(self, indices: Iterable[SupportsIndex]) -> "Dataset":
        """Return these samples, in this order."""
        chosen = [range(len(self))[index] for index in indices]
        return self._pick(chosen, {"select": chosen})

    def split(self, num_train: int, num_test: int | None = None, seed: int = 0) -> tuple["Dataset", "Dataset"]:
        """Draw training and test samples at random, none in both.

        For one seed, a larger ``num_train`` adds to the same training samples and leaves the test samples alone.

        Args:
            num_train: Number of training samples.
            num_test: Number of test samples; all the others by default.
            seed: Decides which; the same seed gives the same samples.
        """
        rest = len(self) - num_train
        if not 1 <= num_train < len(self):
            raise ValueError(
                f"Cannot take {num_train} training samples from {len(self)} and leave some for testing; ask for 1 to"
                f" {len(self) - 1}."
            )
        num_test = rest if num_test is None else num_test
        if num_train < 1 or num_test < 1 or num_test > rest:
            raise ValueError(
                f"Cannot take {num_train} training and {num_test} test samples from {len(self)}; each needs at least "
                f"one, and together they may not exceed {len(self)}."
            )
        order = np.random.default_rng(seed).permutation(len(self)).tolist()
        step = {"num_train": num_train, "num_test": num_test, "seed": seed}
        train = self._pick(order[:num_train], {"split": "train", **step})
        test = self._pick(order[-num_test:], {"split": "test", **step})
        return train, test

    def subsample(self, num_points: int, seed: int = 0) -> "Dataset":
        """Keep ``num_points`` points of each sample, drawn without replacement and anew for each sample.

        A trajectory keeps all its times, and the same points at each of them.

        Boundary flags stay with their points. Cells and quadrature weights are dropped: those of the full set of points
        say nothing about a part of it. Points drawn for one sample do not correspond to those of another.
        """
        fewest = int(np.argmin(self.num_points))
        if not 1 <= num_points <= self.num_points[fewest]:
            raise ValueError(
                f"Cannot draw {num_points} points from every sample; sample {fewest} has "
                f"{self.num_points[fewest]}, so ask for 1 to {self.num_points[fewest]}."
            )
        samples = tuple(
            sample.select(draw_rows(sample.num_points, num_points, np.random.default_rng([seed, index])))
            for index, sample in enumerate(self)
        )
        step = {"subsample": num_points, "seed": seed}
        correspondence = correspondence_of(samples)
        return replace(self, samples=samples, correspondence=correspondence, provenance=self._with_step(step))

    def fingerprint(self) -> str:
        """Return a hash of channels and samples: equal for equal content, wherever it is kept. Reads all samples."""
        return fingerprint_of(self)

    @property
    def dim(self) -> int:
        """Number of coordinates of a point."""
        return self.samples.dim if isinstance(self.samples, StoredSamples) else self.samples[0].dim

    @property
    def num_points(self) -> Int[np.ndarray, " sample"]:
        """Number of points of each sample."""
        if isinstance(self.samples, StoredSamples):
            return self.samples.num_points
        return np.array([sample.num_points for sample in self.samples])

    @property
    def has_time(self) -> bool:
        """Whether the samples are trajectories."""
        return bool(self.times)

    @property
    def times(self) -> tuple[Float[np.ndarray, " _"], ...]:
        """The times of each trajectory; empty where samples have no time."""
        if isinstance(self.samples, StoredSamples):
            return self.samples.times or ()
        return tuple(sample.times for sample in self.samples if sample.times is not None)

    @property
    def shares_times(self) -> bool:
        """Whether all trajectories have the same times."""
        return self.has_time and all(np.array_equal(times, self.times[0]) for times in self.times)

    @property
    def shares_points(self) -> bool:
        """Whether all samples have the same points, in the same order."""
        return self.correspondence == "same points"

    @property
    def parameter_values(self) -> Float[np.ndarray, "sample parameter"]:
        """The parameters of all samples."""
        if isinstance(self.samples, StoredSamples):
            stored = self.samples.parameters
            return np.empty((len(self), 0)) if stored is None else stored.astype(np.float64)
        return np.stack([sample.parameters for sample in self.samples])

    def __len__(self) -> int:
        return len(self.samples)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.samples)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> "Dataset": ...
    def __getitem__(self, index: SupportsIndex | slice) -> "Sample | Dataset":
        if isinstance(index, slice):
            return self.select(range(len(self))[index])
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(f"There is no sample {position}; the data set has samples 0 to {len(self) - 1}.")
        return self.samples[position]

    def __repr__(self) -> str:
        given, found = (*self.inputs, *self.parameters), self.targets
        channels = (" ".join(map(str, channels)) or "nothing" for channels in (given, found))
        samples = "trajectories" if self.has_time else "samples"
        return f"Dataset({len(self)} {samples} in {self.dim}D: {' -> '.join(channels)})"

    def _pick(self, indices: Sequence[int], step: dict[str, Any]) -> "Dataset":
        if not indices:
            raise ValueError(f"A data set needs at least one sample; none of the {len(self)} was selected.")
        if isinstance(self.samples, StoredSamples):
            samples: tuple[Sample, ...] | StoredSamples = self.samples.select(indices)
        else:
            samples = tuple(self.samples[index] for index in indices)
        # Some of the samples may have more in common than all.
        correspondence = self.correspondence
        if correspondence == "none":
            correspondence = _in_common(samples)
        return replace(self, samples=samples, correspondence=correspondence, provenance=self._with_step(step))

    def _with_step(self, step: dict[str, Any]) -> dict[str, Any]:
        return {**self.provenance, "steps": [*self.provenance.get("steps", []), step]}


def _in_common(samples: tuple[Sample, ...] | StoredSamples) -> Correspondence:
    return correspondence_of(samples.one_per_geometry() if isinstance(samples, StoredSamples) else samples)
