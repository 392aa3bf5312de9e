# SPDX-License-Identifier: Apache-2.0

"""Entry point that starts a node; `nodes.py` lists the nodes.

Importing a node takes a second; until it runs, Ctrl-C ends the process without output.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

from robodyn_ros.nodes import NODES


def main() -> None:
    """Run the node whose name this executable has."""
    start(Path(sys.argv[0]).name)


def start(name: str) -> None:
    """Run a node, given its name, until it ends; then end the process."""
    _start(name, NODES[name])


def _quit(_signal: int, _frame: FrameType | None) -> None:
    os._exit(130)


def _start(name: str, node_class: str) -> None:
    signal.signal(signal.SIGINT, _quit)
    # Matrices of nodes are small. If the linear algebra library (OpenBLAS of NumPy 1.26) splits
    # them between threads, waking these takes milliseconds on a busy machine.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    # Prevent messages from importing their generator, an option of rosidl_generator_py that no node
    # uses. Its two parsers take a sixth of a node's start-up time.
    sys.modules["rosidl_generator_py.generate_py_impl"] = None  # type: ignore[assignment]
    gc.disable()  # imports create no garbage
    try:
        from robodyn_ros.runner import run

        make_node = getattr(importlib.import_module(f"robodyn_ros.{name}"), node_class)
    except ModuleNotFoundError as missing:
        # the missing module is part of a ROS 2 installation, not of this package
        if (missing.name or "").split(".")[0] in ("robodyn", "robodyn_ros", ""):
            raise
        sys.exit(
            f"{name}: no Python package {missing.name!r}: nodes need ROS 2. Source its setup.bash "
            "(and use the Python version that it was built for), or run `make setup` in a checkout "
            "of robodyn, which installs rclpy without ROS 2"
        )
    gc.enable()
    _end(run(make_node, name))


def _end(code: int) -> NoReturn:
    """End the process at once, after flushing output and deleting temporary files.

    Before it ends, the interpreter waits for the threads of libraries and runs their destructors.
    Each of them could keep the process alive forever, as signals are ignored by then.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none
            stream.flush()
    os._exit(code)
