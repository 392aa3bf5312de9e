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

"""Names and namespaces of nodes."""

from __future__ import annotations

import re

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def prefix_namespace(base_ns: str | None, ns: str | None) -> str | None:
    """Return `ns` below `base_ns`, or `ns` alone if it is absolute; None if both are None."""
    if ns is None:
        combined = base_ns
    elif not base_ns or ns.startswith("/"):
        combined = ns
    else:
        combined = f"{'' if base_ns == '/' else base_ns}/{ns}"
    if combined is None or combined == "/":
        return combined
    return combined.rstrip("/")


def make_namespace_absolute(ns: str | None) -> str | None:
    """Return the namespace with a leading slash."""
    return ns if ns is None or ns.startswith("/") else f"/{ns}"


def check_node_name(name: str) -> None:
    """Raise ValueError unless this may be a node's name."""
    if not NAME.fullmatch(name):
        raise ValueError(
            f"invalid node name '{name}': it must be letters, digits and underscores, "
            "not beginning with a digit"
        )


def check_namespace(namespace: str) -> None:
    """Raise ValueError unless this may be an absolute namespace."""
    absolute = namespace.startswith("/")
    parts = namespace.split("/")[1:] if namespace != "/" else []
    if not absolute or not all(NAME.fullmatch(part) for part in parts):
        raise ValueError(f"invalid namespace '{namespace}'")
