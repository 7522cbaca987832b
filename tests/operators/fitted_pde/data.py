"""Samples of shapes of their own with solutions that are known."""

import numpy as np
from scipy.stats import qmc

from gola.data.dataset import Dataset
from gola.data.sample import Channel, Sample
from tests.geometry.shapes import plate


def disc(radius, num_points=150):
    """Points of a disc around (0.5, 0.5), some on its edge."""
    inner = 2.0 * qmc.Halton(2, seed=0).random(num_points) - 1.0
    inner = inner[np.linalg.norm(inner, axis=1) < 0.95]
    angles = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    return 0.5 + radius * np.concatenate([inner, np.stack([np.cos(angles), np.sin(angles)], axis=1)])


def heated_discs(count, seed=0):
    """Diffusion −∇·(a∇u) = f in discs of different size, u = 0 at the edge; a and f differ, too."""
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        radius, source, medium = rng.uniform(0.25, 0.5), rng.uniform(0.5, 2.0), rng.uniform(0.5, 2.0)
        points = disc(radius)
        squares = np.square(points - 0.5).sum(axis=1)
        inputs = np.broadcast_to([source, medium], (len(points), 2))
        samples.append(
            Sample(
                points=points, inputs=inputs.copy(), targets=(source / medium * (radius**2 - squares) / 4.0)[:, None]
            )
        )
    return Dataset(samples=tuple(samples), inputs=(Channel(name="f"), Channel(name="a")), targets=(Channel(name="u"),))


def pulled_plates(count, seed=0, poisson=0.3):
    """Plates in uniform stress, without mean displacement or rotation: displacement and von Mises stress."""
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        points = plate(radius=0.01, spacing=0.09)
        xx, yy, xy = rng.normal(size=3)
        strain = np.array([[xx - poisson * yy, (1 + poisson) * xy], [(1 + poisson) * xy, yy - poisson * xx]])
        equivalent = np.sqrt(xx**2 - xx * yy + yy**2 + 3.0 * xy**2)
        samples.append(
            Sample(
                points=points,
                inputs=np.broadcast_to([xx, yy, xy], (len(points), 3)).copy(),
                targets=np.column_stack([(points - points.mean(axis=0)) @ strain, np.full(len(points), equivalent)]),
            )
        )
    names = {"inputs": ("load_xx", "load_yy", "load_xy"), "targets": ("shift_x", "shift_y", "equivalent")}
    return Dataset(
        samples=tuple(samples), **{what: tuple(Channel(name=one) for one in some) for what, some in names.items()}
    )


def arrivals(count, seed=0, source=(0.2, 0.1)):
    """Travel times through uniform media from one place, at other points in every sample."""
    rng = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        points, speed = rng.random((300, 2)), rng.uniform(0.5, 2.0)
        times = np.linalg.norm(points - source, axis=1) / speed
        samples.append(Sample(points=points, inputs=np.full((300, 1), speed), targets=times[:, None]))
    return Dataset(samples=tuple(samples), inputs=(Channel(name="speed"),), targets=(Channel(name="time"),))


def heated_squares(count, num_cells, seed=0):
    """Diffusion −Δu = f in the unit square, u = 0 at the edge, at the centres of cells: nobody sees the edge."""
    rng = np.random.default_rng(seed)
    middles = (np.arange(num_cells) + 0.5) / num_cells
    points = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
    samples = []
    for _ in range(count):
        source, solution = np.zeros(len(points)), np.zeros(len(points))
        for waves in ((1, 1), (1, 2), (2, 1), (2, 2)):
            wave = rng.normal() * np.sin(np.pi * points * waves).prod(axis=1)
            source, solution = source + wave, solution + wave / (np.pi**2 * np.square(waves).sum())
        samples.append(Sample(points=points, inputs=source[:, None], targets=solution[:, None]))
    names = {"inputs": (Channel(name="f"),), "targets": (Channel(name="u"),)}
    return Dataset(samples=tuple(samples), correspondence="same points", **names)


def drifting(count, seed=0):
    """Drift and diffusion b·∇u = Δu + f in a square with u = 0 on two sides: other b and f in every sample."""
    rng = np.random.default_rng(seed)
    axis = np.linspace(0.0, 1.0, 17)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    samples = []
    for _ in range(count):
        x, speed, source, growth = points[:, 0], rng.uniform(-6.0, 6.0), *rng.uniform(0.5, 4.0, 2) * [1.0, -1.0]
        # The solution of −u'' + b u' = s + t x that is 0 at both ends.
        second = growth / (2.0 * speed)
        first = (source + 2.0 * second) / speed
        profile = first * x + second * x**2 - (first + second) * np.expm1(speed * x) / np.expm1(speed)
        inputs = np.stack([source + growth * x, np.full_like(x, speed), np.zeros_like(x)], axis=1)
        samples.append(Sample(points=points + 0.0, inputs=inputs, targets=profile[:, None]))
    names = ("f", "velocity_x", "velocity_y")
    return Dataset(
        samples=tuple(samples), inputs=tuple(Channel(name=one) for one in names), targets=(Channel(name="u"),)
    )


def resonating(count, seed=0):
    """Waves −Δu − k²u = f in a square with u = 0 at two sides, below, between and beyond resonances."""
    rng = np.random.default_rng(seed)
    axis = np.linspace(0.0, 1.0, 21)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    samples = []
    for wave_number in rng.choice([1.0, 2.0, 4.0, 5.0, 8.0], count):
        k, (first, second) = wave_number + rng.uniform(-0.3, 0.3), rng.normal(size=2)
        waves = [np.sin(number * np.pi * points[:, 0]) for number in (1, 2)]
        solution = first * waves[0] / (np.pi**2 - k**2) + second * waves[1] / (4.0 * np.pi**2 - k**2)
        inputs = np.stack([first * waves[0] + second * waves[1], np.full(len(points), k)], axis=1)
        samples.append(Sample(points=points + 0.0, inputs=inputs, targets=solution[:, None]))
    return Dataset(samples=tuple(samples), inputs=(Channel(name="f"), Channel(name="k")), targets=(Channel(name="u"),))


def anisotropic(count, seed=0):
    """Diffusion with a given matrix, −∇·(T∇u) = f in a square with u = 0 at its edge."""
    rng = np.random.default_rng(seed)
    axis = np.linspace(0.0, 1.0, 21)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    p, q = np.pi * points.T
    samples = []
    for _ in range(count):
        (xx, yy), xy = rng.uniform(0.5, 3.0, 2), rng.uniform(-0.6, 0.6)
        sources = (xx + yy) * np.sin(p) * np.sin(q) - 2.0 * xy * np.cos(p) * np.cos(q)
        inputs = np.stack([np.pi**2 * sources, *np.full((3, len(p)), [[xx], [xy], [yy]])], axis=1)
        samples.append(Sample(points=points + 0.0, inputs=inputs, targets=(np.sin(p) * np.sin(q))[:, None]))
    names = ("f", "T_xx", "T_xy", "T_yy")
    return Dataset(
        samples=tuple(samples), inputs=tuple(Channel(name=one) for one in names), targets=(Channel(name="u"),)
    )
