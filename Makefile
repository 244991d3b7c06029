# Two commands do everything: `make demo` shows the main job, `make test` proves it.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# Many tests start processes of their own; without compiled modules each of them would compile four hundred anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: bench coverage demo kill kill-all lint mutants profile records spec test clean

demo: $(VENV)/.installed
	$(BIN)/reference-runtime demo --captures build/demo
	$(BIN)/runtime-validate check --fail-on may build/demo
	$(BIN)/runtime-validate selftest

test: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/runtime-validate spec check
	$(BIN)/pytest -n auto --dist worksteal

bench: $(VENV)/.installed
	$(BIN)/python -m tests.bench.bench
	$(BIN)/python -m tests.bench.limits
	$(BIN)/python -m tests.bench.growth
	$(BIN)/python -m tests.bench.commands
	$(BIN)/python -m tests.bench.startup
	$(BIN)/python -m tests.bench.durable

profile: $(VENV)/.installed
	$(BIN)/python -m tests.bench.profile

mutants: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[mutation]'
	$(BIN)/python -m tests.mutation

coverage: $(VENV)/.installed
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n auto --dist worksteal
	$(BIN)/coverage combine --quiet
	rm -f .coverage.*  # what a killed process left cannot be read
	$(BIN)/coverage report
	$(BIN)/coverage report --fail-under=100 --include='validator/protocol/*,validator/replay/*,validator/rules/*'

records: $(VENV)/.installed
	$(BIN)/python -m tests.conformance.recorded

kill: $(VENV)/.installed
	$(BIN)/python -m validator.testing.mutators --write
	$(BIN)/runtime-validate spec build

kill-all: $(VENV)/.installed
	$(BIN)/python -m validator.testing.mutators --all

lint: $(VENV)/.installed
	$(BIN)/ruff check .

spec: $(VENV)/.installed
	$(BIN)/runtime-validate spec build

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .coverage*
