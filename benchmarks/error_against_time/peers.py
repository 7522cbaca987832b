"""Libraries that others use: neuraloperator's FNO and GINO, PyTorch Geometric's GKN and layers, EZyRB and SMT.

Networks get the coordinates besides the inputs, normalised values, Adam with a cosine schedule, and one sample per
step. Parameters are constant channels.
"""

import math
import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.engineering.cases import Split
from benchmarks.engineering.libraries import ezyrb_gpr, ezyrb_rbf, smt_kriging
from benchmarks.engineering.references import by_pod, features
from benchmarks.error_against_time.mesh_graph_net import mesh_graph_net
from gola.data.sample import Sample
from gola.graph import radius_for, radius_neighbourhood
from gola.operators.baselines.gridding import lattice_of
from gola.operators.scaling import Scaling

Example = tuple[Tensor, Tensor, Tensor]
"""Points, inputs and targets of a sample, as networks see them."""
Outcome = tuple[list[np.ndarray], float]


def snapshots(split: Split, name: str) -> Outcome | None:
    """Return what a library makes of snapshots on one mesh, where only parameters differ."""
    if not split.has_nodes or split.train.inputs:
        return None
    model = {"ezyrb_rbf": ezyrb_rbf, "ezyrb_gpr": ezyrb_gpr, "smt_kriging": partial(by_pod, smt_kriging)}[name]
    given = features(split, logarithmic=True) or features(split, logarithmic=False)
    assert given is not None
    start = time.process_time()
    found = model(given[0], split.snapshots(split.train), given[1])
    shape = split.test[0].targets.shape
    return [row.reshape(shape) * split.scales for row in found], time.process_time() - start


def network(split: Split, name: str, budget: float) -> Outcome | None:
    """Train a network for so many seconds; None where it does not apply."""
    torch.manual_seed(0)
    scaling = Scaling.fit(list(split.train))
    train, test = ([_example(sample, scaling) for sample in data] for data in (split.train, split.test))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {"neuralop_fno": _fno, "neuralop_gino": _gino, "pyg_gkn": _gkn, "pyg_meshgraphnet": mesh_graph_net}[
            name
        ](train)
        if made is None:
            return None
        module, predict = made
        _train(module, predict, train, budget)
        seconds = time.process_time() - start
        with torch.no_grad():
            found = [scaling.decode(predict(points, values).double()).numpy() for points, values, _ in test]
    return found, seconds


def _example(sample: Sample, scaling: Scaling) -> Example:
    cloud = scaling.cloud(sample.points, sample.inputs, parameters=sample.parameters).with_parameters_as_values()
    return cloud.points, torch.cat([cloud.values, cloud.points], dim=1), scaling.encode(sample.targets)


def _train(module: nn.Module, predict: Callable[..., Tensor], train: list[Example], budget: float) -> None:
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-3, weight_decay=1e-4)
    generator, start = torch.Generator().manual_seed(0), time.process_time()
    while (share := (time.process_time() - start) / budget) < 1.0:
        for group in optimiser.param_groups:
            group["lr"] = 1e-3 * 0.5 * (1.0 + math.cos(math.pi * share))
        points, values, targets = train[int(torch.randint(len(train), (1,), generator=generator))]
        loss = (predict(points, values) - targets).norm() / targets.norm()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def _fno(train: list[Example]) -> tuple[nn.Module, Callable[..., Tensor]] | None:
    """The library's FNO, on data that lie on a grid."""
    from neuralop.models import FNO

    points, values, targets = train[0]
    found = lattice_of(points)
    if found is None or any(not torch.equal(points, one[0]) for one in train):
        return None
    lattice, rows = found
    modes = (16,) if len(lattice.shape) == 1 else (8,) * len(lattice.shape)
    module = FNO(n_modes=modes, in_channels=values.shape[1], out_channels=targets.shape[1], hidden_channels=32)

    def predict(_: Tensor, given: Tensor) -> Tensor:
        on_grid = given[rows].T.unflatten(1, lattice.shape)[None]
        flat = module(on_grid)[0].flatten(1).T
        return torch.zeros_like(flat).index_copy(0, rows, flat)

    return module, predict


def _gino(train: list[Example]) -> tuple[nn.Module, Callable[..., Tensor]]:
    """The library's GINO: graph layers from the points to a latent grid and back, and an FNO on that."""
    from neuralop.models import GINO

    points, values, targets = train[0]
    dim, side = points.shape[1], 16
    radius = 1.5 / side * dim**0.5
    module = GINO(
        in_channels=values.shape[1], out_channels=targets.shape[1], gno_coord_dim=dim, in_gno_radius=radius,
        out_gno_radius=radius, fno_in_channels=values.shape[1], fno_n_modes=(8,) * dim,
        fno_hidden_channels=32, fno_n_layers=4,
        in_gno_channel_mlp_hidden_layers=[32, 32], out_gno_channel_mlp_hidden_layers=[32, 32],
        gno_use_open3d=False, gno_use_torch_scatter=False,
    )  # fmt: skip
    axis = torch.linspace(0.0, 1.0, side)
    grid = torch.stack(torch.meshgrid(*[axis] * dim, indexing="ij"), dim=-1)[None]

    def predict(places: Tensor, given: Tensor) -> Tensor:
        out: Tensor = module(places[None], grid, places, x=given[None])
        return out[0]

    return module, predict


def _gkn(train: list[Example]) -> tuple[nn.Module, Callable[..., Tensor]]:
    """The graph kernel network of PyTorch Geometric's NNConv."""
    from torch_geometric.nn import NNConv

    points, values, targets = train[0]
    width, num_edge = 16, 2 * values.shape[1]
    kernel = nn.Sequential(nn.Linear(num_edge, 32), nn.ReLU(), nn.Linear(32, width**2))
    layer = NNConv(width, width, kernel, aggr="mean")
    lift, project = nn.Linear(values.shape[1], width), nn.Linear(width, targets.shape[1])
    module = nn.ModuleList([lift, layer, project])
    radius = radius_for(points.double().numpy(), min(12, (len(points) - 1) / 2))
    known: dict[bytes, Tensor] = {}

    def predict(places: Tensor, given: Tensor) -> Tensor:
        key = places.numpy().tobytes()
        if key not in known:
            lists = radius_neighbourhood(places.numpy(), radius)
            known[key] = torch.stack([lists.senders, lists.receivers]).long()
        edges = known[key]
        attributes = torch.cat([given[edges[1]], given[edges[0]]], dim=1)
        features = lift(given)
        for _ in range(4):
            features = torch.relu(layer(features, edges, attributes))
        out: Tensor = project(features)
        return out

    return module, predict
