# SPDX-License-Identifier: Apache-2.0

"""Expansion of xacro files by the `xacro` package.

Expressions and macros of a file are programs: `${9**9**9}` never ends. So the file is expanded in a
separate process with limited processor time and memory.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

from robodyn.errors import InvalidInput, ModelError
from robodyn.extras import require_extra
from robodyn.formats.ros_packages import find_package
from robodyn.formats.xml_text import parse_xml
from robodyn.formats.yaml_text import read_text

# Limits of an expansion: processor time [s] and memory [bytes]. The elapsed time is limited to WAIT
# times the former, for systems without such limits and processes that wait.
TIME, MEMORY, WAIT = 10, 2 << 30, 6
# Arguments for all xacro files of a process that handles one robot: a command, node or launch file.
_used_arguments: dict[str, str] = {}


def use_arguments(arguments: Mapping[str, str]) -> None:
    """Set default `xacro:arg` values for all xacro files read later in this process."""
    _used_arguments.clear()
    _used_arguments.update(arguments)


def arguments_of(words: Iterable[str]) -> dict[str, str]:
    """Parse arguments of the form `name:=value`; return the values by name.

    Raises:
        InvalidInput: a string does not have this form.
    """
    arguments = {}
    for word in words:
        name, separator, value = word.partition(":=")
        if not separator or not name.strip():
            raise InvalidInput(
                f"xacro argument {word[:100]!r}, expected name:=value, such as ur_type:=ur5e",
                value=word,
            )
        arguments[name.strip()] = value
    return arguments


def expand_xacro(path: Path, arguments: Mapping[str, str] | None = None) -> str:
    """Expand a xacro file, and return the URDF text.

    `ros_packages.find_package` resolves `$(find package)`, so no ROS is needed.

    Args:
        path: xacro file.
        arguments: values of the file's `xacro:arg`s, by name.

    Returns:
        The URDF text.

    Raises:
        MissingExtra: the xacro package is not installed.
        ModelError: the file cannot be read or expanded; the error contains xacro's reason.
    """
    what = f"{path}: reading xacro needs the package xacro (ROS 2: ros-<distro>-xacro)"
    with require_extra("xacro", what, str(path)):
        importlib.import_module("xacro")
    root = parse_xml(read_text(path), str(path))
    mappings = {**_used_arguments, **(arguments or {})}
    program = f"import {__name__} as own; own.expand_in_subprocess()"
    try:
        done = subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps([str(path), mappings, TIME, MEMORY]).encode(),
            capture_output=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            timeout=WAIT * TIME,
        )
    except subprocess.TimeoutExpired:
        raise _too_much(path) from None
    if done.returncode < 0:
        raise _too_much(path)
    try:
        text, reason = json.loads(done.stdout)
    except ValueError:
        text, reason = "", " ".join(done.stderr.decode(errors="replace").split())[-600:]
    if reason:
        raise _error(path, reason, root)
    return str(text)


def expand_in_subprocess() -> None:
    """Expand a xacro file in a process of its own, started by `expand_xacro`.

    Standard input is a JSON list of path, arguments, processor time [s] and memory [bytes];
    standard output is a JSON list of the URDF text and the reason for a failure, one of them empty.
    """
    path, mappings, seconds, memory = json.load(sys.stdin)
    _limit_resources(seconds, memory)
    import xacro

    chatter = io.StringIO()
    text = reason = ""
    try:
        with contextlib.redirect_stderr(chatter), contextlib.redirect_stdout(chatter):
            with _finding(Path(path)):
                document = xacro.process_file(path, mappings=mappings)
            text = str(document.documentElement.toxml())
    except (Exception, SystemExit) as failure:  # expressions in the file may raise anything
        reason = " ".join(str(failure).split()) or " ".join(chatter.getvalue().split())
        # xacro appends the text of a wrapped error to its own, which is often the same
        reason = re.sub(r"<class '[\w.]+'>:?\s*", "", reason) or type(failure).__name__
        reason = re.sub(r"^(.{15,}?)( \[Errno \d+\].*| \1)$", r"\1", reason)
        if isinstance(getattr(failure, "exc", failure), MemoryError):
            reason += f" takes more than {memory >> 20} MiB of memory"
    json.dump([text, reason], sys.stdout)


def _limit_resources(seconds: int, memory: int) -> None:
    """Limit processor time [s] and memory [bytes] of this process, if possible."""
    with contextlib.suppress(ImportError):
        resource = importlib.import_module("resource")
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _too_much(path: Path) -> ModelError:
    return ModelError(
        f"{path}: xacro did not expand the file within {TIME} s of processor time: an expression "
        "such as ${9**9**9} or a macro that calls itself does not end",
        value=str(path),
    )


@contextlib.contextmanager
def _finding(path: Path) -> Iterator[None]:
    """Make xacro find ROS packages with `find_package` within this context."""
    from xacro import substitution_args

    def find(name: str) -> str:
        return str(find_package(name, path))

    before, table = substitution_args._eval_find, substitution_args._eval_dict
    substitution_args._eval_find = table["find"] = find
    try:
        yield
    finally:
        substitution_args._eval_find = table["find"] = before


def _error(path: Path, reason: str, root: ElementTree.Element) -> ModelError:
    if re.search("undefined substitution arg", reason, re.IGNORECASE):
        reason += (
            f"; this file declares {', '.join(_arguments(root)) or 'no arguments'}; give arguments "
            "as --xacro-arg name:=value (in Python xacro_args={'name': 'value'}, to nodes and "
            "launch files xacro_args:='name:=value')"
        )
    return ModelError(f"{path}: xacro cannot expand the file: {reason[:600]}", value=str(path))


def _arguments(root: ElementTree.Element) -> list[str]:
    """Return the names of the arguments that a xacro file declares."""
    tags = "}arg", ":arg"
    return [e.get("name", "") for e in root.iter() if str(e.tag).endswith(tags)]
