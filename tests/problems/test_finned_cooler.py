import numpy as np
import pytest
from scipy.spatial import cKDTree

from gola.problems.finite_elements import node_weights
from gola.problems.finned_cooler import (
    BASE_THICKNESS,
    FIN_HEIGHT,
    FIN_THICKNESS,
    LENGTH,
    NUM_FINS,
    WIDTH,
    Cooler,
    FinnedCooler,
    cooler_mesh,
)


@pytest.fixture(scope="module")
def cooler() -> Cooler:
    return Cooler(1)


def test_the_mesh_fills_base_and_fins(cooler: Cooler) -> None:
    points = cooler.geometry["points"]
    volume = LENGTH * (WIDTH * BASE_THICKNESS + NUM_FINS * FIN_THICKNESS * FIN_HEIGHT)
    assert cooler.geometry["weights"].sum() == pytest.approx(volume, rel=1e-12)
    np.testing.assert_allclose(points.max(axis=0), [LENGTH, WIDTH, BASE_THICKNESS + FIN_HEIGHT], rtol=1e-12)
    corners = points[cooler.geometry["cells"]]
    assert np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])).min() > 1e-12


def test_without_heat_the_cooler_has_the_temperature_of_uniform_air(cooler: Cooler) -> None:
    nothing = np.zeros(len(cooler.geometry["points"]))
    found = cooler.solve(
        base_conductivity=50.0, fin_conductivity=200.0, transfer=100.0, heat_flux=nothing, air=nothing + 7.0
    )
    np.testing.assert_allclose(found, 7.0, rtol=1e-7)


def test_all_heat_of_the_chip_goes_into_the_air(cooler: Cooler) -> None:
    transfer, power = 80.0, 60.0
    points = cooler.geometry["points"]
    found = cooler.solve(
        base_conductivity=50.0,
        fin_conductivity=200.0,
        transfer=transfer,
        heat_flux=power * cooler.chip(0.04),
        air=np.zeros(len(points)),
    )
    mesh = cooler_mesh(1)
    facets = mesh.facets_satisfying(lambda x: x[2] > BASE_THICKNESS - 1e-9, boundaries_only=True)
    corners = mesh.p[:, mesh.facets[:, facets]]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], axis=0), axis=0)
    lost = transfer * np.sum(areas * found[mesh.facets[:, facets]].mean(axis=0))
    assert lost == pytest.approx(power, rel=1e-7)


def test_thin_fins_cool_off_as_in_the_textbook() -> None:
    cooler = Cooler(2)
    transfer, conductivity = 300.0, 100.0
    points = cooler.geometry["points"]
    # A base that conducts far better than the fins has one temperature.
    found = cooler.solve(
        base_conductivity=1e5,
        fin_conductivity=conductivity,
        transfer=transfer,
        heat_flux=cooler.chip(0.05),
        air=np.zeros(len(points)),
    )
    in_fin = points[:, 2] >= BASE_THICKNESS
    heights = points[in_fin, 2] - BASE_THICKNESS
    rate = np.sqrt(transfer * 2.0 * (LENGTH + FIN_THICKNESS) / (conductivity * LENGTH * FIN_THICKNESS))
    ratio = transfer / (rate * conductivity)
    rest = rate * (FIN_HEIGHT - heights)
    whole = rate * FIN_HEIGHT
    expected = (np.cosh(rest) + ratio * np.sinh(rest)) / (np.cosh(whole) + ratio * np.sinh(whole))
    base = found[points[:, 2] == 0.0].mean()
    # Means over cross-sections: the ends of the fins are a little cooler.
    for height in np.unique(heights.round(9)):
        level = np.isclose(heights, height)
        assert found[in_fin][level].mean() / base == pytest.approx(expected[level].mean(), rel=0.03)


def test_refined_meshes_converge() -> None:
    parameters = np.array([60.0, 100.0, 150.0, 0.04, 100.0, 10.0])
    finest = FinnedCooler(resolution=4).simulate(parameters)
    tree = cKDTree(finest.points)
    errors = []
    for resolution in (1, 2):
        sample = FinnedCooler(resolution=resolution).simulate(parameters)
        distances, nearest = tree.query(sample.points)
        assert distances.max() < 1e-9
        squares = np.square(sample.targets - finest.targets[nearest])[:, 0]
        assert sample.cells is not None
        errors.append(float(np.sqrt(node_weights(sample.points, sample.cells) @ squares)))
    # Elements between base and fins meet at edges that point inwards, where no mesh has its full order.
    assert errors[0] / errors[1] > 2.5


def test_temperature_is_linear_in_power_and_heating_of_the_air() -> None:
    problem = FinnedCooler(resolution=1)

    def rise(power: float, heating: float) -> np.ndarray:
        return problem.simulate(np.array([60.0, 100.0, 150.0, 0.04, power, heating])).targets

    combined = 2.0 * rise(100.0, 0.0) + 0.5 * rise(0.0, 20.0)
    np.testing.assert_allclose(rise(200.0, 10.0), combined, rtol=1e-6)


def test_the_chip_is_hottest_where_it_is() -> None:
    problem = FinnedCooler(resolution=2)
    for position in (0.03, 0.07):
        sample = problem.simulate(np.array([20.0, 100.0, 150.0, position, 100.0, 0.0]))
        hottest = sample.points[np.argmax(sample.targets[:, 0])]
        assert hottest[2] == 0.0
        assert hottest[0] == pytest.approx(position, abs=0.01)


def test_a_resolution_too_low_is_refused() -> None:
    with pytest.raises(ValueError, match="finned_cooler needs a resolution of 1 or more; got 0"):
        FinnedCooler(resolution=0)
