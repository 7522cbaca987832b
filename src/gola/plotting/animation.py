"""Write trajectories as moving pictures: GIF by Pillow, MP4 by ffmpeg, from the system or the extra `video`."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.figure import Figure

from gola.data.sample import Sample
from gola.extras import require
from gola.files import replacing
from gola.plotting.fields import add_scale, paint_field
from gola.plotting.style import frame, house_style
from gola.plotting.trajectories import Movie, frames_of, panel_size

WRITERS: dict[str, Callable[[int], AbstractMovieWriter]] = {
    ".gif": lambda rate: PillowWriter(fps=rate),
    # Sides must be even for the colours that players expect.
    ".mp4": lambda rate: FFMpegWriter(
        fps=rate, codec="h264", extra_args=["-vf", "crop=trunc(iw/2)*2:trunc(ih/2)*2", "-pix_fmt", "yuv420p"]
    ),
}
"""By the ending of file names: what writes so many pictures per second."""
# Pictures of an animation, at most: in space each takes seconds to draw.
_MOST_FRAMES, _MOST_IN_SPACE = 60, 20
_SECONDS = 4.0
_PIXELS_PER_INCH = 100
# Panels are as many times larger than those of frames.
_ENLARGED = 1.2


def write_animation(sample: Sample, rows: Sequence[Sequence[Movie]], path: Path, *, title: str) -> Path:
    """Write movies, in rows of panels, as one animation.

    Args:
        sample: Gives the points, the mesh where there is one, and the times.
        rows: What to show side by side, row by row.
        path: A .gif or .mp4 file.
        title: The heading; the time is added.

    Raises:
        ValueError: If the file has another ending, or there is no ffmpeg for an .mp4 file, with what installs it.
    """
    assert sample.times is not None
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        raise ValueError(f"Cannot animate to {path}; its name must end in {' or '.join(WRITERS)}.")
    program = _ffmpeg() if suffix == ".mp4" else "none"
    chosen = frames_of(sample.times, _MOST_IN_SPACE if sample.dim == 3 else _MOST_FRAMES)
    rate = max(1, round(len(chosen) / _SECONDS))
    path.parent.mkdir(parents=True, exist_ok=True)
    with house_style(), mpl.rc_context({"animation.ffmpeg_path": program}), replacing(path) as temporary:
        figure = _prepared(sample, rows)
        writer = WRITERS[suffix](rate)
        with writer.saving(figure, str(temporary), dpi=_PIXELS_PER_INCH):
            for place, time in enumerate(chosen.tolist()):
                figure.suptitle(
                    f"{title}   t = {sample.times[time]:.4g}", x=0.01, ha="left", fontweight="bold", parse_math=False
                )
                _paint(figure, sample, rows, time)
                if place == 0:
                    # Room is shared out once: panels that move a little with every picture are hard to watch.
                    figure.draw_without_rendering()
                    figure.set_layout_engine("none")
                writer.grab_frame()
    return path


def _ffmpeg() -> str:
    """Return the program ffmpeg: the system's, or the one that comes with a package."""
    own = shutil.which("ffmpeg")
    return own or str(require("imageio_ffmpeg", extra="video", what="An .mp4 file").get_ffmpeg_exe())


def _prepared(sample: Sample, rows: Sequence[Sequence[Movie]]) -> Figure:
    """Return a figure with scales and titles, and nothing painted yet."""
    num_columns = max(map(len, rows))
    height, width = (_ENLARGED * side for side in panel_size(sample))
    figure = Figure(figsize=((width + 1.0) * num_columns, (height + 0.8) * len(rows) + 0.3), layout="constrained")
    kind = {"projection": "3d"} if sample.dim == 3 else {}
    panels = iter(figure.subplots(len(rows), num_columns, squeeze=False, subplot_kw=kind).ravel().tolist())
    for row in rows:
        for movie in row:
            panel = next(panels)
            frame(panel, movie.title.replace("\n", " ") or movie.channel.name, dim=sample.dim)
            if sample.dim > 1:
                add_scale([panel], movie.limits, movie.colours, str(movie.channel))
            else:
                panel.set_ylabel(str(movie.channel))
        for _ in range(num_columns - len(row)):
            next(panels).remove()
    return figure


def _paint(figure: Figure, sample: Sample, rows: Sequence[Sequence[Movie]], time: int) -> None:
    for panel, movie in zip(figure.axes, (movie for row in rows for movie in row), strict=False):
        for artist in (*panel.collections, *panel.images, *panel.lines):
            artist.remove()
        paint_field(panel, sample, movie.values[time], limits=movie.limits, colours=movie.colours)
