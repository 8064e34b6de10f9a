# The two commands to know: `make demo` and `make test`.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check bench tools update-golden facts compile clean

demo: $(STAMP)
	@rm -rf build/k3s-lab
	@$(BIN)/gitops-gen render clusters/k3s-lab/cluster.yaml --output build
	@echo
	@$(BIN)/gitops-gen plan clusters/k3s-lab/cluster.yaml 2>/dev/null
	@echo
	@echo "The tree of the example cluster k3s-lab is in build/k3s-lab. Next:"
	@echo "  read build/k3s-lab/README.md and clusters/k3s-lab/cluster.yaml"
	@echo "  $(BIN)/gitops-gen why clusters/k3s-lab gpu-operator:toolkit"
	@echo "  in a Git repository of your own: $(CURDIR)/$(BIN)/gitops-gen init clusters/mine/cluster.yaml"

# Without helm some tests are skipped, save in continuous integration, where they fail.
test: demo
	@$(BIN)/python -m gitops_gen.maintain.tools || test -z "$$CI"
	$(BIN)/python -m pytest -n auto --maxprocesses 8 -q

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m gitops_gen.maintain.compile --check
	$(BIN)/python -m gitops_gen.maintain.schema --check

bench: $(STAMP)
	$(BIN)/python benchmarks/bench.py --write

tools: $(STAMP)
	@$(BIN)/python -m gitops_gen.maintain.tools

update-golden: $(STAMP)
	$(BIN)/python -m pytest -q tests/test_golden.py tests/test_invalid.py --update-golden

facts: $(STAMP)
	$(BIN)/python -m gitops_gen.maintain.compile --check
	$(BIN)/python -m gitops_gen.maintain.derive --check

compile: $(STAMP)
	$(BIN)/python -m gitops_gen.maintain.compile
	$(BIN)/python -m gitops_gen.maintain.schema

clean:
	rm -rf build dist .venv .tools

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "gitops-gen needs Python 3.11 or later, found: $$(python3 --version 2>&1 || true)" >&2; \
	  echo "install it (Debian: apt install python3 python3-venv) or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module: install it (Debian: apt install python3-venv)" >&2; exit 1; }
	@command -v git >/dev/null || { echo "git is missing: install it (Debian: apt install git)" >&2; exit 1; }
	@echo "installing into $(VENV) (once; takes about half a minute)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)
