import numpy as np

from gola.surrogate.uncertainty.case import Case
from gola.surrogate.uncertainty.description import Description


def case(seed, *, shift=0.0, wave=1.0, size=1.0, parameter=None, num_points=150):
    rng = np.random.default_rng(seed)
    points = rng.random((num_points, 2))
    values = size * rng.normal() * np.sin(wave * np.pi * points[:, :1]) + shift
    number = rng.random() if parameter is None else parameter
    return Case(points=points, values=values, parameters=np.array([number]))


def described(**changes):
    return Description.of([case(seed, **changes) for seed in range(20)], "fixed")


def test_inputs_like_the_training_inputs_are_usual():
    description = described()
    distances = [description.distance(case(seed)) for seed in range(100, 140)]
    assert not any(description.is_beyond(distance) for distance in distances[:20])
    assert 0.2 < np.mean([description.rank(distance) for distance in distances]) < 0.8


def test_another_function_parameter_or_wave_is_beyond():
    description = described()
    for unlike in (case(50, shift=9.0), case(50, parameter=9.0), case(7, wave=4.0, size=50.0)):
        distance = description.distance(unlike)
        assert description.is_beyond(distance)
        assert description.rank(distance) == 1.0


def test_a_parameter_that_never_changed_is_unusual_when_it_does():
    description = described(parameter=2.0)
    assert not description.is_beyond(description.distance(case(50, parameter=2.0)))
    assert description.is_beyond(description.distance(case(50, parameter=3.0)))


def test_fewer_points_make_an_input_hardly_more_unusual():
    description = described()
    assert abs(description.distance(case(3, num_points=150)) - 0.0) < 1e-6
    rng = np.random.default_rng(0)
    whole = case(30)
    rows = rng.permutation(150)[:75]
    half = Case(points=whole.points[rows], values=whole.values[rows], parameters=whole.parameters)
    assert not description.is_beyond(description.distance(half))


def test_domains_are_told_apart_by_their_shape():
    def disc(radius, seed):
        rng = np.random.default_rng(seed)
        points = rng.uniform(-1.0, 1.0, (3000, 2))
        points = 0.5 + 0.5 * points[np.linalg.norm(points, axis=1) < radius]
        return Case(points=points, values=np.empty((len(points), 0)), parameters=np.empty(0))

    rng = np.random.default_rng(1)
    description = Description.of([disc(rng.uniform(0.8, 1.0), seed) for seed in range(20)], "free")
    assert not description.is_beyond(description.distance(disc(0.9, 99)))
    assert description.is_beyond(description.distance(disc(0.4, 99)))


def test_another_number_of_moved_nodes_is_beyond():
    cases = [case(seed, num_points=30 + (seed == 9)) for seed in range(10)]
    description = Description.of(cases[:9], "moved nodes")
    assert description.is_beyond(description.distance(case(77, num_points=8)))
