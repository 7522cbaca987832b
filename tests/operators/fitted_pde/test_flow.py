"""Incompressible flow with fitted coefficients."""

import numpy as np
import pytest
import torch

import gola
from gola import Dataset, Sample
from gola.data.mirror import Components
from gola.data.sample import Channel
from gola.operators.fitted_pde.channels import ChannelNames
from gola.operators.fitted_pde.elements import Elements
from gola.operators.fitted_pde.fitted_law import law_from_dict
from gola.operators.fitted_pde.flow import Flow
from gola.operators.fitted_pde.system import System

UNIT_BOX = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


def grid(count, rng=None):
    """Points of a square grid, those inside moved a little."""
    line = np.linspace(0.0, 1.0, count)
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    inside = ((points > 0.0) & (points < 1.0)).all(axis=1)
    moves = 0.0 if rng is None else rng.uniform(-0.2, 0.2, size=points.shape) / count
    return points + inside[:, None] * moves


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def flow_of(names, values):
    components = [Components.of([Channel(name=name) for name in some]) for some in (names, ("u_x", "u_y"))]
    return Flow(momentum=ChannelNames(*components).law(2, 2, torch.from_numpy(values)))


def channel_flow(count, inertia=0.0):
    """The largest error of the velocity of a parabolic flow that a constant force drives between two walls."""
    points = grid(count)
    law = flow_of((), np.empty((len(points), 0)))
    system = System.of(law, Elements.of(torch.from_numpy(points), UNIT_BOX), torch.empty(len(points), 0).double())
    coefficients = torch.zeros(law.num_coefficients, dtype=torch.float64)
    coefficients[law.momentum.place("exchange")] = torch.tensor([0.0, 0.0, 0.99999, 0.99999, 0.0, 0.0])
    coefficients[law.num_shapes - 1] = inertia
    coefficients[law.num_shapes] = 1.0  # along x
    found = system.solution(coefficients).numpy()
    y = points[:, 1]
    exact = np.stack([15.0 * y * (1.0 - y), 0.0 * y], axis=1)  # forces are counted in 30
    return float(np.abs(found[:, :2] - exact).max() / exact.max())


def test_elements_converge_to_the_flow_between_two_walls():
    assert channel_flow(9) < 0.03
    assert channel_flow(17) < 0.4 * channel_flow(9)


def test_a_flow_that_is_everywhere_parallel_has_no_inertia():
    assert channel_flow(9, inertia=0.05) == pytest.approx(channel_flow(9), abs=1e-3)


def stirred(rng, num_samples):
    """A viscous fluid in a box, stirred by forces: sums of flows that are known."""
    samples = []
    for _ in range(num_samples):
        points = grid(17, rng)
        p, q = np.pi * points.T
        velocity, force = np.zeros((2, len(points), 2))
        for m, n in ((1, 1), (2, 1)):
            # Of the stream function sin²(mp) sin²(nq) / (nπ), which vanishes with its slopes at the walls.
            size, s, t = rng.normal(), np.sin(m * p) ** 2, np.sin(n * q) ** 2
            velocity += size * np.stack([s * np.sin(2 * n * q), -m / n * t * np.sin(2 * m * p)], axis=1)
            force_x = (4 * n**2 * s - 2 * m**2 * np.cos(2 * m * p)) * np.sin(2 * n * q)
            force_y = -m / n * (4 * m**2 * t - 2 * n**2 * np.cos(2 * n * q)) * np.sin(2 * m * p)
            force += size * np.pi**2 * np.stack([force_x, force_y], axis=1)
        second = rng.choice([-1.0, 1.0]) * rng.uniform(50.0, 100.0)
        balanced = second * np.stack([np.cos(p), np.ones_like(p)], axis=1)  # by a pressure
        pressure = second * (np.sin(p) + q - 2.0 / np.pi - np.pi / 2.0) / np.pi
        fields = np.column_stack([velocity, pressure])
        samples.append(Sample(points=points, inputs=force + balanced, targets=fields))
    return Dataset.from_samples(
        samples, inputs=["force_x", "force_y"], targets=["velocity_x", "velocity_y", "pressure"]
    )


def test_stokes_flow_is_found_from_forces_velocities_and_pressures(rng):
    train, test = stirred(rng, 7).split(num_train=4)
    surrogate = gola.fit(train, "fitted_pde", progress=False)
    assert [one["law"]["kind"] for one in surrogate.operator.choice["laws"]] == ["flow"]
    for sample in test:
        found = surrogate.predict(sample.points, sample.inputs)
        for columns in (slice(0, 2), slice(2, 3)):
            wanted = sample.targets[:, columns]
            assert np.linalg.norm(found[:, columns] - wanted) < 0.12 * np.linalg.norm(wanted)


def test_a_flow_is_restored_from_plain_values(rng):
    law = flow_of(("force_x", "force_y", "k"), rng.random((20, 3)))
    assert law_from_dict(law.to_dict()) == law
