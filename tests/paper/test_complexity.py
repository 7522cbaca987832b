import pytest

from paper.complexity import EXPONENTS, SYMBOLS, VARIED, Complexity, Size, Step, measure, measure_step

SMALL = Size(num_points=200, num_modes=4, width=8, num_neighbours=8)


def test_a_step_is_measured_with_the_neighbours_that_there_are():
    step = measure_step(SMALL)
    assert step.seconds > 0
    assert step.size.num_neighbours == pytest.approx(8, abs=1)
    assert (step.size.num_points, step.size.num_modes, step.size.width) == (200, 4, 8)


def test_a_larger_step_takes_longer():
    small, large = (measure_step(Size(num_points=number, num_modes=64, width=32)) for number in (300, 6000))
    assert large.seconds > small.seconds


def test_every_size_is_measured_in_a_process_of_its_own_and_kept(tmp_path):
    seen = []
    measured = measure(SMALL, {"num_points": (200, 400)}, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]
    assert list(measured.curve("num_points", "seconds")) == [200, 400]
    measured.save(tmp_path / "complexity.json")
    assert Complexity.load(tmp_path / "complexity.json") == measured


def test_slopes_are_exponents_and_need_two_sizes():
    steps = [Step(size=Size(width=width), seconds=3e-5 * width**2, mebibytes=None) for width in (8, 16, 32)]
    measured = Complexity(steps={"width": steps}, num_threads=1)
    assert measured.slope("width", "seconds") == pytest.approx(2.0)
    assert measured.slope("width", "mebibytes") is None
    assert measured.slope("num_points", "seconds") is None


def test_everything_in_the_papers_formula_is_varied():
    assert set(SYMBOLS) == set(VARIED) == set(EXPONENTS) == set(vars(Size()))
    assert list(SYMBOLS.values()) == ["N", "M", "C", "k"]
