from dataclasses import replace

import pytest
import torch
from scipy.interpolate import LinearNDInterpolator

from gola.operators import Gola, GolaConfig, Queries
from gola.operators.cloud import Cloud
from gola.operators.queries import with_queries
from tests.operators.clouds import scattered_cloud

CONFIG = GolaConfig(width=8, num_modes=6, num_heads=2, radius=0.3)


def batch_with_queries():
    batch = Cloud.collate([scattered_cloud(num_points, seed=num_points) for num_points in (20, 30)])
    queries = Queries(points=torch.rand(12, 2, dtype=torch.float64), offsets=torch.tensor([0, 5, 12]))
    return batch, queries


def test_queries_change_nothing_at_the_points_of_the_cloud():
    torch.manual_seed(0)
    batch, queries = batch_with_queries()
    operator = Gola(CONFIG).double()
    joined, is_query = with_queries(batch, queries)
    torch.testing.assert_close(operator(joined)[~is_query], operator(batch), rtol=1e-12, atol=1e-12)


def test_queries_join_the_end_of_their_own_sample_and_send_to_nobody():
    batch, queries = batch_with_queries()
    joined, is_query = with_queries(batch, queries)
    assert joined.sizes == [25, 37]
    assert torch.equal(joined.points[is_query], queries.points)
    assert torch.equal(joined.points[~is_query], batch.points)
    lists = joined.neighbourhood
    assert not is_query[lists.senders].any()
    sample = joined.sample_of_point
    assert torch.equal(sample[lists.senders], sample[lists.receivers])
    distances = (joined.points[lists.senders] - joined.points[lists.receivers]).norm(dim=1)
    assert distances.max() <= joined.radius
    ascending = lists.senders.diff() > 0
    assert (ascending | (lists.receivers.diff() > 0)).all()
    assert lists.degrees[is_query].max() > 0


def test_predictions_at_queries_do_not_depend_on_the_other_queries():
    torch.manual_seed(0)
    batch, queries = batch_with_queries()
    operator = Gola(CONFIG).double()
    fewer = Queries(points=queries.points[[0, 5]], offsets=torch.tensor([0, 1, 2]))
    torch.testing.assert_close(operator(batch, at=fewer), operator(batch, at=queries)[[0, 5]], rtol=1e-12, atol=1e-12)


def test_gradients_reach_the_input_values_through_the_interpolation():
    torch.manual_seed(0)
    cloud = scattered_cloud(20)
    values = cloud.values.clone().requires_grad_()
    Gola(CONFIG).double()(replace(cloud, values=values), at=torch.rand(3, 2, dtype=torch.float64)).sum().backward()
    assert values.grad.abs().max() > 0


@pytest.mark.parametrize(
    ("points", "offsets", "message"),
    [
        (torch.rand(4, 2), [0, 2, 4], "for 2 samples and the cloud has 1"),
        (torch.rand(4, 3), [0, 4], "3 coordinates and the cloud 2"),
        (torch.rand(0, 2), [0, 0], "Sample 0 has no queries"),
    ],
)
def test_queries_that_do_not_fit_the_cloud_are_refused(points, offsets, message):
    cloud = scattered_cloud(20, dtype=torch.float32)
    with pytest.raises(ValueError, match=message):
        Gola(CONFIG)(cloud, at=Queries(points=points, offsets=torch.tensor(offsets)))


def test_a_neighbourhood_of_unknown_radius_is_refused():
    cloud = replace(scattered_cloud(20, dtype=torch.float32), radius=None)
    with pytest.raises(ValueError, match="needs the radius"):
        Gola(CONFIG)(cloud, at=torch.rand(4, 2))


def waves(generator, points):
    """An input function f of three random plane waves, and u = f² + x: an operator that is quickly learned."""
    directions = 5.0 * torch.randn(3, 2, generator=generator)
    f = torch.sin(points @ directions.mT + 6.0 * torch.rand(3, generator=generator)).sum(1, keepdim=True)
    return f, f.square() + points[:, :1]


def trained_operator(generator, config, num_points):
    """An operator after 160 steps on sixteen samples."""
    operator = Gola(config)
    optimiser = torch.optim.Adam(operator.parameters(), lr=1e-2)
    samples = [(points, *waves(generator, points)) for points in torch.rand(16, num_points, 2, generator=generator)]
    clouds = [Cloud.of(points, f).with_neighbours(config.radius) for points, f, _ in samples]
    for _ in range(80):
        for rows in torch.randperm(16, generator=generator).split(8):
            targets = torch.cat([samples[row][2] for row in rows])
            optimiser.zero_grad()
            (operator(Cloud.collate([clouds[row] for row in rows])) - targets).square().mean().backward()
            optimiser.step()
    return operator


def held_out_errors(generator, operator, radius, num_points):
    """Relative errors of a new sample at held-out points: asked there, and interpolated from the plain prediction."""
    points = torch.rand(num_points + 1000, 2, generator=generator)
    f, u = waves(generator, points)
    known, held_out, truth = points[:num_points], points[num_points:], u[num_points:]
    cloud = Cloud.of(known, f[:num_points]).with_neighbours(radius)
    with torch.no_grad():
        asked, plain = operator(cloud, at=held_out), operator(cloud)
    interpolated = torch.from_numpy(LinearNDInterpolator(known.numpy(), plain.numpy())(held_out.numpy()))
    # SciPy answers NaN outside the hull, so only the points within it are compared.
    inside = ~interpolated.isnan()[:, 0]
    return [float((guess - truth)[inside].norm() / truth[inside].norm()) for guess in (asked, interpolated)]


def test_at_held_out_points_it_beats_linear_interpolation_of_its_own_prediction():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    config = replace(CONFIG, width=16, num_blocks=1, radius=0.15)
    operator = trained_operator(generator, config, num_points=200)
    errors = torch.tensor([held_out_errors(generator, operator, config.radius, num_points=200) for _ in range(10)])
    asked, interpolated = errors.mean(dim=0)
    assert asked < interpolated
