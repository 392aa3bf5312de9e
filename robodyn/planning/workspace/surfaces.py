# SPDX-License-Identifier: Apache-2.0
"""Level surfaces of sampled functions as triangle meshes, by marching tetrahedra.

Every cell of the grid is divided into six tetrahedra around the same diagonal. Neighboring cells
therefore share triangles, and a surface inside the grid is closed.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from robodyn.arrays import BoolArray, FloatArray, IntArray
from robodyn.errors import InvalidInput
from robodyn.formats.output_file import atomic_write

# Corners of a cell, and the six tetrahedra around the diagonal from the first to the last.
_CORNERS = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
_TETRAHEDRA = np.array([[0, a, b, 7] for a, b in ((1, 3), (3, 2), (2, 6), (6, 4), (4, 5), (5, 1))])
# Edges of a tetrahedron that are the corners of its triangles, by the number of corners inside,
# which are the first ones; with two inside there are two triangles.
_EDGES = (
    (1, [[0, 1], [0, 2], [0, 3]]),
    (3, [[3, 0], [3, 1], [3, 2]]),
    (2, [[0, 2], [0, 3], [1, 2]]),
    (2, [[1, 3], [1, 2], [0, 3]]),
)
# Values this close to the level count as below it, so that every triangle has an area.
_TINY = 1e-12


class Surface(NamedTuple):
    """Triangle mesh of a surface.

    Attributes:
        vertices: (V, 3) in the coordinates of the sampled function.
        triangles: (T, 3) indices of vertices, counter-clockwise seen from where the function is
            negative.
    """

    vertices: FloatArray
    triangles: IntArray

    @property
    def volume(self) -> float:
        """Volume inside a closed surface; positive if the function is positive inside."""
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return float((np.cross(a, b) * c).sum() / 6.0)

    def save(self, path: str | Path) -> None:
        """Write the mesh to a .stl or .ply file.

        Raises:
            InvalidInput: the file extension is neither .stl nor .ply.
            OutputError: the file cannot be written.
        """
        writers = {".stl": _stl, ".ply": _ply}
        place = Path(path)
        if place.suffix.lower() not in writers:
            raise InvalidInput(
                f"{place}: has the extension {place.suffix or 'none'}, expected .stl or .ply",
                value=str(path),
            )
        with atomic_write(place) as draft:
            draft.write_bytes(writers[place.suffix.lower()](self))


def level_surface(
    axes: tuple[FloatArray, FloatArray, FloatArray],
    values: FloatArray,
    counted: BoolArray | None = None,
) -> Surface:
    """Compute the surface on which a sampled function is zero.

    Args:
        axes: coordinates (n,), (m,), (k,) of the grid.
        values: (n, m, k) finite values of the function.
        counted: (n - 1, m - 1, k - 1) whether each cell of the grid is evaluated; all by default.

    Returns:
        The surface; without triangles if the function does not change its sign.
    """
    shape = np.array(values.shape)
    flat = np.where(np.abs(values) < _TINY, -_TINY, values).reshape(-1)
    cells = np.stack(np.meshgrid(*(np.arange(n - 1) for n in shape), indexing="ij"), -1)
    cells = cells.reshape(-1, 3) if counted is None else cells[counted]
    corners = (cells[:, None] + _CORNERS) @ np.array([shape[1] * shape[2], shape[2], 1])
    positive = flat[corners] > 0.0
    corners = corners[positive.any(axis=1) & ~positive.all(axis=1)]
    tetrahedra = corners[:, _TETRAHEDRA].reshape(-1, 4)
    inside = flat[tetrahedra] > 0.0
    count = inside.sum(axis=1)
    # corners inside first, so that only three cases remain
    order = np.argsort(~inside, axis=1, kind="stable")
    ordered = np.take_along_axis(tetrahedra, order, axis=1)
    edges = np.concatenate([ordered[count == number][:, pairs] for number, pairs in _EDGES])
    pairs = np.sort(edges.reshape(-1, 2), axis=1)
    unique, triangles = np.unique(pairs, axis=0, return_inverse=True)
    places = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    low, high = flat[unique[:, 0]], flat[unique[:, 1]]
    fraction = (low / (low - high))[:, None] if len(unique) else np.empty((0, 1))
    vertices = places[unique[:, 0]] + fraction * (places[unique[:, 1]] - places[unique[:, 0]])
    triangles = triangles.reshape(-1, 3)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    outward = _outward_directions(ordered, places, count)
    wrong = (np.cross(b - a, c - a) * outward).sum(axis=1) < 0.0
    triangles[wrong] = triangles[wrong][:, ::-1]
    return Surface(vertices, triangles)


def _outward_directions(ordered: IntArray, places: FloatArray, count: IntArray) -> FloatArray:
    """Compute a vector (T, 3) from each triangle towards negative field values."""
    parts = []
    for number, _ in _EDGES:
        corners = ordered[count == number]
        inside = places[corners[:, :number]].mean(axis=1)
        parts.append(places[corners[:, number:]].mean(axis=1) - inside)
    return np.concatenate(parts)


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
