# SPDX-License-Identifier: Apache-2.0
"""Location and content of the mesh files that a URDF references.

The package trimesh reads STL and OBJ, and Collada (DAE) if pycollada is installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlparse

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.errors import ModelError
from robodyn.extras import how_to_install
from robodyn.formats.ros_packages import find_package


class Mesh(NamedTuple):
    """Triangle mesh: vertices (V, 3) [m], and the vertex indices (F, 3) of each face.

    The vertices are in the frame of the visual.
    """

    vertices: FloatArray
    faces: IntArray


def mesh_file(name: str, near: Path | None, allowed: Collection[Path] | None = None) -> Path:
    """Find the file of a mesh named by package://, file://, or a relative path.

    Args:
        name: name of the mesh in the URDF.
        near: URDF file, to which paths are relative; None if the URDF is not in a file.
        allowed: folders in which meshes are permitted, besides those of ROS packages, for a URDF
            from an untrusted source; None to permit all folders.

    Returns:
        Path of the file.

    Raises:
        ModelError: there is no such file or package, or the file is in another folder.
    """
    try:
        parts = urlparse(name)
    except ValueError as error:
        raise ModelError(
            f"the address of the mesh {name} is invalid: {error}", value=name
        ) from error
    folders = list(allowed or ())
    if parts.scheme == "package":
        # `package:///part.stl`, which some exporters write, names no package: the file is beside
        # the URDF
        inside = unquote(parts.path).lstrip("/")
        folder = find_package(parts.netloc, near) if parts.netloc else _folder(near)
        path = folder / inside
        folders.append(folder)
    elif parts.scheme == "file":
        path = Path(unquote(parts.path))
    else:
        path = _folder(near) / name
    inside_of = Path(os.path.abspath(path)).is_relative_to
    if allowed is not None and not any(map(inside_of, map(os.path.abspath, folders))):
        raise ModelError(
            f"the mesh {name} is outside the folders of packages and those of mesh_folders; "
            "a received description may load meshes only from these",
            value=name,
        )
    if not _is_file(path):
        raise ModelError(f"mesh file not found: {name}", value=name)
    return path


def with_mesh_files(text: str, near: Path) -> str:
    """Return URDF text in which RViz finds the meshes even if ROS 2 is not sourced.

    The names of meshes become file:// names, except those that the sourced ROS 2 resolves and those
    whose files are not found.

    Args:
        text: URDF text.
        near: URDF file, to which mesh names are relative.

    Returns:
        The changed text.
    """

    def locate(match: re.Match[str]) -> str:
        return match["before"] + mesh_address(match["name"], near) + match["quote"]

    return _MESH.sub(locate, text)


def mesh_address(name: str, near: Path) -> str:
    """Return a name by which RViz finds a mesh file.

    Args:
        name: name of the mesh in the URDF.
        near: URDF file, to which the name is relative.

    Returns:
        A file:// name, or the unchanged name if the sourced ROS 2 resolves it or no file is found.
    """
    try:
        scheme = urlparse(name).scheme
    except ValueError:
        return name
    if scheme not in ("", "package") or (scheme == "package" and _is_sourced(name)):
        return name
    try:
        return mesh_file(name, near).resolve().as_uri()
    except ModelError:
        return name


_MESH = re.compile(
    r"(?P<before><mesh\b[^>]*?\bfilename\s*=\s*(?P<quote>[\"']))(?P<name>[^\"']*)(?P=quote)"
)


def _is_sourced(name: str) -> bool:
    prefixes = [part for part in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if part]
    package = urlparse(name).netloc
    return bool(package) and any(Path(p, "share", package).is_dir() for p in prefixes)


def read_mesh(path: Path, scale: FloatArray) -> Mesh:
    """Read the triangles of a mesh file.

    A file with several meshes becomes one mesh.

    Args:
        path: file to read.
        scale: (3,) factors of the coordinates.

    Returns:
        The mesh.

    Raises:
        ModelError: the file cannot be read, or a package that is required to read it is missing.
    """
    try:
        import trimesh
    except ImportError as failure:
        raise ModelError(
            f"meshes need the package trimesh: {how_to_install('meshes')}", value="trimesh"
        ) from failure
    try:
        found: Any = trimesh.load(str(path), force="mesh")
        vertices = np.asarray(found.vertices, dtype=np.float64) * scale
        faces = np.asarray(found.faces, dtype=np.int64)
    except Exception as failure:  # its readers may raise anything for an invalid file
        reason = " ".join(str(failure).split())[:200]
        if "collada" in reason.lower():
            reason = f"needs the package pycollada: {how_to_install('meshes')}"
        raise ModelError(f"the mesh {path} cannot be read: {reason}", value=str(path)) from failure
    if not len(faces):
        raise ModelError(f"the mesh {path} has no faces", value=str(path))
    return Mesh(vertices, faces)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long for a path, or contains a null character
        return False


def _folder(near: Path | None) -> Path:
    return near.resolve().parent if near is not None else Path.cwd()
