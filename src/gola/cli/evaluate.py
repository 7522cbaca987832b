"""``gola evaluate``: the errors of a surrogate, at any number of points."""

import statistics
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from gola.cli.console import output, say, say_json, warn
from gola.cli.evaluating import evaluated
from gola.cli.options import AsJson
from gola.cli.surrogates import load_surrogate
from gola.cli.values import counts, names

if TYPE_CHECKING:
    from gola.data.dataset import Dataset
    from gola.runs import RunConfig
    from gola.surrogate.surrogate import Surrogate


def evaluate(
    source: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or a .gola file.")],
    num_points: Annotated[
        str | None,
        typer.Option(metavar="N,N,…", help="Points to draw from each sample; as in the run by default, or all."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Further metrics: relative_l1, rmse, max_error, r2, or registered ones."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Another data set: all its samples are used, so none of them may have been a training sample. By"
            " default the test samples of the run, and the errors are kept in its folder."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Random seed of the points; as in the run by default.", min=0)
    ] = None,
    by_sample: Annotated[
        bool, typer.Option("--by-sample", help="List every sample: its error beside the one that was estimated.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the relative L2 error of a surrogate on samples that it has never seen.

    Where the surrogate can say beforehand how large the error of a prediction should be, it is told how true that was.
    """
    from gola.runs import RunConfig  # PyTorch is slow to import
    from gola.runs.folder import RunFolder

    surrogate = load_surrogate(source)
    config = RunConfig.load(source) if source.is_dir() else None
    file, test = _test_samples(surrogate, config, data)
    record = evaluated(
        surrogate,
        test,
        counts(num_points, "--num-points") if num_points else [config.num_points if config and not data else None],
        metrics=names(metrics, "--metrics") if metrics is not None else (),
        seed=seed if seed is not None else config.seed + 1 if config else 0,
        data=file,
    )
    if config and data is None:
        RunFolder(source).keep_evaluation(record)
    if as_json:
        say_json({"targets": [channel.name for channel in surrogate.targets], **record})
        return
    table = _error_table(record["evaluations"], surrogate)
    output.print(table)
    say(_explanation(record["evaluations"], table))
    for row in record["evaluations"]:
        if row["estimates"]:
            say(_estimated(row))
        if by_sample:
            output.print(_sample_table(row))
    if metrics is not None:
        output.print(_metric_table(record["evaluations"], surrogate))


def _test_samples(surrogate: "Surrogate", config: "RunConfig | None", data: Path | None) -> tuple[Path, "Dataset"]:
    """Return the file and the samples to evaluate on, at all their points."""
    from gola.data.dataset import Dataset

    if data is not None and (config is None or not _was_fitted_to(surrogate, replace(config, data=str(data)))):
        other = Dataset.load(data)
        if _is_of_the_same_origin(surrogate, other):
            warn(f"{data} was made like the training data; if training samples are in it, the errors are too small.")
        return data.resolve(), other
    if config is None:
        raise ValueError("A .gola file does not say which samples to test on; name a data set with --data.")
    # A moved copy of the run's own data set still has training samples in it, which must not be used.
    config = replace(config, data=str(data or config.data))
    if data is None and not _was_fitted_to(surrogate, config):
        warn(f"{config.data} has changed since the fit: some of its test samples may have been training samples.")
    _, test = config.whole_samples()
    if test is None:
        raise ValueError("The run used all its samples for training; name another data set with --data.")
    return Path(config.data).resolve(), test


def _was_fitted_to(surrogate: "Surrogate", config: "RunConfig") -> bool:
    """Whether a run with these settings would be fitted to the very samples that the surrogate was fitted to."""
    from gola.data.dataset import Dataset

    whole = Dataset.load(config.data)
    num_samples = (config.num_train or 0) + (config.num_test or 0)
    if len(whole) < num_samples or whole.num_points.min() < (config.num_points or 0):
        return False
    return config.samples()[0].fingerprint() == surrogate.provenance.get("data", {}).get("fingerprint")


def _is_of_the_same_origin(surrogate: "Surrogate", data: "Dataset") -> bool:
    """Whether data were made as those were that the surrogate was fitted to, as far as is known."""
    ignored = {"steps", "fingerprint", "num_samples"}
    before, now = (
        {name: value for name, value in provenance.items() if name not in ignored}
        for provenance in (surrogate.provenance.get("data", {}), data.provenance)
    )
    return bool(now) and before == now


def _error_table(rows: list[dict[str, Any]], surrogate: "Surrogate") -> Table:
    """Return a row for each channel, and then one for all of them together, at each number of points."""
    from gola.runs import channel_errors, worth_showing

    names = [channel.name for channel in surrogate.targets]
    found = [channel_errors(names, row["channels"], row["variation"]) for row in rows]
    shown = any(map(worth_showing, found))
    varies = any(one.hides_variation for channels in found for one in channels)
    title = f"Relative L2 error of {surrogate.operator.name} on {rows[0]['num_samples']} samples"
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    if shown:
        table.add_column("channel", overflow="fold")
    for heading in ("points", "mean ± std", "median", "max", *["variation"] * varies):
        table.add_column(heading, justify="right", no_wrap=True)
    for row, channels in zip(rows, found, strict=True):
        points = str(row["num_points"] or "all")
        for number, channel in enumerate(channels if shown else ()):
            numbers = _spread([errors[number] for errors in row["channel_errors"]])
            table.add_row(Text(channel.name), points, *numbers, *[f"{channel.variation:.4f}"] * varies)
        table.add_row(*["overall"] * shown, points, *_spread(row["errors"]))
    return table


def _explanation(rows: list[dict[str, Any]], table: Table) -> str:
    times = ", ".join(f"{1000 * row['seconds']:.1f} ms at {row['num_points'] or 'all'} points" for row in rows)
    variation = " Variation: mean error relative to how the target varies over the points, without its mean."
    return f"Median time of a prediction: {times}." + (variation if table.columns[-1].header == "variation" else "")


def _estimated(row: dict[str, Any]) -> str:
    """Say how true the errors were that were estimated of each prediction before the truth was known."""
    found, count = row["estimated"], row["num_samples"]
    at = f" at {row['num_points']} points" if row["num_points"] else ""
    return (
        f"Estimated for each prediction{at}: {found['mean']:.4f} in the mean; {found['num_within']} of {count} errors"
        f" lay in their intervals of {100 * found['level']:.4g} %, rank correlation {found['rank_correlation']:.2f}."
    )


def _sample_table(row: dict[str, Any]) -> Table:
    """Return the error of each sample beside what was estimated."""
    columns = ["sample", "error"]
    estimates = row["estimates"]
    if estimates:
        columns += ["estimated", f"{100 * row['estimated']['level']:.4g} % of errors", ""]
    table = Table(*columns, box=SIMPLE)
    for number, error in enumerate(row["errors"]):
        cells = [str(number), f"{error:.4f}"]
        if estimates:
            one = estimates[number]
            mark = "below" if error < one["lower"] else "above" if error > one["upper"] else ""
            cells += [f"{one['value']:.4f}", f"{one['lower']:.4f} to {one['upper']:.4f}", mark]
        table.add_row(*cells)
    return table


def _spread(errors: list[float]) -> tuple[str, str, str]:
    """Return mean and standard deviation, median, and maximum."""
    mean, deviation = statistics.fmean(errors), statistics.pstdev(errors)
    return f"{mean:.4f} ± {deviation:.4f}", f"{statistics.median(errors):.4f}", f"{max(errors):.4f}"


def _metric_table(rows: list[dict[str, Any]], surrogate: "Surrogate") -> Table:
    """Return a row for each metric, number of points and channel, in the unit of the channel."""
    table = Table(title="Mean over samples", title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("metric", overflow="fold")
    table.add_column("channel", overflow="fold")
    for heading in ("points", "value"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in rows[0]["metrics"]:
        for row in rows:
            for channel, value in zip(surrogate.targets, row["metrics"][name]["channels"], strict=True):
                table.add_row(Text(name), Text(str(channel)), str(row["num_points"] or "all"), f"{value:.4g}")
    return table
