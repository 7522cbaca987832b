"""How far off an operator itself expects to be, where it has a covariance of errors."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float

from gola.data.sample import Sample
from gola.operators.cloud import Cloud
from gola.operators.operator import Operator
from gola.operators.scaling import Scaling

# Samples whose covariance is worked out together.
_TOGETHER = 64


@torch.no_grad()
def error_covariance(
    operator: Operator, scaling: Scaling, samples: Sequence[Sample]
) -> Float[np.ndarray, "sample sample"] | None:
    """Return how the errors of new samples should vary together, up to a factor; None where the operator cannot say."""
    if not operator.expects_errors:
        return None
    found = operator.error_covariance(_cloud(operator, scaling, samples))
    return None if found is None else np.asarray(found.numpy())


def expected_spreads(operator: Operator, scaling: Scaling, samples: Sequence[Sample]) -> list[float | None]:
    """Return the sizes of the errors that the operator expects, up to a factor; None where it cannot say."""
    spreads: list[float | None] = []
    for start in range(0, len(samples), _TOGETHER):
        some = samples[start : start + _TOGETHER]
        found = error_covariance(operator, scaling, some)
        spreads += [None] * len(some) if found is None else np.sqrt(np.maximum(found.diagonal(), 0.0)).tolist()
    return spreads


@torch.no_grad()
def held_out_spreads(
    operator: Operator, scaling: Scaling, samples: Sequence[Sample]
) -> Float[np.ndarray, " sample"] | None:
    """Return the same of the training samples, had each been held out."""
    if not operator.expects_errors:
        return None
    found = operator.held_out_variances(_cloud(operator, scaling, samples))
    return None if found is None else np.sqrt(np.maximum(found.numpy(), 0.0))


def _cloud(operator: Operator, scaling: Scaling, samples: Sequence[Sample]) -> Cloud:
    dtype = torch.float32 if operator.normalised else torch.float64
    return scaling.clouds(samples, dtype)
