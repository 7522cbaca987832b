"""Runs: a fit with its evaluation, described by settings alone, so that it can be repeated and found again."""

from gola.runs.config import RunConfig

__all__ = ["RunConfig"]
