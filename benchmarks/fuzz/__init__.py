"""Damage files of every kind, load them as users do, and count what happens.

``python -m benchmarks.fuzz --cases 5000 --seed 1`` prints a table and writes it to results/fuzz.csv;
``python -m benchmarks.fuzz.kill --times 200`` kills commands at random moments and looks at what they leave.
"""
