import numpy as np
import pytest

from gola.problems.flow_past_body import BODY, HEIGHT, LENGTH, ChannelFlow, FlowPastBody, channel_mesh, inflow


@pytest.fixture(scope="module")
def channel() -> ChannelFlow:
    return ChannelFlow(0.25)


def test_inflow_has_unit_mean_whatever_its_skewness() -> None:
    heights = HEIGHT * (np.arange(1000) + 0.5) / 1000
    for skewness in (-0.6, 0.0, 0.3):
        assert inflow(heights, skewness).mean() == pytest.approx(1.0, rel=1e-5)
        assert inflow(np.array([0.0, HEIGHT]), skewness).tolist() == [0.0, 0.0]
    assert inflow(np.array([3.0]), 0.3) > inflow(np.array([1.0]), 0.3)


def test_velocity_is_the_inflow_at_the_left_and_zero_at_walls_and_body(channel: ChannelFlow) -> None:
    points = channel.geometry["points"]
    velocity = channel.flow(40.0, 0.4)[:, :2]
    at_left = points[:, 0] == 0.0
    np.testing.assert_allclose(velocity[at_left, 0], inflow(points[at_left, 1], 0.4), atol=1e-12)
    np.testing.assert_array_equal(velocity[at_left, 1], 0.0)
    still = channel.geometry["boundary"] & (points[:, 0] > 1e-9) & (points[:, 0] < LENGTH - 1e-9)
    assert still.sum() > 50
    np.testing.assert_array_equal(velocity[still], 0.0)


def test_what_flows_in_flows_out(channel: ChannelFlow) -> None:
    points = channel.geometry["points"]
    at_right = np.flatnonzero(points[:, 0] > LENGTH - 1e-9)
    at_right = at_right[np.argsort(points[at_right, 1])]
    out = np.trapezoid(channel.flow(40.0, -0.3)[at_right, 0], points[at_right, 1])
    # The trapezoidal rule knows the ends of the quadratic elements only.
    assert out == pytest.approx(HEIGHT, rel=0.02)


def test_slow_flow_has_a_pressure_inverse_to_the_reynolds_number(channel: ChannelFlow) -> None:
    # Without inertia velocities do not depend on the Reynolds number; at 5 and below little is left of it.
    slow, slower = channel.flow(0.02, 0.2), channel.flow(0.01, 0.2)
    np.testing.assert_allclose(slower[:, :2], slow[:, :2], atol=1e-3)
    np.testing.assert_allclose(slower[:, 2], 2.0 * slow[:, 2], atol=1e-3 * np.abs(slower[:, 2]).max())


def test_the_wake_grows_with_the_reynolds_number(channel: ChannelFlow) -> None:
    points = channel.geometry["points"]
    behind = (points[:, 0] > BODY.centre[0] + 0.6) & (np.abs(points[:, 1] - BODY.centre[1]) < 0.3)
    reversed_share = [np.mean(channel.flow(reynolds, 0.0)[behind, 0] < 0.0) for reynolds in (5.0, 30.0, 90.0)]
    assert reversed_share[0] < reversed_share[1] < reversed_share[2]


def test_the_mesh_is_finest_at_the_body() -> None:
    mesh = channel_mesh(0.25)
    assert mesh.angles.min() > 20.0
    at_body = np.linalg.norm(np.diff(mesh.points[mesh.loops[1]], axis=0), axis=1)
    assert at_body.max() < 0.12
    outline = np.linalg.norm(np.diff(mesh.points[mesh.loops[0]], axis=0), axis=1)
    assert outline.max() > 0.4


@pytest.mark.parametrize("element_size", [0.0, -1.0, 0.5, float("nan")])
def test_impossible_element_sizes_are_refused(element_size: float) -> None:
    with pytest.raises(ValueError, match="flow_past_body needs"):
        FlowPastBody(element_size=element_size)
