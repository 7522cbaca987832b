"""Look a data set over before learning from it."""

from gola.data.inspection.summary import ChannelSummary, Inspection, inspect

__all__ = ["ChannelSummary", "Inspection", "inspect"]
