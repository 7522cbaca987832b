"""Operators: maps between functions known at scattered points, all behind one interface."""

from gola.operators.gola import Gola, GolaConfig
from gola.operators.operator import Operator, OperatorConfig
from gola.operators.queries import Queries

OPERATORS: dict[str, type[Operator]] = {operator.name: operator for operator in (Gola,)}

__all__ = ["OPERATORS", "Gola", "GolaConfig", "Operator", "OperatorConfig", "Queries"]
