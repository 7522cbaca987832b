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
