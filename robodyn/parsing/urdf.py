# SPDX-License-Identifier: Apache-2.0

"""Reader of URDF text.

`urdf_parser_py` (0.0.4 on PyPI, 1.2 in ROS 2) prints unknown elements to stderr, fails on versions
other than 1.0, and accepts numbers such as `nan`. So it receives only elements that define the
mechanism and have been checked: links with their inertials, and joints, but no visuals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import check_tree
from robodyn.errors import ModelError, warn
from robodyn.formats.xml_elements import TAG, frame_of, limit_from_file
from robodyn.formats.xml_text import parse_xml
from robodyn.model import NO_SPRING, LinearSpring, Link, ModelBuilder, Placement
from robodyn.model.joint import UNBOUNDED, Joint, Mimic
from robodyn.parsing.foreign import refuse_foreign_joints, spring_dampers
from robodyn.parsing.hardware import Hardware, read_hardware
from robodyn.parsing.own_attributes import (
    Motor,
    read_motors,
    read_settings,
    spring_of,
    with_motor,
)
from robodyn.parsing.urdf_elements import ElementReader
from robodyn.parsing.urdf_extensions import (
    add_mimics,
    closures_for_gazebo,
    springs_for_gazebo,
    warn_of_ignored_elements,
)
from robodyn.parsing.urdf_geometry import UrdfGeometry

# Supported URDF versions, as in <robot version=...>.
VERSIONS = {"1": (1, 0), "1.0": (1, 0), "1.1": (1, 1), "1.2": (1, 2)}


def parse_urdf(text: str, source: str) -> ModelBuilder:
    """Read a mechanism from URDF text.

    Args:
        text: URDF text.
        source: name of the text, for messages.

    Returns:
        A `ModelBuilder` with links, joints, closures and actuators.

    Raises:
        ModelError: the text is not well-formed, or an element is invalid; the error names the file,
            the link or joint, the attribute and its value.
    """
    root = parse_xml(text, source)
    if root.tag != "robot":
        raise ModelError(
            f"{source}: the root element is <{root.tag}>, expected <robot>", value=root.tag
        )
    version = root.get("version", "1.0")
    if version not in VERSIONS:
        raise ModelError(
            f"{source}: version={version!r} of the robot is not supported, expected 1.0, 1.1, 1.2 "
            "or none",
            value=version,
        )
    refuse_foreign_joints(root, source)
    clean = ElementTree.Element("robot", {"name": root.get("name", "robot")})
    reader = ElementReader(source, VERSIONS[version])
    for element in root:
        if element.tag == "link":
            reader.link(element, clean)
        elif element.tag == "joint":
            reader.joint(element, clean)
    hardware = read_hardware(root, source)
    if root.find(TAG) is None:
        _leave_out_gains(hardware, source)
    robot = _parse(clean, root, hardware, source)
    check_tree(source, reader.links, robot.joints)
    builder = ModelBuilder(robot.name, source, drives=hardware.drives)
    builder.add(*map(reader.closure, root.iterfind("constraint")))
    with builder.error_source():
        builder.add(*closures_for_gazebo(root, clean, source))
        builder.springs.extend(spring_dampers(root))
    warn_of_ignored_elements(root, reader.left_out, source)
    _read_own_elements(builder, root)
    motors, springs = read_motors(root, source), springs_for_gazebo(root, source)
    homes = {name: motor.home for name, motor in motors.items() if motor.home is not None}
    builder.home = homes or {name: (value,) for name, value in hardware.initial.items()}
    with builder.error_source():
        builder.add(*_links(robot, root, builder))
        for joint in robot.joints:
            motor, spring = motors.get(joint.name, Motor()), springs.get(joint.name, NO_SPRING)
            builder.add(_joint(joint, motor, spring, hardware, source))
            zero = (key for key in ("effort", "velocity") if getattr(joint.limit, key, None) == 0.0)
            builder.zero_limits[joint.name] = tuple(zero)
    return builder


def _leave_out_gains(hardware: Hardware, source: str) -> None:
    """Remove `stiffness` parameters of other programs, which are controller gains."""
    for name, params in hardware.params.items():
        if "stiffness" in params and "stiffness_damping" not in params:
            del params["stiffness"]
            warn(
                f'{source}: joint {name!r}: ignored <param name="stiffness">, a gain in many '
                f"controllers; if it is the elasticity of the drive, add <{TAG}/> to the robot"
            )


def _parse(
    clean: ElementTree.Element, root: ElementTree.Element, hardware: Hardware, source: str
) -> Any:
    # imported here: only URDF needs the parser
    from urdf_parser_py.urdf import Robot

    add_mimics(root, clean, hardware.params, source)
    try:
        return Robot.from_xml_string(ElementTree.tostring(clean, encoding="unicode"))
    except Exception as failure:  # it also raises plain Exception and AssertionError
        reason = " ".join(str(failure).split())
        raise ModelError(f"{source}: not a URDF: {reason}", value=source) from failure


def _read_own_elements(builder: ModelBuilder, root: ElementTree.Element) -> None:
    where, found = f"{builder.source}: <{TAG}> of the robot", root.findall(TAG)
    if len(found) > 1:
        raise ModelError(f"{where} occurs {len(found)} times, expected once", value=len(found))
    for own in found:
        read_settings(builder, own.attrib, where)
        with builder.error_source():
            for part in own:
                if part.tag != "spring":
                    raise ModelError(
                        f"{where} has an unknown element <{part.tag}>, expected <spring>",
                        value=part.tag,
                    )
                builder.springs.append(spring_of(part.attrib, f"<spring> of <{TAG}>"))


def _links(robot: Any, root: ElementTree.Element, builder: ModelBuilder) -> Iterator[Link]:
    """Yield the links with geometry; record in the builder which ones have an inertia."""
    geometry = UrdfGeometry(root, builder.source)
    elements = {element.get("name"): element for element in root.iterfind("link")}
    for link in robot.links:
        element, inertial = elements[link.name], link.inertial
        shapes = geometry.visuals(element), geometry.collisions(element)
        if inertial is None:
            yield Link(link.name, visuals=shapes[0], collisions=shapes[1])
            continue
        builder.links_with_inertia.add(link.name)
        frame = _frame(inertial.origin)
        R = frame[:3, :3]
        tensor = R @ np.array(inertial.inertia.to_matrix(), dtype=np.float64) @ R.T
        tensor = 0.5 * (tensor + tensor.T)
        yield Link(link.name, float(inertial.mass), frame[:3, 3], tensor, *shapes)


def _frame(origin: Any) -> FloatArray:
    """Convert an origin of `urdf_parser_py` to a transform (4, 4)."""
    return (
        frame_of()
        if origin is None
        else frame_of(origin.xyz or (0.0,) * 3, origin.rpy or (0.0,) * 3)
    )


def _joint(
    joint: Any, motor: Motor, spring: LinearSpring, hardware: Hardware, source: str
) -> Joint:
    name, where = joint.name, f"joint {joint.name!r}"
    if joint.type == "planar":
        raise ModelError(
            f"{where} is planar, which is not supported; write it as two prismatic joints and a "
            "revolute one",
            value=joint.type,
        )
    mimic = None
    if joint.mimic is not None and joint.type == "fixed":
        warn(f"{source}: ignored the <mimic> of {where}, which is fixed")
    elif joint.mimic is not None:
        factor, offset = joint.mimic.multiplier, joint.mimic.offset
        factor = 1.0 if factor is None else float(factor)
        mimic = Mimic(joint.mimic.joint, factor, float(offset or 0.0))
    commands, dynamics = hardware.limits.get(name, {}), joint.dynamics
    params = dict(hardware.params.get(name, {}))
    least, largest = commands.get("effort", (-np.inf, np.inf))
    if least != -largest:  # a drive with asymmetric limits
        for key, end in (("least_effort", least), ("largest_effort", largest)):
            if np.isfinite(end):
                params.setdefault(key, repr(end))
    slowest, fastest = commands.get("velocity", (-np.inf, np.inf))
    if slowest != -fastest and not (slowest < 0.0 < fastest and np.isinf((slowest, fastest)).any()):
        warn(
            f"{source}: <ros2_control>: {where}: velocity has min {slowest:g} and max {fastest:g}; "
            "the smaller limit that is not 0 applies to both directions"
        )
    # exporters write zeros for the axes of joints that have none
    axis = None if joint.type in ("fixed", "floating") else joint.axis
    made = Joint(
        name,
        joint.type,
        joint.parent,
        joint.child,
        at=Placement.of(_frame(joint.origin)),
        axis=np.array(axis or (1.0, 0.0, 0.0)),
        mimic=mimic,
        damping=float((dynamics and dynamics.damping) or 0.0),
        friction=np.full(2, float((dynamics and dynamics.friction) or 0.0)),
        position=_position_limits(joint, commands.get("position")),
        velocity=_limit(joint, "velocity", commands.get("velocity")),
        effort=_limit(joint, "effort", (least, largest)),
        spring=spring,
    )
    return with_motor(made, motor, params)


def _position_limits(joint: Any, commanded: tuple[float, float] | None) -> FloatArray:
    """Intersect the position limits [rad or m] of a joint and its command interface.

    A joint is unlimited if it is continuous, or if both of its limits are absent or 0, as some
    exporters write them.
    """
    limit = joint.limit
    ends = (0.0, 0.0) if limit is None else (float(limit.lower or 0.0), float(limit.upper or 0.0))
    if joint.type in ("continuous", "floating", "fixed"):
        return UNBOUNDED
    low, high = (-np.inf, np.inf) if ends == (0.0, 0.0) else (limit_from_file(end) for end in ends)
    if commanded is None or not low <= high:
        return np.array([low, high])
    both = np.array([max(low, commanded[0]), min(high, commanded[1])])
    if both[0] > both[1]:
        raise ModelError(
            f"joint {joint.name!r}: its <limit> is {low:g} to {high:g}, but its command interface "
            f"in <ros2_control> has min {commanded[0]:g} and max {commanded[1]:g}, and these "
            "ranges do not overlap",
            value=commanded,
        )
    return both


def _limit(joint: Any, name: str, commanded: tuple[float, float] | None) -> float:
    """Return the limit of `effort` or `velocity`; infinite if it is absent or 0.

    If a velocity command interface has two limits, the smaller one applies to both directions.
    """
    value = 0.0 if joint.limit is None else float(getattr(joint.limit, name) or 0.0)
    low, high = commanded or (-np.inf, np.inf)
    # efforts that differ by direction are limits of the actuator
    pick = max if name == "effort" else min
    most = pick((end for end in (-low, high) if end > 0.0), default=np.inf)
    return min(limit_from_file(value) or np.inf, most)
