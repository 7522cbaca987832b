"""PDE benchmarks: the paper's four on a square, and three on domains that are irregular."""

from typing import Any

from gola.problems.problem import Problem
from gola.registry import PROBLEMS, unknown


def make_problem(name: str, **parameters: Any) -> Problem:
    """Return the problem of that name, with parameters other than its defaults where given.

    >>> make_problem("eikonal", length_scale=0.1).parameters
    {'resolution': 128, 'length_scale': 0.1}
    """
    problem: type[Problem] = PROBLEMS[name]
    known = problem().parameters
    for parameter, value in parameters.items():
        if parameter not in known:
            raise ValueError(unknown(f"parameter of {name}", parameter, known))
        default = known[parameter]
        if isinstance(default, bool | str) != isinstance(value, bool | str) or (
            isinstance(default, int) and isinstance(value, float)
        ):
            raise ValueError(f"{name}: {parameter} must be like its default, {default!r}; got {value!r}.")
    return problem(**parameters)


__all__ = ["Problem", "make_problem"]
