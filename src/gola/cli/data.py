"""``gola import``, ``export`` and ``inspect``: data sets from and for other programs and people."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from gola.cli.console import output, say, say_json
from gola.cli.options import AsJson, DataFile

if TYPE_CHECKING:
    from gola.data.dataset import Dataset
    from gola.data.inspection import Inspection
    from gola.data.sample import Channel
    from gola.runs.inputs import Inputs


def import_data(
    files: Annotated[list[str], typer.Argument(help='Files, or quoted patterns such as "case_*.vtu".')],
    out: Annotated[Path, typer.Option(help="The data set to write.")],
    inputs: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Input channels, or numbers of each simulation: k, or 'k [W/m/K], f' with units."
        ),
    ] = "",
    targets: Annotated[str, typer.Option(metavar="NAMES", help="Target channels; none for inputs only.")] = "",
    parameters: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="A table with a row of parameters for each simulation, told by a column `file`, or in their order.",
        ),
    ] = None,
    regions: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Arrays of labels (MaterialIds) that become an indicator input per part."),
    ] = "",
    distance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="Add the distance to `boundary`, or to a labelled part such as MaterialIds=3, as input.",
        ),
    ] = None,
    period: Annotated[
        list[str] | None, typer.Option(metavar="AXIS=LENGTH", help="A periodic axis and its length, like x=1.0.")
    ] = None,
    low_fidelity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET=INPUT",
            help="An input that approximates a target, such as the solution on a coarse mesh: p=p_coarse.",
        ),
    ] = None,
    keep_fields: Annotated[
        bool, typer.Option("--keep-fields", help="Keep inputs that are one number per simulation as input channels.")
    ] = False,
    series: Annotated[
        bool,
        typer.Option(
            "--series",
            help="Files that differ in their last number only, case_1/T_*.vtu, are the times of one trajectory.",
        ),
    ] = False,
    times: Annotated[
        str | None,
        typer.Option(
            metavar="TIMES",
            help="Times of the files of a series: first:last:number, a list with commas, a file with such a list, or a"
            " table with the columns file and time; by default the numbers in the names.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read simulations from meshes (any format of meshio), .npz archives or CSV tables into a data set.

    What is one number per simulation becomes a parameter: columns of --parameters, field data of meshes and single
    numbers in archives that --inputs names (all that differ, if there is neither option), and inputs that are the same
    at all points.

    ParaView collections (.pvd), file series, XDMF time series and archives with an array `times` give trajectories; so
    do numbered files with --series. An input T(0) is T at the first time.
    """
    from gola.data.formats import import_files  # SciPy and h5py are slow to import
    from gola.data.inspection import inspect
    from gola.data.low_fidelity import parse_approximations
    from gola.data.periods import parse_periods
    from gola.data.times import parse_times

    channels = _channels(inputs)
    dataset = import_files(
        files,
        inputs=channels,
        targets=_channels(targets),
        parameters=parameters,
        regions=[name.strip() for name in regions.split(",") if name.strip()],
        distances=distance or (),
        periods=parse_periods(period or ()),
        low_fidelity=parse_approximations(low_fidelity or ()),
        keep_fields=keep_fields,
        series=series,
        times=times if times is None or Path(times).is_file() else parse_times(times).tolist(),
    )
    dataset.save(out)
    inspection = inspect(dataset)
    if as_json:
        say_json({"out": str(out), **asdict(inspection)})
        return
    say(f"{out}: {dataset!r}")
    made = [parameter.name for parameter in dataset.parameters if parameter in channels]
    if made:
        verb = "is one number per simulation, a parameter" if len(made) == 1 else "are one number each, parameters"
        say(f"Note: {', '.join(made)} {verb}; --keep-fields keeps such inputs as channels.")
    _print_findings(inspection)


def export_data(
    file: DataFile,
    out: Annotated[
        Path, typer.Option(help="A .vtu file for one sample, a .pvd file for one trajectory, or a folder for several.")
    ],
    sample: Annotated[list[int] | None, typer.Option(help="Which samples; all by default. May be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write samples to .vtu files, for ParaView; of a trajectory one for each time, and a .pvd file."""
    from gola.data.dataset import Dataset  # SciPy and h5py are slow to import
    from gola.data.formats import export_sample

    dataset = Dataset.load(file)
    chosen = [sample_index(dataset, number) for number in sample] if sample else list(range(len(dataset)))
    if out.suffix and len(chosen) > 1:
        raise ValueError(f"{out} can hold one sample, not {len(chosen)}; choose one with --sample, or name a folder.")
    if not out.suffix:
        out.mkdir(parents=True, exist_ok=True)
    suffix = ".pvd" if dataset.has_time else ".vtu"
    written = {index: out if out.suffix else out / f"sample_{index:04d}{suffix}" for index in chosen}
    for index, path in written.items():
        export_sample(
            dataset[index], path, inputs=dataset.inputs, targets=dataset.targets, parameters=dataset.parameters
        )
    if as_json:
        say_json({"files": {str(index): str(path) for index, path in written.items()}})
    else:
        say(f"Wrote {len(chosen)} samples to {out}.")


def inspect_data(file: DataFile, as_json: AsJson = False) -> None:
    """Summarise a data set, and warn about likely problems."""
    from gola.data.dataset import Dataset  # SciPy and h5py are slow to import
    from gola.data.inspection import inspect

    inspection = inspect(Dataset.load(file))
    if as_json:
        say_json(asdict(inspection))
        return
    output.print(_summary(inspection, file))
    output.print(_channel_table(inspection))
    _print_findings(inspection)


def _channels(names: str) -> "list[Channel]":
    from gola.data.sample import Channel

    return [Channel.parse(name) for name in names.split(",") if name.strip()]


def sample_index(samples: "Dataset | Inputs", sample: int) -> int:
    """Check that a data set has a sample with this number."""
    if not 0 <= sample < len(samples):
        raise ValueError(f"There is no sample {sample}; the data set has samples 0 to {len(samples) - 1}.")
    return sample


_CORRESPONDENCE = {
    "same points": "the same",
    "moved nodes": "the same nodes, moved",
    "none": "do not correspond",
}


def _summary(inspection: "Inspection", file: Path) -> Table:
    from gola.data.periods import in_words

    low, median, high = inspection.num_points
    box = " × ".join(f"[{a:.4g}, {b:.4g}]" for a, b in zip(inspection.lower, inspection.upper, strict=True))
    known = {
        "boundary flags": inspection.has_boundary,
        "cells": inspection.has_cells,
        "quadrature weights": inspection.has_weights,
    }
    rows = {
        "samples": f"{inspection.num_samples}",
        "points (min / median / max)": f"{low} / {median} / {high}",
        "points of different samples": _CORRESPONDENCE[inspection.correspondence],
        **_times(inspection),
        "domain": box,
        **({"periodic": in_words(inspection.periods)} if inspection.periods else {}),
        **_spacing(inspection),
        "also stored": ", ".join(what for what, there in known.items() if there) or "–",
        **{key: str(value) for key, value in inspection.provenance.items() if key != "files"},
    }
    table = Table(title=Text(str(file)), show_header=False)
    for name, value in rows.items():
        table.add_row(Text(name), Text(value))
    return table


def _spacing(inspection: "Inspection") -> dict[str, str]:
    if math.isnan(inspection.spacing):  # of single points
        return {}
    return {"spacing (median)": f"{inspection.spacing:.4g}", "suggested radius": f"{inspection.radius:.4g}"}


def _times(inspection: "Inspection") -> dict[str, str]:
    times = inspection.times
    if times is None:
        return {}
    low, median, high = times.num_times
    change = "; inputs change with time" if times.inputs_change else ""
    return {
        "times (min / median / max)": f"{low} / {median} / {high}",
        "times of different samples": "the same" if times.shared else "different",
        "time": f"{times.first:.4g} to {times.last:.4g}{change}",
    }


def _channel_table(inspection: "Inspection") -> Table:
    table = Table(box=SIMPLE)
    table.add_column("channel", overflow="fold")
    for heading in ("role", "min", "max", "mean", "std", "varies"):
        table.add_column(heading, no_wrap=True)
    for one in inspection.channels:
        numbers = (f"{number:.3g}" for number in (one.minimum, one.maximum, one.mean, one.std))
        table.add_row(Text(str(one.channel)), one.role, *numbers, one.varies)
    return table


def _print_findings(inspection: "Inspection") -> None:
    for warning in inspection.warnings:
        output.print("[bold yellow]Warning:[/]", end=" ")
        say(warning)
    for remark in inspection.remarks:
        say(f"Note: {remark}")
