"""Interpolation as weights that can be differentiated by where one asks.

The functions here have the names and results of those in :mod:`gola.geometry`, for queries that are tensors. Which
points a query reads is found without derivatives; how much of each is a smooth function of the query as long as it
reads them.
"""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from gola.geometry import cells as plain_cells
from gola.geometry import interpolation as plain_interpolation
from gola.geometry import layers as plain_layers

Weights = tuple[Int[Tensor, "query read"], Float[Tensor, "query read"]]


def interpolation_weights(
    points: Float[np.ndarray, "point dim"], queries: Float[Tensor, "query dim"], degree: plain_interpolation.Degree = 1
) -> Weights:
    """Interpolate between scattered points by local splines."""
    asked = queries.detach().cpu().double().numpy()
    rows, weights = plain_interpolation.interpolation_weights(points, asked, degree)
    if not queries.requires_grad:
        return torch.from_numpy(rows), torch.from_numpy(weights)
    matrix, centre, size = (torch.from_numpy(part) for part in plain_interpolation.spline_systems(points[rows], degree))
    sites = (torch.from_numpy(points[rows]).double() - centre) / size
    query = (queries.cpu().double()[:, None] - centre) / size
    powers = (sites - query).square().sum(dim=2) ** (degree + 0.5)
    at = query[:, 0]
    firsts, seconds = np.triu_indices(at.shape[1])
    products = [at[:, firsts] * at[:, seconds]] if degree == 2 else []
    wanted = torch.cat([powers, torch.ones_like(at[:, :1]), at, *products], dim=1)
    found = torch.linalg.solve(matrix, wanted)
    return torch.from_numpy(rows), found[:, : rows.shape[1]]


def cell_weights(
    nodes: Float[np.ndarray, "node dim"],
    cells: Int[np.ndarray, "cell vertex"],
    queries: Float[Tensor, "query dim"],
) -> Weights:
    """Interpolate in the cells of a mesh by linear finite elements."""
    rows, weights = plain_cells.cell_weights(nodes, cells, queries.detach().cpu().double().numpy())
    if not queries.requires_grad:
        return torch.from_numpy(rows), torch.from_numpy(weights)
    vertices = torch.from_numpy(nodes[rows])
    edges = (vertices[:, 1:] - vertices[:, :1]).mT
    further = torch.linalg.solve(edges, queries.cpu().double() - vertices[:, 0])
    return torch.from_numpy(rows), torch.cat([1.0 - further.sum(dim=1, keepdim=True), further], dim=1)


def line_weights(known: Float[np.ndarray, " known"], asked: Float[Tensor, " asked"]) -> Float[Tensor, "asked known"]:
    """Interpolate along a line by cubic polynomials."""
    places = asked.detach().cpu().double().numpy()
    matrix = torch.zeros(len(places), len(known), dtype=torch.float64)
    for rows, columns in plain_layers.line_stencils(known, places):
        weights = _lagrange(torch.from_numpy(known[columns]), asked.cpu().double()[rows])
        spread = torch.zeros(len(rows), len(known), dtype=torch.float64).scatter(1, torch.from_numpy(columns), weights)
        matrix = matrix.index_copy(0, torch.from_numpy(rows), spread)
    return matrix


def _lagrange(known: Float[Tensor, "asked read"], asked: Float[Tensor, " asked"]) -> Float[Tensor, "asked read"]:
    """Return the Lagrange polynomials of the known places at the asked ones."""
    columns = []
    for one in range(known.shape[1]):
        others = [other for other in range(known.shape[1]) if other != one]
        factors = [(asked - known[:, other]) / (known[:, one] - known[:, other]) for other in others]
        columns.append(torch.stack(factors).prod(dim=0) if factors else torch.ones_like(asked))
    return torch.stack(columns, dim=1)
