"""Bands, forecasts and suggestions, judged by what happens: ``python -m benchmarks.trust``."""
