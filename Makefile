# Everything a person or a machine does with a checkout of Cardan. `make` alone tells what there is.

HOST ?= 127.0.0.1
PORT ?= 8000
PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
SCENES ?= 150
SEED ?= 1
EXAMPLES ?= 20
NAME ?= change of tables
# tests of a file stay together: they share servers and what they compiled; tests/conftest.py sorts files
PYTEST_WORKERS ?= -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input

# without byte code every process that a test starts would compile four hundred modules
unexport PYTHONDONTWRITEBYTECODE

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup setup-test run warmup test contract fast pytest boundscheck plain check lint types contracts page-types browser \
        chart bench bench-contacts bench-scaling bench-bulk bench-ray bench-rollout bench-gpu bench-articulated bench-families algorithms formulations verify trust solvers lock \
        cluster-test manual revision image-steps image-lint wheel clean

help: ## this list
	@echo "make TARGET, with these targets:"
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  \1\t\2/' | expand -t 16
	@echo "Variables: HOST ($(HOST)), PORT ($(PORT)), PYTHON ($(PYTHON)), PYTEST_ARGS"

# --- what the other targets stand on -------------------------------------------------------------

$(VENV)/.packages: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Cardan needs Python 3.11 or newer; '$(PYTHON)' is not. Name another: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Installing into $(VENV) (once; hashes are checked against requirements.lock)"
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "'$(PYTHON) -m venv' does not work here. Debian and Ubuntu have it in the package python3-venv." >&2; exit 1; }
	@$(PIP) install --quiet --require-hashes -r requirements.lock
	@$(PIP) install --quiet --no-index --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.test-packages: requirements-test.lock $(VENV)/.packages
	@echo "Installing what the tests need"
	@$(PIP) install --quiet --require-hashes -r requirements-test.lock
	@touch $@

# robots that other packages ship, and Pinocchio to compare with: large, and tests without them skip
$(VENV)/.robot-packages: requirements-robots.lock $(VENV)/.test-packages
	@echo "Installing the robots that tests import (300 MB, once)"
	@$(PIP) install --quiet --require-hashes -r requirements-robots.lock && touch $@ || \
	  echo "robots: SKIPPED, they could not be installed; tests that need them will skip" >&2

# drivers of PostgreSQL and S3, and an S3 server for the tests; not part of $(VENV): the server pins older packages
$(VENV)-cluster/.packages: requirements-cluster-test.lock pyproject.toml
	@echo "Installing into $(VENV)-cluster what the tests of shared storage need (once)"
	@$(PYTHON) -m venv $(VENV)-cluster
	@$(VENV)-cluster/bin/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes -r $<
	@$(VENV)-cluster/bin/python -m pip --disable-pip-version-check --no-input install --quiet --no-index --no-deps --no-build-isolation --editable .
	@touch $@

setup: $(VENV)/.packages ## the packages, in .venv
setup-test: $(VENV)/.test-packages $(VENV)/.robot-packages ## the packages with those of the tests

# --- use -----------------------------------------------------------------------------------------

run: setup ## page and API on http://HOST:PORT
	@$(BIN)/cardan serve --host $(HOST) --port $(PORT)

warmup: setup ## compile the engine (once per version of its sources)
	@$(BIN)/cardan warmup

# --- checks --------------------------------------------------------------------------------------

test: setup ## checks, then all tests; the engine is compiled while packages are installed
	@status=0; \
	$(BIN)/cardan warmup >/dev/null 2>&1 & \
	$(MAKE) --no-print-directory check || status=1; \
	wait; \
	$(MAKE) --no-print-directory pytest || status=1; \
	if [ $$status -ne 0 ]; then echo "make test: something above failed" >&2; fi; \
	exit $$status

# what breaks most often when something breaks: two minutes on two cores with compiled kernels
FAST := tests/architecture tests/schemas tests/laws/test_determinism.py tests/laws/test_free_body.py \
        tests/laws/test_momentum.py tests/laws/test_energy.py tests/laws/test_capacity.py \
        tests/engine/test_simulation.py tests/service/api/test_simulations.py

contract: setup-test ## a real server is asked for all that its OpenAPI document says (EXAMPLES=20)
	@CONTRACT_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest tests/service/test_contract.py $(PYTEST_ARGS)

fast: setup-test ## what matters most, in two minutes
	@$(BIN)/cardan warmup
	@$(BIN)/python -m pytest $(PYTEST_WORKERS) -m "not slow" --durations=5 $(FAST) $(PYTEST_ARGS)

pytest: setup-test browser ## all tests without the checks (PYTEST_ARGS="-k pile")
	@$(BIN)/cardan warmup
	@$(BIN)/python -m pytest $(PYTEST_WORKERS) --durations=20 $(PYTEST_ARGS)

cluster-test: $(VENV)-cluster/.packages ## tests with a real PostgreSQL, S3 server and Ray cluster, in an environment of their own
	@$(VENV)-cluster/bin/cardan warmup
	@CARDAN_TEST_EXECUTOR=ray $(VENV)-cluster/bin/python -m pytest -n0 tests/service/api/test_simulations.py \
	  tests/service/api/test_batches.py
	@$(VENV)-cluster/bin/python -m pytest -n0 --durations=10 tests/service/simulations tests/service/recordings/test_results.py \
	  tests/service/test_storage.py tests/service/test_random_faults.py tests/service/test_ray.py $(PYTEST_ARGS)

boundscheck: setup ## random scenes and all examples with every index checked (SCENES=150)
	@CARDAN_COMPILER=boundscheck $(BIN)/python -m tests.engine.random_scenes $(SCENES)

plain: setup-test ## what is simulated and solved with kernels as Numba compiles them by itself
	@CARDAN_COMPILER=plain $(BIN)/python -m pytest -m plain $(PYTEST_ARGS)

check: setup-test ## lint, types (tests too), contracts
	@status=0; \
	for part in lint types contracts page-types; do \
	  $(MAKE) --no-print-directory $$part || status=1; \
	done; exit $$status

lint: setup-test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup-test
	@$(BIN)/mypy

contracts: setup-test
	@$(BIN)/lint-imports

page-types:
	@if ! command -v npm >/dev/null; then \
	  echo "page: types SKIPPED, there is no npm here"; exit 0; fi; \
	if [ web/node_modules/.package-lock.json -ot web/package-lock.json ] && \
	  ! npm ci --prefix web --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null; then \
	  echo "page: types SKIPPED, npm could not fetch the TypeScript compiler"; exit 0; fi; \
	npm run --silent --prefix web check && echo "page: types are sound"

browser:
	@.ci/browser

# --- figures -------------------------------------------------------------------------------------

bench: setup-test ## every figure of docs/figures.md, in one run
	@$(BIN)/python -m benchmarks

bench-contacts: setup-test ## contact scenes beside the peers that are installed, in one run
	@$(BIN)/python -m benchmarks.contacts

bench-scaling: setup-test ## time per step and memory of heaps of 10 to 20 000 spheres
	@$(BIN)/python -m benchmarks.contacts.scaling

bench-bulk: setup-test ## what a short run costs beyond its physics: alone, in a rollout, in a batch
	@$(BIN)/python -m benchmarks.bulk

bench-ray: $(VENV)-cluster/.packages ## a batch on two nodes of Ray beside the same batch in one service
	@$(VENV)-cluster/bin/python -m benchmarks.cluster

bench-rollout: setup-test ## worlds side by side, alone, and in MuJoCo's rollouts if it is installed
	@$(BIN)/python -m benchmarks.rollout

bench-gpu: setup-test ## worlds on an NVIDIA card, and on one core
	@$(BIN)/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes -r requirements-gpu.lock
	@$(BIN)/python -m benchmarks.gpu

bench-articulated: setup-test ## chains, a humanoid and a quadruped beside the peers that are installed
	@$(BIN)/python -m benchmarks.articulated

bench-families: setup-test ## scenes drawn at random from families beside the peers that are installed (SEED=1)
	@$(BIN)/python -m benchmarks.families --seed $(SEED)

algorithms: setup-test ## RNEA, CRBA and ABA per call, beside the peers that are installed
	@$(BIN)/python -m benchmarks.algorithms

formulations: setup-test ## both formulations: drift and price against links and loops
	@$(BIN)/python -m benchmarks.formulations

verify: setup-test ## everything with a published or exact answer: asked and reached, with plots
	@$(BIN)/python -m benchmarks.verify

trust: setup-test ## scenes with known answers, with sensible and careless steps: is the verdict right?
	@$(BIN)/python -m benchmarks.trust

solvers: setup-test ## iterations and time of every solver on friction problems, with plots
	@$(BIN)/python -m benchmarks.solvers

manual: setup-test ## the manual in build/manual: what the service shows at /manual, and what wheels carry
	@$(BIN)/python -m docs.manual && echo "manual: built; the service shows it at /manual"

# --- upkeep --------------------------------------------------------------------------------------

chart: setup-test ## the chart of the README, from the committed comparisons
	@$(BIN)/python -m benchmarks.chart

lock: ## renew the lock files from pyproject.toml
	@$(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet --disable-pip-version-check uv
	@build/lock/bin/uv pip compile pyproject.toml --group build --extra import $(LOCK) -o requirements.lock >/dev/null
	@build/lock/bin/uv pip compile pyproject.toml --group build --extra test --extra report --extra manual --extra telemetry -c requirements.lock \
	  $(LOCK) -o requirements-test.lock >/dev/null
	@build/lock/bin/uv pip compile pyproject.toml --extra import --extra robots -c requirements-test.lock \
	  $(LOCK) -o requirements-robots.lock >/dev/null
	@build/lock/bin/uv pip compile pyproject.toml --extra import --extra cluster -c requirements.lock -c requirements-test.lock \
	  $(LOCK) -o requirements-cluster.lock >/dev/null
	@build/lock/bin/uv pip compile pyproject.toml --extra manual -c requirements-cluster.lock -c requirements-test.lock \
	  $(LOCK) -o requirements-manual.lock >/dev/null
	@build/lock/bin/uv pip compile pyproject.toml --extra import --extra gpu -c requirements.lock $(LOCK) -o requirements-gpu.lock >/dev/null
	@# moto asks for an older python-dateutil than the service has
	@grep -oE '^[a-z0-9.-]+==[^ ;]+' requirements-cluster.lock | grep -v python-dateutil >build/constraints.txt
	@build/lock/bin/uv pip compile pyproject.toml --group build --group cluster-test --extra cluster --extra test \
	  -c build/constraints.txt $(LOCK) -o requirements-cluster-test.lock >/dev/null
	@grep -c '==' requirements*.lock

LOCK := --quiet --no-config --universal --python-version 3.11 --fork-strategy fewest \
        --generate-hashes --no-annotate --custom-compile-command "make lock"

revision: setup-test ## draft the script of changed tables of the queue (NAME="colour of runs")
	@$(BIN)/python .ci/revision.py "$(NAME)"
	@$(BIN)/ruff check --quiet --fix service/simulations/migrations; $(BIN)/ruff format --quiet service/simulations/migrations

wheel: setup ## wheels in dist/: one with the compiled kernels for this Python, one for all platforms
	@$(BIN)/python .ci/wheel.py dist

image-steps: setup-test ## the steps of the Dockerfile in an empty folder, without a container engine
	@$(BIN)/python .ci/image_steps.py

image-lint: ## lint Dockerfile and docker-compose.yml
	@.ci/image_lint

clean: ## remove what was installed and built here
	rm -rf $(VENV) $(VENV)-cluster build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .schemathesis web/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
