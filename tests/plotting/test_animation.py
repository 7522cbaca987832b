import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from gola.data.sample import Channel, Sample
from gola.plotting.animation import write_animation
from gola.plotting.trajectories import movies_of

TIMES = np.linspace(0.0, 1.0, 4)


def trajectory():
    points = np.random.default_rng(0).random((60, 2))
    values = np.stack([np.sin(3 * points[:, 0] + time)[:, None] for time in TIMES])
    return Sample(points=points, inputs=np.empty((60, 0)), targets=values, times=TIMES)


def written(path):
    sample = trajectory()
    return write_animation(sample, [movies_of(sample, (), [Channel(name="T")])], path, title="plate")


def test_a_gif_has_a_picture_for_each_time(tmp_path):
    with Image.open(written(tmp_path / "a.gif")) as movie:
        assert movie.n_frames == len(TIMES)


def test_an_mp4_shows_the_same_as_the_gif(tmp_path):
    package = pytest.importorskip("imageio_ffmpeg") if shutil.which("ffmpeg") is None else None
    program = shutil.which("ffmpeg") or package.get_ffmpeg_exe()
    movie, frames = written(tmp_path / "a.mp4"), tmp_path / "%d.png"
    subprocess.run([program, "-loglevel", "error", "-i", movie, frames], check=True)
    assert len(list(tmp_path.glob("*.png"))) == len(TIMES)
    with Image.open(written(tmp_path / "a.gif")) as still, Image.open(tmp_path / "1.png") as shown:
        wanted = np.asarray(still.convert("RGB"), dtype=float)[: shown.height, : shown.width]
        # Colours are compressed.
        assert np.abs(np.asarray(shown.convert("RGB"), dtype=float) - wanted).mean() < 8.0


def test_without_ffmpeg_the_extra_that_brings_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ValueError, match=r"needs imageio-ffmpeg.*pip install 'gola\[video\]'"):
        written(tmp_path / "a.mp4")


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.gif or \.mp4"):
        written(tmp_path / "a.avi")
