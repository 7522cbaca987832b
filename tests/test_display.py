import subprocess
import sys

CODE = """
import time
from gola.display import Display

with Display("Fitting", enabled={enabled}) as display:
    display.update("linear", done={done}, total=10)
    time.sleep({seconds})
"""


def shown(seconds, *, enabled=True, done=0):
    code = CODE.format(seconds=seconds, enabled=enabled, done=done)
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stderr


def test_a_call_that_takes_long_says_what_it_does_and_for_how_long():
    assert shown(2.0).startswith("Fitting: linear, ")


def test_the_time_left_is_told_where_it_is_known():
    (line,) = shown(2.0, done=5).splitlines()
    assert line.startswith("Fitting: linear, 5 of 10, ")
    assert line.endswith(" s left")


def test_short_calls_and_silenced_ones_show_nothing():
    assert shown(0.0) == shown(2.0, enabled=False) == ""
