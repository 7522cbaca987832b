"""Samples, data sets, their files, and what an operator sees of them."""
