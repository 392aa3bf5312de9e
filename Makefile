# `make sim` and `make test` set up what they need: a virtual environment in .venv with the
# dependencies in requirements/, which include rclpy.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
TEST_INSTALLED := $(VENV)/.installed-to-test
TEST_READY := $(VENV)/.ready-to-test
VIEW_READY := $(VENV)/.ready-to-view
RIDE_READY := $(VENV)/.ready-to-ride
BENCH_READY := $(VENV)/.ready-to-bench
DOCS_READY := $(VENV)/.ready-to-document
MUTANTS_READY := $(VENV)/.ready-to-mutate
MODEL ?= stewart_dasgupta
# `make ride` uses the platform of a flight simulator unless MODEL is given.
RIDDEN = $(if $(filter file,$(origin MODEL)),motion_platform,$(MODEL))
# Modules are compiled to bytecode when they are first imported, as most of those that pip would
# compile are never used. Containers often disable writing bytecode; then every process would compile
# them again, which takes longer than the rest of a node's start.
unexport PYTHONDONTWRITEBYTECODE
# The environment in .venv has its own Python and ROS 2. The variables of a ROS 2 sourced in the shell
# would mix the two installations.
unexport PYTHONPATH PYTHONHOME AMENT_PREFIX_PATH COLCON_PREFIX_PATH RMW_IMPLEMENTATION ROS_DISTRO
unexport ROS_VERSION ROS_PYTHON_VERSION
ifdef AMENT_PREFIX_PATH
unexport LD_LIBRARY_PATH CMAKE_PREFIX_PATH
endif
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
INSTALL := $(PIP) install --no-compile
# uv needs a fifth of pip's time; pip is used if uv cannot be installed or does not reach an index.
FETCH := sh -c '$(BIN)/uv pip install -q --python $(BIN)/python "$$@" 2>/dev/null || $(INSTALL) "$$@"' fetch
export ROS_AUTOMATIC_DISCOVERY_RANGE ?= LOCALHOST

.PHONY: help setup sim arm view ride bench docs test test-fast storm test-versions dist mutants lint bytecode format clean

help:
	@echo "make sim     run path I of the paper through the ROS 2 nodes (ARGS='path:=II' for others)"
	@echo "make arm     run the PUMA experiment"
	@echo "make view    watch a mechanism move in the browser (MODEL=puma560 for another)"
	@echo "make ride    fly: take-off, turns, turbulence on a motion platform in the browser (press Engage; MODEL=rig.yaml)"
	@echo "make bench   benchmark the library against Pinocchio, MuJoCo, the Robotics Toolbox and NumPy"
	@echo "make docs    the documentation site, with every example run, in docs/_build"
	@echo "make test    lint, types and all tests (one needs a Chromium: apt install chromium)"
	@echo "make test-fast  the fast tests, which need no ROS 2: about 8,700 in a minute"
	@echo "make storm   random invalid files, calls and messages, and random machine requests, with a new seed each time"
	@echo "make test-versions  the library and its command with old and new typer, numba and Python"
	@echo "make dist           wheel and source distribution, tested by running the examples with the oldest and newest packages"
	@echo "make mutants inject faults into chosen modules, one at a time, and list those that no test catches"
	@echo "make setup   create the environment in .venv only"
	@echo "make format  format the code with ruff"
	@echo "make clean   remove .venv and build products"

setup: $(READY)

$(INSTALLED): requirements/bare.txt requirements/constraints.txt setup.py bare/pyproject.toml
	@echo "setting up $(VENV): about a minute"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "robodyn needs Python 3.10 or newer")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) -c requirements/constraints.txt uv 2>/dev/null || true
	@$(FETCH) -r requirements/bare.txt
	@$(FETCH) --no-deps --no-build-isolation -e bare -e .
	@touch $@

$(READY): $(INSTALLED)
	@$(BIN)/robodyn compile
	@touch $@

$(VIEW_READY): $(INSTALLED) requirements/view.txt
	@echo "adding the live view to $(VENV)"
	@$(FETCH) -r requirements/view.txt
	@touch $@

$(RIDE_READY): $(VIEW_READY) requirements/ride.txt
	@echo "adding a flight model to $(VENV)"
	@$(FETCH) -r requirements/ride.txt
	@touch $@

$(BENCH_READY): $(TEST_READY) requirements/bench.txt
	@echo "adding the Robotics Toolbox to $(VENV)"
	@$(FETCH) -r requirements/bench.txt
	@touch $@

$(TEST_INSTALLED): $(INSTALLED) requirements/test.txt requirements/test-no-deps.txt
	@echo "adding the test dependencies to $(VENV)"
	@$(FETCH) -r requirements/test.txt
	@$(FETCH) --no-deps -r requirements/test-no-deps.txt
	@touch $@

$(TEST_READY): $(READY) $(TEST_INSTALLED)
	@touch $@

$(DOCS_READY): $(TEST_READY) requirements/docs.txt
	@echo "adding Sphinx to $(VENV)"
	@$(FETCH) -r requirements/docs.txt
	@touch $@

$(MUTANTS_READY): $(TEST_READY) requirements/mutants.txt
	@echo "adding mutmut to $(VENV)"
	@$(FETCH) -r requirements/mutants.txt
	@touch $@

arm: $(INSTALLED)
	@$(BIN)/ros2 launch robodyn arm_sim.launch.py $(ARGS)

# The nodes compile the functions for the launched mechanism on their first start.
sim: $(INSTALLED)
	@$(BIN)/ros2 launch robodyn stewart_sim.launch.py $(ARGS)

ride: $(RIDE_READY)
	@$(BIN)/ros2 launch robodyn machine.launch.py model:=$(RIDDEN) cueing:=true flight:=true viewer:=true $(ARGS)

view: $(VIEW_READY)
	@$(BIN)/robodyn view $(MODEL) $(ARGS)

bench: $(BENCH_READY)
	@$(BIN)/python -m benchmarks

# Warnings, such as a broken link or a failing example, are errors.
docs: $(DOCS_READY)
	@$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build $(ARGS)
	@echo "open docs/_build/index.html"

# The library is compiled while the test dependencies are installed and the linters run.
test:
	@$(MAKE) --no-print-directory -j 3 lint bytecode $(TEST_READY)
	@$(BIN)/python -m pytest $(ARGS)

# Without linters, nodes and processes; the marker is explained in CONTRIBUTING.md.
test-fast: $(TEST_READY)
	@$(BIN)/python -m pytest -m "not slow" -n logical --dist loadfile test/contract test/robodyn $(ARGS)

# The tests in test/storm with twenty times as many inputs, from a random seed, which a failure prints.
# A line every ten seconds reports the progress. ARGS="-k control" runs only one of the groups of nodes:
# machine, control or others.
storm: $(TEST_READY)
	@$(BIN)/python -m pytest test/storm --storm 20 --seed random $(ARGS)

# Each environment has its own Python and packages and compiles all functions: takes several minutes.
test-versions:
	@$(PYTHON) test/versions/run.py $(ARGS)

# The source distribution and the wheel are in dist/, ready to upload, if the checks of twine and all
# examples passed in four environments. ARGS=3.13-newest runs one of the four.
dist:
	@$(PYTHON) test/versions/examples.py --output dist $(ARGS)

# pyproject.toml lists the modules and tests. ARGS="robodyn.control.path_clock*" selects a few.
# mutmut works on a copy in mutants/, shows its progress, and resumes from there when run again.
mutants: $(MUTANTS_READY)
	@$(BIN)/mutmut run $(ARGS)
	@echo "injected faults that no test caught (mutmut show NAME shows one):"
	@$(BIN)/mutmut results | grep -v "not checked" || echo "    none"

lint: $(TEST_INSTALLED)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/codespell
	@$(BIN)/python test/lint/plain_english.py

# Compile the test modules once. The workers of pytest collect them at the same time, and each would
# compile all of them if there were no bytecode.
bytecode: $(TEST_INSTALLED)
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null || true

format: $(TEST_INSTALLED)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .venv-versions build dist docs/_build docs/jupyter_execute docs/gallery docs/models docs/tutorial_pictures *.egg-info bare/*.egg-info mutants .pytest_cache .mypy_cache .ruff_cache
