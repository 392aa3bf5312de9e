# SPDX-License-Identifier: Apache-2.0

"""Recognition of a platform in a model with any frames and names: its six legs.

The result depends only on the topology and geometry of the model, and is cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import NamedTuple

import numpy as np

from robodyn.actuators import Actuator
from robodyn.arrays import FloatArray
from robodyn.checks import as_pose
from robodyn.errors import ModelError
from robodyn.model.body import Body, Link, combine_bodies
from robodyn.model.closure import Closure
from robodyn.model.fields import copy_unchecked, replace_unchecked
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.model.spring import LinearSpring, PointSpring
from robodyn.model.topology import ModelTopology, shape_of
from robodyn.model.zero_configuration import ZeroConfigurationTree
from robodyn.poses import composed_pose, quaternion_of_rotation
from robodyn.solvers.stewart.leg_shape import (
    JointReading,
    LegPart,
    LegShape,
    invalid_value,
    leg_shape,
    parts_of,
    point_on,
)

LEGS = 6
FREE = (-np.inf, np.inf)
# Ranges [rad] of the natural angles of a universal joint.
UNIVERSAL = ((-np.pi, np.pi), (-0.5 * np.pi, 0.5 * np.pi))
_NOTHING = Body(0.0, np.zeros(3), np.zeros((3, 3)))
# Tolerance [rad] of limits that allow the whole range of an angle.
ALL = 1e-9
LEG_JOINTS = (("revolute", "continuous"), ("revolute", "continuous"), ("prismatic",))


class LegStructure(NamedTuple):
    """Leg of a platform: its joints and closure in the model, and its geometry.

    Attributes:
        joints: indices of its three joints in the model.
        closure: index of its closure in the model.
        platform: (3,) [m] the leg's tip in the platform's frame.
        shape: geometry of the leg.
    """

    joints: tuple[int, ...]
    closure: int
    platform: FloatArray
    shape: LegShape

    def joints_in(self, model: Model) -> list[Joint]:
        """Return the leg's joints in a model: both universal axes, then the actuator."""
        return [model.joints[number] for number in self.joints]

    def damping(self, model: Model) -> tuple[float, float, float]:
        """Return the damping of the leg's universal, prismatic and spherical joint.

        They are viscous damping coefficients [N m s/rad], and [N s/m] of the prismatic joint.
        """
        first, _, actuator = self.joints_in(model)
        return first.damping, actuator.damping, model.closures[self.closure].damping

    def actuator(self, model: Model) -> Actuator:
        """Return the leg's actuator, including dry friction but not the armature."""
        return replace_unchecked(self.joints_in(model)[2], armature=0.0).actuator

    def spring(self, model: Model) -> LinearSpring:
        """Return the spring along the leg, whose coordinate is the leg's length."""
        reading = self.shape.readings[2]
        along = self.joints_in(model)[2].spring
        return along.measured(reading.sign, -reading.sign * reading.offset)

    def universal_limits(self, model: Model) -> list[tuple[float, float]]:
        """Return lower and upper limits [rad] of the universal joint's angles q1 and q2.

        The angles are those of `universal_zero_frame`.
        """
        triples = zip(self.joints_in(model), self.shape.readings, UNIVERSAL, strict=False)
        return [_natural(joint, reading, whole) for joint, reading, whole in triples]


@dataclass(frozen=True)
class PlatformStructure:
    """Structure of a platform's model: the platform, its six legs, frames and geometry.

    Attributes:
        legs: in the order of the driven joints.
        platform: links of the platform.
        base_link, platform_link: names of the two frames: those of the parent and the child of the
            floating joint.
        axes: (3, 3) axes of the base frame, in the frame of the root link.
        home: (7,) pose, or None.
    """

    legs: tuple[LegStructure, ...]
    platform: list[LegPart]
    base_link: str
    platform_link: str
    axes: FloatArray
    home: FloatArray | None

    @property
    def parts(self) -> list[list[LegPart]]:
        """Links of each rigid body: platform, six lower and six upper leg parts."""
        shapes = [leg.shape for leg in self.legs]
        return [self.platform, *(s.lower for s in shapes), *(s.upper for s in shapes)]

    def bodies(self, model: Model) -> list[Body]:
        """Return the rigid bodies of the platform, the lower and the upper leg parts."""
        links = {link.name: link for link in model.links}
        return [_body(links, own) for own in self.parts]

    @cached_property
    def joint_centers(self) -> tuple[FloatArray, FloatArray]:
        """Joint centers at the base and at the platform, (6, 3) [m] each.

        Those at the base are in the base frame, those at the platform in the platform frame.
        """
        feet, tips = [leg.shape.base for leg in self.legs], [leg.platform for leg in self.legs]
        return np.array(feet), np.array(tips)

    @cached_property
    def universal_axes(self) -> FloatArray:
        """Unit axes (6, 3) of the universal joints that are fixed in the base, base frame."""
        return np.array([leg.shape.universal_axis for leg in self.legs])

    def gravity(self, model: Model) -> FloatArray:
        """Return gravity (3,) [m/s^2], base frame."""
        return np.asarray(self.axes.T @ model.gravity)

    def springs(self, model: Model) -> list[PointSpring]:
        """Return the springs between points of the base and points of the platform.

        Raises:
            ModelError: a spring is between other links.
        """
        if not model.springs:
            return []
        base, platform = self.base_link, self.platform_link
        tree, found = ZeroConfigurationTree(model), []
        bodies = {tree.body[base]: base, tree.body[platform]: platform}
        for spring in model.springs:
            points = {
                bodies.get(tree.body[link]): point_on(tree, link, bodies[tree.body[link]], point)
                for link, point in spring.ends
                if tree.body[link] in bodies
            }
            if len(points) < 2:
                raise invalid_value(
                    model.source or model.name,
                    f"spring {spring.name!r}: pair of links",
                    [spring.parent, spring.child],
                    f"{base} and {platform}; load it with the kind closed_loop",
                )
            own = points[base], points[platform]
            law, damping, pulls = spring.spring, spring.damping, spring.tension_only
            found.append(PointSpring(spring.name, "base", "platform", *own, law, damping, pulls))
        return found


def checked_structure(model: Model) -> PlatformStructure:
    """Find the platform in a model, and reject properties that its legs do not support.

    Raises:
        ModelError: the model is not a platform, or has an unsupported property; the message names
            the joint, link or constraint, the value found and the expected one.
    """
    found, source = structure_in(model), model.source or model.name
    links = {link.name: link for link in model.links}
    if not _body(links, found.platform).mass > 0.0:
        raise ModelError(
            f"{source}: link {found.platform_link!r} (the platform) has mass 0, expected a "
            "positive mass",
            value=found.platform_link,
        )
    for leg in found.legs:
        first, second, _ = leg.joints_in(model)
        _check_friction(source, first, second)
    for closure in model.closures:
        if closure.stiffness:
            where = f"constraint {closure.name!r}: stiffness"
            raise invalid_value(
                source, where, closure.stiffness, "none; load it with the kind closed_loop"
            )
    found.springs(model)
    return found


def named_bodies(model: Model) -> list[tuple[str, Body]]:
    """Return name and body of the platform, then of the lower and the upper leg parts."""
    names = [f"leg{n} {part}" for part in ("lower", "upper") for n in range(1, 1 + LEGS)]
    return list(zip(["platform", *names], structure_in(model).bodies(model), strict=True))


def inertia_without_rotor(model: Model) -> list[tuple[str, FloatArray]]:
    """Return the lower leg parts with less axial inertia than their rotors.

    Each comes as its name and the inertia (3, 3) [kg m^2] that remains without the rotor.
    """
    left = []
    for leg, (name, body) in zip(structure_in(model).legs, named_bodies(model)[1:], strict=False):
        actuator, axial = leg.actuator(model), body.inertia[0, 0]
        if actuator.spin_inertia and axial < actuator.rotor_inertia:
            rest = np.diag([axial - actuator.rotor_inertia, axial, axial])
            left.append((f"{name} without its actuator's rotor", rest))
    return left


def _natural(
    joint: Joint, reading: JointReading, whole: tuple[float, float]
) -> tuple[float, float]:
    """Return lower and upper limit [rad] of angle q1 or q2 of a universal joint.

    The angles are those of `universal_zero_frame`. The limits are infinite if they allow the
    angle's whole range.
    """
    ends = sorted((reading.sign * joint.position + reading.offset).tolist())
    if not np.isfinite(ends).all():
        return ends[0], ends[1]
    turns = 2.0 * np.pi * round(0.5 * (ends[0] + ends[1]) / (2.0 * np.pi))
    low, high = ends[0] - turns, ends[1] - turns
    covers = low <= whole[0] + ALL and high >= whole[1] - ALL
    return FREE if covers or high - low >= 2.0 * np.pi - ALL else (low, high)


def structure_in(model: Model) -> PlatformStructure:
    """Find the platform and its legs in a model.

    Raises:
        ModelError: as for `checked_structure`.
    """
    return _found(shape_of(model))


@lru_cache(maxsize=16)
def _found(shape: ModelTopology) -> PlatformStructure:
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
        legs.append(
            LegStructure(numbers, k, on_platform, leg_shape(tree, base, joints, at, source))
        )
    for joint in model.joints:
        if joint.moves and joint.name not in used:
            raise ModelError(
                f"{source}: {joint.kind} joint {joint.name!r} does not belong to a leg; make it "
                "fixed, or close its leg with a <constraint>",
                value=joint.name,
            )
    order = {name: k for k, name in enumerate(model.driven)}
    legs.sort(key=lambda leg: order.get(leg.shape.readings[2].name, LEGS))
    return PlatformStructure(
        tuple(legs),
        parts_of(tree, platform, np.eye(3), np.zeros(3)),
        base,
        platform,
        tree.relative(base, model.base_link)[:3, :3],
        _home(floating, dict(model.home)),
    )


def platform_body(model: Model, tip: Link) -> Body:
    """Return the platform's rigid body with another tip link."""
    links = {link.name: link for link in model.links} | {tip.name: tip}
    return _body(links, structure_in(model).platform)


def _body(links: dict[str, Link], parts: Sequence[LegPart]) -> Body:
    bodies = []
    for part in parts:
        link = links[part.link]
        own = copy_unchecked(_NOTHING, mass=link.mass, com=link.com, inertia=link.inertia)
        bodies.append(own if part.axes is None else own.seen_from(part.axes, part.origin))
    return reduce(combine_bodies, bodies)


def _check_friction(source: str, first: Joint, second: Joint) -> None:
    for joint in (first, second):
        if joint.spring.acts:
            raise invalid_value(
                source,
                f"joint {joint.name!r}: spring stiffness",
                joint.spring.stiffness,
                "none: in a platform's legs, only the actuators may have springs; load it with the "
                "kind closed_loop",
            )
        if joint.friction.any():
            raise invalid_value(
                source,
                f"joint {joint.name!r}: dynamics friction",
                joint.friction.max(),
                "0: the passive joints of a leg have viscous friction only, their damping",
            )
    if abs(first.damping - second.damping) > 1e-12 * max(first.damping, second.damping):
        raise invalid_value(
            source,
            f"joint {second.name!r}: dynamics damping",
            second.damping,
            f"{first.damping:g}, like {first.name!r}: both axes of a universal joint have the same "
            "damping",
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
            raise invalid_value(source, where, repr(closure.kind), "spherical")
    if len(model.closures) != LEGS:
        names = ", ".join(repr(closure.name) for closure in model.closures) or "none"
        raise ModelError(
            f"{source}: {len(model.closures)} spherical <constraint> elements ({names}); a "
            "Stewart platform has six, one at the tip of each leg",
            value=len(model.closures),
        )
    return floating[0]


def _ends(
    closure: Closure, tree: ZeroConfigurationTree, platform: str, source: str
) -> tuple[str, FloatArray, FloatArray]:
    """Return a closure's leg link, and its points (3,) on this link and the platform.

    Each point is in the frame of its own link.
    """
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
    # q and -q are the same rotation: keep w >= 0; if w is rounding, use the next nonzero entry
    leading = next(part for part in own[[6, 3, 4, 5]] if abs(part) > 1e-9)
    if leading < 0.0:
        own[3:] *= -1.0
    own.setflags(write=False)
    return own
