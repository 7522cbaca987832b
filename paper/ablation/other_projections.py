"""The spectral operator with sums over points in place of exact integrals."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from gola import evaluate
from gola.geometry import Box, voronoi_weights
from gola.operators.cloud import Cloud
from gola.operators.spectral.projection import with_spectra
from gola.runs import RunConfig


def equal_weights(run: RunConfig) -> np.ndarray:
    """Project on waves by sums in which all points count the same, as the paper does."""
    return _with_weights(run, lambda points: np.full(len(points), 1.0 / len(points)))


def cell_areas(run: RunConfig) -> np.ndarray:
    """Project on waves by sums in which points count by the area of their Voronoi cell."""
    return _with_weights(run, lambda points: voronoi_weights(points, Box.around(points)) / Box.around(points).measure)


def _with_weights(run: RunConfig, weights_of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    def summed(cloud: Cloud, **settings: Any) -> Cloud:
        exact = with_spectra(cloud, **settings)
        assert exact.spectra is not None
        spectra = [
            replace(spectrum, analysis=spectrum.functions.mT * torch.from_numpy(weights_of(points.numpy())).float())
            for spectrum, points in zip(exact.spectra, torch.split(cloud.points.double(), cloud.sizes), strict=True)
        ]
        return replace(exact, spectra=tuple(spectra))

    with patch("gola.operators.spectral.spectral.with_spectra", summed):
        train, test = run.samples()
        assert test is not None
        return evaluate(run.fit(train), test.in_memory()).errors
