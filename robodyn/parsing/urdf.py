# SPDX-License-Identifier: Apache-2.0

"""Reader of URDF text.

`urdf_elements.py` copies and checks the elements that define the mechanism: links with their
inertials, and joints. This module converts these elements to a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import check_tree
from robodyn.errors import ModelError, warn
from robodyn.formats.xml_elements import (
    INERTIA,
    TAG,
    inertia_in_link,
    limit_from_file,
    read_frame,
)
from robodyn.formats.xml_text import numbers_in, parse_xml
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
    add_mimics(root, clean, hardware.params, source)
    joints = {joint.attrib["name"]: joint for joint in clean.iterfind("joint")}
    check_tree(source, reader.links, [_Ends.of(joint) for joint in joints.values()])
    builder = ModelBuilder(clean.attrib["name"], source, drives=hardware.drives)
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
        builder.add(*_links(clean, root, builder))
        for name, joint in joints.items():
            motor, spring = motors.get(name, Motor()), springs.get(name, NO_SPRING)
            builder.add(_joint(joint, motor, spring, hardware, source))
            limit = _numbers(joint, "limit")
            zero = (key for key in ("effort", "velocity") if limit.get(key) == 0.0)
            builder.zero_limits[name] = tuple(zero)
    return builder


def _leave_out_gains(hardware: Hardware, source: str) -> None:
    """Ignore parameters `stiffness` in foreign files, where they are controller gains."""
    for name, params in hardware.params.items():
        if "stiffness" in params and "stiffness_damping" not in params:
            del params["stiffness"]
            warn(
                f'{source}: joint {name!r}: ignored <param name="stiffness">, a gain in many '
                f"controllers; if it is the elasticity of the drive, add <{TAG}/> to the robot"
            )


class _Ends(NamedTuple):
    """Name of a joint, and of the links that it connects."""

    name: str
    parent: str
    child: str

    @classmethod
    def of(cls, joint: ElementTree.Element) -> _Ends:
        ends = (joint.findall(side)[0].attrib["link"] for side in ("parent", "child"))
        return cls(joint.attrib["name"], *ends)


def _numbers(parent: ElementTree.Element, tag: str) -> dict[str, float]:
    """Return the attributes of a checked child element as numbers; none if it is missing."""
    return {key: float(text) for part in parent.iterfind(tag) for key, text in part.attrib.items()}


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


def _links(
    clean: ElementTree.Element, root: ElementTree.Element, builder: ModelBuilder
) -> Iterator[Link]:
    """Yield the links with geometry; record in the builder which ones have an inertia."""
    geometry = UrdfGeometry(root, builder.source)
    elements = {element.get("name"): element for element in root.iterfind("link")}
    for link in clean.iterfind("link"):
        name, inertial = link.attrib["name"], link.find("inertial")
        shapes = geometry.visuals(elements[name]), geometry.collisions(elements[name])
        if inertial is None:
            yield Link(name, visuals=shapes[0], collisions=shapes[1])
            continue
        builder.links_with_inertia.add(name)
        mass, frame = _numbers(inertial, "mass")["value"], read_frame(inertial.find("origin"))
        moments = _numbers(inertial, "inertia")
        tensor = inertia_in_link(frame, [moments[key] for key in INERTIA])
        yield Link(name, mass, frame[:3, 3], tensor, *shapes)


def _joint(
    joint: ElementTree.Element, motor: Motor, spring: LinearSpring, hardware: Hardware, source: str
) -> Joint:
    (name, parent, child), kind = _Ends.of(joint), joint.attrib["type"]
    where = f"joint {name!r}"
    if kind == "planar":
        raise ModelError(
            f"{where} is planar, which is not supported; write it as two prismatic joints and a "
            "revolute one",
            value=kind,
        )
    mimic, stated = None, joint.find("mimic")
    if stated is not None and kind == "fixed":
        warn(f"{source}: ignored the <mimic> of {where}, which is fixed")
    elif stated is not None:
        factor, offset = (
            numbers_in(stated.get(key, default), 1, f"{source}: {where}: mimic {key}")[0]
            for key, default in (("multiplier", "1"), ("offset", "0"))
        )
        mimic = Mimic(stated.attrib["joint"], factor, offset)
    commands, dynamics = hardware.limits.get(name, {}), _numbers(joint, "dynamics")
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
    axis = None if kind in ("fixed", "floating") else joint.find("axis")
    direction = "1 0 0" if axis is None else axis.attrib["xyz"]
    limit = _numbers(joint, "limit")
    made = Joint(
        name,
        kind,
        parent,
        child,
        at=Placement.of(read_frame(joint.find("origin"))),
        axis=np.array(numbers_in(direction, 3, f"{source}: {where}: axis")),
        mimic=mimic,
        damping=dynamics.get("damping", 0.0),
        friction=np.full(2, dynamics.get("friction", 0.0)),
        position=_position_limits(name, kind, limit, commands.get("position")),
        velocity=_limit(limit, "velocity", commands.get("velocity")),
        effort=_limit(limit, "effort", (least, largest)),
        spring=spring,
    )
    return with_motor(made, motor, params)


def _position_limits(
    name: str, kind: str, limit: Mapping[str, float], commanded: tuple[float, float] | None
) -> FloatArray:
    """Return position limits (2,) [rad or m] of a joint and its command interface.

    There are no limits if both ends are absent or 0, as some exporters write them, or if the joint
    is continuous.
    """
    if kind in ("continuous", "floating", "fixed"):
        return UNBOUNDED
    ends = limit.get("lower", 0.0), limit.get("upper", 0.0)
    low, high = (-np.inf, np.inf) if ends == (0.0, 0.0) else (limit_from_file(end) for end in ends)
    if commanded is None or not low <= high:
        return np.array([low, high])
    both = np.array([max(low, commanded[0]), min(high, commanded[1])])
    if both[0] > both[1]:
        raise ModelError(
            f"joint {name!r}: its <limit> is {low:g} to {high:g}, but its command interface "
            f"in <ros2_control> has min {commanded[0]:g} and max {commanded[1]:g}, and these "
            "ranges do not overlap",
            value=commanded,
        )
    return both


def _limit(limit: Mapping[str, float], name: str, commanded: tuple[float, float] | None) -> float:
    """Return the limit of `effort` or `velocity`; infinite if it is absent or 0.

    Of velocity commands with two limits, the smaller one applies to both directions.
    """
    low, high = commanded or (-np.inf, np.inf)
    # efforts that differ by direction are limits of the actuator
    pick = max if name == "effort" else min
    most = pick((end for end in (-low, high) if end > 0.0), default=np.inf)
    return min(limit_from_file(limit.get(name, 0.0)) or np.inf, most)
