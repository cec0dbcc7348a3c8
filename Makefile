# A machine needs Python 3.11 or later and make, no more: each target sets up what it lacks.

VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

# What decides verdicts and charges, the pure core of the import contracts, is held to a higher bar.
CORE = $(shell $(BIN)/python -c "import tomllib; \
	contracts = tomllib.load(open('pyproject.toml', 'rb'))['tool']['importlinter']['contracts']; \
	(core,) = (entry['source_modules'] for entry in contracts if entry['id'] == 'pure-core'); \
	paths = ['*/' + module.replace('.', '/') for module in core]; \
	print(','.join(path + end for path in paths for end in ('.py', '/*.py')))")
CORE_COVERAGE := 99

.PHONY: help venv demo test lint format typing bench score docs docs-check clean

help: ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(VENV)/.dev ## make the development environment in $(VENV)

demo: $(VENV)/.sinks ## tasks die for real, failhook tells why, to lineage, traces and people; under 30 s
	@$(BIN)/failhook demo --events $(VENV)/demo.jsonl
	@$(BIN)/python examples/three_views.py $(VENV)/demo.jsonl

test: $(VENV)/.dev ## run the tests, on every core, with coverage
	$(BIN)/pytest -n auto --maxprocesses=8 --dist=loadfile --cov --cov-report=term-missing:skip-covered
	@echo "coverage of the policy core, at least $(CORE_COVERAGE):"
	@$(BIN)/coverage report --include="$(CORE)" --fail-under=$(CORE_COVERAGE) --format=total || \
		{ $(BIN)/coverage report --include="$(CORE)"; exit 1; }

lint: $(VENV)/.dev ## style, format and import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

format: $(VENV)/.dev ## put the style right where a tool can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

typing: $(VENV)/.dev ## mypy and pyright, both strict
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/.dev ## print the ratios of docs/benchmarks.md
	$(BIN)/python -m tests.benchmarks

score: $(VENV)/.dev ## print how right the verdicts are on the real failures in tests/cases
	$(BIN)/python -m tests.score

docs: $(VENV)/.dev ## write the generated parts of the docs anew
	$(BIN)/python docs/generate.py

docs-check: $(VENV)/.dev ## fail where a generated part is out of date
	$(BIN)/python docs/generate.py --check

clean: ## remove everything that these targets made
	rm -rf $(VENV) build dist .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# --- set-up -----------------------------------------------------------------------------------

$(VENV)/.sinks: pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --quiet --editable '.[openlineage,otel,slack]'
	@touch $@

# pip learnt dependency groups in 25.1; the one that comes with Python 3.11 is older.
$(VENV)/.dev: pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --editable . --group dev
	@touch $@ $(VENV)/.sinks

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "failhook needs Python 3.11 or later; none was found." \
		"Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual" \
		"environments. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
