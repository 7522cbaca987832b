import torch

from tests.operators.closed_form.examples import scattered, small_operator


def wave(number):
    return lambda points: torch.cos(number * points[:, :1])


def test_it_finds_the_sample_with_the_closest_input_on_other_points():
    numbers = (1.0, 2.0, 3.0, 4.0)
    operator = small_operator("nearest")
    operator.fit_cloud(*scattered([(wave(number), wave(number + 1.0)) for number in numbers], sizes=[90, 80, 100, 95]))
    asked = [1.1, 2.4, 3.9]
    closest = [1.0, 2.0, 4.0]
    pairs = [(wave(number), wave(nearby + 1.0)) for number, nearby in zip(asked, closest, strict=True)]
    cloud, targets = scattered(pairs, sizes=[70, 85, 60], seed=1)
    torch.testing.assert_close(operator(cloud), targets, rtol=0, atol=5e-2)


def test_a_held_out_sample_is_not_its_own_neighbour():
    operator = small_operator("nearest")
    pairs = [(wave(number), wave(number)) for number in (1.0, 1.2, 4.0)]
    cloud, targets = scattered(pairs, sizes=[90, 80, 100])
    operator.fit_cloud(cloud, targets)
    first, second, _ = operator.leave_one_out().split(cloud.sizes)
    points = cloud.points.split(cloud.sizes)
    torch.testing.assert_close(first, wave(1.2)(points[0]), rtol=0, atol=5e-2)
    torch.testing.assert_close(second, wave(1.0)(points[1]), rtol=0, atol=5e-2)


def test_the_units_of_channels_do_not_matter():
    operator, other = small_operator("nearest", num_inputs=2), small_operator("nearest", num_inputs=2)
    generator = torch.Generator().manual_seed(0)
    shifts = torch.rand(8, 2, generator=generator, dtype=torch.float64).tolist()

    def pair(first, second, unit):
        return (
            lambda points: torch.stack(
                [unit * torch.cos(points[:, 0] + first), torch.cos(points[:, 1] + second)], dim=1
            ),
            lambda points: points[:, :1] + first + second,
        )

    for one, unit in ((operator, 1.0), (other, 1e6)):
        one.fit_cloud(*scattered([pair(*shift, unit) for shift in shifts[:6]], sizes=[60] * 6))
    cloud, _ = scattered([pair(*shift, 1.0) for shift in shifts[6:]], sizes=[60] * 2, seed=1)
    scaled, _ = scattered([pair(*shift, 1e6) for shift in shifts[6:]], sizes=[60] * 2, seed=1)
    torch.testing.assert_close(operator(cloud), other(scaled))
