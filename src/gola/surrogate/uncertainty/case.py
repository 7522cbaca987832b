"""What a prediction is made from, in units that all arithmetic is safe in."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from gola.data.sample import Sample
from gola.operators.scaling import Scaling


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """The input of a prediction: points in the unit box, values and parameters of ordinary size.

    Attributes:
        points: Where the input function is known.
        values: The input function there.
        parameters: Numbers of the whole sample.
    """

    points: Float[np.ndarray, "point dim"]
    values: Float[np.ndarray, "point input"]
    parameters: Float[np.ndarray, " parameter"]

    @staticmethod
    def of(sample: Sample, scaling: Scaling) -> "Case":
        """Take the input of a sample whose numbers are those of the data."""
        return Case(
            points=scaling.frame.encode(sample.points),
            values=sample.inputs / np.array(scaling.input_units) if scaling.input_units else sample.inputs,
            parameters=(
                sample.parameters / np.array(scaling.parameter_units) if scaling.parameter_units else sample.parameters
            ),
        )
