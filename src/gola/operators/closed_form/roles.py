r"""What a group of inputs may be to an operator, and what the way its values were drawn says that it is.

Whoever draws a conductivity between 1 and 100 evenly on a logarithmic scale thinks of it in powers of ten, and whoever
draws a heat load evenly from zero upwards thinks of no load as one of the cases, which no medium and no length has.
Three ways to draw n positive numbers are compared by their marginal likelihoods, with the improper priors of locations
and scales: evenly between two numbers, with the range R and the mean x̄ of the values; evenly between the logarithms of
two numbers, with the range ρ of the logarithms; evenly from zero to a number, with the largest value b:

.. math:: \frac{R^{1 - n}}{n (n - 1)\, \bar x}, \qquad
    \frac{\rho^{1 - n}}{n (n - 1)} \prod_i \frac1{x_i}, \qquad \frac{b^{-n}}n

Of one parameter ten values say little. Parameters whose values are likelier drawn together than apart, like the
conductivities of several materials, are judged together.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from jaxtyping import Float
from torch import Tensor

Drawn = Literal["evenly", "logarithmically", "from zero"]

# Logarithm of how many sizes a parameter might have had: parameters of one size have it hardly by chance.
_COINCIDENCE = math.log(10.0)


@final
@dataclass(frozen=True, kw_only=True)
class Role:
    """What a group of inputs may be, and probably is.

    Attributes:
        may_be_log: Whether it has a logarithm.
        may_be_load: Whether the operator may be linear in it.
        is_likely_log: Whether it was probably drawn on a logarithmic scale; of functions, whether they are positive.
        is_likely_load: Whether it may be a load and has both signs, or was probably drawn from zero upwards.
    """

    may_be_log: bool
    may_be_load: bool
    is_likely_log: bool
    is_likely_load: bool


def roles_of(groups: Sequence[Float[Tensor, "sample _"]], may_be_loads: Sequence[bool]) -> tuple[Role, ...]:
    """Return the role of each group.

    Args:
        groups: The values of each group in all training samples.
        may_be_loads: Which groups the operator may be linear in.
    """
    numbers = {
        place: group[:, 0].numpy()
        for place, group in enumerate(groups)
        if group.shape[1] == 1 and bool((group >= 0.0).all()) and bool((group != group[0]).any())
    }
    how = dict(zip(numbers, drawn_together([*numbers.values()]), strict=True))
    roles = []
    for place, (group, may_be_load) in enumerate(zip(groups, may_be_loads, strict=True)):
        is_positive = bool((group > 0.0).all())
        is_load = bool((group < 0.0).any()) or how.get(place) == "from zero"
        roles.append(
            Role(
                may_be_log=is_positive,
                may_be_load=may_be_load,
                is_likely_log=is_positive and how.get(place, "logarithmically") == "logarithmically",
                is_likely_load=may_be_load and is_load,
            )
        )
    return tuple(roles)


def drawn_together(parameters: Sequence[Float[np.ndarray, " _"]]) -> list[Drawn]:
    """Return how the values of each parameter were drawn, which are different and not negative.

    Parameters are taken together, one pair of sets after the other, while that makes their values likelier.
    """
    sets: dict[tuple[int, ...], tuple[Drawn, float]] = {
        (place,): likeliest(values) for place, values in enumerate(parameters)
    }
    while len(sets) > 1:
        united = {
            (one, other): likeliest(np.concatenate([parameters[place] for place in (*one, *other)]))
            for one, other in itertools.combinations(sets, 2)
        }
        gains = {pair: found[1] - sets[pair[0]][1] - sets[pair[1]][1] for pair, found in united.items()}
        one, other = max(gains, key=gains.__getitem__)
        if not gains[one, other] > -_COINCIDENCE:
            break
        sets = {key: found for key, found in sets.items() if key not in (one, other)}
        sets[*one, *other] = united[one, other]
    by_place = {place: how for places, (how, _) in sets.items() for place in places}
    return [by_place[place] for place in range(len(parameters))]


def likeliest(values: Float[np.ndarray, " _"]) -> tuple[Drawn, float]:
    """Return the likeliest way in which numbers were drawn, not all alike and none negative, and its log likelihood."""
    count = len(values)
    freedom = math.log(count * (count - 1))
    found: dict[Drawn, float] = {
        "evenly": (1 - count) * math.log(np.ptp(values)) - math.log(values.mean()) - freedom,
        "from zero": -count * math.log(values.max()) - math.log(count),
    }
    if values.min() > 0.0:
        logs = np.log(values)
        found["logarithmically"] = (1 - count) * math.log(np.ptp(logs)) - float(logs.sum()) - freedom
    best = max(found, key=found.__getitem__)
    return best, found[best]
