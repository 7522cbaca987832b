"""Where the command line writes to."""

from rich.console import Console

output = Console(highlight=False)
errors = Console(stderr=True, highlight=False, markup=True)
