# SPDX-License-Identifier: Apache-2.0
"""Triangles in files: binary STL and PLY."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import InvalidInput, OutputError

if TYPE_CHECKING:
    from robodyn.planning.marching import Surface


def save_surface(surface: Surface, path: str | Path) -> None:
    """Write a surface to a file that ends in .stl or .ply.

    Raises:
        InvalidInput: another ending.
        OutputError: the file cannot be written.
    """
    writers = {".stl": _stl, ".ply": _ply}
    place = Path(path)
    if place.suffix.lower() not in writers:
        raise InvalidInput(
            f"{place}: ends in {place.suffix or 'nothing'}, expected .stl or .ply", value=str(path)
        )
    try:
        place.write_bytes(writers[place.suffix.lower()](surface))
    except OSError as error:
        raise OutputError(
            f"{place}: cannot be written: {error.strerror}", value=str(path)
        ) from error


def _stl(surface: Surface) -> bytes:
    corners = surface.vertices[surface.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    layout = [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")]
    rows = np.zeros(len(corners), dtype=layout)
    rows["normal"] = normal / np.where(length > 0.0, length, 1.0)
    rows["corners"] = corners
    count = len(rows).to_bytes(4, "little")
    return b"robodyn".ljust(80) + count + bytes(rows.tobytes())


def _ply(surface: Surface) -> bytes:
    head = (
        "ply\nformat binary_little_endian 1.0\ncomment robodyn\n"
        f"element vertex {len(surface.vertices)}\n"
        "property float x\nproperty float y\nproperty float z\n"
        f"element face {len(surface.triangles)}\nproperty list uchar int vertex_indices\n"
        "end_header\n"
    )
    faces = np.zeros(len(surface.triangles), dtype=[("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, surface.triangles
    return head.encode() + surface.vertices.astype("<f4").tobytes() + faces.tobytes()
