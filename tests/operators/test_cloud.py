from dataclasses import replace

import numpy as np
import pytest
import torch

from gola.geometry import Box, voronoi_weights
from gola.operators.cloud import Cloud
from gola.operators.spectrum import Spectrum


def cloud_of(num_points, seed, power=1):
    points = torch.rand(num_points, 2, generator=torch.Generator().manual_seed(seed)) ** power
    return Cloud.of(points, points.sin())


def test_collated_clouds_keep_points_values_weights_and_neighbours():
    first, second = cloud_of(30, 0).with_neighbours(0.3), cloud_of(50, 1).with_neighbours(0.3)
    batch = Cloud.collate([first, second])
    assert batch.sizes == [30, 50]
    torch.testing.assert_close(batch.points[30:], second.points)
    torch.testing.assert_close(batch.weights[:30], first.weights)
    assert batch.neighbourhood.num_edges == first.neighbourhood.num_edges + second.neighbourhood.num_edges
    assert batch.sample_of_point.tolist() == [0] * 30 + [1] * 50


def test_neighbours_found_for_a_batch_are_those_of_its_samples():
    batch = Cloud.collate([cloud_of(30, 0), cloud_of(50, 1)]).with_neighbours(0.3)
    apart = Cloud.collate([cloud_of(30, 0).with_neighbours(0.3), cloud_of(50, 1).with_neighbours(0.3)])
    assert batch.neighbourhood.senders.tolist() == apart.neighbourhood.senders.tolist()


def test_a_batch_has_neighbours_only_if_every_cloud_has():
    assert Cloud.collate([cloud_of(30, 0).with_neighbours(0.3), cloud_of(50, 1)]).neighbourhood is None


def test_weights_of_every_kind_sum_to_one_in_each_sample():
    batch = Cloud.collate([cloud_of(30, 0), cloud_of(50, 1)])
    for weights in ("equal", "voronoi", torch.arange(1.0, 81.0)):
        shares = batch.with_weights(weights).weights.split([30, 50])
        assert [share.sum().item() for share in shares] == pytest.approx([1.0, 1.0])


def test_voronoi_weights_are_those_of_the_domain():
    cloud = cloud_of(200, 2, power=3)
    expected = voronoi_weights(cloud.points.double().numpy(), Box.unit(2))
    found = cloud.with_weights("voronoi", Box.unit(2)).weights
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)
    torch.testing.assert_close(cloud.with_weights("equal").weights, cloud.weights)


def test_a_cloud_moves_between_devices():
    assert cloud_of(30, 0).with_neighbours(0.3).to("meta").points.device == torch.device("meta")


class AnyBasis:
    def evaluate(self, points):
        return np.ones((len(points), 4))

    def at(self, points):
        return torch.ones(len(points), 4)

    def gradients(self, points):
        return np.ones((2, len(points), 4))


def with_spectrum(cloud):
    """Spectra are made by operators; to a cloud any will do."""
    functions = torch.rand(cloud.num_points, 4)
    spectrum = Spectrum(
        functions=functions,
        analysis=functions.T,
        waves=torch.rand(6, 4),
        basis=AnyBasis(),
    )
    return replace(cloud, spectra=(spectrum,))


def test_a_batch_has_the_spectra_of_its_samples_if_all_have_one():
    first, second = with_spectrum(cloud_of(30, 0)), with_spectrum(cloud_of(50, 1))
    batch = Cloud.collate([first, second, first])
    assert batch.spectra == (*first.spectra, *second.spectra, *first.spectra)
    assert Cloud.collate([first, cloud_of(50, 1)]).spectra is None


def test_spectra_move_with_the_cloud():
    assert with_spectrum(cloud_of(30, 0)).to("meta").spectra[0].analysis.device == torch.device("meta")


def test_new_weights_forget_the_spectra():
    assert with_spectrum(cloud_of(30, 0)).with_weights("voronoi").spectra is None
