# SPDX-License-Identifier: Apache-2.0

"""Recognition of a platform in a model with any frames and names: its six legs.

The locations of the legs depend on the shape of the model only, and are cached.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_pose
from robodyn.errors import ModelError
from robodyn.model.body import Body, Link, joined
from robodyn.model.closure import Closure
from robodyn.model.fields import replace_unchecked, unchecked
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.model.spring import LinearSpring, PointSpring
from robodyn.model.topology import ModelTopology, shape_of
from robodyn.model.zero_configuration import ZeroConfigurationTree
from robodyn.poses import composed_pose, quaternion_of_rotation
from robodyn.solvers.stewart.leg_shape import (
    LegPart,
    LegShape,
    leg_shape,
    parts_of,
    point_on,
    refused,
)
from robodyn.solvers.stewart.six_legs import (
    FREE,
    LEGS,
    UNIVERSAL,
    Damping,
    JointReading,
    Leg,
    LegLimits,
    SixLegs,
)

_NOTHING = Body(0.0, np.zeros(3), np.zeros((3, 3)))
# Tolerance [rad] of limits that allow the whole range of an angle.
ALL = 1e-9
LEG_JOINTS = (("revolute", "continuous"), ("revolute", "continuous"), ("prismatic",))


class FoundLeg(NamedTuple):
    """Leg in a model: indices of its joints and its closure, its tip (3,) [m]."""

    joints: tuple[int, ...]
    closure: int
    platform: FloatArray
    shape: LegShape


class FoundPlatform(NamedTuple):
    """Platform in a model; `axes` (3, 3) are those of the base frame in the root's."""

    legs: tuple[FoundLeg, ...]
    platform: list[LegPart]
    links: tuple[str, str]
    axes: FloatArray
    home: FloatArray | None

    @property
    def bodies(self) -> list[list[LegPart]]:
        """Bodies in the order of `SixLegs.bodies`."""
        shapes = [leg.shape for leg in self.legs]
        return [self.platform, *(s.lower for s in shapes), *(s.upper for s in shapes)]


def six_legs_of(model: Model) -> SixLegs:
    """Return the six legs of a model, in the order of its driven joints.

    The base frame is that of the floating joint's parent link, the platform frame that of its
    child; home is the model's, None if it has none.

    Raises:
        ModelError: names the joint, link or constraint, the value found and the expected one.
    """
    found, source = found_in(model), model.source or model.name
    links = {link.name: link for link in model.links}
    body, *parts = (_body(links, own) for own in found.bodies)
    base, platform = found.links
    if not body.mass > 0.0:
        raise ModelError(
            f"{source}: link {platform!r} (the platform) has mass 0, expected a positive mass",
            value=platform,
        )
    legs = []
    for k, leg in enumerate(found.legs):
        first, second, actuator = (model.joints[n] for n in leg.joints)
        _check_friction(source, first, second)
        damping = Damping(first.damping, actuator.damping, model.closures[leg.closure].damping)
        driven = replace_unchecked(actuator, armature=0.0).actuator
        universal = (
            _natural(joint, reading, whole)
            for joint, reading, whole in zip(
                (first, second), leg.shape.readings, UNIVERSAL, strict=False
            )
        )
        limits = LegLimits(leg.shape.length, actuator.velocity, actuator.effort, *universal)
        legs.append(
            Leg(
                leg.shape.base,
                leg.platform,
                leg.shape.universal_axis,
                parts[k],
                parts[k + LEGS],
                damping,
                limits,
                driven,
                actuator.armature,
                _along_leg(actuator, leg.shape.readings.actuator),
                leg.shape.readings,
            )
        )
    six = SixLegs(
        model.name,
        body,
        tuple(legs),
        found.axes.T @ model.gravity,
        source=model.source,
        base_link=base,
        platform_link=platform,
        base_cone=model.base_cone,
        body_cone=model.body_cone,
        springs=_springs(model, base, platform),
    )
    return unchecked(six, home=found.home)


def _springs(model: Model, base: str, platform: str) -> tuple[PointSpring, ...]:
    """Return the springs between points of base and platform, without the names of both."""
    if not model.springs:
        return ()
    tree, found = ZeroConfigurationTree(model), []
    bodies = {tree.body[base]: base, tree.body[platform]: platform}
    for spring in model.springs:
        points = {
            bodies.get(tree.body[link]): point_on(tree, link, bodies[tree.body[link]], point)
            for link, point in spring.ends
            if tree.body[link] in bodies
        }
        if len(points) < 2:
            raise refused(
                model.source or model.name,
                f"spring {spring.name!r}: its links",
                [spring.parent, spring.child],
                f"{base} and {platform}; load it as one of the kind closed_loop",
            )
        own = points[base], points[platform]
        found.append(
            PointSpring(spring.name, "base", "platform", *own, spring.spring, spring.damping)
        )
    return tuple(found)


def _along_leg(actuator: Joint, reading: JointReading) -> LinearSpring:
    """Return the spring of an actuator's joint as one of the leg's length."""
    return actuator.spring.measured(reading.sign, -reading.sign * reading.offset)


def _natural(
    joint: Joint, reading: JointReading, whole: tuple[float, float]
) -> tuple[float, float]:
    """Return the limits [rad] of a natural angle; infinite if they allow its whole range."""
    ends = sorted((reading.sign * joint.position + reading.offset).tolist())
    if not np.isfinite(ends).all():
        return ends[0], ends[1]
    turns = 2.0 * np.pi * round(0.5 * (ends[0] + ends[1]) / (2.0 * np.pi))
    low, high = ends[0] - turns, ends[1] - turns
    covers = low <= whole[0] + ALL and high >= whole[1] - ALL
    return FREE if covers or high - low >= 2.0 * np.pi - ALL else (low, high)


def found_in(model: Model) -> FoundPlatform:
    """Find the legs in a model.

    Raises:
        ModelError: as `six_legs_of`.
    """
    return _found(shape_of(model))


@lru_cache(maxsize=16)
def _found(shape: ModelTopology) -> FoundPlatform:
    model = shape.model
    source, tree = model.source or model.name, ZeroConfigurationTree(model)
    floating = _floating_joint(model, source)
    base, platform = floating.parent, floating.child
    number = {joint.name: k for k, joint in enumerate(model.joints)}
    legs = []
    used = {floating.name}
    for k, closure in enumerate(model.closures):
        link, tip, on_platform = _ends(closure, tree, platform, source)
        joints = _leg_joints(closure, tree, link, tree.body[base], source)
        for joint in joints:
            if joint.name in used:
                raise ModelError(
                    f"{source}: constraint {closure.name!r} closes the leg of joint {joint.name!r} "
                    "a second time; every leg has one closure",
                    value=joint.name,
                )
            used.add(joint.name)
        at = point_on(tree, link, joints[-1].child, tip)
        numbers = tuple(number[joint.name] for joint in joints)
        legs.append(FoundLeg(numbers, k, on_platform, leg_shape(tree, base, joints, at, source)))
    for joint in model.joints:
        if joint.moves and joint.name not in used:
            raise ModelError(
                f"{source}: {joint.kind} joint {joint.name!r} is part of no leg; make it "
                "fixed, or close its leg with a <constraint>",
                value=joint.name,
            )
    order = {name: k for k, name in enumerate(model.driven)}
    legs.sort(key=lambda leg: order.get(leg.shape.readings.actuator.name, LEGS))
    return FoundPlatform(
        tuple(legs),
        parts_of(tree, platform, np.eye(3), np.zeros(3)),
        (base, platform),
        tree.relative(base, model.base_link)[:3, :3],
        _home(floating, dict(model.home)),
    )


def platform_body(model: Model, tip: Link) -> Body:
    """Return the platform of a model whose tip link is another one of the same name."""
    links = {link.name: link for link in model.links} | {tip.name: tip}
    return _body(links, found_in(model).platform)


def _body(links: dict[str, Link], parts: list[LegPart]) -> Body:
    bodies = []
    for part in parts:
        link = links[part.link]
        own = unchecked(_NOTHING, mass=link.mass, com=link.com, inertia=link.inertia)
        bodies.append(own if part.axes is None else own.seen_from(part.axes, part.origin))
    return reduce(joined, bodies)


def _check_friction(source: str, first: Joint, second: Joint) -> None:
    for joint in (first, second):
        if joint.spring.acts:
            raise refused(
                source,
                f"joint {joint.name!r}: spring stiffness",
                joint.spring.stiffness,
                "none: of a platform's legs only the actuators have springs; load it as one of "
                "the kind closed_loop",
            )
        if joint.friction.any():
            raise refused(
                source,
                f"joint {joint.name!r}: dynamics friction",
                joint.friction.max(),
                "0: the passive joints of a leg have viscous friction only, their damping",
            )
    if abs(first.damping - second.damping) > 1e-12 * max(first.damping, second.damping):
        raise refused(
            source,
            f"joint {second.name!r}: dynamics damping",
            second.damping,
            f"{first.damping:g} as of {first.name!r}: both axes of a universal joint share one",
        )


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
            where = f"constraint {closure.name!r}: type"
            raise refused(source, where, repr(closure.kind), "spherical")
    if len(model.closures) != LEGS:
        names = ", ".join(repr(closure.name) for closure in model.closures) or "none"
        raise ModelError(
            f"{source}: {len(model.closures)} spherical <constraint> elements ({names}), a "
            "Stewart platform has six, one at the tip of each leg",
            value=len(model.closures),
        )
    return floating[0]


def _ends(
    closure: Closure, tree: ZeroConfigurationTree, platform: str, source: str
) -> tuple[str, FloatArray, FloatArray]:
    """Return the leg's link at a closure, its point (3,) there, and that on the platform."""
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
    on = point_on(tree, links[there], platform, points[there])
    return links[1 - there], points[1 - there], on


def _leg_joints(
    closure: Closure, tree: ZeroConfigurationTree, link: str, base_body: str, source: str
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


def _home(floating: Joint, positions: dict[str, tuple[float, ...]]) -> FloatArray | None:
    at = floating.at
    own = np.array(positions.get(floating.name, (0.0,) * 6 + (1.0,)))
    here = not at.translation.any() and np.array_equal(at.rotation, np.eye(3))
    if here and floating.name not in positions:
        return None
    if abs(np.linalg.norm(own[3:]) - 1.0) > 1e-15:
        own = as_pose("home", own)
    if not here:
        frame = np.concatenate([at.translation, quaternion_of_rotation(at.rotation)])
        own = composed_pose(frame, own)
    if own[6] < 0.0:  # the same rotation
        own[3:] *= -1.0
    own.setflags(write=False)
    return own
