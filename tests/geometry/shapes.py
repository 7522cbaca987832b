"""Point sets that fill shapes of the plane."""

import numpy as np


def plate(centre=(0.5, 0.5), radius=0.2, spacing=0.04, num_lobes=3, roughness=0.0):
    """Points of the unit square less a hole, all over and on both boundary curves."""
    angles = np.linspace(0.0, 2.0 * np.pi, round(2.0 * np.pi * radius / spacing), endpoint=False)
    radii = radius * (1.0 + roughness * np.cos(num_lobes * angles))
    edge = np.array(centre) + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    side = np.linspace(0.0, 1.0, round(1.0 / spacing) + 1)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    offsets = grid - centre
    reach = radius * (1.0 + roughness * np.cos(num_lobes * np.arctan2(offsets[:, 1], offsets[:, 0])))
    return np.concatenate([grid[np.linalg.norm(offsets, axis=1) > reach + 0.6 * spacing], edge])


def sphere(count, radius=1.0, centre=(0.0, 0.0, 0.0)):
    """Points all over a sphere, evenly."""
    numbers = np.arange(count) + 0.5
    heights, angles = 1.0 - 2.0 * numbers / count, np.pi * (1.0 + 5.0**0.5) * numbers
    widths = np.sqrt(1.0 - heights**2)
    return np.array(centre) + radius * np.stack([widths * np.cos(angles), widths * np.sin(angles), heights], axis=1)


def hollow_ball(centre=(0.0, 0.0, 0.0), radius=0.45, sides=(1.0, 1.0, 1.0), spacing=0.17):
    """Points of an ellipsoid with a hollow sphere in it, all over and on both surfaces."""
    outer = sphere(round(13.0 / spacing**2)) * sides
    inner = sphere(round(15.0 * radius**2 / spacing**2), radius, centre)
    line = np.arange(-1.0, 1.0, spacing) * 1.2
    grid = np.stack(np.meshgrid(line, line, line), axis=-1).reshape(-1, 3)
    is_inside = np.linalg.norm(grid / sides, axis=1) < 1.0 - 0.6 * spacing
    is_outside = np.linalg.norm(grid - centre, axis=1) > radius + 0.6 * spacing
    return np.concatenate([outer, inner, grid[is_inside & is_outside]])
