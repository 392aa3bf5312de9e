# SPDX-License-Identifier: Apache-2.0

"""The six legs that a model has to be for a platform, whatever frames and names it uses.

Each leg is base - universal joint - lower part - actuator - upper part - closure. Only the location
of the joints' axes and the closure's point at zero joint positions matters. They determine the
leg's geometry, its bodies in the leg frame, and how the joints' own values relate to the natural
ones (`universal_zero_frame`).
"""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robodyn.checks import as_pose
from robodyn.errors import ModelError
from robodyn.mechanisms.common.parameters import BodyNumbers
from robodyn.mechanisms.stewart.six_legs import (
    LEGS,
    Damping,
    JointReading,
    Leg,
    LegJoints,
    LegLimits,
    SixLegs,
    universal_zero_frame,
)
from robodyn.model.at_zero import TreeAtZero
from robodyn.model.body import Body, joined
from robodyn.model.fields import unchecked, varied
from robodyn.model.shape import Shape, shape_of
from robodyn.poses import composed_pose, quaternion_of_rotation

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.model.body import Link
    from robodyn.model.closure import Closure
    from robodyn.model.joint import Joint
    from robodyn.model.model import Model

# Tolerance for perpendicular and intersecting axes: files round angles to about 5 digits.
ANGLE_TOLERANCE = 1e-4
DISTANCE_TOLERANCE = 1e-4
# Numbers this small are the rounding of turning angles into matrices.
NOISE = 1e-15
_NOTHING = Body(0.0, np.zeros(3), np.zeros((3, 3)))
LEG_JOINTS = (("revolute", "continuous"), ("revolute", "continuous"), ("prismatic",))


class Part(NamedTuple):
    """A link of a leg's part or of the platform.

    Attributes:
        link: its name.
        axes, origin: (3, 3), (3,) [m] the part's frame in the link's; None where they are the same.
    """

    link: str
    axes: FloatArray | None
    origin: FloatArray

    def on_link(self, body: BodyNumbers) -> BodyNumbers:
        """A body of the part's frame, in the link's."""
        mass, com, inertia = body
        if self.axes is None:
            return body
        return BodyNumbers(mass, self.axes @ com + self.origin, self.axes @ inertia @ self.axes.T)


class FoundLeg(NamedTuple):
    """A leg as far as the shape of a model tells it.

    Attributes:
        joints: numbers of the three joints in the model.
        closure: number of the closure.
        base, platform, universal_axis: as in `Leg`.
        lower, upper: what its parts consist of.
        length: limits of its length [m].
        readings: `Leg.joints`.
    """

    joints: tuple[int, int, int]
    closure: int
    base: FloatArray
    platform: FloatArray
    universal_axis: FloatArray
    lower: list[Part]
    upper: list[Part]
    length: tuple[float, float]
    readings: LegJoints


class Found(NamedTuple):
    """What the shape of a model tells of six legs and the platform.

    `axes` (3, 3) are those of the base frame in the root's.
    """

    legs: tuple[FoundLeg, ...]
    platform: list[Part]
    links: tuple[str, str]
    axes: FloatArray
    home: FloatArray | None

    @property
    def bodies(self) -> list[list[Part]]:
        """In the order of `SixLegs.bodies`."""
        lower, upper = ([getattr(leg, part) for leg in self.legs] for part in ("lower", "upper"))
        return [self.platform, *lower, *upper]


class Geometry(NamedTuple):
    """A leg at zero; in the frame of its lower part's link unless stated otherwise.

    Attributes:
        centre: (3,) [m] of the universal joint.
        axes: (3, 3) the leg frame's x, y, z as columns.
        second: 1 or -1, the second universal axis along y or against it.
        slide: 1 or -1, the actuator's axis along the leg or against it.
        length: [m] signed distance from the centre to the tip along x.
    """

    centre: FloatArray
    axes: FloatArray
    second: float
    slide: float
    length: float


def six_legs_of(model: Model) -> SixLegs:
    """The six legs of a model, in the order of its driven joints.

    The base frame is that of the floating joint's parent link, the platform frame that of its
    child; home is where the model has it, none if it says nothing of it.

    Raises:
        ModelError: names the joint, link or constraint, what was found and what is expected.
    """
    found = found_in(model)
    links = {link.name: link for link in model.links}
    legs = []
    for leg in found.legs:
        first, second, actuator = (model.joints[k] for k in leg.joints)
        _check_friction(model.source or model.name, first, second)
        damping = Damping(first.damping, actuator.damping, model.closures[leg.closure].damping)
        driven = varied(actuator, armature=0.0).actuator
        limits = LegLimits(leg.length, actuator.velocity, actuator.effort)
        parts = _body(links, leg.lower), _body(links, leg.upper)
        place = leg.base, leg.platform, leg.universal_axis
        legs.append(Leg(*place, *parts, damping, limits, driven, actuator.armature, leg.readings))
    base, platform = found.links
    body = _body(links, found.platform)
    if not body.mass > 0.0:
        raise ModelError(
            f"{model.source or model.name}: link {platform!r} (the platform) has mass 0, expected "
            "a positive mass",
            value=platform,
        )
    six = SixLegs(
        model.name,
        body,
        tuple(legs),
        found.axes.T @ model.gravity,
        source=model.source,
        base_link=base,
        platform_link=platform,
    )
    return unchecked(six, home=found.home)


def _body(links: dict[str, Link], parts: list[Part]) -> Body:
    bodies = []
    for part in parts:
        link = links[part.link]
        own = unchecked(_NOTHING, mass=link.mass, com=link.com, inertia=link.inertia)
        bodies.append(own if part.axes is None else own.seen_from(part.axes, part.origin))
    return reduce(joined, bodies)


def _check_friction(source: str, first: Joint, second: Joint) -> None:
    for joint in (first, second):
        if joint.friction.any():
            raise _error(
                source,
                f"joint {joint.name!r}: dynamics friction",
                joint.friction.max(),
                "0: the passive joints of a leg have viscous friction only, their damping",
            )
    if abs(first.damping - second.damping) > 1e-12 * max(first.damping, second.damping):
        raise _error(
            source,
            f"joint {second.name!r}: dynamics damping",
            second.damping,
            f"{first.damping:g} as of {first.name!r}: both axes of a universal joint share one",
        )


def found_in(model: Model) -> Found:
    """Where the legs are in a model.

    Raises:
        ModelError: as `six_legs_of`.
    """
    return _found(shape_of(model))


@lru_cache(maxsize=16)
def _found(shape: Shape) -> Found:
    model = shape.model
    source, tree = model.source or model.name, TreeAtZero(model)
    floating = _floating_joint(model, source)
    base, platform = floating.parent, floating.child
    number = {joint.name: k for k, joint in enumerate(model.joints)}
    legs = []
    used = {floating.name}
    reader = LegReader(tree, base, source)
    for k, closure in enumerate(model.closures):
        link, tip, in_platform = _ends(closure, tree, platform, source)
        joints = _leg_joints(closure, tree, link, tree.body[base], source)
        for joint in joints:
            if joint.name in used:
                raise ModelError(
                    f"{source}: constraint {closure.name!r} closes the leg of joint {joint.name!r} "
                    "a second time; every leg has one closure",
                    value=joint.name,
                )
            used.add(joint.name)
        first, second, actuator = (number[joint.name] for joint in joints)
        leg = reader.leg(joints, _point(tree, link, joints[2].child, tip))
        legs.append(leg._replace(joints=(first, second, actuator), closure=k, platform=in_platform))
    for joint in model.joints:
        if joint.moves and joint.name not in used:
            raise ModelError(
                f"{source}: {joint.kind} joint {joint.name!r} is part of no leg; make it "
                "fixed, or close its leg with a <constraint>",
                value=joint.name,
            )
    order = {name: k for k, name in enumerate(model.driven)}
    legs.sort(key=lambda leg: order.get(leg.readings.actuator.name, LEGS))
    return Found(
        tuple(legs),
        _parts(tree, platform, np.eye(3), np.zeros(3)),
        (base, platform),
        tree.relative(base, model.base_link)[:3, :3],
        _home(floating, dict(model.home)),
    )


def _parts(tree: TreeAtZero, link: str, axes: FloatArray, origin: FloatArray) -> list[Part]:
    """What moves with a link, seen from a frame of axes (3, 3) and origin (3,) on it."""
    parts = []
    for name, frame in tree.places(link):
        R = frame[:3, :3].T
        turned, shift = R @ axes, R @ (origin - frame[:3, 3])
        plain = np.array_equal(turned, np.eye(3)) and not shift.any()
        parts.append(Part(name, None if plain else turned, shift))
    return parts


def _floating_joint(model: Model, source: str) -> Joint:
    floating = [joint for joint in model.joints if joint.kind == "floating"]
    if len(floating) != 1:
        names = ", ".join(repr(joint.name) for joint in floating) or "none"
        raise ModelError(
            f"{source}: floating joints: {names}; a Stewart platform has one, from its "
            "base to its platform",
            value=[joint.name for joint in floating],
        )
    for closure in model.closures:
        if closure.kind != "spherical":
            raise ModelError(
                f"{source}: constraint {closure.name!r}: type is {closure.kind!r}, "
                "expected spherical",
                value=closure.kind,
            )
    if len(model.closures) != LEGS:
        names = ", ".join(repr(closure.name) for closure in model.closures) or "none"
        raise ModelError(
            f"{source}: {len(model.closures)} spherical <constraint> elements ({names}), a "
            "Stewart platform has six, one at the tip of each leg",
            value=len(model.closures),
        )
    return floating[0]


def _ends(
    closure: Closure, tree: TreeAtZero, platform: str, source: str
) -> tuple[str, FloatArray, FloatArray]:
    """The leg's link at a closure, its point (3,) there, and the point (3,) on the platform."""
    links = closure.parent, closure.child
    points = closure.at.translation, closure.child_at.translation
    on_platform = [tree.body[link] == tree.body[platform] for link in links]
    if on_platform.count(True) != 1:
        raise ModelError(
            f"{source}: constraint {closure.name!r} joins {links[0]!r} and "
            f"{links[1]!r}, expected a leg's tip and the platform {platform!r}",
            value=links,
        )
    there = on_platform.index(True)
    return links[1 - there], points[1 - there], _point(tree, links[there], platform, points[there])


def _leg_joints(
    closure: Closure, tree: TreeAtZero, link: str, base_body: str, source: str
) -> list[Joint]:
    joints = tree.moving_joints_above(link)
    fits = len(joints) == len(LEG_JOINTS) and all(
        joint.kind in kinds for joint, kinds in zip(joints, LEG_JOINTS, strict=True)
    )
    if not fits or tree.body[joints[0].parent] != base_body:
        found = ", ".join(f"{joint.kind} {joint.name!r}" for joint in joints) or "none"
        raise ModelError(
            f"{source}: constraint {closure.name!r}: from the base to {link!r} the moving joints "
            f"are {found}; expected revolute, revolute, prismatic",
            value=link,
        )
    return joints


def _point(tree: TreeAtZero, link: str, above: str, point: FloatArray) -> FloatArray:
    """A point (3,) [m] of a link, in the frame of one that it hangs from."""
    frame = tree.relative(link, above)
    return np.asarray(frame[:3, :3] @ point + frame[:3, 3])


def _home(floating: Joint, told: dict[str, tuple[float, ...]]) -> FloatArray | None:
    at = floating.at
    own = np.array(told.get(floating.name, (0.0,) * 6 + (1.0,)))
    here = not at.translation.any() and np.array_equal(at.rotation, np.eye(3))
    if here and floating.name not in told:
        return None
    if abs(np.linalg.norm(own[3:]) - 1.0) > NOISE:
        own = as_pose("home", own)
    if not here:
        frame = np.concatenate([at.translation, quaternion_of_rotation(at.rotation)])
        own = composed_pose(frame, own)
    own.setflags(write=False)
    return own


class LegReader:
    """Reads the legs of one model; `base` names the link of the base frame."""

    def __init__(self, tree: TreeAtZero, base: str, source: str) -> None:
        self.tree, self.source = tree, source
        self._root = tree.body[base]
        self._from_root = np.linalg.inv(tree.relative(base, self._root))

    def leg(self, joints: list[Joint], tip: FloatArray) -> FoundLeg:
        """The leg of three joints from base to platform, closed at a point (3,) of the last link.

        Raises:
            ModelError: names the joint or link, the value, and what is expected.
        """
        first, second, actuator = joints
        self._check_joints(first, second, actuator)
        tree, lower, upper = self.tree, second.child, actuator.child
        # of the first joint's frame: the lower part's link, and the centre
        below = np.linalg.inv(first.child_at.matrix) @ tree.relative(lower, first.child)
        way = below[:3, :3] @ second.child_at.translation + below[:3, 3]
        centre = first.axis * (first.axis @ way)
        leg = self._geometry(joints, below[:3, :3].T @ (centre - below[:3, 3]), tip)
        R = tree.relative(upper, lower)[:3, :3].T
        mount = self._from_root @ tree.relative(first.parent, self._root) @ first.at.matrix
        k = mount[:3, :3] @ first.axis
        return FoundLeg(
            (0, 0, 0),
            0,
            mount[:3, :3] @ centre + mount[:3, 3],
            np.zeros(3),
            k,
            _parts(tree, lower, leg.axes, leg.centre),
            _parts(tree, upper, R @ leg.axes, tip),
            self._travel(actuator, leg),
            _readings(joints, leg, k, mount[:3, :3] @ below[:3, :3] @ leg.axes),
        )

    def _geometry(self, joints: list[Joint], centre: FloatArray, tip: FloatArray) -> Geometry:
        """Of a universal joint's centre (3,), lower link's frame, and a tip (3,), upper link's."""
        first, second, actuator = joints
        tree, lower = self.tree, second.child
        below = np.linalg.inv(first.child_at.matrix) @ tree.relative(lower, first.child)
        k, turn = below[:3, :3].T @ first.axis, second.child_at.rotation @ second.axis
        along = tree.relative(actuator.parent, lower)[:3, :3] @ actuator.at.rotation
        slide, tip = along @ actuator.axis, _point(tree, actuator.child, lower, tip)
        for other, axis in ((first, k), (actuator, slide)):
            if abs(turn @ axis) > ANGLE_TOLERANCE:
                angle = np.degrees(np.arccos(np.clip(turn @ axis, -1.0, 1.0)))
                raise self._error(
                    f"joint {second.name!r}: the angle of its axis to that of {other.name!r}",
                    f"{angle:.6g} degrees",
                    "90: a universal joint's second axis is perpendicular to the first and the leg",
                )
        apart = centre - second.child_at.translation
        gap = float(np.linalg.norm(apart - turn * (turn @ apart)))
        if gap > DISTANCE_TOLERANCE:
            raise self._error(
                f"joint {second.name!r}: the distance of its axis from that of {first.name!r}",
                f"{gap:.6g} m",
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
        # the signs are those of where the leg operates: the middle of its joints' ranges
        turned, moved = _middle(second), _middle(actuator)
        sign = 1.0 if length + moved >= 0.0 else -1.0
        working = sign * (slide * np.cos(turned) + np.cross(turn, slide) * np.sin(turned))
        side = 1.0 if turn @ np.cross(k, working) > -1e-12 else -1.0
        # the axes are orthogonal within the tolerance; the leg frame is exactly orthogonal
        y = side * (turn - k * (k @ turn))
        y /= np.linalg.norm(y)
        x = sign * (slide - y * (y @ slide))
        x /= np.linalg.norm(x)
        axes = np.column_stack([x, y, np.cross(x, y)])
        return Geometry(centre, axes, side, sign, sign * length)

    def _check_joints(self, first: Joint, second: Joint, actuator: Joint) -> None:
        for joint in (first, second, actuator):
            if joint.mimic is not None:
                raise self._error(
                    f"joint {joint.name!r}: <mimic>", joint.mimic.joint, "none in a leg; remove it"
                )
        if self.tree.body[second.parent] != self.tree.body[first.child]:
            raise self._error(f"joint {second.name!r}", second.parent, "a parent on the cross")
        own = [self.tree.links[name] for name, _ in self.tree.places(first.child)]
        if any(link.mass or link.inertia.any() for link in own):
            raise self._error(
                f"link {first.child!r}, the cross of a universal joint: mass",
                f"{sum(link.mass for link in own):g} kg",
                "no mass: remove its <inertial>, or move it to the leg's lower part",
            )

    def _travel(self, actuator: Joint, leg: Geometry) -> tuple[float, float]:
        ends = leg.length + leg.slide * actuator.position
        shortest, longest = max(0.0, float(ends.min())), float(ends.max())
        if not shortest < longest:
            raise self._error(
                f"joint {actuator.name!r}: limit lower, upper",
                actuator.position.tolist(),
                "lower < upper, with a positive leg length in between",
            )
        return shortest, longest

    def _error(self, where: str, value: Any, expected: str) -> ModelError:
        return _error(self.source, where, value, expected)


def _error(source: str, where: str, value: Any, expected: str) -> ModelError:
    return ModelError(f"{source}: {where} is {value}, expected {expected}", value=value)


def _readings(joints: list[Joint], leg: Geometry, k: FloatArray, axes: FloatArray) -> LegJoints:
    """How joints measure a leg; its first universal axis and its frame are in the base frame."""
    zero = universal_zero_frame(k)
    x, y = axes[:, 0], axes[:, 1]
    # y = -sin(q1) h + cos(q1) u; x = cos(q2) (y x k) - sin(q2) k
    q1 = float(np.arctan2(-(zero[:, 0] @ y), zero[:, 1] @ y))
    q2 = float(np.arctan2(-(zero[:, 2] @ x), np.cross(y, zero[:, 2]) @ x))
    q1, q2 = (angle if abs(angle) > NOISE else 0.0 for angle in (q1, q2))
    first, second, actuator = (joint.name for joint in joints)
    return LegJoints(
        JointReading(first, 1.0, q1),
        JointReading(second, leg.second, q2),
        JointReading(actuator, leg.slide, leg.length),
    )


def _middle(joint: Joint) -> float:
    """Of the range of a joint's positions; 0 where it has no end, or the only one."""
    lower, upper = joint.position.tolist()
    middle = 0.5 * (lower + upper)
    known = not np.isnan(middle) and (joint.kind == "prismatic" or np.isfinite(middle))
    return middle if known else 0.0
