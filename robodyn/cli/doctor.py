# SPDX-License-Identifier: Apache-2.0

"""`robodyn doctor`: check the installation, the compiled kernels, and a running ROS 2 graph.

`robodyn_ros.graph_check` examines the graph in a process of its own, because the library and its
command never import ROS.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import robodyn as rd
from robodyn.cli.commands import CommandResult
from robodyn.extras import EXTRAS, how_to_install
from robodyn.version import __version__

REQUIRED = ("numpy", "scipy", "numba", "PyYAML", "urdf_parser_py", "typer", "rich")
# ROS 2 names of distributions with another name on PyPI.
IN_ROS = {"urdf_parser_py": "urdfdom_py"}
# ROS 2 packages that nodes and launch files use, and the features that need them.
ROS = {
    "rclpy": "the nodes",
    "launch_ros": "launch files",
    "tf2_ros": "transforms: goals and wrenches in other frames, /tf",
    "controller_manager_msgs": "ros2_control",
    "rviz2": "RViz",
}
# Level and text.
Finding = tuple[str, str]
GRAPH_TIME = 20.0  # [s]
MARKS = {"ok": "ok     ", "note": "note   ", "warning": "WARNING", "error": "ERROR  "}


def doctor(*, graph: bool = True, strict: bool = False) -> CommandResult:
    """Check this installation and, if ROS 2 is sourced, the running graph.

    Args:
        graph: Also check the running ROS 2 graph.
        strict: Exit code 1 also for warnings.
    """
    found = [*check_packages(), *extras(), *kernels(), *ros()]
    is_sourced = all(importlib.util.find_spec(name) for name in ("rclpy", "robodyn_ros"))
    setup = None if is_sourced else setup_file(Path.cwd(), Path(rd.__file__).parent)
    if setup is not None:
        text = f"ROS 2 is not sourced here; the graph is examined after `source {setup}`"
        found.append(("note", text))
    if graph and (is_sourced or setup is not None):
        found += running_graph(setup)
    levels = {level for level, _ in found}
    return CommandResult(
        [{"level": level, "text": text} for level, text in found],
        "\n".join(f"{MARKS[level]}  {text}" for level, text in found),
        "error" in levels or (strict and "warning" in levels),
    )


def check_packages() -> Iterator[Finding]:
    """Check Python, robodyn and required packages; yield findings (level, message)."""
    yield (
        "ok",
        (
            f"robodyn {__version__}, Python {platform.python_version()} ({sys.executable}), "
            f"{rd.get_threads()} threads"
        ),
    )
    versions = {package: _version(package) for package in REQUIRED}
    yield "ok", ", ".join(f"{package} {found}" for package, found in versions.items() if found)
    missing = [package for package, found in versions.items() if not found]
    if missing:
        yield "error", f"not installed: {', '.join(missing)}"


def extras() -> Iterator[Finding]:
    """Check the optional packages; yield a finding (level, message) for each extra."""
    for extra, needs in EXTRAS.items():
        names = (re.split(r"[<>=!\[;~ ]", each, maxsplit=1)[0] for each in needs)
        absent = [name for name in names if not _version(name)]
        if absent:
            lacks = f"{', '.join(absent)} not installed; to use it: {how_to_install(extra)}"
            yield "note", f"extra {extra}: {lacks}"
        else:
            yield "ok", f"extra {extra}"


def kernels() -> Iterator[Finding]:
    """Check the cache of compiled code; yield findings (level, message)."""
    from robodyn.numerics.cache_folders import cache_folders, refused_folders
    from robodyn.numerics.compilation_notes import refusal
    from robodyn.numerics.kernel_cache import is_cached

    for folder in refused_folders():
        yield "warning", refusal(folder)
    rd.kinds()  # this imports the kernels
    folders = cache_folders()
    if not folders:
        yield "warning", "no writable folder for compiled kernels: set NUMBA_CACHE_DIR"
        return
    place = folders[-1]
    if place.temporary:
        lost = f"compiled kernels are lost at a restart, because they are cached in {place.path}"
        yield "warning", f"{lost}: set NUMBA_CACHE_DIR"
    if is_cached():
        yield "ok", f"kernels compiled, in {folders[0].path}"
    else:
        yield "note", f"kernels not compiled yet; `robodyn compile` stores them in {place.path}"


def ros() -> Iterator[Finding]:
    """Check the ROS 2 installation of this Python; yield findings (level, message)."""
    present = {name: importlib.util.find_spec(name) is not None for name in ROS}
    if not present["rclpy"]:
        yield "note", "ROS 2 (rclpy) not found: the library and this command work, the nodes do not"
        return
    distro = os.environ.get("ROS_DISTRO", "not sourced (rclpy is installed from wheels)")
    middleware = os.environ.get("RMW_IMPLEMENTATION", "default middleware")
    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    yield "ok", f"ROS 2 {distro}, {middleware}, domain {domain}"
    lacking = [
        f"{name} ({what})" for name, what in ROS.items() if not present[name] and name != "rviz2"
    ]
    if lacking:
        yield "note", f"not installed: {', '.join(lacking)}"


def setup_file(*folders: Path) -> Path | None:
    """Find the `setup.bash` of the ROS 2 workspace that contains a folder.

    Args:
        folders: folders to examine, with their parents, in this order.

    Returns:
        The file; that of ROS 2 itself if there is no workspace; None without ROS 2.
    """
    for folder in folders:
        for parent in (folder, *folder.parents):
            for file in (parent / "install" / "setup.bash", parent / "setup.bash"):
                if file.is_file() and file.with_name("local_setup.bash").is_file():
                    return file
    return max(Path("/opt/ros").glob("*/setup.bash"), default=None)


def graph_command(setup: Path | None) -> list[str]:
    """Return the command that checks the running ROS 2 graph, as a list of arguments.

    It sources the file `setup` first, unless that is None.
    """
    if setup is None:
        return [sys.executable, "-m", "robodyn_ros.graph_check"]
    sourced = 'source "$0" > /dev/null && exec python3 -m robodyn_ros.graph_check'
    return ["bash", "-c", sourced, str(setup)]


def running_graph(setup: Path | None = None) -> Iterator[Finding]:
    """Check the running ROS 2 graph; yield findings (level, message)."""
    command = graph_command(setup)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=GRAPH_TIME, check=False
        )
    except subprocess.TimeoutExpired:
        yield (
            "warning",
            (
                f"the ROS 2 graph did not respond within {GRAPH_TIME:g} s: is the middleware "
                "blocked?"
            ),
        )
        return
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        yield "warning", f"the ROS 2 graph could not be examined: {last}"
        return
    yield from ((entry["level"], entry["text"]) for entry in json.loads(done.stdout))


def _version(package: str) -> str:
    for name in (package, IN_ROS.get(package, package)):
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(name)
    return ""
