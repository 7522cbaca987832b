# Every command works on a fresh machine with Python 3.11 or newer: the first call makes .venv and installs into it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test slow coverage lint types bench docs format clean

demo: $(INSTALLED)
	$(BIN)/gola demo

test: $(INSTALLED)
	$(BIN)/pytest --numprocesses 2 -m "not slow"

# Builds the package, and uses it in a fresh environment without extras.
slow: $(INSTALLED)
	$(BIN)/pytest -m slow

coverage: $(INSTALLED)
	$(BIN)/pytest --numprocesses 2 -m "not slow" --cov --cov-report term

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks

# The paper's tables and figures: `make paper TARGET=table1 DRY=1` lists the runs, without DRY it does the missing ones.
.PHONY: paper
TARGET ?= report
paper: $(INSTALLED)
	$(BIN)/python -m paper $(TARGET) $(if $(DRY),--dry-run) $(OPTIONS)

docs: $(INSTALLED)
	$(BIN)/mkdocs build --strict

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) demo site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage dist

# The stamp is newer than what it was installed from, so a second call installs nothing.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "gola needs Python 3.11 or newer; name one with: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[all,dev]'
	@touch $@
