"""Fit operators to samples: the training loop, and the automatic choice among operators."""
