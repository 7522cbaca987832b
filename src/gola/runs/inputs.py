"""What to predict: samples of a file with the channels and parameters that a surrogate reads."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from gola.data.constant_inputs import varies_over
from gola.data.dataset import Dataset
from gola.data.formats import CaseTable, import_inputs, read_cases
from gola.data.sample import Channel, Sample
from gola.registry import unknown
from gola.surrogate.surrogate import Surrogate

DATA_SETS = (".h5", ".hdf5")
"""Endings of data sets."""

# Numbers in files and on command lines are rounded; those that differ by more are of another case.
_SAME_NUMBER = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Inputs:
    """Samples of a file, and what a surrogate reads and predicts of them.

    Attributes:
        data: The samples.
        rows: The sample of each prediction: one each, or one for all cases of a table.
        inputs: Names of the input channels, in the order of the surrogate.
        parameters: The parameters of each prediction, in the order of the surrogate.
        targets: Columns of the target channels; empty where the file does not have all of them.
        names: Names of the parameters.
    """

    data: Dataset
    rows: Sequence[int]
    inputs: Sequence[str]
    parameters: Float[np.ndarray, "prediction parameter"]
    targets: list[int]
    names: tuple[str, ...] = ()

    @staticmethod
    def read(
        file: Path, surrogate: Surrogate, *, table: Path | None = None, given: Mapping[Channel, float] | None = None
    ) -> "Inputs":
        """Read a data set, or any file that can be imported, with what a surrogate reads.

        Args:
            file: The file, or a pattern such as ``case_*.vtu``.
            surrogate: Says what is needed.
            table: A table of parameters: a row for each sample, or, where the file has one sample, any number of cases.
            given: Parameters for all samples; they come before those of the table, and these before those of the file.
        """
        given = given or {}
        known = {channel.name: channel for channel in surrogate.parameters}
        wanted = list(known)
        for channel in given:
            if channel.name not in wanted:
                raise ValueError(unknown("parameter of the surrogate called", channel.name, wanted or ["none"]))
            _warn_of_units(channel, known[channel.name], "--parameter")
        numbers = {channel.name: number for channel, number in given.items()}
        cases = None if table is None else read_cases(table)
        data = _read(file, surrogate, cases)
        rows, lines, are_own = _matched(data, cases, file)
        are_own = are_own and all(name in _places(data.parameters) for name in numbers)
        inputs = Inputs(
            data=data,
            rows=rows,
            inputs=[channel.name for channel in surrogate.inputs],
            parameters=np.empty((len(rows), 0)),
            targets=_targets(data, surrogate) if are_own else [],
        )
        inputs._require_inputs(surrogate, file)
        columns = [inputs._parameter(channel, numbers, cases, lines, file) for channel in surrogate.parameters]
        return replace(inputs, parameters=np.stack(columns, axis=1), names=tuple(wanted)) if columns else inputs

    def __len__(self) -> int:
        return len(self.rows)

    def sample(self, index: int) -> Sample:
        """Return a sample with its channels and parameters in the order of the surrogate, without others."""
        sample = self.data[self.rows[index]]
        columns = np.broadcast_arrays(*(self._column(sample, name) for name in self.inputs))
        return replace(
            sample,
            inputs=np.stack(columns, axis=-1) if columns else np.empty((sample.num_points, 0)),
            targets=sample.targets[..., self.targets],
            parameters=self.parameters[index],
        )

    def _column(self, sample: Sample, name: str) -> Float[np.ndarray, "*time point"]:
        """Return an input channel; a parameter of the file is a constant one."""
        fields, numbers = _places(self.data.inputs), _places(self.data.parameters)
        return (
            sample.inputs[..., fields[name]]
            if name in fields
            else np.full(sample.num_points, sample.parameters[numbers[name]])
        )

    def _require_inputs(self, surrogate: Surrogate, file: Path) -> None:
        known = {channel.name: channel for channel in (*self.data.parameters, *self.data.inputs)}
        for channel in surrogate.inputs:
            if channel.name not in known:
                raise ValueError(
                    f"The surrogate needs the input channel {channel.name!r}; {file} has {', '.join(known) or 'none'}."
                )
            _warn_of_units(known[channel.name], channel, file)

    def with_targets_of(self, predictions: Sequence[int]) -> "Inputs":
        """Return these without targets if some predictions are for other parameters than those of their sample."""
        own, rows = _places(self.data.parameters), [self.rows[number] for number in predictions]
        are_same = all(
            np.allclose(self.data.parameter_values[rows, own[name]], column, rtol=_SAME_NUMBER, atol=0.0)
            for name, column in zip(self.names, self.parameters[list(predictions)].T, strict=True)
            if name in own
        )
        return self if are_same else replace(self, targets=[])

    def _parameter(
        self,
        channel: Channel,
        given: Mapping[str, float],
        cases: CaseTable | None,
        lines: Sequence[int],
        file: Path,
    ) -> Float[np.ndarray, " prediction"]:
        """Return a parameter for each prediction: as given, from the table, or from the file."""
        name = channel.name
        if name in given:
            return np.full(len(self), given[name])
        if cases is not None and name in (columns := _places(cases.channels)):
            _warn_of_units(cases.channels[columns[name]], channel, cases.path)
            return cases.values[list(lines), columns[name]]
        if name in (columns := _places(self.data.parameters)):
            _warn_of_units(self.data.parameters[columns[name]], channel, file)
            return self.data.parameter_values[list(self.rows), columns[name]]
        if name in (columns := _places(self.data.inputs)):
            return np.array([_constant(self.data[row], columns[name], name, file) for row in self.rows])
        raise ValueError(
            f"The surrogate needs the parameter {name!r}, which {file} does not have; add --parameter {name}=NUMBER, or"
            " a table of cases with --parameters."
        )


def _read(file: Path, surrogate: Surrogate, cases: CaseTable | None) -> Dataset:
    if file.suffix.lower() in DATA_SETS:
        data = Dataset.load(file)
    else:
        names = [[channel.name for channel in channels] for channels in (surrogate.inputs, surrogate.targets)]
        data = import_inputs(file, inputs=names[0], targets=names[1], parameters=surrogate.parameters, table=cases)
    if data.dim != surrogate.dim:
        raise ValueError(f"{file} has points in {data.dim}D, and the surrogate was fitted in {surrogate.dim}D.")
    if data.has_time and not surrogate.has_time:
        raise ValueError(f"{file} has trajectories, and the surrogate was fitted to samples without time.")
    return data


def _matched(data: Dataset, cases: CaseTable | None, file: Path) -> tuple[list[int], list[int], bool]:
    """Return the sample and the line of the table of each prediction, and whether the lines belong to the samples."""
    count = len(data)
    if cases is None:
        return list(range(count)), [], True
    if count > 1:
        # Samples of a data set may have been picked or drawn, so the files they came from do not name them.
        files = [] if file.suffix.lower() in DATA_SETS else data.provenance["files"]
        return list(range(count)), cases.rows_for(files if len(files) == count else [str(file)] * count), True
    own = cases.row_named(str(file))
    lines = list(range(len(cases.values))) if own is None else [own]
    return [0] * len(lines), lines, own is not None


def _targets(data: Dataset, surrogate: Surrogate) -> list[int]:
    places = _places(data.targets)
    known = data.has_time == surrogate.has_time and all(channel.name in places for channel in surrogate.targets)
    return [places[channel.name] for channel in surrogate.targets] if known else []


def _constant(sample: Sample, column: int, name: str, file: Path) -> float:
    values = sample.inputs[..., column]
    lowest, highest = values.min().reshape(1), values.max().reshape(1)
    if varies_over(lowest, highest) == "field":
        raise ValueError(
            f"{name!r} is a parameter of the surrogate, one number per sample; in {file} it goes from {lowest[0]:.4g}"
            f" to {highest[0]:.4g}."
        )
    return float(values[0])


def _places(channels: Sequence[Channel]) -> dict[str, int]:
    return {channel.name: place for place, channel in enumerate(channels)}


def _warn_of_units(here: Channel, there: Channel, source: Path | str) -> None:
    if here.unit and there.unit and here.unit != there.unit:
        warnings.warn(
            f"{source} has {here}, and the surrogate was fitted to {there}; values are not converted.", stacklevel=4
        )
