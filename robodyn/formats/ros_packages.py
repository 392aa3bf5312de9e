# SPDX-License-Identifier: Apache-2.0
"""Search for the ROS packages in `$(find name)` and `package://name/`, with or without ROS.

The folders are searched in this order: those of ROBODYN_PACKAGE_PATH, the prefixes of a sourced ROS
2 (AMENT_PREFIX_PATH), and the checkout that contains the referring file. A folder is the package if
it contains a package.xml with that name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from robodyn.errors import ModelError

PATH_VARIABLE = "ROBODYN_PACKAGE_PATH"
# Depth of the search below a folder for packages, and above a file for its checkout.
DEPTH = 3
HEIGHT = 6


def find_package(name: str, near: Path | None = None) -> Path:
    """Find the folder of a ROS package, with or without a sourced ROS 2.

    Args:
        name: name of the package.
        near: file that refers to the package; its checkout is searched, too.

    Returns:
        Path of the folder.

    Raises:
        ModelError: the package was not found; the error suggests a remedy.
    """
    for folder in _candidates(name, near):
        if _name_of(folder) == name:
            return folder
    raise ModelError(
        f"the package {name!r} was not found: pass the folder that contains it with --package-path "
        f"or in {PATH_VARIABLE}, or source its ROS 2 workspace",
        value=name,
    )


def _candidates(name: str, near: Path | None) -> Iterator[Path]:
    for folder in _folders(PATH_VARIABLE):
        yield from _packages_below(folder)
        yield folder / "share" / name
    for prefix in _folders("AMENT_PREFIX_PATH"):
        yield prefix / "share" / name
    if near is None:
        return
    # first its own package, then those beside it, and the root of the checkout last
    folder = near.resolve().parent
    for _ in range(HEIGHT):
        if folder == folder.parent:
            return
        if (folder / "package.xml").is_file():
            yield folder
            yield folder.parent / name
        if (folder / ".git").exists():
            yield from _packages_below(folder)
            return
        yield folder / name
        folder = folder.parent


def package_folders() -> tuple[Path, ...]:
    """Return the folders whose subfolders are searched for ROS packages.

    They are those of ROBODYN_PACKAGE_PATH and the `share` folders of a sourced ROS 2.
    """
    sourced = (prefix / "share" for prefix in _folders("AMENT_PREFIX_PATH"))
    return (*_folders(PATH_VARIABLE), *sourced)


def _folders(variable: str) -> list[Path]:
    # absolute, as xacro resolves a relative one in the folder of the including file
    parts = os.environ.get(variable, "").split(os.pathsep)
    return [Path(part).expanduser().absolute() for part in parts if part]


@cache
def _packages_below(root: Path, depth: int = DEPTH) -> tuple[Path, ...]:
    if (root / "package.xml").is_file():
        return (root,)
    if not depth:
        return ()
    found: list[Path] = []
    try:
        below = sorted(entry for entry in root.iterdir() if entry.is_dir())
    except OSError:
        return ()
    for folder in below:
        if not folder.name.startswith("."):
            found += _packages_below(folder, depth - 1)
    return tuple(found)


def _name_of(folder: Path) -> str:
    try:
        text = (folder / "package.xml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    match = re.search(r"<name>\s*([^<\s]+)\s*</name>", text)
    return match.group(1) if match else ""
