"""PDE benchmarks: the paper's four on a square, and three on domains that are irregular."""

import difflib
from typing import Any

from gola.problems.advection import Advection
from gola.problems.darcy import Darcy
from gola.problems.eikonal import Eikonal
from gola.problems.heat_sink import HeatSink
from gola.problems.nonlinear_diffusion import NonlinearDiffusion
from gola.problems.perforated_darcy import PerforatedDarcy
from gola.problems.plate_elasticity import PlateElasticity
from gola.problems.problem import Problem

PROBLEMS: dict[str, type[Problem]] = {
    "darcy": Darcy,
    "advection": Advection,
    "eikonal": Eikonal,
    "nonlinear_diffusion": NonlinearDiffusion,
    "perforated_darcy": PerforatedDarcy,
    "plate_elasticity": PlateElasticity,
    "heat_sink": HeatSink,
}


def make_problem(name: str, **parameters: Any) -> Problem:
    """Return the problem of that name, with parameters other than its defaults where given.

    >>> make_problem("eikonal", length_scale=0.1).parameters
    {'resolution': 128, 'length_scale': 0.1}
    """
    if name not in PROBLEMS:
        raise ValueError(f"There is no problem {name!r}{_hint(name, PROBLEMS)} The problems are {', '.join(PROBLEMS)}.")
    problem = PROBLEMS[name]
    known = problem().parameters
    for parameter, value in parameters.items():
        if parameter not in known:
            hint = _hint(parameter, known)
            raise ValueError(f"{name} has no parameter {parameter!r}{hint} Its parameters are {', '.join(known)}.")
        default = known[parameter]
        if isinstance(default, bool | str) != isinstance(value, bool | str) or (
            isinstance(default, int) and isinstance(value, float)
        ):
            raise ValueError(f"{name}: {parameter} must be like its default, {default!r}; got {value!r}.")
    return problem(**parameters)


def _hint(name: str, known: dict[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else "."


__all__ = ["PROBLEMS", "Problem", "make_problem"]
