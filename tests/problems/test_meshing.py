import numpy as np
import pytest
from jaxtyping import Float, Int

from gola.geometry.domains import Polygon
from gola.problems.meshing import TriangleMesh, graded_size, sample_curve, sample_outline, triangulate
from gola.problems.random_shapes import StarShape

from .perforated import SQUARE, draw_holes, perforated_square

every_geometry = pytest.mark.parametrize("seed", range(24))


def edges_with_counts(mesh: TriangleMesh) -> tuple[Int[np.ndarray, "edge 2"], Int[np.ndarray, " edge"]]:
    halves = np.sort(mesh.cells[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return np.unique(halves, axis=0, return_counts=True)


def edge_lengths(mesh: TriangleMesh) -> Float[np.ndarray, " edge"]:
    edges, _ = edges_with_counts(mesh)
    return np.linalg.norm(mesh.points[edges[:, 0]] - mesh.points[edges[:, 1]], axis=1)


@every_geometry
def test_a_random_perforated_square_is_filled_without_gaps_overlaps_or_needles(seed: int) -> None:
    holes = draw_holes(seed)
    mesh, polygon = perforated_square(holes)
    assert (mesh.areas > 0.0).all()
    assert mesh.areas.sum() == pytest.approx(polygon.measure, rel=1e-12)
    assert mesh.angles.min() > 20.0
    assert edge_lengths(mesh).min() > 0.4 * 0.01
    # Euler's formula: a mesh of the right area with one component and the right number of holes has no slits.
    num_edges = len(edges_with_counts(mesh)[0])
    assert len(mesh.points) - num_edges + len(mesh.cells) == 1 - len(holes)
    assert len(np.unique(mesh.cells)) == len(mesh.points)


@pytest.mark.parametrize("seed", range(6))
def test_the_edges_of_a_single_triangle_are_exactly_the_boundary_segments(seed: int) -> None:
    mesh, _ = perforated_square(draw_holes(seed))
    edges, counts = edges_with_counts(mesh)
    assert set(counts) == {1, 2}
    segments = {tuple(segment) for segment in np.sort(mesh.segments, axis=1)}
    assert {tuple(edge) for edge in edges[counts == 1]} == segments


def test_boundary_nodes_lie_on_the_curves_and_come_first() -> None:
    hole = draw_holes(4)[0]
    mesh, polygon = perforated_square([hole])
    rays = mesh.points[mesh.loops[1]] - hole.centre
    parameters = np.arctan2(rays[:, 1], rays[:, 0]) / (2.0 * np.pi)
    np.testing.assert_allclose(mesh.points[mesh.loops[1]], hole.outline(parameters), atol=1e-12)
    outline = mesh.points[mesh.loops[0]]
    assert np.isin(outline, [0.0, 1.0]).any(axis=1).all()
    assert {tuple(corner) for corner in SQUARE} <= {tuple(point) for point in outline}
    np.testing.assert_array_equal(mesh.boundary, np.abs(polygon.signed_distance(mesh.points)) < 1e-12)
    assert mesh.boundary[: sum(map(len, mesh.loops))].all()


def test_elements_grow_more_than_fivefold_from_the_hole_to_the_far_field() -> None:
    mesh, _ = perforated_square([StarShape.circle(np.array([0.3, 0.3]), 0.1)], finest=0.006, coarsest=0.05)
    edges, _ = edges_with_counts(mesh)
    lengths = edge_lengths(mesh)
    from_hole = np.linalg.norm(mesh.points[edges].mean(axis=1) - 0.3, axis=1) - 0.1
    at_hole, far_away = lengths[from_hole < 0.006], lengths[from_hole > 0.3]
    assert np.median(at_hole) == pytest.approx(0.006, rel=0.15)
    assert np.median(far_away) == pytest.approx(0.05, rel=0.15)


def test_edges_have_the_wanted_length_everywhere() -> None:
    holes = draw_holes(8)
    mesh, _ = perforated_square(holes)
    edge_points = np.concatenate([hole.outline(np.linspace(0.0, 1.0, 300)) for hole in holes])
    size = graded_size(edge_points, finest=0.01, coarsest=0.07, growth=0.2)
    edges, _ = edges_with_counts(mesh)
    ratios = edge_lengths(mesh) / size(mesh.points[edges].mean(axis=1))
    assert np.median(ratios) == pytest.approx(1.0, abs=0.1)
    assert ratios.min() > 0.4
    assert ratios.max() < 2.0


def test_the_same_domain_gives_the_same_mesh() -> None:
    first, _ = perforated_square(draw_holes(2))
    second, _ = perforated_square(draw_holes(2))
    np.testing.assert_array_equal(first.points, second.points)
    np.testing.assert_array_equal(first.cells, second.cells)


def test_a_domain_with_a_reentrant_corner_is_meshed() -> None:
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]])
    size = graded_size(np.array([[1.0, 1.0]]), finest=0.01, coarsest=0.1, growth=0.2)
    mesh = triangulate(Polygon(exterior=sample_outline(corners, size)), size)
    assert mesh.areas.sum() == pytest.approx(3.0, rel=1e-12)
    assert mesh.angles.min() > 20.0


def test_a_domain_too_small_for_inner_nodes_is_still_meshed() -> None:
    size = graded_size(SQUARE, finest=2.0, coarsest=2.0, growth=0.2)
    mesh = triangulate(Polygon(exterior=SQUARE), size)
    assert mesh.areas.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(mesh.points, SQUARE)


def test_curves_too_close_for_their_nodes_are_refused_with_advice() -> None:
    size = graded_size(SQUARE, finest=0.1, coarsest=0.1, growth=0.2)
    slit = np.array([[0.3, 0.0101], [0.7, 0.0101], [0.5, 0.5]])
    with pytest.raises(ValueError, match="smaller element size"):
        triangulate(Polygon(exterior=sample_outline(SQUARE, size), holes=(slit,)), size)


def test_nodes_of_a_curve_share_the_wanted_spacing_fairly() -> None:
    circle = StarShape.circle(np.array([0.5, 0.5]), 0.2)
    size = graded_size(np.array([[0.7, 0.5]]), finest=0.005, coarsest=0.05, growth=0.2)
    nodes = sample_curve(circle.outline, size)
    ahead = np.roll(nodes, -1, axis=0)
    spacings = np.linalg.norm(ahead - nodes, axis=1) / size(0.5 * (nodes + ahead))
    assert spacings.max() <= 1.0 + 1e-3
    assert spacings.min() > 0.9


@pytest.mark.parametrize(
    "sizes",
    [
        {"finest": 0.0, "coarsest": 0.1, "growth": 0.2},
        {"finest": 0.2, "coarsest": 0.1, "growth": 0.2},
        {"finest": 0.1, "coarsest": 0.2, "growth": 0.5},
        {"finest": 0.1, "coarsest": float("nan"), "growth": 0.2},
    ],
)
def test_impossible_element_sizes_are_refused(sizes: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="Element sizes need"):
        graded_size(SQUARE, **sizes)
