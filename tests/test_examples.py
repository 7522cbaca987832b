"""Every example runs as it stands."""

import os
import re
import subprocess
import sys
from math import pi
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name, *options):
    command = [sys.executable, str(EXAMPLES / name), *map(str, options)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    return done.stdout


def test_the_weights_of_the_plate_sum_to_its_area(tmp_path):
    said = run("scattered_plate.py", tmp_path / "plate.png")
    area, total = map(float, re.search(r"area ([\d.]+), sum of the quadrature weights ([\d.]+)", said).groups())
    assert area == pytest.approx(1.0 - pi * (0.15**2 + 0.1**2), abs=2e-3)
    assert total == pytest.approx(area, abs=2e-3)
    assert float(re.search(r"neighbours ([\d.]+)", said).group(1)) == pytest.approx(12.0, abs=0.5)
    assert (tmp_path / "plate.png").read_bytes().startswith(b"\x89PNG")


def test_gradients_find_a_better_design_than_all_simulations():
    said = run("inverse_design.py")
    nearest, *found = map(float, re.findall(r"([\d.]+) % from the wanted field", said))
    assert min(found) < 0.3 * nearest


def test_suggested_simulations_are_solved_and_added():
    said = run("active_design.py", 0, 1, 2)
    assert re.search(r"12 simulations: error [\d.]+ where suggested, [\d.]+ at random", said)
