"""Maps between shapes of one topology."""

import numpy as np
import pytest

from gola.geometry.outline import outline
from gola.geometry.solid import solid
from gola.representation.reference_shape import ReferenceShape, outlines
from tests.geometry.shapes import hollow_ball, plate

CENTRES = [(0.4, 0.5), (0.6, 0.5), (0.5, 0.45), (0.5, 0.55)]


def test_the_reference_is_the_mean_shape():
    shapes = [outline(plate(centre, radius)) for centre, radius in zip(CENTRES, (0.15, 0.15, 0.25, 0.25), strict=True)]
    reference = ReferenceShape.of(shapes)
    outer, hole = reference.boundary.split(reference.sizes.tolist())
    np.testing.assert_allclose(np.linalg.norm(hole.numpy() - 0.5, axis=1), 0.2, atol=5e-3)
    assert set(map(tuple, outer.numpy().round(6).tolist())) >= {(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)}


def test_boundaries_are_mapped_to_boundaries_and_nothing_folds():
    shapes = [outline(plate(centre, 0.2, roughness=0.2)) for centre in CENTRES]
    reference = ReferenceShape.of(shapes)
    other = outline(plate((0.42, 0.55), 0.17))
    nodes = reference.moved_nodes(other)
    on_hole = shapes[0].loops[1]
    np.testing.assert_allclose(np.linalg.norm(nodes[on_hole] - (0.42, 0.55), axis=1), 0.17, atol=3e-3)
    np.testing.assert_allclose(nodes[shapes[0].loops[0]], shapes[0].curves[0], atol=1e-6)
    assert reference.folded_share(other) == 0.0


def test_shapes_of_other_topology_have_no_mean():
    plain = outline(np.random.default_rng(0).random((200, 2)))
    with pytest.raises(ValueError, match=r"the same number of holes to have a mean, and these have \[0, 1\]"):
        ReferenceShape.of([plain, outline(plate())])


def test_a_fine_mesh_is_thinned_out():
    fine = outline(plate(spacing=0.015))
    assert len(fine.points) > 3000
    assert len(ReferenceShape.of([fine, fine]).nodes) == 3000


def test_samples_of_one_domain_or_of_several_topologies_have_no_shapes_to_map():
    rng = np.random.default_rng(0)
    assert outlines([rng.random((200, 2)) for _ in range(4)]) is None
    assert outlines([plate(), rng.random((200, 2))]) is None
    assert outlines([rng.random((50, 3)) for _ in range(4)]) is None
    assert outlines([rng.random((500, 3)) for _ in range(4)]) is None
    assert outlines([rng.random((50, 1))] * 3) is None
    assert len(outlines([plate(centre) for centre in CENTRES])) == 4
    assert len(outlines([rng.random((300, 2)) * [1.0, height] for height in (0.5, 1.0, 1.5)])) == 3


def test_hollows_in_space_are_mapped_to_each_other_and_nothing_folds():
    centres = [(0.15, 0.0, 0.0), (-0.15, 0.0, 0.0), (0.0, 0.15, 0.1), (0.0, -0.15, -0.1)]
    shapes = outlines([hollow_ball(centre) for centre in centres])
    reference = ReferenceShape.of(shapes)
    other = solid(hollow_ball((0.1, 0.1, -0.05), 0.4, (1.2, 1.0, 0.9)))
    nodes = reference.moved_nodes(other)
    outer, hollow = (nodes[border] for border in shapes[0].borders)
    np.testing.assert_allclose(np.linalg.norm(hollow - (0.1, 0.1, -0.05), axis=1), 0.4, atol=0.03)
    np.testing.assert_allclose(np.linalg.norm(outer / (1.2, 1.0, 0.9), axis=1), 1.0, atol=0.03)
    assert reference.folded_share(other) < 1e-3
