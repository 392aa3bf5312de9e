# `make sim` and `make test` each do their own set-up: a virtual environment in .venv with the
# dependencies of requirements/, real rclpy among them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TEST_READY := $(VENV)/.ready-to-test
VIEW_READY := $(VENV)/.ready-to-view
BENCH_READY := $(VENV)/.ready-to-bench
MODEL ?= stewart_dasgupta
KILTED := .venv-kilted
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
export ROS_AUTOMATIC_DISCOVERY_RANGE ?= LOCALHOST

.PHONY: help setup sim arm view bench test test-kilted lint format clean

help:
	@echo "make sim     fly path I of the paper through the ROS 2 nodes (ARGS='path:=II' for others)"
	@echo "make arm     fly the PUMA experiment"
	@echo "make view    see a mechanism move in the browser (MODEL=puma560 for another)"
	@echo "make bench   measure the library beside Pinocchio, MuJoCo, the Robotics Toolbox and NumPy"
	@echo "make test    lint, types and all tests (one needs a Chromium: apt install chromium)"
	@echo "make test-kilted  the tests of nodes and launches with ROS 2 Kilted instead of Jazzy"
	@echo "make setup   make the environment in .venv only"
	@echo "make format  let ruff format the code"
	@echo "make clean   remove .venv and what was built"

setup: $(READY)

$(READY): requirements/bare.txt requirements/constraints.txt setup.py bare/pyproject.toml
	@echo "setting up $(VENV): about a minute"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "robodyn needs Python 3.10 or newer")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install -r requirements/bare.txt
	@$(PIP) install --no-deps --no-build-isolation -e bare -e .
	@$(BIN)/robodyn compile
	@touch $@

$(VIEW_READY): $(READY) requirements/view.txt
	@echo "adding the live view to $(VENV)"
	@$(PIP) install -r requirements/view.txt
	@touch $@

$(BENCH_READY): $(TEST_READY) requirements/bench.txt
	@echo "adding the Robotics Toolbox to $(VENV)"
	@$(PIP) install -r requirements/bench.txt
	@touch $@

$(TEST_READY): $(READY) requirements/test.txt requirements/test-no-deps.txt
	@echo "adding what the tests need to $(VENV)"
	@$(PIP) install -r requirements/test.txt
	@$(PIP) install --no-deps -r requirements/test-no-deps.txt
	@touch $@

arm: $(READY)
	@$(BIN)/ros2 launch robodyn arm_sim.launch.py $(ARGS)

sim: $(READY)
	@$(BIN)/ros2 launch robodyn stewart_sim.launch.py $(ARGS)

view: $(VIEW_READY)
	@$(BIN)/robodyn view $(MODEL) $(ARGS)

bench: $(BENCH_READY)
	@$(BIN)/python -m benchmarks

# Processes that talk over DDS spend much of their time waiting, so three at once suit two cores.
test: lint
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(ARGS)

# The tests that talk over DDS once more, on the distribution after Jazzy.
test-kilted: $(KILTED)/.ready
	@$(KILTED)/bin/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder test/launch test/robodyn_ros test/bare $(ARGS)

$(KILTED)/.ready: requirements/kilted.txt $(TEST_READY)
	@echo "setting up $(KILTED): about two minutes"
	@test -x $(KILTED)/bin/python || $(PYTHON) -m venv $(KILTED)
	@grep -hv '^-c' requirements/bare.txt requirements/test.txt > $(KILTED)/requirements.txt
	@grep -v '^ros-' requirements/constraints.txt > $(KILTED)/constraints.txt
	@$(KILTED)/bin/python -m pip --disable-pip-version-check -qq install -r $(KILTED)/requirements.txt \
		-c $(KILTED)/constraints.txt -c requirements/kilted.txt
	@$(KILTED)/bin/python -m pip --disable-pip-version-check -qq install --no-deps --no-build-isolation -e bare -e .
	@touch $@

lint: $(TEST_READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

format: $(TEST_READY)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(KILTED) build dist *.egg-info bare/*.egg-info .pytest_cache .mypy_cache .ruff_cache
