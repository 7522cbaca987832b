"""The tests, and the checker that pytest applies to every annotated function of gola (see pyproject.toml)."""

from beartype import BeartypeConf, beartype

# As for mypy, an int will do where a float is asked for.
shape_checker = beartype(conf=BeartypeConf(is_pep484_tower=True))
