# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Expansion of xacro files, through the `xacro` package where it is installed."""

from __future__ import annotations

import contextlib
import io
import threading
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError

from robodyn.errors import MissingExtra, ModelError
from robodyn.extras import how_to_install
from robodyn.formats.xml_text import parse_xml
from robodyn.formats.yaml_text import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# xacro keeps its state in module globals.
_lock = threading.Lock()


def expand_xacro(path: Path, arguments: Mapping[str, str] | None = None) -> str:
    """The URDF text that a xacro file expands to; `arguments` are its `xacro:arg` values.

    Raises:
        MissingExtra: the xacro package is not installed.
        ModelError: the file cannot be read or expanded, in one line with xacro's own reason.
    """
    try:
        import xacro
    except ImportError as failure:
        raise MissingExtra(
            f"{path}: reading xacro needs the package xacro: {how_to_install('xacro')} "
            "(ROS 2: ros-<distro>-xacro)",
            value=str(path),
        ) from failure
    parse_xml(read_text(path), str(path))
    chatter = io.StringIO()
    try:
        with _lock, contextlib.redirect_stderr(chatter), contextlib.redirect_stdout(chatter):
            document = xacro.process_file(str(path), mappings=dict(arguments or {}))
            return str(document.documentElement.toxml())
    except (ExpatError, RecursionError, SystemExit) as failure:
        raise _error(path, failure, chatter) from failure
    except Exception as failure:  # expressions in the file may raise anything
        raise _error(path, failure, chatter) from failure


def _error(path: Path, failure: BaseException, chatter: io.StringIO) -> ModelError:
    reason = " ".join(f"{failure} {chatter.getvalue()}".split()) or type(failure).__name__
    return ModelError(f"{path}: xacro cannot expand it: {reason[:400]}", value=str(path))
