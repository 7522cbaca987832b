"""The linear operator: its priors, how they are chosen, and the steps that refine it."""

from gola.operators.linear.linear import Linear, LinearConfig

__all__ = ["Linear", "LinearConfig"]
