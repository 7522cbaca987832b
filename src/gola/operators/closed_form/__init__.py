"""Operators that a few matrix decompositions fit: baselines that are hard to beat, and what they share."""
