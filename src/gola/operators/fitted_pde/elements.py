"""A sample's own mesh as tensors: linear finite elements on the region that its points fill."""

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.geometry.filling import filling
from gola.geometry.voids import signed_volumes

# A facet lies on a face of the box if its normal points there and it is nearer to it than this share of its size.
_ALONG, _NEAR = 0.7, 0.75


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Elements:
    """Linear finite elements.

    Attributes:
        points: Nodes.
        cells: Simplices between the points.
        slopes: Gradients of the hat functions of the corners of each cell.
        volumes: Of the cells.
        facets: Of the boundary.
        areas: Of the facets.
        normals: Outward unit normals of the facets.
        parts: The part of the boundary that each facet belongs to: the faces of the box around all samples, lower
            and upper along each axis, then the rest of the outer boundary, then holes.
        stand_ins: For each point itself, or the point whose value it takes because it has no cells.
    """

    points: Float[Tensor, "point dim"]
    cells: Int[Tensor, "cell vertex"]
    slopes: Float[Tensor, "cell vertex dim"]
    volumes: Float[Tensor, " cell"]
    facets: Int[Tensor, "facet corner"]
    areas: Float[Tensor, " facet"]
    normals: Float[Tensor, "facet dim"]
    parts: Int[Tensor, " facet"]
    stand_ins: Int[Tensor, " point"]

    @staticmethod
    def of(points: Float[Tensor, "point dim"], box: Float[Tensor, "2 dim"]) -> "Elements":
        """Make the elements of a sample, whose points lie in a box."""
        places = points.detach().cpu().double().numpy()
        found = filling(places)
        edges = places[found.cells[:, 1:]] - places[found.cells[:, :1]]
        further = np.linalg.inv(edges).transpose(0, 2, 1)
        slopes = np.concatenate([-further.sum(axis=1, keepdims=True), further], axis=1)
        parts = _parts(places[found.facets], found.normals, found.at_hole, box.double().numpy())
        arrays = {
            "points": places,
            "cells": found.cells,
            "slopes": slopes,
            "volumes": np.abs(signed_volumes(places[found.cells])),
            "facets": found.facets,
            "areas": found.areas,
            "normals": found.normals,
            "parts": parts,
            "stand_ins": found.stand_ins,
        }
        return Elements(**{name: torch.from_numpy(np.ascontiguousarray(one)) for name, one in arrays.items()})

    @property
    def num_points(self) -> int:
        """Number of points."""
        return len(self.stand_ins)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.slopes.shape[2]

    def gradients(self, values: Float[Tensor, "point channel"]) -> Float[Tensor, "cell channel dim"]:
        """Return the gradient of a function in each cell."""
        return torch.einsum("cvd,cvk->ckd", self.slopes, values[self.cells])

    def nodal(self, cell_values: Float[Tensor, "cell channel"]) -> Float[Tensor, "point channel"]:
        """Return means over the cells around each point, by volume."""
        shares = self.volumes[:, None].expand(-1, self.cells.shape[1]).reshape(-1)
        rows = self.cells.flatten()
        total = shares.new_zeros(self.num_points).index_add(0, rows, shares)
        spread = (self.volumes[:, None] * cell_values)[:, None].expand(-1, self.cells.shape[1], -1).flatten(0, 1)
        sums = spread.new_zeros(self.num_points, cell_values.shape[1]).index_add(0, rows, spread)
        return (sums / total.clamp(min=torch.finfo(total.dtype).tiny)[:, None])[self.stand_ins]


def num_parts(dim: int) -> int:
    """Return how many parts a boundary has: the faces of a box, the rest of the outer boundary, and holes."""
    return 2 * dim + 2


def _parts(
    corners: Float[np.ndarray, "facet corner dim"],
    normals: Float[np.ndarray, "facet dim"],
    at_hole: np.ndarray,
    box: Float[np.ndarray, "2 dim"],
) -> Int[np.ndarray, " facet"]:
    dim = normals.shape[1]
    sizes = np.ptp(corners, axis=1).max(axis=1)
    parts = np.full(len(corners), 2 * dim)
    for axis in range(dim):
        for side, sign in enumerate((-1.0, 1.0)):
            near = np.abs(corners[:, :, axis].mean(axis=1) - box[side, axis]) < _NEAR * sizes
            parts[near & (sign * normals[:, axis] > _ALONG)] = 2 * axis + side
    parts[at_hole] = 2 * dim + 1
    return parts
