"""What samples are called: by the files that they came from, where these are known."""

from pathlib import PurePath
from typing import Any

import numpy as np

from gola.data.dataset import Dataset


def file_names(data: Dataset) -> list[str]:
    """Return the name of the file that each sample came from; empty texts where it is not known.

    The files of imported samples are listed in the provenance, and so is which samples were kept since.
    """
    files = _told_apart([PurePath(file) for file in data.provenance.get("files", ())])
    for step in data.provenance.get("steps", ()):
        try:
            files = _kept(files, step)
        except IndexError:  # one file held several samples
            break
    return files if len(files) == len(data) else [""] * len(data)


def _told_apart(files: list[PurePath]) -> list[str]:
    """Return the names of files, with their folders where these tell them apart: case_1/T_*.vtu."""
    names = [file.name for file in files]
    return names if len(set(names)) == len(names) else ["/".join(file.parts[-2:]) for file in files]


def _kept(files: list[str], step: dict[str, Any]) -> list[str]:
    """Return the files of the samples that a step keeps; all of them where it changes the points only."""
    if "split" in step:
        if step["num_train"] + step["num_test"] != len(files):  # some were left, or a file held several samples
            return []
        order = np.random.default_rng(step["seed"]).permutation(len(files)).tolist()
        rows = order[: step["num_train"]] if step["split"] == "train" else order[-step["num_test"] :]
    else:
        rows = step.get("select", range(len(files)))
    return [files[row] for row in rows]
