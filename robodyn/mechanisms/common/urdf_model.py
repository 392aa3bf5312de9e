# SPDX-License-Identifier: Apache-2.0

"""A model from a URDF, `<constraint>` elements included."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.actuators.description import actuator_of_joint, describes
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import ModelError, warn
from robodyn.formats.inertia import check_inertias
from robodyn.formats.urdf_motors import Motor
from robodyn.formats.urdf_shapes import finite, frame_of, read_frame
from robodyn.formats.urdf_text import UrdfDocument
from robodyn.formats.xml_text import numbers_in
from robodyn.model.at_zero import TreeAtZero
from robodyn.model.body import Link
from robodyn.model.closure import Closure
from robodyn.model.fields import GRAVITY, unchecked
from robodyn.model.joint import UNBOUNDED, Joint, Mimic
from robodyn.model.model import Model
from robodyn.model.placement import Placement
from robodyn.parsing.urdf_geometry import UrdfGeometry

# At most as many names in one message.
NAMED = 8


def model_from_urdf(
    document: UrdfDocument,
    tip_link: str | None = None,
    *,
    driven: Sequence[str] | None = None,
    home: Mapping[str, ArrayLike] | None = None,
    closures: Sequence[Closure] | None = None,
    spelling: Callable[[str, str], str] = "{}={!r}".format,
) -> Model:
    """The model of a URDF tree with closures.

    Independent joints, weights and gravity are those of its `<robodyn>`; else the first driven
    joints, ones, and 9.81 m/s^2 down.

    Args:
        document: the URDF.
        tip_link: that carries the tool; by default the last link that neither a joint nor a
            closure leads on from, or else the one at which most closures meet. A closed loop
            chooses among them by their freedoms, see `closed_loop.default_tip`.
        driven: names of the driven joints; by default those with an effort command interface in
            `<ros2_control>`, else those with a `<transmission>`, else those with any command
            interface, else those whose limit gives an effort above 0, as passive joints have none.
        home: positions near which the loops close, a floating joint's as its pose (7,); by default
            those that the document names, and zero.
        closures: instead of those of the document.
        spelling: how a message writes the option that names the driven joints.

    Raises:
        ModelError: a planar joint, an unknown name, no driven joint, or closures that are not
            right.
    """
    source, robot, settings = document.source, document.robot, document.settings
    try:
        found = urdf_closures(document) if closures is None else closures
        joints = with_leaders(urdf_joints(document))
        links = urdf_links(document)
        named = _driven(document, joints) if driven is None else tuple(driven)
        joints, named = with_driven_leaders(joints, named, source)
        guess = document.home if home is None else home
        known = {joint.name for joint in joints if joint.moves}
        if not named and known:
            alone = [joint.name for joint in joints if joint.moves_alone]
            raise ModelError(
                "no joint is driven; name the driven joints, such as "
                f"{spelling('driven', next(iter(alone or known)))}; or give joints an effort "
                "command interface in <ros2_control>, a <transmission> or an effort limit above "
                "0; in MJCF an <actuator>",
                value=named,
            )
        model = Model(
            name=robot.name,
            links=tuple(links),
            joints=tuple(joints),
            closures=tuple(found),
            driven=tuple(named),
            independent=settings.independent_joints,
            tip_link=tip_link or settings.tip_link or "".join(end_links(joints, found)[-1:]),
            home=tuple(
                (name, tuple(np.atleast_1d(np.asarray(value, dtype=float)).tolist()))
                for name, value in guess.items()
                if home is not None or name in known
            ),
            weights=settings.weights,
            base_cone=np.inf if settings.base_cone is None else settings.base_cone,
            body_cone=np.inf if settings.body_cone is None else settings.body_cone,
        )
    except ModelError as error:
        raise ModelError(f"{source}: {error}", value=error.value) from error
    gravity = GRAVITY if settings.gravity is None else np.array(settings.gravity)
    own = settings.base_link
    if settings.gravity is not None and own in {link.name for link in model.links}:
        gravity = TreeAtZero(model).relative(own, model.base_link)[:3, :3] @ gravity
    return unchecked(model, gravity=gravity, source=source)


def tree_from_urdf(document: UrdfDocument, options: Any) -> Model:
    """The model of a URDF tree, its tip link and the check of its inertias as `load` is told."""
    model = model_from_urdf(document, options.tip_link, spelling=options.spelling)
    return check_links(model, strict=options.strict)


def check_links(model: Model, *, strict: bool) -> Model:
    """The model; warns about unphysical inertias, or rejects them with `strict=True`.

    Raises:
        UnphysicalInertia: with `strict=True`.
    """
    links = ((f"link {link.name!r}", link.inertia) for link in model.links)
    check_inertias(model.source or model.name, links, strict=strict)
    return model


def _driven(document: UrdfDocument, joints: Sequence[Joint]) -> tuple[str, ...]:
    fixed = {joint.name for joint in joints if joint.kind == "fixed"}
    named = tuple(name for name in document.drives.driven if name not in fixed)
    for name in () if document.drives.effort else fixed.intersection(document.drives.driven):
        warn(f"{document.source}: <transmission> of joint {name!r}, which is fixed, is left out")
    if named or document.drives.effort:
        return document.drives.effort or named
    own = [joint for joint in joints if joint.moves_alone]
    strong = tuple(joint.name for joint in own if np.isfinite(joint.effort))
    if strong or document.closures:
        return strong
    return tuple(joint.name for joint in own)


def urdf_closures(document: UrdfDocument) -> list[Closure]:
    """The closures of a URDF's `<constraint>` elements.

    Raises:
        ModelError: a type or an axis that is not right.
    """
    return [_closure(item) for item in document.closures]


def urdf_joints(document: UrdfDocument) -> list[Joint]:
    """The joints of a URDF, each as it is stated.

    Raises:
        ModelError: a planar joint, or values that are wrong, or said twice and differently.
    """
    return [_joint(joint, document) for joint in document.robot.joints]


def urdf_links(document: UrdfDocument) -> list[Link]:
    """The links of a URDF with their geometry.

    Raises:
        ModelError: an inertia or a mass that no link can have.
    """
    geometry = UrdfGeometry(document.root, document.source)
    elements = {element.get("name"): element for element in document.root.iterfind("link")}
    links = []
    for link in document.robot.links:
        element, inertial = elements[link.name], link.inertial
        shapes = {
            "visuals": geometry.visuals(element), "collisions": geometry.collisions(element)
        }  # fmt: skip
        if inertial is None:
            links.append(Link(link.name, **shapes))
            continue
        frame = frame_of_urdf(inertial.origin)
        R = frame[:3, :3]
        tensor = R @ np.array(inertial.inertia.to_matrix(), dtype=np.float64) @ R.T
        tensor = 0.5 * (tensor + tensor.T)
        links.append(Link(link.name, float(inertial.mass), frame[:3, 3], tensor, **shapes))
    return links


def frame_of_urdf(origin: Any) -> FloatArray:
    """(4, 4) of an origin as `urdf_parser_py` has it."""
    return (
        frame_of()
        if origin is None
        else frame_of(origin.xyz or (0.0,) * 3, origin.rpy or (0.0,) * 3)
    )


def _joint(joint: Any, document: UrdfDocument) -> Joint:
    name, where = joint.name, f"joint {joint.name!r}"
    if joint.type == "planar":
        raise ModelError(
            f"{where} is planar, which is not supported; write it as two prismatic joints and a "
            "revolute one",
            value=joint.type,
        )
    mimic = None
    if joint.mimic is not None and joint.type == "fixed":
        warn(f"{document.source}: <mimic> of {where}, which is fixed, is left out")
    elif joint.mimic is not None:
        factor, offset = joint.mimic.multiplier, joint.mimic.offset
        factor = 1.0 if factor is None else float(factor)
        mimic = Mimic(joint.mimic.joint, factor, float(offset or 0.0))
    motor, dynamics = document.motors.get(name, Motor()), joint.dynamics
    forward = float((dynamics and dynamics.friction) or 0.0)
    backward = forward if motor.friction_backward is None else motor.friction_backward
    commands = document.drives.limits.get(name, {})
    params = dict(document.drives.params.get(name, {}))
    least, largest = commands.get("effort", (-np.inf, np.inf))
    if least != -largest:  # a drive that does not push as it pulls
        for key, end in (("least_effort", least), ("largest_effort", largest)):
            if np.isfinite(end):
                params.setdefault(key, repr(end))
    # exporters state zeros as the axes of joints that have none
    axis = None if joint.type in ("fixed", "floating") else joint.axis
    counts_turns = joint.type == "continuous" and motor.multi_turn
    made = Joint(
        name,
        "revolute" if counts_turns else joint.type,
        joint.parent,
        joint.child,
        at=Placement.of(frame_of_urdf(joint.origin)),
        axis=np.array(axis or (1.0, 0.0, 0.0)),
        mimic=mimic,
        armature=motor.armature,
        damping=float((dynamics and dynamics.damping) or 0.0),
        friction=np.array([forward, backward]),
        position=_position_limits(joint, commands.get("position")),
        velocity=_limit(joint, "velocity", commands.get("velocity")),
        effort=_limit(joint, "effort", (least, largest)),
    )
    if joint.type in ("fixed", "floating") or not describes(params):
        return made
    actuator = actuator_of_joint(params, where, (forward, backward), motor.stated)
    # a <robodyn> element gives the inertia already reflected
    return replace(made.driven_by(actuator), armature=motor.armature if motor.stated else 0.0)


def _position_limits(joint: Any, commanded: tuple[float, float] | None) -> FloatArray:
    """(2,) [rad or m] that the joint and its command interface allow, if any.

    Where both ends are absent or 0, as exporters leave them, none are meant. A joint that turns
    endlessly has none.
    """
    limit = joint.limit
    ends = (0.0, 0.0) if limit is None else (float(limit.lower or 0.0), float(limit.upper or 0.0))
    if joint.type in ("continuous", "floating", "fixed"):
        return UNBOUNDED
    low, high = (-np.inf, np.inf) if ends == (0.0, 0.0) else (finite(end) for end in ends)
    if commanded is None or not low <= high:
        return np.array([low, high])
    both = np.array([max(low, commanded[0]), min(high, commanded[1])])
    if both[0] > both[1]:
        raise ModelError(
            f"joint {joint.name!r}: its <limit> is {low:g} to {high:g}, but its command interface "
            f"in <ros2_control> has min {commanded[0]:g} and max {commanded[1]:g}, which have "
            "nothing in common",
            value=commanded,
        )
    return both


def _limit(joint: Any, name: str, commanded: tuple[float, float] | None) -> float:
    """Of `effort` or `velocity`; absent or 0, as in many published models, none is meant."""
    value = 0.0 if joint.limit is None else float(getattr(joint.limit, name) or 0.0)
    most = np.inf if commanded is None else max(-commanded[0], commanded[1])
    return min(finite(value) or np.inf, most if most > 0.0 else np.inf)


def name_zero_limits(document: UrdfDocument, driven: Sequence[str]) -> None:
    """Warn of limits of 0 of driven joints, which could neither move nor hold anything."""
    limits = {j.name: j.limit for j in document.robot.joints if j.limit is not None}
    for key in ("velocity", "effort"):
        zero = [repr(name) for name in driven if getattr(limits.get(name), key, None) == 0.0]
        if zero:
            more = " ..." if len(zero) > NAMED else ""
            warn(
                f"{document.source}: joints {', '.join(zero[:NAMED])}{more}: left out is the limit "
                f"of {key}, which is 0, as exporters leave it; state one above 0, or 1e16 for none"
            )


def _closure(item: Element) -> Closure:
    stated: dict[str, Any] = {}
    for side, prefix in (("parent", ""), ("child", "child_")):
        stated[side] = item.findall(side)[0].attrib["link"]
        stated[f"{prefix}at"] = Placement.of(read_frame(item.find(f"{side}_origin")))
        for axis in item.iterfind(f"{side}_axis"):
            stated[f"{prefix}axis"] = np.array(numbers_in(axis.attrib["xyz"], 3, "axis"))
    damping = float(item.attrib["damping"])
    return Closure(item.attrib["name"], item.attrib["type"], damping=damping, **stated)


def end_links(joints: Sequence[Joint], closures: Sequence[Closure]) -> tuple[str, ...]:
    """Return the links at which a tree ends: the one at which most loops meet, then open ends."""
    parents = {joint.parent for joint in joints}
    ends = [joint.child for joint in joints if joint.child not in parents]
    closed = [link for closure in closures for link in (closure.parent, closure.child)]
    moving = [joint.child for joint in joints]

    def rank(link: str) -> tuple[int, bool, int]:
        return closed.count(link), link in ends, moving.index(link)

    meeting = [max(moving, key=rank)] if closed and moving else []
    return tuple(dict.fromkeys([*meeting, *(link for link in ends if link not in closed)]))


def with_leaders(joints: Sequence[Joint]) -> list[Joint]:
    """The joints where each that follows one which follows another follows that at once.

    Raises:
        ModelError: joints that follow each other in a circle.
    """
    known = {joint.name: joint for joint in joints}
    return [
        joint if joint.mimic is None else replace(joint, mimic=_leader(joint, joint.mimic, known))
        for joint in joints
    ]


def _leader(joint: Joint, mimic: Mimic, known: dict[str, Joint]) -> Mimic:
    passed = [joint.name]
    while (leader := known.get(mimic.joint)) is not None and leader.mimic is not None:
        passed.append(leader.name)
        if leader.mimic.joint in passed:
            raise ModelError(
                f"joints {', '.join(map(repr, passed))} mimic each other in a circle; let one of "
                "them move by itself",
                value=passed,
            )
        mimic = _through(mimic, leader.mimic)
    return mimic


def _through(mimic: Mimic, other: Mimic) -> Mimic:
    """What follows a joint that follows `other`, as a follower of that."""
    factor = mimic.multiplier
    return Mimic(other.joint, factor * other.multiplier, factor * other.offset + mimic.offset)


def with_driven_leaders(
    joints: Sequence[Joint], driven: Sequence[str], source: str
) -> tuple[list[Joint], tuple[str, ...]]:
    """The joints and the driven ones where each driven joint moves by itself.

    A driven joint that follows one which is not driven changes places with it, as their motion is
    the same. The actuator of one that follows a driven joint is left out, with a warning: a
    mechanism has one effort for each freedom of its joints.
    """
    known = {joint.name: joint for joint in joints}
    kept = []
    for name in driven:
        mimic = known[name].mimic if name in known else None
        if mimic is None:
            kept.append(name)
            continue
        if mimic.joint in driven or mimic.multiplier == 0.0 or mimic.joint not in known:
            warn(
                f"{source}: joint {name!r}: left out is its actuator, as the joint follows "
                f"{mimic.joint!r}{', which is driven' if mimic.joint in driven else ''}"
            )
            continue
        factor = 1.0 / mimic.multiplier
        back = Mimic(name, factor, -mimic.offset * factor)
        for other in known.values():
            if other.name == name:
                known[name] = replace(other, mimic=None)
            elif other.name == mimic.joint:
                known[other.name] = replace(other, mimic=back)
            elif other.mimic is not None and other.mimic.joint == mimic.joint:
                known[other.name] = replace(other, mimic=_through(other.mimic, back))
        kept.append(name)
    return list(known.values()), tuple(kept)
