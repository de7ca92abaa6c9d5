# The two commands a newcomer needs: make demo, make test. Both set up everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := dev
PIP_OPTIONS :=
ifdef CI
EXTRAS := dev,torch
# Byte code is written for what is imported, not for all that is installed.
PIP_OPTIONS := -c constraints.txt --no-compile
endif

.DEFAULT_GOAL := help
.PHONY: help demo test pytest test-plain lint docs bench experiments-quick soak clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(PIP_OPTIONS) -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(PIP_OPTIONS) -e '.[$(EXTRAS)]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed  ## run the main job on generated data
	$(BIN)/rankforce demo

lint: $(VENV)/.installed-dev  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint pytest  ## lint, types and all tests

# The tests start hundreds of processes: byte code is written, also where the environment says not to.
pytest soak: export PYTHONDONTWRITEBYTECODE =
pytest: $(VENV)/.installed-dev  ## all tests
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -q -m "not soak"

test-plain: $(VENV)/.installed-dev  ## the tests of the kernels with the compiler off
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -q -m "not soak and not compiled_only" \
		tests/kernels tests/measures tests/lambdas tests/forces

docs: $(VENV)/.installed-dev  ## the pages and the reference as a site, in site/; broken links are errors
	$(BIN)/python tools/site_pages.py build/pages
	$(BIN)/zensical build --strict
	@echo "open site/index.html"

bench: $(VENV)/.installed-dev  ## all benchmarks, one after the other
	@for file in benchmarks/*.py; do case $$file in */_*) continue;; esac; echo "== $$file"; $(BIN)/python $$file || exit 1; done

experiments-quick: $(VENV)/.installed-dev  ## tables and figures of the papers, small, into reproduced/
	$(BIN)/rankforce reproduce all --quick --out reproduced

soak: $(VENV)/.installed-dev  ## the long tests
	$(BIN)/python -m pytest -q -m soak

clean:  ## remove what was generated
	rm -rf build dist site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
