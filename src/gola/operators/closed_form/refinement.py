"""Representations of solutions at scattered points, where the usual one limits the predictions."""

from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor

from gola.operators.closed_form.samples import Samples
from gola.representation.common_nodes import by_cosines, by_splines, common_nodes, error_between_points, through
from gola.representation.function_space import FunctionSpace
from gola.representation.nodal import DEGREES, NodalSpace

# A representation limits the predictions if it leaves more than this share of their error, and more than this at all.
LIMITING, NEGLIGIBLE = 0.2, 5e-4
# Nodes must leave less than this share of what cosines leave: they know no symmetry and take longer to evaluate.
_MUCH_BETTER = 0.7


def is_limiting(representation_error: float, error: float) -> bool:
    """Whether what a representation leaves between points matters beside the error of predictions."""
    return representation_error > max(LIMITING * error, NEGLIGIBLE)


def between_points(space: FunctionSpace, samples: Samples) -> float:
    """Return what a space leaves of solutions at points that are held out."""
    return error_between_points(by_cosines(space), samples.points, _scaled(samples))


def refined(
    space: FunctionSpace, error: float, samples: Samples, with_modes: Callable[[int], FunctionSpace]
) -> tuple[FunctionSpace | NodalSpace, float] | None:
    """Return a space that leaves less between points, and how much; None if there is none.

    Twice as many functions are tried, also more than a sample has points: penalties then decide between them. They are
    as fine everywhere. Where points are dense at fronts and tips, local splines through them are many times better.

    Args:
        space: The space so far.
        error: What it leaves between points.
        samples: The samples.
        with_modes: Makes a space with about so many functions, if the points allow it.
    """
    wider = with_modes(2 * space.num_modes)
    best, least = (wider, between_points(wider, samples)) if wider.num_modes > space.num_modes else (space, error)
    # Space and time have no common unit of distance, which local splines take for granted.
    if not samples.has_time_axis:
        nodes, values = common_nodes(samples.points), _scaled(samples)
        errors = {degree: error_between_points(through(nodes, degree), samples.points, values) for degree in DEGREES}
        degree = min(DEGREES, key=errors.__getitem__)
        if errors[degree] < _MUCH_BETTER * min(least, error):
            at_nodes = [by_splines(*one, nodes, degree) for one in zip(samples.points, samples.targets, strict=True)]
            return NodalSpace.spanning(nodes, at_nodes, gathering=degree), errors[degree]
    return (best, least) if least < error else None


def _scaled(samples: Samples) -> Sequence[Float[Tensor, "_ target_channel"]]:
    return [values / samples.target_scales for values in samples.targets]
