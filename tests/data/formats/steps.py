"""Trajectories in files, as solvers write them."""

import meshio
import numpy as np
from scipy.spatial import Delaunay

TIMES = (0.0, 0.1, 0.5, 2.0)
POINTS = np.concatenate([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], np.random.default_rng(0).random((12, 2))])
CELLS = Delaunay(POINTS).simplices.astype(np.int64)


def temperature(case, time):
    return (1.0 + case) * POINTS[:, 0] + time


def mesh(case, time, *, points=POINTS, **further):
    """One time of a case: T changes with time, the vector U and k do not, and c on cells does."""
    return meshio.Mesh(
        np.pad(points, ((0, 0), (0, 1))),
        [("triangle", CELLS)],
        point_data={
            "T": temperature(case, time),
            "U": np.pad(points, ((0, 0), (0, 1))) * (1.0 + case),
            "k": points[:, 1] * case,
            **further,
        },
        cell_data={"c": [np.full(len(CELLS), time)]},
    )


def write_numbered(folder, numbers=(0, 1, 2, 10), cases=(0, 1, 2)):
    """Write case_0/T_0000.vtu, case_0/T_0001.vtu, …"""
    for case in cases:
        (folder / f"case_{case}").mkdir(parents=True)
        for number, time in zip(numbers, TIMES, strict=True):
            mesh(case, time).write(folder / f"case_{case}/T_{number:04d}.vtu")
    return str(folder / "case_*/T_*.vtu")


def write_pvd(folder, entries, name="all.pvd"):
    """Write a ParaView collection of files with their times."""
    listed = "".join(f'<DataSet timestep="{time}" group="" part="0" file="{file}"/>\n' for time, file in entries)
    text = f'<?xml version="1.0"?>\n<VTKFile type="Collection"><Collection>\n{listed}</Collection></VTKFile>'
    (folder / name).write_text(text)
    return folder / name
