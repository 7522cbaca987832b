"""`auto` beside what engineers use, on the same splits: ``python -m benchmarks.engineering``."""
