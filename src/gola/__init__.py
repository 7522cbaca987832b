"""Operator learning from few simulations on scattered points."""
