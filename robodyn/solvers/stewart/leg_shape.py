# SPDX-License-Identifier: Apache-2.0

"""Geometry of one leg in a model: base, universal joint, lower part, actuator, upper part, closure.

The links may have any frames; only the locations of the joints' axes and of the closure's point at
zero joint positions matter. They determine the leg's geometry, the frames of its parts, and the
relation of the joints' values to the natural ones (`universal_zero_frame`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.body_parameters import BodyNumbers
from robodyn.errors import ModelError
from robodyn.model.fields import unit_axis
from robodyn.model.joint import Joint
from robodyn.model.zero_configuration import ZeroConfigurationTree

# Tolerance for perpendicular and intersecting axes: files round angles to about 5 digits.
ANGLE_TOLERANCE = 1e-4
DISTANCE_TOLERANCE = 1e-4
# Angles [rad] below this are rounding errors from the conversion of angles to matrices.
NOISE = 1e-15


class JointReading(NamedTuple):
    """Relation of a leg joint's URDF position to its natural value.

    The natural values are the angles q1, q2 of the universal joint, see `universal_zero_frame`, and
    the leg's length. The position is sign * (natural value - offset).

    Attributes:
        name: name of the joint.
        sign: 1 or -1, the joint's axis relative to the natural one.
        offset: [rad or m] natural value at the joint's zero.
    """

    name: str
    sign: float = 1.0
    offset: float = 0.0


class LegPart(NamedTuple):
    """Link of a leg, and the frame in which the mass properties of its body are stated.

    Attributes:
        link: name of the link.
        axes, origin: (3, 3), (3,) [m] body frame in the link's frame; None if they are equal.
    """

    link: str
    axes: FloatArray | None
    origin: FloatArray

    def on_link(self, body: BodyNumbers) -> BodyNumbers:
        """Transform a body's inertial parameters from the body frame to the link's frame."""
        mass, com, inertia = body
        if self.axes is None:
            return body
        return BodyNumbers(mass, self.axes @ com + self.origin, self.axes @ inertia @ self.axes.T)


class LegShape(NamedTuple):
    """Geometry of a leg, determined from the links and joints of a model.

    Leg frame: x along the leg from base to platform, y along k x s (k the fixed universal axis,
    s the leg's direction), z = x cross y.

    Attributes:
        base: (3,) [m] center of the universal joint, base frame.
        universal_axis: (3,) axis of the universal joint fixed in the base, base frame; unit.
        lower: links of the part at the base; leg frame, origin at the universal joint.
        upper: links of the part at the platform; leg frame, origin at the spherical joint.
        length: length limits [m].
        readings: of the first and second universal joint and the actuator.
    """

    base: FloatArray
    universal_axis: FloatArray
    lower: list[LegPart]
    upper: list[LegPart]
    length: tuple[float, float]
    readings: tuple[JointReading, JointReading, JointReading]


class _AtZero(NamedTuple):
    """Geometry of a leg at zero joint positions, in the frame of its lower part's link.

    Attributes:
        center: (3,) [m] of the universal joint.
        k, y, slide: (3,) unit directions of the two axes of the universal joint and the actuator's.
        length: [m] from the center to the tip along the actuator's axis.
    """

    center: FloatArray
    k: FloatArray
    y: FloatArray
    slide: FloatArray
    length: float


def universal_zero_frame(universal_axis: ArrayLike) -> FloatArray:
    """Return the axes [h u k] (3, 3) of a universal joint at natural zero, base frame.

    k is the fixed axis (unit); h = z x k, normalized, is horizontal (x of the base if k is
    vertical); u = k x h. At natural values q1, q2 and leg length L the leg frame is [h u k] Rz(q1)
    Ry(q2) while |q2| < pi/2, and the spherical joint is at L along its x axis.
    """
    k = unit_axis("universal", universal_axis)
    h = np.array([-k[1], k[0], 0.0])
    level = np.linalg.norm(h)
    # the horizontal part of an axis this close to the vertical is rounding error
    h = h / level if level > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.column_stack([h, np.cross(k, h), k])


def leg_shape(
    tree: ZeroConfigurationTree, base: str, joints: list[Joint], tip: FloatArray, source: str
) -> LegShape:
    """Determine a leg's geometry from its three joints, its base link and its tip (3,).

    The tip is the point, given in the frame of the last joint's child, at which the leg is closed.

    Raises:
        ModelError: the joints do not form a leg; the message names the joint or link, the value
            found and the expected one.
    """
    first, second, actuator = joints
    _check_joints(tree, joints, source)
    lower, upper = second.child, actuator.child
    # of the first joint's frame: the lower part's link, and the center
    below = np.linalg.inv(first.child_at.matrix) @ tree.relative(lower, first.child)
    R = below[:3, :3]
    middle = first.axis * (first.axis @ (R @ second.child_at.translation + below[:3, 3]))
    along = tree.relative(actuator.parent, lower)[:3, :3] @ actuator.at.rotation
    center, slide = R.T @ (middle - below[:3, 3]), along @ actuator.axis
    way = point_on(tree, upper, lower, tip) - center
    leg = _AtZero(
        center,
        R.T @ first.axis,
        second.child_at.rotation @ second.axis,
        slide,
        float(slide @ way),
    )
    _check_straight(leg, joints, way, source)
    axes, side, sign = _frame_and_signs(leg, second, actuator)
    root = tree.body[base]
    mount = tree.relative(first.parent, root) @ first.at.matrix
    mount = np.linalg.inv(tree.relative(base, root)) @ mount
    k = mount[:3, :3] @ first.axis
    q1, q2 = _zeros(k, mount[:3, :3] @ R @ axes)
    ends = sign * (leg.length + actuator.position)
    shortest, longest = max(0.0, float(ends.min())), float(ends.max())
    if not shortest < longest:
        raise invalid_value(
            source,
            f"joint {actuator.name!r}: limit lower, upper",
            actuator.position.tolist(),
            "lower < upper, with a positive leg length in between",
        )
    turned = tree.relative(upper, lower)[:3, :3].T
    return LegShape(
        mount[:3, :3] @ middle + mount[:3, 3],
        unit_axis(f"{source}: joint {first.name!r}", k),
        parts_of(tree, lower, axes, center),
        parts_of(tree, upper, turned @ axes, tip),
        (shortest, longest),
        (
            JointReading(first.name, 1.0, q1),
            JointReading(second.name, side, q2),
            JointReading(actuator.name, sign, sign * leg.length),
        ),
    )


def parts_of(
    tree: ZeroConfigurationTree, link: str, axes: FloatArray, origin: FloatArray
) -> list[LegPart]:
    """Return the links that are rigidly attached to a link, as one body.

    Args:
        tree: links of the model at zero joint positions.
        link: name of the link.
        axes, origin: (3, 3) and (3,) [m], the body frame in the link's frame.

    Returns:
        The link and those that move with it, each with the same body frame in its own frame.
    """
    parts = []
    for name, frame in tree.places(link):
        R = frame[:3, :3].T
        turned, shift = R @ axes, R @ (origin - frame[:3, 3])
        plain = np.array_equal(turned, np.eye(3)) and not shift.any()
        parts.append(LegPart(name, None if plain else turned, shift))
    return parts


def point_on(tree: ZeroConfigurationTree, link: str, above: str, point: FloatArray) -> FloatArray:
    """Convert a point (3,) [m] from a link's frame to that of a link above it in the tree.

    All joints are at zero.
    """
    frame = tree.relative(link, above)
    return np.asarray(frame[:3, :3] @ point + frame[:3, 3])


def invalid_value(source: str, where: str, value: Any, expected: str) -> ModelError:
    """Create a `ModelError` for an invalid value of a leg.

    `where` is the field or joint, `expected` the condition that the value violates.
    """
    return ModelError(f"{source}: {where} is {value}, expected {expected}", value=value)


def _check_joints(tree: ZeroConfigurationTree, joints: list[Joint], source: str) -> None:
    first, second, _ = joints
    for joint in joints:
        if joint.mimic is not None:
            where = f"joint {joint.name!r}: <mimic>"
            raise invalid_value(source, where, joint.mimic.joint, "none in a leg; remove it")
    if tree.body[second.parent] != tree.body[first.child]:
        where = f"joint {second.name!r}: parent"
        raise invalid_value(source, where, second.parent, "a link moved by the leg's first joint")
    own = [tree.links[name] for name, _ in tree.places(first.child)]
    if any(link.has_inertia for link in own):
        raise invalid_value(
            source,
            f"link {first.child!r}, the cross of a universal joint: mass",
            f"{sum(link.mass for link in own):g} kg",
            "no mass: remove its <inertial>, or move it to the leg's lower part",
        )


def _check_straight(leg: _AtZero, joints: list[Joint], way: FloatArray, source: str) -> None:
    first, second, actuator = joints
    for other, axis in ((first, leg.k), (actuator, leg.slide)):
        if abs(leg.y @ axis) > ANGLE_TOLERANCE:
            angle = np.degrees(np.arccos(np.clip(leg.y @ axis, -1.0, 1.0)))
            raise invalid_value(
                source,
                f"joint {second.name!r}: the angle of its axis to that of {other.name!r}",
                f"{angle:.6g} degrees",
                "90: a universal joint's second axis is perpendicular to the first and the leg",
            )
    offset = leg.center - second.child_at.translation
    gap = float(np.linalg.norm(offset - leg.y * (leg.y @ offset)))
    if gap > DISTANCE_TOLERANCE:
        raise invalid_value(
            source,
            f"joint {second.name!r}: the distance of its axis from that of {first.name!r}",
            f"{gap:.6g} m",
            "0: the two axes of a universal joint intersect",
        )
    aside = float(np.linalg.norm(way - leg.length * leg.slide))
    if aside > DISTANCE_TOLERANCE:
        raise invalid_value(
            source,
            f"joint {actuator.name!r}: the distance between the line on which it moves the "
            f"spherical joint and the center of {first.name!r}",
            f"{aside:.6g} m",
            "0: move the closure's point or the joints so that the leg is straight",
        )


def _frame_and_signs(
    leg: _AtZero, second: Joint, actuator: Joint
) -> tuple[FloatArray, float, float]:
    """Return the leg frame's axes (3, 3), and the signs of two joint axes.

    The signs, 1 or -1, are the directions of the universal joint's second axis relative to the leg
    frame's y axis, and of the actuator's axis relative to x, with both joints at mid-range.
    """
    k, turn, slide = leg.k, leg.y, leg.slide
    turned = _middle(second)
    sign = 1.0 if leg.length + _middle(actuator) >= 0.0 else -1.0
    working = sign * (slide * np.cos(turned) + np.cross(turn, slide) * np.sin(turned))
    side = 1.0 if turn @ np.cross(k, working) > -1e-12 else -1.0
    # the axes are orthogonal within the tolerance; the leg frame is exactly orthogonal
    y = side * (turn - k * (k @ turn))
    y /= np.linalg.norm(y)
    x = sign * (slide - y * (y @ slide))
    x /= np.linalg.norm(x)
    return np.column_stack([x, y, np.cross(x, y)]), side, sign


def _zeros(k: FloatArray, axes: FloatArray) -> tuple[float, float]:
    """Return the angles q1, q2 [rad] of a universal joint with both joints at zero.

    q1 and q2 are measured from `universal_zero_frame`.
    """
    zero = universal_zero_frame(k)
    x, y = axes[:, 0], axes[:, 1]
    # y = -sin(q1) h + cos(q1) u; x = cos(q2) (y x k) - sin(q2) k
    q1 = float(np.arctan2(-(zero[:, 0] @ y), zero[:, 1] @ y))
    q2 = float(np.arctan2(-(zero[:, 2] @ x), np.cross(y, zero[:, 2]) @ x))
    return q1 if abs(q1) > NOISE else 0.0, q2 if abs(q2) > NOISE else 0.0


def _middle(joint: Joint) -> float:
    """Return the middle of a joint's range [rad or m]; 0 for an unlimited range.

    The result is also 0 for a revolute joint with only one limit.
    """
    lower, upper = joint.position.tolist()
    middle = 0.5 * (lower + upper)
    known = not np.isnan(middle) and (joint.kind == "prismatic" or np.isfinite(middle))
    return middle if known else 0.0
