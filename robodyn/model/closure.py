# SPDX-License-Identifier: Apache-2.0

"""Closures of kinematic loops."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import check_choice
from robodyn.errors import ModelError
from robodyn.model.fields import nonnegative_number, unit_axis
from robodyn.model.placement import Placement

# Number of equations of each type of closure.
CLOSURE_KINDS = {
    "spherical": 3,
    "universal": 4,
    "revolute": 5,
    "prismatic": 5,
    "cylindrical": 4,
    "fixed": 6,
}
# Tolerance [rad] between the axes of a prismatic closure in its two frames.
PARALLEL = 1e-6


@dataclass(frozen=True, eq=False)
class Closure:
    """Closure of a loop: a constraint between frames on two links, like a joint.

    spherical: equal origins (3 equations). universal: equal origins, and the parent's axis is
    perpendicular to the child's (4). revolute: equal origins and parallel axes (5). cylindrical:
    the child's origin on the parent's axis, parallel axes (4). prismatic: as for cylindrical, and
    equal orientations (5). fixed: equal frames (6).

    Attributes:
        name: name of the closure.
        kind: one of `CLOSURE_KINDS`.
        parent, child: names of the links.
        at, child_at: frames on these links.
        axis, child_axis: (3,) directions in these frames; normalized.
        damping: [N m s/rad]; the moment on the child is -damping (omega_child - omega_parent).
        stiffness: [N m/rad] of a spherical closure; the moment on the child is -stiffness times
            the rotation vector from the parent's frame to the child's.
    """

    name: str
    kind: str
    parent: str
    child: str
    at: Placement = field(default_factory=Placement)
    child_at: Placement = field(default_factory=Placement)
    axis: FloatArray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    child_axis: FloatArray | None = None
    damping: float = 0.0
    stiffness: float = 0.0

    def __post_init__(self) -> None:
        put, where = object.__setattr__, f"closure {self.name!r}"
        check_choice(f"{where}: type", self.kind, CLOSURE_KINDS, ModelError)
        if self.parent == self.child:
            raise ModelError(f"{where}: connects {self.parent!r} to itself", value=self.parent)
        put(self, "axis", unit_axis(where, self.axis))
        other = self.axis if self.child_axis is None else self.child_axis
        put(self, "child_axis", unit_axis(where, other))
        for name in ("damping", "stiffness"):
            put(self, name, nonnegative_number(f"{where}: {name}", getattr(self, name)))
        if self.stiffness and self.kind != "spherical":
            raise ModelError(
                f"{where}: stiffness is {self.stiffness:g}, but only spherical closures have "
                "springs; put springs at joints or between points",
                value=self.stiffness,
            )
        if self.kind == "prismatic" and self.child_axis is not None:
            angle = float(np.linalg.norm(np.cross(self.axis, self.child_axis)))
            if angle > PARALLEL:
                raise ModelError(
                    f"{where}: the axes of a prismatic closure differ by {angle:.3g} rad, expected "
                    "the same direction in both frames",
                    value=self.child_axis,
                )

    @property
    def ends(self) -> tuple[tuple[str, Placement, FloatArray], tuple[str, Placement, FloatArray]]:
        """Link name, frame on the link and axis (3,), for the parent and for the child."""
        assert self.child_axis is not None  # set when the closure is created
        return (self.parent, self.at, self.axis), (self.child, self.child_at, self.child_axis)

    @property
    def equations(self) -> int:
        """Number of scalar constraint equations of the closure."""
        return CLOSURE_KINDS[self.kind]
