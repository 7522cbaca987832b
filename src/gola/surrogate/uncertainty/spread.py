"""How far off an operator itself expects to be, where it has a covariance of errors."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float

from gola.data.sample import Sample
from gola.operators.cloud import Cloud
from gola.operators.operator import Operator
from gola.operators.scaling import Scaling


@torch.no_grad()
def error_covariance(
    operator: Operator, scaling: Scaling, samples: Sequence[Sample]
) -> Float[np.ndarray, "sample sample"] | None:
    """Return how the errors of new samples should vary together, up to a factor; None where the operator cannot say."""
    found = operator.error_covariance(_cloud(operator, scaling, samples))
    return None if found is None else np.asarray(found.numpy())


def expected_spread(operator: Operator, scaling: Scaling, sample: Sample) -> float | None:
    """Return the size of the error that the operator expects, up to a factor; None where it cannot say."""
    found = error_covariance(operator, scaling, [sample])
    return None if found is None else float(np.sqrt(max(found[0, 0], 0.0)))


@torch.no_grad()
def held_out_spreads(
    operator: Operator, scaling: Scaling, samples: Sequence[Sample]
) -> Float[np.ndarray, " sample"] | None:
    """Return the same of the training samples, had each been held out."""
    found = operator.held_out_variances(_cloud(operator, scaling, samples))
    return None if found is None else np.sqrt(np.maximum(found.numpy(), 0.0))


def _cloud(operator: Operator, scaling: Scaling, samples: Sequence[Sample]) -> Cloud:
    dtype = torch.float32 if operator.normalised else torch.float64
    clouds = [scaling.cloud(one.points, one.inputs, dtype, parameters=one.parameters) for one in samples]
    return clouds[0] if len(clouds) == 1 else Cloud.collate(clouds)
