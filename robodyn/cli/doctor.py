# SPDX-License-Identifier: Apache-2.0

"""`robodyn doctor`: what is installed, whether kernels are compiled, whether a running graph fits.

The graph is examined by `robodyn_ros.graph_check` in a process of its own: the library and its
command never import ROS.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json as json_text
import os
import platform
import re
import subprocess
import sys
from contextlib import suppress
from typing import Any

import robodyn as rd
from robodyn.cli.commands import Answer
from robodyn.extras import EXTRAS, how_to_install
from robodyn.version import __version__

REQUIRED = ("numpy", "scipy", "numba", "PyYAML", "urdf_parser_py", "typer", "rich")
# What ROS 2 calls a distribution that has another name on PyPI.
IN_ROS = {"urdf_parser_py": "urdfdom_py"}
# What nodes and launch files use of ROS 2, and what is lacking without it.
ROS = {
    "rclpy": "the nodes",
    "launch_ros": "launch files",
    "tf2_ros": "transforms: goals and wrenches in frames of others, /tf",
    "controller_manager_msgs": "ros2_control",
    "rviz2": "RViz",
}
GRAPH_TIME = 20.0  # [s]
MARKS = {"ok": "ok     ", "note": "note   ", "warning": "WARNING", "error": "ERROR  "}


def doctor(*, graph: bool = True, strict: bool = False) -> Answer:
    """Examine this installation and, where ROS 2 is sourced, the graph that is running.

    Args:
        graph: Also examine the running ROS 2 graph.
        strict: Exit code 1 on a warning, too.
    """
    found = [*installed(), *extras(), *kernels(), *ros()]
    if graph and importlib.util.find_spec("rclpy") is not None:
        found += running_graph()
    text = "\n".join(f"{MARKS[entry['level']]}  {entry['text']}" for entry in found)
    levels = {entry["level"] for entry in found}
    return Answer(found, text, "error" in levels or (strict and "warning" in levels))


def finding(level: str, text: str) -> dict[str, str]:
    """One line of the answer."""
    return {"level": level, "text": text}


def installed() -> list[dict[str, str]]:
    """This package, Python, and what the library needs."""
    versions: list[str] = []
    missing: list[str] = []
    for package in REQUIRED:
        version = _version(package)
        (versions if version else missing).append(f"{package} {version}".strip())
    found = [
        finding(
            "ok",
            f"robodyn {__version__}, Python {platform.python_version()} ({sys.executable}), "
            f"{rd.get_threads()} threads",
        ),
        finding("ok", ", ".join(versions)),
    ]
    if missing:
        found.append(finding("error", f"not installed: {', '.join(missing)}"))
    return found


def extras() -> list[dict[str, str]]:
    """The optional extras, with how to install those that are not complete."""
    found = []
    for extra, needs in EXTRAS.items():
        absent = [name for name in map(_name, needs) if not _version(name)]
        if absent:
            text = f"extra {extra}: no {', '.join(absent)}; to use it: {how_to_install(extra)}"
            found.append(finding("note", text))
        else:
            found.append(finding("ok", f"extra {extra}"))
    return found


def kernels() -> list[dict[str, str]]:
    """Whether the compiled code is in the cache, and whether that lasts."""
    from robodyn.numerics.cache_folders import cache_folders
    from robodyn.numerics.compilation_notes import is_cached

    folders = cache_folders()
    if not folders:
        return [finding("warning", "no writable folder for compiled kernels: set NUMBA_CACHE_DIR")]
    place = folders[-1]
    found = []
    if place.temporary:
        text = (
            f"kernels are cached in {place.path} only, which a restart empties: set NUMBA_CACHE_DIR"
        )
        found.append(finding("warning", text))
    if is_cached():
        found.append(finding("ok", f"kernels compiled, in {folders[0].path}"))
    else:
        text = f"kernels not compiled yet (`robodyn compile`); they go to {place.path}"
        found.append(finding("note", text))
    return found


def ros() -> list[dict[str, str]]:
    """The ROS 2 that this Python sees."""
    present = {name: importlib.util.find_spec(name) is not None for name in ROS}
    if not present["rclpy"]:
        text = "no ROS 2 (rclpy): the library and this command work, nodes do not"
        return [finding("note", text)]
    distro = os.environ.get("ROS_DISTRO", "not sourced, rclpy from wheels")
    middleware = os.environ.get("RMW_IMPLEMENTATION", "its default middleware")
    domain = os.environ.get("ROS_DOMAIN_ID", "0")
    found = [finding("ok", f"ROS 2 {distro}, {middleware}, domain {domain}")]
    lacking = [
        f"{name} ({what})" for name, what in ROS.items() if not present[name] and name != "rviz2"
    ]
    if lacking:
        found.append(finding("note", f"not installed: {', '.join(lacking)}"))
    return found


def running_graph() -> list[dict[str, str]]:
    """What `robodyn_ros.graph_check` finds."""
    command = [sys.executable, "-m", "robodyn_ros.graph_check"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=GRAPH_TIME, check=False
        )
    except subprocess.TimeoutExpired:
        text = f"the ROS 2 graph did not answer within {GRAPH_TIME:g} s: is the middleware blocked?"
        return [finding("warning", text)]
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return [finding("warning", f"the ROS 2 graph could not be examined: {last}")]
    answer: list[dict[str, Any]] = json_text.loads(done.stdout)
    return answer


def _name(requirement: str) -> str:
    return re.split(r"[<>=!\[;~ ]", requirement, maxsplit=1)[0]


def _version(package: str) -> str:
    for name in (package, IN_ROS.get(package, package)):
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(name)
    return ""
