# Every target prepares what it needs: system packages, `.venv`, compiled kernels.
# A prepared tree goes straight to work.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
KERNELS := $(shell find src/geocast/match -name '*.py' 2>/dev/null) src/geocast/pipeline/archive.py

.DEFAULT_GOAL := help
.PHONY: help prepare warm java demo test lint format clean distclean

help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

prepare: java $(VENV)/.ready warm ## Install what is missing, and compile the kernels

warm: $(VENV)/.warm

demo: prepare ## Match a month of earthquakes on Spark, draw the map, and replay them live
	@$(BIN)/geocast demo --out out

test: java $(VENV)/.ready ## Check style, types and layers, and run all tests
	@scripts/check.sh $(BIN) ruff-check ruff-format mypy lint-imports warm pytest

lint: $(VENV)/.ready ## Check style, types and layers only
	@scripts/check.sh $(BIN) ruff-check ruff-format mypy lint-imports

format: $(VENV)/.ready ## Put the source into its standard form
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## Remove caches and output, but not .venv
	@rm -rf out build dist spark-warehouse metastore_db derby.log $(VENV)/.warm \
	  .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## Remove .venv as well
	@rm -rf $(VENV)

java:
	@scripts/java.sh

$(VENV)/.ready: pyproject.toml constraints.txt scripts/venv.sh
	@scripts/venv.sh $(VENV)
	@touch $@

$(VENV)/.warm: $(VENV)/.ready $(KERNELS)
	@scripts/warm.sh $(BIN)
	@touch $@
