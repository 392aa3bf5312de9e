# SPDX-License-Identifier: Apache-2.0

"""Links and joints for the short forms of legs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robodyn.actuators.actuator import IDEAL
from robodyn.actuators.description import actuator_from_fields, params_of
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.formats.documents import Fields
from robodyn.formats.xml_elements import frame_of
from robodyn.model.body import Body, Link
from robodyn.model.builder import ModelBuilder
from robodyn.model.closure import Closure
from robodyn.model.geometry import Geometry, bare, beam
from robodyn.model.joint import Joint
from robodyn.model.placement import Placement
from robodyn.parsing.model_file import field_context
from robodyn.parsing.own_attributes import Motor, with_motor

_BAR = ("mass", "com", "inertia", "radius", "length", "to", "apart")
# bars whose length may differ from the distance of their ends
_FREE = ("lower", "upper")
_LIMITS = ("position", "velocity", "effort")
MASSLESS = Body(0.0, np.zeros(3), np.zeros((3, 3)))
# Ends of a joint: its parent, its child, and its point (3,) [m] on the parent.
Ends = tuple[str, str, ArrayLike]


@dataclass
class Parts:
    """Data of a platform on legs while its model is built.

    Attributes:
        builder: builder of the mechanism's model.
        name: name of the platform's link.
        rotation, origin: (3, 3), (3,) [m] of the platform at home, base frame.
        size: [m] scale of drawn shapes.
        driven: names of the driven joints.
    """

    builder: ModelBuilder
    name: str
    rotation: FloatArray
    origin: FloatArray
    size: float = 0.1
    driven: list[str] = field(default_factory=list)

    def add_link(
        self,
        name: str,
        body: Body = MASSLESS,
        solid: tuple[Geometry, ...] = (),
        thin: tuple[Geometry, ...] = (),
    ) -> None:
        """Add a link with its mass properties and shapes to the model.

        The shapes `solid` are both collision shapes and visual shapes, the shapes `thin` are visual
        only.
        """
        shapes = (*solid, *thin), bare(solid)
        self.builder.add(Link(name, body.mass, body.com, body.inertia, *shapes))
        self.builder.links_with_inertia.add(name)


class LegParts:
    """Builder of the links and joints of a leg.

    Attributes:
        parts: builder to which the links and joints are added.
        fields: fields of the leg.
        name, form: name of the leg, and letters of its joints.
        start: (3,) [m] start of the leg, base frame.
        tip, goal: (3,) [m] end of the leg at home, in the platform's frame and in the base frame.

    Raises:
        ModelError: a field is missing or wrong; also from all methods.
    """

    def __init__(self, parts: Parts, fields: Fields) -> None:
        self.parts, self.fields = parts, fields
        self.name, self.form = fields.text("name"), fields.text("form")
        self.start, self.tip = (fields.array(key, (3,), "m") for key in ("base", "platform"))
        self.goal = parts.origin + parts.rotation @ self.tip
        self._damping = fields.number("passive_damping", "N m s/rad", default=0.0, at_least=0.0)

    @property
    def axis(self) -> FloatArray:
        """Unit axis (3,) of the leg, base frame."""
        axis = self.fields.array("axis", (3,))
        size = float(np.linalg.norm(axis))
        if not size > 1e-9:
            raise self.fields.refuse("axis", axis.tolist(), "a nonzero direction")
        return axis / size

    def bar(self, key: str, way: FloatArray, suffix: str = "") -> str:
        """Add a bar-shaped link along a vector (3,) [m]; return the link's name.

        The vector starts at the link's origin. The bar is a cylinder or, without a radius, a thin
        rod, unless its inertia is given. The upper part of a leg points from the platform to the
        base; its `length` may differ from the distance of its ends.
        """
        block, name = self.fields.child(key, {}), f"{self.name}_{key}{suffix}"
        block.only(*_BAR)
        span = float(np.linalg.norm(way))
        length = block.number("length", "m", default=span, above=0.0) if key in _FREE else span
        along = way / span
        mass = block.number("mass", "kg", default=0.0, at_least=0.0)
        radius = block.number("radius", "m", default=0.0, at_least=0.0)
        across = mass * (3.0 * radius**2 + length**2) / 12.0
        # x along the leg or the bar, away from the base
        R = self._frame(-along if key == "upper" else along)
        com = block.array("com", (3,), "m", (R.T @ (0.5 * length * along)).tolist())
        inertia = np.diag([0.5 * mass * radius**2, across, across])
        if "inertia" in block:
            inertia = block.array("inertia", (3, 3), "kg m^2")
        width, material = radius or 0.015 * self.parts.size, "rod" if key == "rod" else "cylinder"
        drawn = beam(np.zeros(3), length * along, width, material)
        self.parts.add_link(name, Body(mass, R @ com, R @ inertia @ R.T), drawn)
        return name

    def _frame(self, x: FloatArray) -> FloatArray:
        """Return a bar's axes (3, 3): x along the bar, y along the leg's axis cross x."""
        y = np.cross(self._first_axis(x), x)
        size = float(np.linalg.norm(y))
        if size < 0.1:
            expected = "a direction that is not parallel to the leg or its bars"
            raise self.fields.refuse("axis", self.fields.get("axis", ""), expected)
        y = y / size
        return np.stack([x, y, np.cross(x, y)], axis=1)

    def _first_axis(self, along: FloatArray) -> FloatArray:
        """Return the first axis of a universal joint: the leg's axis, or a horizontal one."""
        if "axis" in self.fields and self.form[0] != "P":
            return self.axis
        up = np.array([0.0, 0.0, 1.0] if abs(along[2]) < 0.99 else [1.0, 0.0, 0.0])
        first = np.cross(up, along)
        return np.asarray(first / np.linalg.norm(first))

    def passive_joint(self, letter: str, ends: Ends, way: FloatArray, suffix: str = "") -> None:
        """Add a passive joint, R, U or S, between two links, for a bar along a direction.

        S is a U followed by a rotation about the bar. A universal joint's first axis is the leg's
        axis; the second is perpendicular to it and to the bar.
        """
        along = way / np.linalg.norm(way)
        axes = [self._first_axis(along)]
        if letter != "R":
            axes.append(self._frame(along)[:, 1])
        if letter == "S":
            axes.append(along)
        parent, child, at = ends
        for index, axis in enumerate(axes, start=1):
            link = child if index == len(axes) else f"{self.name}_cross{suffix}{index}"
            if link != child:
                self.parts.add_link(link)
            self.follow(f"passive{suffix}{index}", (parent, link, at), axis)
            parent, at = link, np.zeros(3)

    def follow(self, name: str, ends: Ends, axis: FloatArray) -> None:
        """Add a passive revolute joint without limits between two links.

        Its damping is that of the leg's fields.
        """
        joint = _joint(f"{self.name}_{name}", "continuous", ends, axis)
        self.parts.builder.add(replace(joint, damping=self._damping))

    def drive(self, kind: str, ends: Ends, axis: FloatArray, home: float) -> None:
        """Add the driven joint to the model, with its limits, friction, actuator and home.

        These are read from the leg's fields; `home` is the joint's position at home [rad or m]. If
        the leg has `driven: false`, this joint is passive.
        """
        fields, limits = self.fields, self.fields.child("limits", {})
        limits.only(*_LIMITS)
        actuator = actuator_from_fields(fields.child("actuator")) if "actuator" in fields else IDEAL
        friction = fields.number("friction", default=0.0, at_least=0.0)
        motion: dict[str, Any] = {"friction": np.full(2, friction)}
        motion["damping"] = fields.number("damping", default=0.0, at_least=0.0)
        motion["velocity"] = limits.number("velocity", default=np.inf, above=0.0)
        if isinstance(limits.data.get("effort"), list):  # a cable's limits have one sign
            least, largest = limits.array("effort", (2,), "N or N m").tolist()
            with field_context(limits, "effort"):
                actuator = replace(actuator, least_effort=least, largest_effort=largest)
        else:
            motion["effort"] = limits.number("effort", default=np.inf, above=0.0)
        if "position" in limits:
            motion["position"] = limits.array("position", (2,))
        elif kind == "revolute":
            kind = "continuous"
        joint = replace(_joint(self.name, kind, ends, axis), **motion)
        motor = Motor(fields.number("armature", default=0.0, at_least=0.0))
        builder = self.parts.builder
        builder.add(with_motor(joint, motor, params_of(actuator)))
        builder.home[self.name] = (float(home),)
        if self.fields.flag("driven", default=True):
            self.parts.driven.append(self.name)

    def end(
        self, link: str, at: ArrayLike, suffix: str = "", shift: FloatArray | float = 0.0
    ) -> None:
        """Add the closure at the platform: a ball joint, or a hinge about the leg's axis.

        `link` is the leg's last link and `at` (3,) the joint's center in its frame. `shift` (3,)
        displaces the center on the platform from the leg's end, in the platform's frame.
        """
        kind = "spherical" if self.form[-1] == "S" else "revolute"
        axes: dict[str, Any] = {}
        if kind == "revolute":
            axes = {"axis": self.axis, "child_axis": self.parts.rotation.T @ self.axis}
        seats = [Placement.of(frame_of(point)) for point in (at, self.tip + shift)]
        axes |= {"at": seats[0], "child_at": seats[1], "damping": self._damping}
        name, platform = f"{self.name}_end{suffix}", self.parts.name
        self.parts.builder.add(Closure(name, kind, link, platform, **axes))


def _joint(name: str, kind: str, ends: Ends, axis: FloatArray) -> Joint:
    """Create a joint between two links, at a point (3,) of the parent link."""
    parent, child, at = ends
    return Joint(name, kind, parent, child, Placement.of(frame_of(at)), axis=axis)
