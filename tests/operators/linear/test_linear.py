import pytest
import torch

from gola.operators import LinearConfig
from gola.operators.closed_form.samples import Mesh, Samples
from gola.operators.cloud import Cloud
from gola.operators.linear.green import MOST_WAVES
from gola.operators.linear.linear import Linear
from gola.operators.linear.linear_map import GreenPrior
from gola.operators.linear.search import SymmetryTest
from gola.problems import make_problem
from gola.representation.symmetry import Symmetries
from tests.operators.closed_form.examples import (
    relative_error,
    scattered,
    small_operator,
    wave_samples,
    waves,
    without,
)

NUM_SAMPLES = 12


def test_a_linear_map_of_band_limited_inputs_is_recovered_from_scattered_points():
    # Nine cosines and a constant: ten samples determine the map.
    operator = small_operator("linear", num_modes=150, num_wide_modes=60)
    operator.fit_cloud(*wave_samples(14, num_points=150))
    cloud, targets = wave_samples(5, num_points=150, seed=1)
    assert relative_error(operator(cloud), targets, cloud.sizes) < 2e-3


def test_too_few_samples_do_not_determine_it_and_leave_one_out_says_so():
    operator = small_operator("linear", num_modes=150, num_wide_modes=60)
    operator.fit_cloud(*wave_samples(6, num_points=150))
    assert operator.cv_error > 0.02


def test_held_out_errors_tell_the_error_on_unseen_samples():
    operator = small_operator("linear", num_modes=80)
    operator.fit_cloud(*wave_samples(12, num_points=120, seed=2))
    cloud, targets = wave_samples(40, num_points=120, seed=1)
    error = relative_error(operator(cloud), targets, cloud.sizes)
    assert 0.5 * error < operator.cv_error < 2.0 * error


def test_predictions_are_affine_in_the_input():
    operator = small_operator("linear")
    operator.fit_cloud(*wave_samples(NUM_SAMPLES))
    points = torch.rand(70, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    one, other = torch.sin(3.0 * points[:, :1]), torch.cos(4.0 * points[:, 1:])

    def predict(values):
        return operator(Cloud.of(points, values))

    zero = predict(torch.zeros_like(one))
    combined = predict(2.0 * one - 3.0 * other) - zero
    torch.testing.assert_close(
        combined, 2.0 * (predict(one) - zero) - 3.0 * (predict(other) - zero), rtol=1e-7, atol=1e-7
    )


def local_samples(count, seed=0):
    """Rough inputs and a map that is local: the solution is the input times a function of place."""
    pairs = []
    for number in range(count):
        generator = torch.Generator().manual_seed(1000 * seed + number)
        waves = 12.0 * torch.randn(2, 25, generator=generator, dtype=torch.float64)
        phases = 6.0 * torch.rand(25, generator=generator, dtype=torch.float64)

        def inputs(points, waves=waves, phases=phases):
            return torch.cos(points @ waves + phases).mean(dim=1, keepdim=True)

        pairs.append((inputs, lambda points, inputs=inputs: (1.0 + points[:, :1]) * inputs(points)))
    return scattered(pairs, sizes=[150] * count, seed=seed)


def test_a_local_operator_is_learned_from_fewer_samples_than_its_inputs_have_dimensions():
    operator = small_operator("linear", num_modes=150, num_wide_modes=100)
    operator.fit_cloud(*local_samples(10))
    assert isinstance(operator.prior, GreenPrior)
    assert max(operator.prior.components[0].widths) < 0.5
    cloud, targets = local_samples(10, seed=1)
    # The mean of ten samples, or any other combination of them, says little about another one.
    assert relative_error(operator(cloud), targets, cloud.sizes) < 0.3


def random_waves(number, frequency=4.0):
    """A smooth random function, with a distribution that all symmetries of the square leave as it is."""
    generator = torch.Generator().manual_seed(number)
    waves = frequency * torch.randn(2, 20, generator=generator, dtype=torch.float64)
    phases = 6.3 * torch.rand(20, generator=generator, dtype=torch.float64)
    return lambda points: torch.cos(points @ waves + phases).mean(dim=1, keepdim=True)


def scaled_samples(scale, count, seed=0):
    """Solutions that are the input times a function of place."""
    inputs = [random_waves(1000 * seed + number) for number in range(count)]
    pairs = [(one, lambda points, one=one: scale(points) * one(points)) for one in inputs]
    return scattered(pairs, sizes=[120] * count, seed=seed)


def turned(points):
    """A function that swapping the axes leaves as it is, and that turning the square by half changes the sign of."""
    return points.sum(dim=1, keepdim=True) - 1.0


def lopsided(points):
    """A function without symmetries."""
    return 1.0 + points[:, :1] + 3.0 * points[:, 1:] ** 2


def fitted_to(scale, count=12, **settings):
    operator = small_operator("linear", num_modes=100, num_wide_modes=60, **settings)
    operator.fit_cloud(*scaled_samples(scale, count))
    return operator


def test_leaving_out_the_finest_waves_of_solutions_costs_next_to_nothing(monkeypatch):
    def varying(points):
        return 1.0 + points[:, :1] ** 2

    plain, fast = (small_operator("linear", num_modes=150, num_wide_modes=100) for _ in range(2))
    fast.fit_cloud(*scaled_samples(varying, 10))
    monkeypatch.setattr("gola.operators.linear.search._UNFITTED", 0.0)
    plain.fit_cloud(*scaled_samples(varying, 10))
    assert fast.prior.num_output_modes < plain.prior.num_output_modes
    assert float(fast.cv_error) == pytest.approx(float(plain.cv_error), rel=0.02)
    cloud, targets = scaled_samples(varying, 10, seed=1)
    errors = [relative_error(operator(cloud), targets, cloud.sizes) for operator in (fast, plain)]
    assert float(errors[0]) == pytest.approx(float(errors[1]), rel=0.02)


@pytest.fixture(scope="module")
def symmetric():
    return fitted_to(turned)


def test_symmetries_are_found_with_their_signs(symmetric):
    found = {(one.axes, one.flips): one.input_sign * one.output_sign for one in symmetric.symmetries.elements}
    both = (True, True)
    assert found == {((0, 1), (False, False)): 1, ((1, 0), (False, False)): 1, ((0, 1), both): -1, ((1, 0), both): -1}


def test_symmetries_that_a_first_fit_misses_are_found_by_the_next(symmetric, monkeypatch):
    rounds, accepted = [], SymmetryTest.accepted

    def missing_some(test, tolerance):
        found = accepted(test, tolerance)
        rounds.append(found if rounds else Symmetries(found.elements[:2]))
        return rounds[-1]

    monkeypatch.setattr(SymmetryTest, "accepted", missing_some)
    operator = fitted_to(turned)
    assert [len(found) for found in rounds] == [2, 4]
    assert len(operator.symmetries) == 4
    assert float(operator.cv_error) == pytest.approx(float(symmetric.cv_error), rel=0.2)


def test_what_is_no_symmetry_is_not_taken_for_one():
    operator = fitted_to(lopsided)
    assert operator.choice["symmetries"] == []
    assert len(operator.symmetries) == 1


def test_symmetries_pay(symmetric):
    plain = fitted_to(turned, steps=without("symmetries", "diffusion"))
    assert len(plain.symmetries) == 1
    cloud, targets = scaled_samples(turned, 10, seed=1)
    error = relative_error(symmetric(cloud), targets, cloud.sizes)
    assert error < 0.7 * relative_error(plain(cloud), targets, cloud.sizes)
    assert symmetric.cv_error < 0.7 * plain.cv_error
    assert len(symmetric.held_out) == len(plain.held_out)


def test_symmetries_are_saved_with_the_state(symmetric):
    other = Linear(symmetric.config)
    other.load_state_dict(symmetric.state_dict())
    assert other.symmetries == symmetric.symmetries
    assert other.prior == symmetric.prior


def test_the_window_has_one_width_along_axes_that_are_swapped(symmetric):
    assert isinstance(symmetric.prior, GreenPrior)
    for component in symmetric.prior.components:
        assert len(set(component.widths)) == 1


def test_several_channels_in_any_units_go_in_and_come_out():
    functions, units = [], torch.tensor([1.0, 1e5], dtype=torch.float64)
    for number in range(24):
        coefficients = torch.randn(2, 2, generator=torch.Generator().manual_seed(number), dtype=torch.float64)

        def inputs(points, coefficients=coefficients):
            return (torch.cos(torch.pi * points) @ coefficients) * units

        def solution(points, coefficients=coefficients):
            first, second = (torch.cos(torch.pi * points) @ coefficients).split(1, dim=1)
            return torch.cat([first + second, 1e-4 * (first - points[:, :1] * second), second], dim=1)

        functions.append((inputs, solution))
    operator = small_operator("linear", num_inputs=2, num_outputs=3, num_modes=100)
    operator.fit_cloud(*scattered(functions[:16], sizes=[120] * 16))
    cloud, targets = scattered(functions[16:], sizes=[90] * 8, seed=1)
    for found, wanted in zip(operator(cloud).T, targets.T, strict=True):
        assert (found - wanted).norm() < 2e-2 * wanted.norm()


def test_it_works_in_one_and_three_dimensions():
    for dim, tolerance in ((1, 1e-2), (3, 0.1)):
        operator = small_operator("linear", dim=dim, num_modes=100, num_wide_modes=60)
        operator.fit_cloud(*wave_samples(26, num_points=150, dim=dim))
        cloud, targets = wave_samples(4, num_points=200, dim=dim, seed=1)
        assert relative_error(operator(cloud), targets, cloud.sizes) < tolerance


def test_moving_and_stretching_the_domain_changes_nothing():
    cloud, targets = wave_samples(NUM_SAMPLES)
    stretched = Cloud.collate(
        [
            Cloud.of(points * torch.tensor([3.0, 0.01]) + 100.0, values)
            for points, values in zip(cloud.points.split(cloud.sizes), cloud.values.split(cloud.sizes), strict=True)
        ]
    )
    operator, other = small_operator("linear"), small_operator("linear")
    operator.fit_cloud(cloud, targets)
    other.fit_cloud(stretched, targets)
    torch.testing.assert_close(other(stretched), operator(cloud), rtol=1e-4, atol=1e-4)


def test_thirty_samples_of_darcy_flow_at_scattered_points_are_enough():
    samples = make_problem("darcy").generate(seed=3, indices=range(60))
    generator = torch.Generator().manual_seed(0)
    clouds, targets = [], []
    for sample in samples:
        rows = torch.randperm(sample.num_points, generator=generator)[:1000]
        clouds.append(Cloud.of(torch.from_numpy(sample.points)[rows], torch.from_numpy(sample.inputs)[rows]))
        targets.append(torch.from_numpy(sample.targets)[rows])
    operator = Linear(LinearConfig(num_modes=500, num_wide_modes=100))
    operator.fit_cloud(Cloud.collate(clouds[:30]), torch.cat(targets[:30]))
    test = Cloud.collate(clouds[30:])
    assert relative_error(operator(test), torch.cat(targets[30:]), test.sizes) < 0.05


def test_a_line_has_no_more_waves_than_matrices_between_all_of_them_can_be_made_for():
    cloud, targets = scattered([waves(1, 1, seed=0)] * 3, sizes=[900] * 3, dim=1)
    space = Linear.space_for(Samples.of(cloud, targets, Mesh()), num_modes=1000, padding=1.25)
    assert space.num_modes == MOST_WAVES


def test_with_very_many_channels_a_product_of_small_matrices_is_stored(monkeypatch):
    monkeypatch.setattr("gola.operators.linear.candidate._MOST_NUMBERS", 0)
    operator = small_operator("linear", num_modes=150, num_wide_modes=60, steps=("green", "reciprocity"))
    operator.fit_cloud(*wave_samples(14, num_points=150))
    cloud, targets = wave_samples(5, num_points=150, seed=1)
    assert operator.rows.shape[0] == operator.weights.shape[2] == 14
    assert relative_error(operator(cloud), targets, cloud.sizes) < 0.6
    again = small_operator("linear", num_modes=150, num_wide_modes=60, steps=("green", "reciprocity"))
    again.load_state_dict(operator.state_dict())
    torch.testing.assert_close(again(cloud), operator(cloud))


def test_a_file_that_holds_one_matrix_still_loads():
    operator = small_operator("linear", num_modes=80)
    cloud, targets = wave_samples(6, num_points=60)
    operator.fit_cloud(cloud, targets)
    stored = operator.state_dict()
    stored["weights"] = operator.weights @ operator.rows if len(operator.rows) else operator.weights
    del stored["rows"]
    again = small_operator("linear", num_modes=80)
    again.load_state_dict(stored)
    torch.testing.assert_close(again(cloud), operator(cloud))
