import numpy as np
import pytest

from gola.data.dataset import Dataset
from gola.data.periods import from_axes, parse_periods
from gola.protocol import FitTask

GRID = np.stack(np.meshgrid(np.arange(8) / 8, np.linspace(0.0, 2.0, 5), indexing="ij"), axis=-1).reshape(-1, 2)


def periodic(periods):
    values = np.random.default_rng(0).random((3, len(GRID)))
    return Dataset.from_arrays(GRID, values, values, periods=periods)


def test_periods_are_kept_in_the_file_and_reach_the_task(tmp_path):
    data = periodic((1.0, None))
    data.save(tmp_path / "x.h5")
    loaded = Dataset.load(tmp_path / "x.h5")
    assert loaded.periods == loaded[:2].periods == loaded.in_memory().periods == (1.0, None)
    assert FitTask.of(loaded).periods == (1.0, None)
    assert loaded.fingerprint() == data.fingerprint() != periodic(None).fingerprint()


def test_nothing_is_periodic_unless_it_is_said(tmp_path):
    assert periodic(None).periods is None
    assert periodic((None, None)).periods is None
    periodic(None).save(tmp_path / "x.h5")
    assert Dataset.load(tmp_path / "x.h5").periods is None


@pytest.mark.parametrize(
    ("periods", "message"),
    [
        ((1.0,), r"a length or None for each of 2 axes; got \(1.0,\)"),
        ((-1.0, None), "The period along x must be a positive number; got -1.0"),
        ((None, np.inf), "The period along y must be a positive number"),
        ((None, 1.0), "go from 0 to 2 along y, further than the period 1;"),
    ],
)
def test_mistakes_are_named(periods, message):
    with pytest.raises(ValueError, match=message):
        periodic(periods)


def test_periods_are_read_as_a_command_line_gives_them():
    assert from_axes(parse_periods(["y = 2"]), dim=2) == (None, 2.0)
    assert from_axes(parse_periods([]), dim=2) is None
    with pytest.raises(ValueError, match=r"like x=1\.0; got 'x'"):
        parse_periods(["x"])
    with pytest.raises(ValueError, match="no axis 'z'"):
        from_axes(parse_periods(["z=1.0"]), dim=2)
