# Every target prepares what it needs: system packages, `.venv`, compiled kernels.
# A prepared tree goes straight to work.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
STATIC := src/geocast/static/index.html
WEB := $(shell find web -type f -not -path '*/node_modules/*' -not -path '*/generated/*' 2>/dev/null)
KERNELS := $(shell find src/geocast/match -name '*.py' 2>/dev/null) src/geocast/pipeline/archive.py

.DEFAULT_GOAL := help
.PHONY: help prepare warm web api java browser postgres kafka demo test cluster cluster-stop chaos lint format clean distclean

help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

prepare: java $(VENV)/.ready ## Install what is missing, compile the kernels, build the map page
	@$(MAKE) --no-print-directory --jobs=2 warm web

warm: $(VENV)/.warm

web: $(STATIC) ## Build the map page that the gateway serves

api: $(VENV)/.ready ## Write web/openapi.json anew, after a change to the gateway
	@$(BIN)/python scripts/openapi.py web/openapi.json

demo: prepare ## Match a month of earthquakes on Spark, draw the map, and replay them live
	@$(BIN)/geocast demo --out out

test: java postgres $(VENV)/.ready kafka ## Check style, types and layers, and run all tests
	@scripts/check.sh $(BIN) ruff-check ruff-format mypy lint-imports pytest-early \
	  warm web-check web-test pytest

cluster: prepare postgres kafka ## Run Kafka, PostgreSQL, Spark and the service, several of each, here
	@scripts/cluster.sh start out/cluster

cluster-stop: ## Stop what `make cluster` started, in order
	@scripts/cluster.sh stop out/cluster

chaos: prepare postgres kafka ## Break such a cluster 100 times while it is used, and judge
	@$(BIN)/geocast bench chaos --cluster scripts/cluster.sh --kills $(or $(KILLS),100)

lint: $(VENV)/.ready ## Check style, types and layers only
	@scripts/check.sh $(BIN) ruff-check ruff-format mypy lint-imports

format: $(VENV)/.ready ## Put the source into its standard form
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## Remove caches and output, but not .venv
	@rm -rf out build dist spark-warehouse metastore_db derby.log $(VENV)/.warm \
	  src/geocast/static web/src/generated \
	  .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## Remove .venv and the packages of web/ as well
	@rm -rf $(VENV) web/node_modules

java:
	@scripts/java.sh

browser:
	@scripts/browser.sh

postgres:
	@scripts/postgres.sh install

kafka: java $(VENV)/.ready
	@scripts/kafka_jars.sh $(BIN) >/dev/null

$(VENV)/.ready: pyproject.toml constraints.txt scripts/venv.sh
	@scripts/venv.sh $(VENV)
	@touch $@

$(VENV)/.warm: $(VENV)/.ready $(KERNELS)
	@scripts/warm.sh $(BIN)
	@touch $@

$(STATIC): $(WEB) scripts/web.sh scripts/node.sh | $(VENV)/.ready
	@scripts/web.sh $(VENV)
