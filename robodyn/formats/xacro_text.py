# SPDX-License-Identifier: Apache-2.0

"""Expansion of xacro files, through the `xacro` package where it is installed."""

from __future__ import annotations

import contextlib
import io
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

from robodyn.errors import InvalidInput, ModelError
from robodyn.extras import needing
from robodyn.formats.ros_packages import find_package
from robodyn.formats.xml_text import parse_xml
from robodyn.formats.yaml_text import read_text

# xacro keeps its state in module globals.
_lock = threading.Lock()
# Arguments for all xacro files of a process that handles one robot: a command, node or launch file.
_used_arguments: dict[str, str] = {}


def use_arguments(arguments: Mapping[str, str]) -> None:
    """Set default arguments for every xacro file read in this process."""
    _used_arguments.clear()
    _used_arguments.update(arguments)


def arguments_of(words: Iterable[str]) -> dict[str, str]:
    """Arguments from strings such as `name:=ur`, as on the command line of xacro.

    Raises:
        InvalidInput: a string of another form.
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
    """The URDF text that a xacro file expands to; `arguments` are its `xacro:arg` values.

    `$(find package)` is resolved by `ros_packages.find_package`, so it needs no ROS.

    Raises:
        MissingExtra: the xacro package is not installed.
        ModelError: the file cannot be read or expanded, in one line with xacro's own reason.
    """
    what = f"{path}: reading xacro needs the package xacro (ROS 2: ros-<distro>-xacro)"
    with needing("xacro", what, str(path)):
        import xacro
    root = parse_xml(read_text(path), str(path))
    chatter = io.StringIO()
    mappings = {**_used_arguments, **(arguments or {})}
    try:
        with _lock, contextlib.redirect_stderr(chatter), contextlib.redirect_stdout(chatter):
            with _finding(path):
                document = xacro.process_file(str(path), mappings=mappings)
            return str(document.documentElement.toxml())
    except (Exception, SystemExit) as failure:  # expressions in the file may raise anything
        raise _error(path, failure, chatter, root) from failure


@contextlib.contextmanager
def _finding(path: Path) -> Iterator[None]:
    """Make xacro find packages with `find_package`."""
    from xacro import substitution_args

    def find(name: str) -> str:
        return str(find_package(name, path))

    before, table = substitution_args._eval_find, substitution_args._eval_dict
    substitution_args._eval_find = table["find"] = find
    try:
        yield
    finally:
        substitution_args._eval_find = table["find"] = before


def _error(
    path: Path, failure: BaseException, chatter: io.StringIO, root: ElementTree.Element
) -> ModelError:
    # xacro appends the text of a wrapped error to its own, which is often the same
    text = " ".join(str(failure).split()) or " ".join(chatter.getvalue().split())
    reason = re.sub(r"<class '[\w.]+'>:?\s*", "", text) or type(failure).__name__
    reason = re.sub(r"^(.{15,}?)( \[Errno \d+\].*| \1)$", r"\1", reason)
    if re.search("undefined substitution arg", reason, re.IGNORECASE):
        reason += (
            f"; arguments of this file are {', '.join(_arguments(root)) or 'none'}: give them as "
            "--xacro-arg name:=value (in Python xacro_args={'name': 'value'}, to nodes and launch "
            "files xacro_args:='name:=value')"
        )
    return ModelError(f"{path}: xacro cannot expand it: {reason[:600]}", value=str(path))


def _arguments(root: ElementTree.Element) -> list[str]:
    """Names of the arguments that a file declares."""
    tags = "}arg", ":arg"
    return [e.get("name", "") for e in root.iter() if str(e.tag).endswith(tags)]
