"""PDE benchmarks: the paper's four on a square, three on irregular domains, and seven of kinds that engineers have."""

from typing import Any

from gola.problems.problem import Problem
from gola.registry import PROBLEMS, unknown


def make_problem(name: str, **settings: Any) -> Problem:
    """Return the problem of that name, with settings other than its defaults where given.

    >>> make_problem("eikonal", length_scale=0.1).settings
    {'resolution': 128, 'length_scale': 0.1}
    """
    problem: type[Problem] = PROBLEMS[name]
    known = problem().settings
    for setting, value in settings.items():
        if setting not in known:
            raise ValueError(unknown(f"setting of {name}", setting, known))
        default = known[setting]
        if isinstance(default, bool | str) != isinstance(value, bool | str) or (
            isinstance(default, int) and isinstance(value, float)
        ):
            raise ValueError(f"{name}: {setting} must be like its default, {default!r}; got {value!r}.")
    return problem(**settings)


__all__ = ["Problem", "make_problem"]
