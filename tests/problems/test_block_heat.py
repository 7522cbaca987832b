import numpy as np
import pytest
from jaxtyping import Float

from gola.problems.block_heat import SIDE, BlockHeat, BlockSolver, grid_lines, material_of

from .perforated import observed_order

COLUMNS = np.array([1.0, 50.0, 4.0])
THIRD = SIDE / 3.0


def exact(points: Float[np.ndarray, "point 2"]) -> tuple[Float[np.ndarray, " point"], Float[np.ndarray, " point"]]:
    """Return T = g(x) h(y) and its source, with materials that differ from column to column.

    The flux k g' = w = sin(πx/L) is continuous, so that g has kinks at the interfaces. h = y(L − y)² vanishes at the
    bottom, and on top together with its slope.
    """
    x, y = points.T
    rate = np.pi / SIDE
    starts = np.array([0.0, THIRD, 2.0 * THIRD])
    reached = np.clip(x[:, None], starts, starts + THIRD)
    g = ((np.cos(rate * starts) - np.cos(rate * reached)) / rate / COLUMNS).sum(axis=1)
    h, h_yy = y * (SIDE - y) ** 2, 6.0 * y - 4.0 * SIDE
    k = COLUMNS[np.clip((x / THIRD).astype(int), 0, 2)]
    return g * h, -rate * np.cos(rate * x) * h - k * g * h_yy


def solver_error(resolution: int) -> float:
    solver = BlockSolver(resolution)
    found = solver(np.tile(COLUMNS, 3), solver.load(lambda points: exact(points)[1]))
    temperature = exact(solver.geometry["points"])[0]
    weights = solver.geometry["weights"]
    return float(np.sqrt(weights @ (found - temperature) ** 2 / (weights @ temperature**2)))


def test_halving_the_elements_divides_the_error_by_eight_across_interfaces() -> None:
    errors = [solver_error(resolution) for resolution in (2, 4, 8)]
    assert observed_order(errors) > 2.9
    assert errors[-1] < 1e-4


def test_a_uniform_block_that_is_heated_in_its_upper_third_varies_with_height_only() -> None:
    solver = BlockSolver(4)
    source = solver.load(lambda points: np.where(points[:, 1] > 2.0 * THIRD, 1.0, 0.0) / (SIDE * THIRD))
    conductivity = 10.0
    temperature = solver(np.full(9, conductivity), source)
    transfer, load = 200.0, 1.0 / (SIDE * THIRD)
    # Below the source T = A y; in it T = A y − f (y − y₀)² / 2k; on top k T' = −h T.
    slope = (load * THIRD + transfer * load * THIRD**2 / (2.0 * conductivity)) / (conductivity + transfer * SIDE)
    y = solver.geometry["points"][:, 1]
    expected = slope * y - 0.5 * load / conductivity * np.maximum(y - 2.0 * THIRD, 0.0) ** 2
    np.testing.assert_allclose(temperature, expected, atol=1e-10)


def test_every_unit_load_brings_one_watt() -> None:
    np.testing.assert_allclose(BlockSolver(3).loads.sum(axis=1), 1.0, rtol=1e-12)


def test_temperature_is_linear_in_the_loads_but_not_in_the_conductivities() -> None:
    problem = BlockHeat(resolution=4)
    rng = np.random.default_rng(0)
    conductivities, first, second = rng.uniform(1.0, 100.0, 9), rng.uniform(0, 500, 3), rng.uniform(0, 500, 3)

    def rise(loads: Float[np.ndarray, " 3"]) -> Float[np.ndarray, " point"]:
        return problem.simulate(np.concatenate([conductivities, loads])).targets[:, 0]

    np.testing.assert_allclose(rise(2.0 * first + second), 2.0 * rise(first) + rise(second), rtol=1e-9, atol=1e-12)
    better = problem.simulate(np.concatenate([2.0 * conductivities, first])).targets[:, 0]
    assert not np.allclose(better, 0.5 * rise(first), rtol=1e-3)


def test_heated_blocks_are_warmer_than_the_coolant_everywhere_but_at_the_bottom() -> None:
    for sample in BlockHeat(resolution=4).generate(0, range(5)):
        at_bottom = sample.points[:, 1] == 0.0
        assert (sample.targets[at_bottom] == 0.0).all()
        assert (sample.targets[~at_bottom] > 0.0).all()


def test_materials_are_numbered_row_by_row_and_grid_lines_follow_them() -> None:
    centres = SIDE / 6.0 * np.array([[1.0, 1.0], [5.0, 1.0], [1.0, 3.0], [5.0, 5.0]])
    np.testing.assert_array_equal(material_of(centres), [0, 2, 3, 8])
    lines = grid_lines(6)
    np.testing.assert_allclose(lines[[0, 6, 12, 18]], [0.0, THIRD, 2.0 * THIRD, SIDE], rtol=1e-12)
    spacing = np.diff(lines)
    assert spacing[2] > 1.5 * spacing[0]
    assert spacing[6] == pytest.approx(spacing[5])


def test_a_resolution_too_low_is_refused() -> None:
    with pytest.raises(ValueError, match="block_heat needs a resolution of 2 or more; got 1"):
        BlockHeat(resolution=1)
