# SPDX-License-Identifier: Apache-2.0

"""Makes a Python environment look like a sourced ROS 2 installation.

`ament_index_python` (the real one, from its wheel) looks for packages below the folders of
AMENT_PREFIX_PATH: a marker `share/ament_index/resource_index/packages/NAME`, the package's files
in `share/NAME` and its executables in `lib/NAME`. A pip installation has the first two at best, and
for an editable installation the files are copies that go stale. So, as `colcon build
--symlink-install` does, a small prefix of symbolic links is kept next to the environment's own:

- `share/NAME` leads to the installed files, or to the source folder if the installation is
  editable: edits to launch and configuration files need no new installation;
- `lib/NAME` has an executable for each of the distribution's console_scripts entry points, and for
  each entry point of the group NAME.nodes, which pip puts on no PATH.

A prefix is never changed once it exists: its name is a hash of the links in it.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import (
    Distribution,
    EntryPoint,
    PackageNotFoundError,
    distributions,
    version,
)
from pathlib import Path
from urllib.parse import unquote, urlparse

INDEX = Path("share", "ament_index", "resource_index", "packages")
PROFILES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE")
# Starts or ends a string in Python; a shell reads an empty string and the start of another one.
QUOTES = "'''"
# Folders of a source tree that an installation does not have in share/.
NOT_INSTALLED = {"build", "dist", "install", "log", "test", "tests", "venv"}


def problem() -> str:
    """Return which variable is in the way of the ROS 2 in this environment; empty if none is."""
    middleware = os.environ.get("RMW_IMPLEMENTATION", "")
    if middleware in ("", "rmw_fastrtps_cpp") or not _is_installed("ros-rclpy"):
        return ""
    return (
        f"environment variable RMW_IMPLEMENTATION is {middleware!r}, but the rclpy in this "
        "environment contains rmw_fastrtps_cpp only: unset RMW_IMPLEMENTATION"
    )


def prepare() -> None:
    """Set what a sourced ROS 2 sets, as far as it is not set already."""
    if real_ros_prefix() is not None:
        return
    # Nodes discover each other on this machine only, and quickly.
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    if not any(name in os.environ for name in PROFILES):
        # Fast DDS 3 changed the name, and warns if it finds the old one.
        name = PROFILES[_is_installed("ros-fastdds")]
        local = os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
        profile = "localhost.xml" if local else "discovery.xml"
        os.environ[name] = str(Path(__file__).with_name(profile))
    present = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    wanted = [str(link_prefix()), sys.prefix]
    os.environ["AMENT_PREFIX_PATH"] = os.pathsep.join(
        [*wanted, *(p for p in present if p not in wanted)]
    )


def _is_installed(distribution: str) -> bool:
    try:
        return bool(version(distribution))
    except PackageNotFoundError:
        return False


def real_ros_prefix() -> str | None:
    """Return the prefix of a sourced ROS 2 that has its own `ros2`, or None."""
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        if prefix and (Path(prefix) / INDEX / "ros2cli").exists():
            return prefix
    return None


def link_prefix() -> Path:
    """Return the folder of links for what is installed now, made if it is not there yet."""
    links = dict(link for found in distributions() for link in _links(found))
    key = hashlib.sha256(repr(sorted(links.items())).encode()).hexdigest()[:16]
    root = Path(sys.prefix) / "share" / "robodyn_bare"
    if not _writable(root):
        root = _temporary_root()
    prefix = root / key
    if not prefix.is_dir():
        root.mkdir(parents=True, exist_ok=True)
        _forget_old(root)
        _build(prefix, links)
    return prefix


def _forget_old(root: Path) -> None:
    """Remove the prefixes of installations of more than a week ago; what is needed is remade."""
    for old in root.iterdir():
        if old.stat().st_mtime < time.time() - 7 * 86400:
            shutil.rmtree(old, ignore_errors=True)


def _temporary_root() -> Path:
    """Return a folder for temporary files in which no other user can put executables."""
    root = Path(tempfile.gettempdir()) / f"robodyn_bare_{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        root.mkdir(mode=0o700)
    found = root.lstat()  # the name itself, not the target of a link
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if ours and not stat.S_IMODE(found.st_mode) & 0o077:
        return root
    # Another user may have created it: use a new folder, deleted when this process ends.
    root = Path(tempfile.mkdtemp(prefix="robodyn_bare_"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


def _writable(folder: Path) -> bool:
    while not folder.exists():
        folder = folder.parent
    return os.access(folder, os.W_OK)


def _build(prefix: Path, links: dict[str, str]) -> None:
    """Build the folder under a temporary name: another process may be building the same one."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{prefix.name}.", dir=prefix.parent))
    fresh.chmod(0o755)
    for name, target in links.items():
        path = fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if os.path.isabs(target):
            path.symlink_to(target)
        else:
            path.write_text(target, encoding="utf-8")
            path.chmod(0o755)
    try:
        fresh.rename(prefix)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        if not prefix.is_dir():
            raise


def _links(distribution: Distribution) -> Iterator[tuple[str, str]]:
    """Yield (path in the prefix, absolute target of the link or else the file's text)."""
    source = editable_source(distribution)
    if source is None and not any(_has_executable(e) for e in distribution.entry_points):
        return  # parsing the metadata of most distributions would take longer than all else here
    groups = "console_scripts", f"{distribution.metadata['Name']}.nodes"
    scripts = [e for e in distribution.entry_points if e.group in groups]
    if source is not None and (source / "package.xml").is_file():
        name = _package_name(source)
        for entry in source.iterdir():
            if _belongs(entry):
                yield f"share/{name}/{entry.name}", str(entry)
    else:
        name = (distribution.metadata["Name"] or "").replace("-", "_")
        if not scripts or not (Path(sys.prefix) / INDEX / name).is_file():
            return
        yield f"share/{name}", str(Path(sys.prefix, "share", name))
    for script in scripts:
        yield f"lib/{name}/{script.name}", _executable(script)
    yield str(INDEX / name), ""


def _has_executable(entry: EntryPoint) -> bool:
    """Return whether an entry point is a script, or a node of some distribution."""
    return entry.group == "console_scripts" or entry.group.endswith(".nodes")


def editable_source(distribution: Distribution) -> Path | None:
    """Return the source folder of an editable installation (PEP 610), else None."""
    text = distribution.read_text("direct_url.json")
    if not text:
        return None
    record = json.loads(text)
    if not record.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlparse(record["url"]).path))


def _package_name(source: Path) -> str:
    text = (source / "package.xml").read_text(encoding="utf-8")
    match = re.search(r"<name>\s*([\w-]+)\s*</name>", text)
    return match.group(1) if match else source.name


def _belongs(entry: Path) -> bool:
    """Return whether an entry of a source folder is part of its package."""
    if entry.name.startswith(".") or entry.name.endswith(".egg-info"):
        return False
    if entry.name in NOT_INSTALLED:
        return False
    # Exclude other packages, and virtual environments of any name.
    return not any((entry / sign).exists() for sign in ("COLCON_IGNORE", "pyvenv.cfg"))


def _executable(script: EntryPoint) -> str:
    """Return the text of an executable that does the same as the script that pip installs."""
    return (
        f"{_first_lines(sys.executable)}import sys\nfrom {script.module} import {script.attr}\n"
        f"sys.exit({script.attr}())\n"
    )


def _first_lines(python: str) -> str:
    """Return the lines that make the system run a script with an interpreter.

    Systems accept no blank in the path after `#!`, and 127 characters at most. In all other cases a
    shell runs the interpreter; Python takes the shell's command for a string.
    """
    if len(python) < 126 and not re.search(r"\s", python):
        return f"#!{python}\n"
    return f'#!/bin/sh\n{QUOTES}:\'\nexec {shlex.quote(python)} "$0" "$@"\n{QUOTES}\n'
