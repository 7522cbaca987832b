import numpy as np

from gola.surrogate.uncertainty.local_scale import SmoothedSquares


def noisy_on_the_right(num_samples=12, num_points=200, *, channels=1, seed=0):
    rng = np.random.default_rng(seed)
    points = [rng.random((num_points, 2)) for _ in range(num_samples)]
    sizes = [np.where(one[:, :1] > 0.5, 1.0, 0.2) * np.arange(1.0, channels + 1.0) for one in points]
    return points, [size * rng.normal(size=size.shape) for size in sizes]


def test_the_scale_is_large_where_errors_are():
    points, errors = noisy_on_the_right(100, channels=2)
    scale = SmoothedSquares.of(points, errors, nodes_correspond=False).scale(0)
    left, right = scale.at(np.array([[0.15, 0.5], [0.85, 0.5]]), points[0])
    assert (right / left > 3.0).all()
    few = SmoothedSquares.of(points[:8], errors[:8], nodes_correspond=False).scale(0)
    cautious_left, cautious_right = few.at(np.array([[0.15, 0.5], [0.85, 0.5]]), points[0])
    assert (cautious_right / cautious_left > 1.2).all()
    assert (cautious_right / cautious_left < 2.0).all()
    assert right[1] / right[0] == np.clip(right[1] / right[0], 1.7, 2.3)


def test_a_sample_has_no_say_in_its_own_scale():
    points, errors = noisy_on_the_right()
    found = SmoothedSquares.of(points, errors, nodes_correspond=False).without(3, points[3])
    errors[3] = errors[3] * np.linspace(0.0, 9.0, len(errors[3]))[:, None]
    again = SmoothedSquares.of(points, errors, nodes_correspond=False).without(3, points[3])
    np.testing.assert_allclose(found, again, rtol=1e-6)


def test_no_place_is_trusted_blindly():
    points, errors = noisy_on_the_right()
    errors = [np.where(where[:, :1] > 0.5, error, 0.0) for where, error in zip(points, errors, strict=True)]
    scale = SmoothedSquares.of(points, errors, nodes_correspond=False).scale(0)
    assert scale.values.min() >= 0.03 * scale.values.max()


def test_errors_that_vanish_leave_a_scale():
    points, errors = noisy_on_the_right()
    squares = SmoothedSquares.of(points, [0.0 * error for error in errors], nodes_correspond=False)
    assert (squares.scale(0).values > 0.0).all()


def test_moved_nodes_keep_their_scale_wherever_they_go():
    points, errors = noisy_on_the_right()
    moved = [points[0] + 0.1 * number for number in range(len(points))]
    errors = [errors[0]] * len(points)
    scale = SmoothedSquares.of(moved, errors, nodes_correspond=True).scale(len(points[0]))
    far = points[0] + 5.0
    np.testing.assert_allclose(scale.at(far, far), scale.at(points[0], points[0]), rtol=1e-6)
