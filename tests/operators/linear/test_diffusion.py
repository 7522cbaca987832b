"""Solutions that are steady states of a diffusion, in a medium that nobody has told."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.operators.linear.diffusion import Medium, Misfit
from gola.operators.linear.finite_elements import FiniteElements
from gola.operators.linear.observations import Observations
from tests.operators.closed_form.examples import relative_error, scattered, small_operator, without

FINE = FiniteElements.on(np.ones(1), 400)
MIDDLES = FINE.nodes[FINE.cells].mean(axis=1)[:, 0]
MEDIUM = np.where(MIDDLES < 0.4, 1.0, 5.0)


def source(number):
    """A random sum of waves in one dimension."""
    amplitudes = np.random.default_rng(number).standard_normal(8)
    return lambda places: np.sin(places * np.pi * np.arange(1, 9)) @ amplitudes[:, None]


def steady_states(count, *, seed=0, sign=1.0, fixed_source=0.0, boundary=0.0):
    """Samples of a diffusion on the unit interval."""
    solve = FINE.solver(MEDIUM)
    nodes = FINE.nodes[:, 0]
    pairs = []
    for number in range(count):
        own = source(1000 * seed + number)
        state = FINE.extended(solve(FINE.loads(sign * own(FINE.nodes) + fixed_source)))[:, 0] + boundary
        pairs.append(
            (
                lambda points, own=own: torch.from_numpy(own(points.numpy())),
                lambda points, state=state: torch.from_numpy(np.interp(points.numpy(), nodes, state)),
            )
        )
    return scattered(pairs, sizes=[80] * count, dim=1, seed=seed)


def fitted(samples, **settings):
    own = {"num_modes": 60, "num_wide_modes": 40, "dim": 1, "steps": without("symmetries")}
    operator = small_operator("linear", **{**own, **settings})
    operator.fit_cloud(*samples)
    return operator


@pytest.mark.parametrize("fixed", [{}, {"fixed_source": 20.0, "boundary": 3.0}, {"sign": -1.0}])
def test_four_samples_of_a_diffusion_tell_the_medium(fixed):
    samples, (cloud, targets) = steady_states(4, **fixed), steady_states(20, seed=1, **fixed)
    plain, found = fitted(samples, steps=without("symmetries", "diffusion")), fitted(samples)
    assert found.prior is None
    errors = [relative_error(operator(cloud), targets, cloud.sizes) for operator in (plain, found)]
    assert errors[1] < 0.3 * errors[0]
    assert found.cv_error < 0.3 * plain.cv_error


def test_the_unit_of_length_does_not_matter():
    cloud, targets = steady_states(4)
    longer = replace(cloud, points=50.0 * cloud.points)
    first, second = fitted((cloud, targets)), fitted((longer, targets))
    torch.testing.assert_close(second.cv_error, first.cv_error, rtol=0.02, atol=0.0)


def test_an_interface_is_found_where_it_is():
    elements = FiniteElements.on(np.ones(1), 50)
    sources = np.stack([source(number)(elements.nodes)[:, 0] for number in range(6)], axis=1)
    truth = np.where(elements.nodes[elements.cells].mean(axis=1)[:, 0] < 0.4, 1.0, 5.0)
    states = elements.extended(elements.solver(truth)(elements.loads(sources)))
    seen = Observations.at(elements, [elements.nodes] * 6, list(states.T))
    medium = list(Medium.explaining([Misfit.of(elements, sources, seen)], [60]))[-1]
    np.testing.assert_allclose(medium.response(sources), states, atol=0.02 * np.abs(states).max())
    assert np.median(np.abs(np.log(medium.values / truth))) < 0.1
    assert medium.sign == 1.0


def test_what_is_no_diffusion_is_left_as_it_is():
    def shifted(number):
        own = source(number)
        return (
            lambda points: torch.from_numpy(own(points.numpy())),
            lambda points: torch.from_numpy(own(0.7 * points.numpy() + 0.2)),
        )

    operator = fitted(scattered([shifted(number) for number in range(8)], sizes=[80] * 8, dim=1, seed=0))
    assert operator.prior is not None


@pytest.mark.filterwarnings("error")
def test_inputs_that_are_all_alike_tell_nothing():
    cloud, targets = steady_states(5)
    same = replace(cloud, values=torch.ones_like(cloud.values))
    assert fitted((same, targets))(same).isfinite().all()


def test_other_samples_and_saved_operators_use_it_too(tmp_path):
    operator = fitted(steady_states(4))
    cloud, targets = steady_states(20, seed=1)
    before = operator(cloud)
    torch.save(operator.state_dict(), tmp_path / "state.pt")
    other = small_operator("linear", num_modes=60, num_wide_modes=40, dim=1)
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    torch.testing.assert_close(other(cloud), before)
    other.refit(*steady_states(8, seed=2))
    assert other.prior is None
    assert not torch.equal(other(cloud), before)
    assert relative_error(other(cloud), targets, cloud.sizes) < relative_error(before, targets, cloud.sizes)
