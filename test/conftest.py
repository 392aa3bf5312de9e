# SPDX-License-Identifier: Apache-2.0

"""Settings of all tests: one seed for all random numbers, and the order of the folders."""

from __future__ import annotations

import functools
import gc
import inspect
import os
import secrets
import sys
import time
import zlib
from typing import TYPE_CHECKING

# Threads of several workers that share two cores wait for each other most of the time: a least
# squares problem of milliseconds then takes seconds. Read when NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
import typer.testing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

if "mix_stderr" in inspect.signature(typer.testing.CliRunner).parameters:
    # Before click 8.2 typer's runner merged stderr into stdout by default:
    # here, too, a result has both apart, and together in `output`.
    typer.testing.CliRunner.__init__ = functools.partialmethod(
        typer.testing.CliRunner.__init__, mix_stderr=False
    )
    typer.testing.Result.output = property(lambda result: result.stdout + result.stderr)

# Folders whose tests wait for other processes most of the time.
WAITING = ("launch", "robodyn_ros", "bare")
# Folders of long tests that compute: a file runs in one worker, so the last ones should be short.
LONG = ("exporting", "storm", "test", "identification", "contract", "sweeps", "numerics", "view")
# Folders in which every test is slow; elsewhere a mark at the test or in its file says so.
SLOW = (*WAITING, "storm", "lint", "versions", "test")
# Files that run in the worker of another file, whose export they use.
SHARING = {
    "test/robodyn/exporting/test_fmu.py": "test/robodyn/exporting/test_bits.py",
    "test/robodyn/exporting/test_controller.py": "test/robodyn/exporting/test_bits.py",
    "test/storm/test_export_storm.py": "test/robodyn/exporting/test_bits.py",
    "test/storm/test_life_storm.py": "test/robodyn/exporting/test_bits.py",
}


# What is drawn where no seed is given: whether a change passes is not a matter of luck.
SEED = 20261122


def _seed(text: str) -> int:
    return secrets.randbits(32) if text == "random" else int(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seed",
        type=_seed,
        help='seed of all random numbers, as a failing run prints it, or "random" for a new one',
    )
    parser.addoption(
        "--storm",
        type=float,
        default=1.0,
        help="number of random inputs in test/storm, as a multiple of the usual number",
    )


# Between lines on the progress of a long storm [s].
PROGRESS = 10.0
# Tests of nodes, launches and browsers often wait: three workers keep two cores busy.
# A fourth makes a run longer, as each worker imports, compiles and collects for itself.
WORKERS = 3


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run all tests, where no file is named, in several workers, as `make test` and colcon do."""
    alone = config.pluginmanager.has_plugin("xdist") and not hasattr(config, "workerinput")
    if alone and config.option.numprocesses is None and named_none(config):
        config.option.numprocesses, config.option.dist = WORKERS, "loadfile"
        config.option.loadscopereorder = False  # the order is below


def named_none(config: pytest.Config) -> bool:
    reported = config.option.collectonly or config.option.usepdb
    return config.args_source is config.ArgsSource.TESTPATHS and not reported


def pytest_collection() -> None:
    """Pause the garbage collector: almost nothing that is collected is garbage."""
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Settle the seed once per run; the workers of pytest-xdist get that of the run."""
    drawn = SEED if config.option.seed is None else config.option.seed
    config.option.seed = getattr(config, "workerinput", {}).get("seed", drawn)
    # hypothesis draws its examples from the same seed
    if getattr(config.option, "hypothesis_seed", "") is None:
        config.option.hypothesis_seed = str(config.option.seed)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    node.workerinput["seed"] = node.config.option.seed


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector):
    """Leave the import of a test module to the moment when pytest collects that module.

    Where ROS 2 is, a plugin of launch_testing imports every module before that, in search of launch
    tests. A module that skips itself for want of a package would then skip all others with it.
    """
    launch_test = "generate_test_description" in module_path.read_text()
    if launch_test or module_path.name == "__init__.py":
        return None
    return pytest.Module.from_parent(parent, path=module_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        seed = terminalreporter.config.option.seed
        terminalreporter.write_line(f"the random numbers of this run: --seed {seed}")


@pytest.fixture(autouse=True)
def own_options() -> Iterator[None]:
    """Reset the options that a node or a command of this process has set for every `load`."""
    yield
    if load := sys.modules.get("robodyn.loading.load"):
        load.use_options()


@pytest.fixture(scope="session")
def random_numbers(request) -> Callable[[str], np.random.Generator]:
    """Generators by name: what one test draws does not depend on which others run."""
    seed = request.config.option.seed
    return lambda name: np.random.default_rng([seed, zlib.crc32(name.encode())])


@pytest.fixture
def rng(request, random_numbers) -> np.random.Generator:
    """Random numbers of one test, the same again with the same --seed."""
    return random_numbers(request.node.nodeid)


@pytest.fixture
def storm(request) -> Callable[[int], Iterator[int]]:
    """Count random inputs up to the usual number times the option --storm, and report progress."""
    factor, name = request.config.option.storm, request.node.name
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def rounds(usual: int) -> Iterator[int]:
        count = max(1, round(usual * factor))
        reported = time.monotonic()
        for k in range(count):
            yield k
            if factor > 1.0 and time.monotonic() > reported + PROGRESS:
                reported = time.monotonic()
                with capture.global_and_fixture_disabled():
                    print(f"\n{name}: {k + 1} of {count}", end="", flush=True)

    return rounds


@pytest.fixture
def scrambled(rng) -> Callable[[int], np.ndarray]:
    """Orders (n,), n > 2, that differ from their own inverse.

    An order that is applied the wrong way round gives another result.
    """

    def draw(n: int) -> np.ndarray:
        while True:
            order = rng.permutation(n)
            if (order[order] != np.arange(n)).any():
                return order

    return draw


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files: long ones first, and one that computes after every two that wait."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
        if item.path.parent.name in SLOW:
            item.add_marker("slow")
    ranks = {name: rank for rank, name in enumerate((*WAITING, *LONG))}
    ordered = sorted(files, key=lambda file: ranks.get(file.parent.name, len(ranks)))
    waiting = [file for file in ordered if file.parent.name in WAITING]
    computing = [file for file in ordered if file.parent.name not in WAITING]
    places = {file: k for k, file in enumerate(waiting)}
    places |= {file: 2 * k + 1.5 for k, file in enumerate(computing)}
    items[:] = [item for file in sorted(files, key=places.__getitem__) for item in files[file]]


def pytest_collection_finish() -> None:
    """Keep the garbage collector from visiting the thousands of collected items."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """Distribute by file; files that share an export go to one worker."""
    if config.option.dist != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return SHARING.get(file, file)

    return Scheduling(config, log)
