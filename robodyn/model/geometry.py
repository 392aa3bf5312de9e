# SPDX-License-Identifier: Apache-2.0

"""Visual and collision geometry of links: primitives, meshes, their frames and materials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import ModelError
from robodyn.model.placement import Placement
from robodyn.poses import pose_from_rpy, rotation_matrix

# Attributes of each primitive, and the number of values [m] of each.
SIZES = {
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
}


@dataclass(frozen=True)
class Primitive:
    """Box, sphere, cylinder or capsule, centered at the origin, with its axis along z.

    Attributes:
        kind: one of `SIZES`.
        size: [m] (x, y, z) of a box, (radius,) of a sphere, (radius, length) of a cylinder or
            capsule; a capsule's length is that of its cylindrical part.
    """

    kind: str
    size: tuple[float, ...]

    def __post_init__(self) -> None:
        size = tuple(float(value) for value in self.size)
        object.__setattr__(self, "size", size)
        if self.kind not in SIZES or len(size) != sum(SIZES[self.kind].values()):
            raise ModelError(
                f"shape {self.kind} with {len(size)} dimensions, expected one of "
                f"{', '.join(SIZES)} with all its dimensions",
                value=self.kind,
            )
        if not min(size) > 0.0:
            raise ModelError(
                f"{self.kind} of size {list(size)}, expected positive numbers [m]", value=size
            )

    @property
    def attributes(self) -> dict[str, tuple[float, ...]]:
        """Dimensions [m] by name, such as `radius`; the names are those in `SIZES`."""
        numbers = iter(self.size)
        return {
            key: tuple(next(numbers) for _ in range(count))
            for key, count in SIZES[self.kind].items()
        }


@dataclass(frozen=True)
class MeshFile:
    """Reference to a mesh file, with scale factors.

    Attributes:
        file: name in the description: package://, file://, or a path relative to the description.
        scale: (x, y, z) factors.
    """

    file: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Material:
    """Appearance of a visual: color and texture.

    Attributes:
        name: name of the material; empty if it has none.
        color: red, green, blue, opacity, each 0 to 1; None if the description has none.
        texture: image file; empty if there is none.
    """

    name: str = ""
    color: tuple[float, ...] | None = None
    texture: str = ""


@dataclass(frozen=True)
class Geometry:
    """Visual or collision body of a link.

    Attributes:
        form: a primitive or a mesh.
        at: its center and axes in the link's frame.
        material: material of a visual, if any; None for a collision body.
        name: name of the element; empty if it has none.
    """

    form: Primitive | MeshFile
    at: Placement = field(default_factory=Placement)
    material: Material | None = None
    name: str = ""

    def seen_from(self, frame: FloatArray) -> Geometry:
        """Return the shape, expressed in the frame of another link.

        `frame` (4, 4) is the homogeneous transform from the frame of the shape's own link to the
        other one.
        """
        return replace(self, at=Placement.of(frame @ self.at.matrix))

    @property
    def without_capsules(self) -> tuple[Geometry, ...]:
        """Shapes equivalent to this one, for formats without capsules.

        A capsule becomes a cylinder and two spheres; other shapes stay as they are.
        """
        if not isinstance(self.form, Primitive) or self.form.kind != "capsule":
            return (self,)
        radius, length = self.form.size
        ends = (self.at.translation + z * self.at.rotation[:, 2] for z in (-length / 2, length / 2))
        sphere = Primitive("sphere", (radius,))
        return (
            replace(self, form=Primitive("cylinder", self.form.size)),
            *(replace(self, form=sphere, at=Placement(self.at.rotation, end)) for end in ends),
        )


# Materials of drawings made by robodyn, by name.
PALETTE = {
    material.name: material
    for material in (
        Material("frame", (0.25, 0.27, 0.30, 1.0)),
        Material("cylinder", (0.55, 0.58, 0.62, 1.0)),
        Material("rod", (0.85, 0.86, 0.88, 1.0)),
        Material("joint", (0.85, 0.45, 0.10, 1.0)),
        Material("platform", (0.20, 0.40, 0.65, 1.0)),
    )
}


def ball(center: ArrayLike, radius: float, material: str) -> Geometry:
    """Return a sphere at a point (3,) [m] of a link, in a material of `PALETTE`."""
    at = Placement(translation=np.asarray(center, dtype=np.float64))
    return Geometry(Primitive("sphere", (_round_digits(radius),)), at, PALETTE[material])


def beam(start: ArrayLike, end: ArrayLike, radius: float, material: str) -> tuple[Geometry, ...]:
    """Return a cylinder between points (3,) [m] of a link; empty if they coincide."""
    a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    x, y, z = b - a
    length = float(np.linalg.norm(b - a))
    if length < 1e-9:
        return ()
    # pitch and yaw rotate z into the beam's direction
    rpy = np.round((0.0, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)), 9)
    turn = rotation_matrix(pose_from_rpy((0.0, 0.0, 0.0), rpy))
    form = Primitive("cylinder", (_round_digits(radius), _round_digits(length)))
    return (Geometry(form, Placement(turn, np.round(0.5 * (a + b), 9)), PALETTE[material]),)


def ring(points: Iterable[ArrayLike], radius: float, material: str) -> tuple[Geometry, ...]:
    """Return beams that connect points (3,) [m] of a link in a ring.

    The points are connected in the order of their angles about the z axis through their mean.
    """
    corners = np.asarray(list(points), dtype=np.float64)
    spokes = corners - corners.mean(axis=0)
    order = np.argsort(np.arctan2(spokes[:, 1], spokes[:, 0]), kind="stable")
    pairs = ((corners[order[n - 1]], corners[corner]) for n, corner in enumerate(order))
    return tuple(part for a, b in pairs for part in beam(a, b, radius, material))


def bare(shapes: Iterable[Geometry]) -> tuple[Geometry, ...]:
    """Return shapes without their material, for use as collision bodies."""
    return tuple(replace(shape, material=None) for shape in shapes)


def _round_digits(value: float) -> float:
    """Round a length to six significant digits."""
    return float(f"{value:.6g}")
