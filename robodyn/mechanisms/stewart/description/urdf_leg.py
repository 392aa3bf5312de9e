# SPDX-License-Identifier: Apache-2.0

"""One leg of a URDF: base - universal joint - lower part - actuator - upper part - closure.

All links may have any frame; only the location of the joints' axes and the closure's point at zero
joint positions matters. They determine the leg's geometry, its bodies in the leg frame, and how
the URDF's joint values relate to the natural ones (`universal_zero_frame`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robodyn.actuators.description import actuator_from_params
from robodyn.errors import ModelError
from robodyn.formats.urdf_joints import finite
from robodyn.mechanisms.stewart.model import (
    Damping,
    JointReading,
    Leg,
    LegJoints,
    LegLimits,
    universal_zero_frame,
)
from robodyn.model.body import Body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robodyn.actuators import Actuator
    from robodyn.arrays import FloatArray
    from robodyn.formats.urdf_elements import UrdfClosure
    from robodyn.mechanisms.common.urdf_tree import UrdfTree


# Tolerance for perpendicular and intersecting axes: files round angles to about 5 digits.
ANGLE_TOLERANCE = 1e-4
DISTANCE_TOLERANCE = 1e-4


class Geometry(NamedTuple):
    """A leg at zero, in the frame of the tree's root.

    Attributes:
        centre: (3,) [m] of the universal joint.
        tip: (3,) [m] of the spherical joint.
        axes: (3, 3) the leg frame's x, y, z as columns.
        k: (3,) fixed universal axis.
        second: 1 or -1, the second universal axis along y or against it.
        slide: 1 or -1, the actuator's axis along the leg or against it.
        length: [m] signed distance from the centre to the tip along x.
    """

    centre: FloatArray
    tip: FloatArray
    axes: FloatArray
    k: FloatArray
    second: float
    slide: float
    length: float


class LegReader:
    """Reads the legs of one URDF; `base` (4, 4) is the base frame in the frame of the root.

    `params` are the joints' parameters in `<ros2_control>`, by joint name.
    """

    def __init__(
        self,
        tree: UrdfTree,
        base: FloatArray,
        source: str,
        params: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.tree, self.base, self.source = tree, base, source
        self.params = params or {}

    def leg(self, joints: list[Any], tip: FloatArray, platform: FloatArray, by: UrdfClosure) -> Leg:
        """The leg of three joints from base to platform, closed at `tip` (3,), root frame.

        `platform` (3,) is the closure's point in the platform's frame.

        Raises:
            ModelError: names the joint or link, the value, and what is expected.
        """
        first, second, actuator = joints
        for joint in joints:
            self._check_joint(joint, driven=joint is actuator)
        if self.tree.body[second.parent] != self.tree.body[first.child]:
            raise self._error(f"joint {second.name!r}", second.parent, "a parent on the cross")
        self._check_massless(first)
        at_zero = self._geometry(first, second, actuator, tip)
        rotation = self.base[:3, :3].T
        return Leg(
            base=rotation @ (at_zero.centre - self.base[:3, 3]),
            platform=platform,
            universal_axis=rotation @ at_zero.k,
            lower=self._body(second.child, at_zero.axes, at_zero.centre, "lower"),
            upper=self._body(actuator.child, at_zero.axes, at_zero.tip, "upper"),
            damping=self._damping(first, second, actuator, by),
            limits=self._limits(actuator, at_zero),
            actuator=self._actuator(actuator),
            joints=self._joints(joints, at_zero, rotation),
        )

    def _geometry(self, first: Any, second: Any, actuator: Any, tip: FloatArray) -> Geometry:
        k, turn, slide = (self.tree.axis(joint) for joint in (first, second, actuator))
        for other, axis in ((first, k), (actuator, slide)):
            if abs(turn @ axis) > ANGLE_TOLERANCE:
                angle = np.degrees(np.arccos(np.clip(turn @ axis, -1.0, 1.0)))
                raise self._error(
                    f"joint {second.name!r}: the angle of its axis to that of {other.name!r}",
                    f"{angle:.6g} degrees",
                    "90: a universal joint's second axis is perpendicular to the first and the leg",
                )
        apart = self.tree.origin(second.child) - self.tree.origin(first.child)
        centre = self.tree.origin(first.child) + k * (k @ apart)
        gap = centre - (self.tree.origin(second.child) - turn * (turn @ apart))
        if np.linalg.norm(gap) > DISTANCE_TOLERANCE:
            raise self._error(
                f"joint {second.name!r}: the distance of its axis from that of {first.name!r}",
                f"{np.linalg.norm(gap):.6g} m",
                "0: both axes of a universal joint meet in one point",
            )
        length = float(slide @ (tip - centre))
        aside = float(np.linalg.norm(tip - centre - length * slide))
        if aside > DISTANCE_TOLERANCE:
            raise self._error(
                f"joint {actuator.name!r}: the distance between the line on which it moves the "
                f"spherical joint and the centre of {first.name!r}",
                f"{aside:.6g} m",
                "0: move the closure's point or the joints so that the leg is straight",
            )
        return self._oriented(k, turn, slide, centre, tip, length, (second, actuator))

    def _oriented(
        self,
        k: FloatArray,
        turn: FloatArray,
        slide: FloatArray,
        centre: FloatArray,
        tip: FloatArray,
        length: float,
        joints: tuple[Any, Any],
    ) -> Geometry:
        """Choose the signs by where the leg operates: the middle of its joints' ranges."""
        second, actuator = joints
        turned, moved = _middle(second), _middle(actuator)
        along = 1.0 if length + moved >= 0.0 else -1.0
        working = along * (slide * np.cos(turned) + np.cross(turn, slide) * np.sin(turned))
        side = 1.0 if turn @ np.cross(k, working) > -1e-12 else -1.0
        # The axes are orthogonal within the tolerance; the leg frame is exactly orthogonal.
        y = side * (turn - k * (k @ turn))
        y /= np.linalg.norm(y)
        x = along * (slide - y * (y @ slide))
        x /= np.linalg.norm(x)
        axes = np.column_stack([x, y, np.cross(x, y)])
        return Geometry(centre, tip, axes, k, side, along, along * length)

    def _joints(self, joints: list[Any], at_zero: Geometry, rotation: FloatArray) -> LegJoints:
        zero = universal_zero_frame(rotation @ at_zero.k)
        x, y = rotation @ at_zero.axes[:, 0], rotation @ at_zero.axes[:, 1]
        # y = -sin(q1) h + cos(q1) u; x = cos(q2) (y x k) - sin(q2) k
        q1 = float(np.arctan2(-(zero[:, 0] @ y), zero[:, 1] @ y))
        q2 = float(np.arctan2(-(zero[:, 2] @ x), np.cross(y, zero[:, 2]) @ x))
        first, second, actuator = (joint.name for joint in joints)
        return LegJoints(
            JointReading(first, 1.0, q1),
            JointReading(second, at_zero.second, q2),
            JointReading(actuator, at_zero.slide, at_zero.length),
        )

    def _body(self, link: str, axes: FloatArray, origin: FloatArray, part: str) -> Body:
        body = self.tree.body[link]
        merged = self.tree.merged(body)
        if merged is None:
            raise ModelError(
                f"{self.source}: link {link!r} (the leg's {part} part) has no <inertial>; give its "
                "mass, or 0 for a leg part without mass",
                value=link,
            )
        frame = self.tree.frames[body]
        R = frame[:3, :3].T
        return merged.seen_from(R @ axes, R @ (origin - frame[:3, 3]))

    def _check_joint(self, joint: Any, driven: bool) -> None:
        if joint.mimic is not None:
            raise self._error(
                f"joint {joint.name!r}: <mimic>", joint.mimic.joint, "none in a leg; remove it"
            )
        friction = _friction(joint)
        if friction and not driven:
            raise self._error(
                f"joint {joint.name!r}: dynamics friction",
                friction,
                "0: the passive joints of a leg have viscous friction only, their damping",
            )
        if friction < 0.0:
            raise self._error(
                f"joint {joint.name!r}: dynamics friction", friction, "a number of at least 0"
            )
        if (0.0 if joint.dynamics is None else joint.dynamics.damping or 0.0) < 0.0:
            raise self._error(
                f"joint {joint.name!r}: dynamics damping",
                joint.dynamics.damping,
                "a number of at least 0",
            )

    def _check_massless(self, first: Any) -> None:
        cross = self.tree.merged(self.tree.body[first.child])
        if cross is not None and (cross.mass > 0.0 or cross.inertia.any()):
            raise self._error(
                f"link {first.child!r}, the cross of a universal joint: mass",
                f"{cross.mass:g} kg",
                "no mass: remove its <inertial>, or move it to the leg's lower part",
            )

    def _damping(self, first: Any, second: Any, actuator: Any, by: UrdfClosure) -> Damping:
        universal, other, prismatic = (
            0.0 if joint.dynamics is None else float(joint.dynamics.damping or 0.0)
            for joint in (first, second, actuator)
        )
        if abs(universal - other) > 1e-12 * max(universal, other):
            raise self._error(
                f"joint {second.name!r}: dynamics damping",
                other,
                f"{universal:g} as of {first.name!r}: both axes of a universal joint share one",
            )
        return Damping(universal=universal, prismatic=prismatic, spherical=by.damping)

    def _limits(self, actuator: Any, at_zero: Geometry) -> LegLimits:
        limit = actuator.limit
        if limit is None:
            return LegLimits()
        for name in ("effort", "velocity"):
            if not getattr(limit, name) > 0.0:
                raise self._error(
                    f"joint {actuator.name!r}: limit {name}",
                    getattr(limit, name),
                    "a positive number",
                )
        shortest, longest = 0.0, np.inf
        # The parser sets bounds that the file omits to zero.
        if limit.lower or limit.upper:
            ends = [at_zero.length + at_zero.slide * finite(x) for x in (limit.lower, limit.upper)]
            shortest, longest = max(0.0, min(ends)), max(ends)
            if not (limit.lower < limit.upper and shortest < longest):
                raise self._error(
                    f"joint {actuator.name!r}: limit lower, upper",
                    [limit.lower, limit.upper],
                    "lower < upper, with a positive leg length in between",
                )
        return LegLimits((shortest, longest), finite(limit.velocity), finite(limit.effort))

    def _actuator(self, actuator: Any) -> Actuator:
        params = dict(self.params.get(actuator.name, {}))
        friction = _friction(actuator)
        where = f"{self.source}: joint {actuator.name!r}"
        described = actuator_from_params(params, where)
        if not friction or "coulomb" not in params:
            params.setdefault("coulomb", repr(friction))
            return actuator_from_params(params, where)
        if described.coulomb != friction:
            raise self._error(
                f"joint {actuator.name!r}: dynamics friction",
                friction,
                f'{described.coulomb:g} as its <param name="coulomb"> says; remove one of the two',
            )
        return described

    def _error(self, where: str, value: Any, expected: str) -> ModelError:
        return ModelError(f"{self.source}: {where} is {value}, expected {expected}", value=value)


def _friction(joint: Any) -> float:
    return 0.0 if joint.dynamics is None else float(joint.dynamics.friction or 0.0)


def _middle(joint: Any) -> float:
    limit = joint.limit
    if limit is None or joint.type == "continuous" or limit.lower >= limit.upper:
        return 0.0
    return 0.5 * (float(limit.lower) + float(limit.upper))
