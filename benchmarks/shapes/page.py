"""The leaderboard as a page."""

from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks.shapes.ablation import VARIANTS
from benchmarks.shapes.figure import NAMES

INTRODUCTION = """# Leaderboard: every sample its own shape

Data sets whose samples have points of their own, to compare with. Training samples are those with the numbers 0 to 29
(or 99) of a generator seed, test samples the next 100; inputs and targets at all mesh points, of Eikonal at 1,000
random points of the grid. The error is the mean over test samples of the relative L2 error, each target channel divided
by its standard deviation over the training samples. The estimate is the error on held-out training samples, which the
fit tells. Seconds are CPU time of a fit on one core of a busy machine.

```
python -m benchmarks.shapes --problem plate_elasticity --seed 27000 --method fitted_pde
python -m benchmarks.shapes --problem eikonal --seed 27000 --method gola neuralop_gino pyg_meshgraphnet --seconds 60
python -m benchmarks.shapes --page
```

`neuralop_gino` is GINO of the library neuraloperator (latent grid of 16 per axis, FNO with 8 modes and 32 channels),
`pyg_meshgraphnet` a network like MeshGraphNets of PyTorch Geometric's message passing (10 rounds, 64 channels, edges of
the mesh), `gola` the paper's network with its default settings. The first two are trained for 60 CPU seconds on one
core, `gola` for as many epochs as would take that if all were as slow as the first two, which ends sooner. This is far
less than their authors give them: rows say what networks reach in the time that the others take, not what they can
reach. `pod_raster` is POD and thin-plate splines on a raster over the box. One seed where one is shown.

![Error of each method on each problem](images/leaderboard.png)

Obstacles have the seeds 27005 to 27007: errors on 27000, 27003 and 27004 were seen before
[a fault](notebook/shapes.md) was mended. `auto` had 10 minutes of wall time on a busy machine. Rows of
`fitted_pde` from 30 samples are from before it had [further terms](fitted-pde.md), but for the plate with seed 27000.
From 100 samples the first seed of each problem, and of `auto` the first seed of each but the plate, are from before
flow and equation errors, the others from after. These problems need neither.

A line of `results/shapes.jsonl` names the SHA-256 of all points, inputs and targets (float64, in order), rounded to 6
digits of their largest: with the same generator and library versions yours is the same.
"""


ABLATION = """
## What each part buys

Generator seed 27100, 30 training and 100 other samples, everything else as above: `python -m benchmarks.shapes
--ablation`. Copies are those by symmetry. Distances (to the nearest part of the boundary, and to the second nearest),
the size of the nearest and its normals are computed from the points and given to `kernel` as further inputs. The coarse
solution is that of the same problem on a coarse mesh, interpolated; corrected means
[low fidelity](guide/low-fidelity.md). With channels apart, `fitted_pde` cannot read stresses off displacements.
Where a cell is empty, the run has not been made or the variant does not apply.

![Error of each variant on each problem](images/shapes_ablation.png)
"""


def page(lines: list[dict[str, Any]], ablation: list[dict[str, Any]]) -> str:
    """Return the leaderboard, means over seeds, best first; and what each part buys."""
    groups = defaultdict(list)
    for line in lines:
        about = line["problem"], line["num_train"], line.get("num_points")
        groups[about].append(line)
    sections = [_section(*about, some) for about, some in groups.items()]
    return "\n".join([INTRODUCTION, *sections, ABLATION, _variants(ablation)]) + "\n"


def _variants(lines: list[dict[str, Any]]) -> str:
    """Return a table of variants and problems."""
    errors = {(line["variant"], line["problem"]): line["error"] for line in lines}
    names = [one.name for one in VARIANTS if any(line["variant"] == one.name for line in lines)]
    head = f"| variant | {' | '.join(NAMES.values())} |\n|---|{'---|' * len(NAMES)}"
    rows = [
        f"| {name} | " + " | ".join(f"{errors[name, one]:.3f}" if (name, one) in errors else "" for one in NAMES) + " |"
        for name in names
    ]
    return "\n".join([head, *rows])


def _section(problem: str, num_train: int, num_points: int | None, lines: list[dict[str, Any]]) -> str:
    methods = defaultdict(list)
    for line in lines:
        methods[line["operator"]].append(line)
    rows = sorted((float(np.mean([line["error"] for line in some])), name) for name, some in methods.items())
    where = "" if num_points is None else f", {num_points} random points"
    head = "| method | error | by seed | estimate | by channel | seconds |\n|---|---|---|---|---|---|"
    title = f"\n## {problem}, {num_train} samples{where}\n"
    return "\n".join([title, head, *(_row(name, methods[name]) for _, name in rows)])


def _row(name: str, lines: list[dict[str, Any]]) -> str:
    error = np.mean([line["error"] for line in lines])
    single = ", ".join(f"{line['error']:.3f} ({line['seed']})" for line in lines)
    channels = ", ".join(f"{one:.3f}" for one in np.mean([line["channel_errors"] for line in lines], axis=0))
    estimates = [line["estimate"] for line in lines if line.get("estimate") is not None]
    estimate = f"{np.mean(estimates):.3f}" if estimates else ""
    seconds = np.median([line["seconds"] for line in lines])
    return f"| `{name}` | {error:.3f} | {single} | {estimate} | {channels} | {seconds:.0f} |"
