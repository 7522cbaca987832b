"""``gola plot``: pictures of a data set, of a surrogate or of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gola.cli.console import say, say_json
from gola.cli.data import sample_index
from gola.cli.options import AsJson

if TYPE_CHECKING:
    from gola.data.dataset import Dataset
    from gola.runs import RunConfig


def plot(
    path: Annotated[Path, typer.Argument(help="A data set, a surrogate (.gola), or the folder of a run.")],
    sample: Annotated[
        int | None,
        typer.Option(
            help="Which sample, from 0; of a run, which test sample. By default the first of a data set,"
            " and best, median and worst of a run."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The picture of a data set or surrogate, or a folder; by default beside the file, or in the run. Of a"
            " trajectory, .gif or .mp4 asks for the animation alone."
        ),
    ] = None,
    animation: Annotated[
        bool, typer.Option(help="Whether to make an animation of a trajectory besides the picture.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Draw a sample of a data set; what a surrogate is; or the predictions, learning curves and errors of a run.

    A trajectory is drawn at a few times side by side, and as an animation.
    """
    if path.is_dir():
        pictures = _plot_run(path, sample, out or path, animation=animation)
    elif path.suffix == ".gola":
        pictures = _plot_surrogate(path, sample, out)
    else:
        pictures = _plot_data(path, sample or 0, out, animation=animation)
    if as_json:
        say_json({"files": [str(picture) for picture in pictures]})
        return
    for picture in pictures:
        say(str(picture))


def _plot_data(file: Path, number: int, out: Path | None, *, animation: bool) -> list[Path]:
    from gola.data.dataset import Dataset
    from gola.plotting.fields import draw_sample  # Matplotlib is slow to import
    from gola.plotting.names import file_names
    from gola.plotting.parameters import ParameterSpace
    from gola.plotting.style import write

    dataset = Dataset.load(file)
    index = sample_index(dataset, number)
    source = file_names(dataset)[index]
    title = f"{file.name}, sample {index}" + (f" ({source})" if source else "")
    out = out or file.with_name(f"{file.stem}_sample_{index}.png")
    if dataset.has_time:
        return _plot_trajectory(dataset, index, title, out, animation=animation)
    parameters = ParameterSpace(channels=dataset.parameters, values=dataset.parameter_values)
    figure = draw_sample(dataset[index], dataset.inputs, dataset.targets, title=title, parameters=parameters)
    return [write(figure, out)]


def _plot_trajectory(dataset: "Dataset", index: int, title: str, out: Path, *, animation: bool) -> list[Path]:
    from gola.plotting.animation import WRITERS, write_animation
    from gola.plotting.style import write
    from gola.plotting.trajectories import draw_movies, heading_of, movies_of

    sample = dataset[index]
    movies = movies_of(sample, dataset.inputs, dataset.targets)
    heading = heading_of(title, sample, dataset.parameters)
    alone = out.suffix.lower() in WRITERS
    pictures = [] if alone else [write(draw_movies(sample, movies, title=heading), out)]
    if animation or alone:
        pictures.append(write_animation(sample, [movies], out if alone else out.with_suffix(".gif"), title=title))
    return pictures


def _plot_surrogate(file: Path, sample: int | None, out: Path | None) -> list[Path]:
    from gola.cli.surrogates import load_surrogate
    from gola.plotting.style import write
    from gola.plotting.surrogate import draw_surrogate

    if sample is not None:
        raise ValueError(f"{file} is a surrogate and holds no samples; plot the folder of its run to see predictions.")
    figure = draw_surrogate(load_surrogate(file), title=file.name)
    return [write(figure, out or file.with_suffix(".png"))]


def _plot_run(folder: Path, sample: int | None, out: Path, *, animation: bool) -> list[Path]:
    from gola.cli.surrogates import load_surrogate
    from gola.plotting.run import animate_run, draw_run
    from gola.plotting.style import write
    from gola.runs import RunConfig
    from gola.surrogate.evaluation import evaluate

    surrogate = load_surrogate(folder)
    data, what = _shown_samples(RunConfig.load(folder))
    if sample is not None:
        sample_index(data, sample)
    evaluation = evaluate(surrogate, data)
    if out.suffix.lower() in (".gif", ".mp4"):
        return [animate_run(surrogate, data, evaluation.errors, out, what=what, sample=sample)]
    figures = draw_run(surrogate, data, evaluation.errors, what=what, sample=sample)
    pictures = [write(figure, out / f"{name}.png") for name, figure in figures.items()]
    if data.has_time and animation:
        pictures.append(animate_run(surrogate, data, evaluation.errors, out / "fields.gif", what=what, sample=sample))
    return pictures


def _shown_samples(config: "RunConfig") -> "tuple[Dataset, str]":
    """Return the test samples of a run and what they are; the training samples where it has no others."""
    train, test = config.samples()
    return (train, "training sample") if test is None else (test.in_memory(), "test sample")
