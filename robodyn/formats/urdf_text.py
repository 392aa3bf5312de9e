# SPDX-License-Identifier: Apache-2.0

"""URDF text to a checked `urdf_parser_py` robot and the loop closures it does not support.

`urdf_parser_py` (0.0.4 on PyPI, 1.2 in ROS 2) prints unknown elements to stderr, fails on versions
other than 1.0, and accepts numbers such as `nan`. So it is only given what makes up a mechanism,
already checked: links with their inertials and joints, no visuals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from robodyn.checks import check_tree
from robodyn.errors import ModelError
from robodyn.formats.foreign import refuse_foreign_joints
from robodyn.formats.urdf_elements import ElementReader
from robodyn.formats.urdf_extensions import (
    add_mimics,
    closures_for_gazebo,
    name_left_out,
)
from robodyn.formats.urdf_motors import (
    Drives,
    Motor,
    Settings,
    read_drives,
    read_motors,
    read_settings,
)
from robodyn.formats.xacro_text import expand_xacro
from robodyn.formats.xml_text import parse_xml, without_comments
from robodyn.formats.yaml_text import read_text

# Of URDF, as <robot version=...> has them.
VERSIONS = {"1": (1, 0), "1.0": (1, 0), "1.1": (1, 1), "1.2": (1, 2)}


@dataclass(frozen=True)
class UrdfDocument:
    """A URDF as read: a `urdf_parser_py` robot, its checked `<constraint>`s, and the source.

    `motors` are those that joints name in a `<robodyn>` element, by joint name; `drives` says which
    joints are driven, and how; `settings` is what the robot's own `<robodyn>` says; `root` is the
    root element, xacro expanded.
    """

    robot: Any
    closures: tuple[ElementTree.Element, ...]
    source: str
    motors: dict[str, Motor] = field(default_factory=dict)
    drives: Drives = field(default_factory=Drives)
    root: ElementTree.Element = field(default_factory=lambda: ElementTree.Element("robot"))
    settings: Settings = field(default_factory=Settings)

    @property
    def home(self) -> dict[str, tuple[float, ...]]:
        """Where joints start, (1,) or a pose (7,): by `<robodyn>`, or else `<ros2_control>`."""
        own = {name: motor.home for name, motor in self.motors.items() if motor.home is not None}
        return own or {name: (value,) for name, value in self.drives.initial.items()}


def read_urdf(source: str | Path, xacro_args: Mapping[str, str] | None = None) -> UrdfDocument:
    """Read a file, or text (which starts with `<`), of URDF, SDF or MJCF.

    `xacro_args` are the arguments of a .xacro file.

    Raises:
        ModelError: cannot be read, not well-formed, or an element is invalid; in one line with
            the file, the link or joint, the attribute and its value.
        MissingExtra: a .xacro file without the xacro package, MJCF without mujoco.
    """
    return parse_urdf(*urdf_text(source, xacro_args))


def urdf_text(source: str | Path, xacro_args: Mapping[str, str] | None = None) -> tuple[str, str]:
    """URDF text of what `read_urdf` reads, by its root element, and its name for messages.

    Raises:
        ModelError, MissingExtra: as `read_urdf`.
    """
    given = isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")
    path = Path() if given else Path(source)
    if given:
        text = str(source)
    else:
        text = expand_xacro(path, xacro_args) if path.suffix == ".xacro" else read_text(path)
    root = root_tag(text)
    if root == "mujoco":
        from robodyn.formats.mjcf.reader import read_mjcf  # SciPy's rotations take long to import

        return read_mjcf(text if given else path), "MJCF text" if given else str(path)
    if root == "sdf":
        from robodyn.formats.sdf.reader import read_sdf

        name = "SDF text" if given else str(path)
        return read_sdf(text, name), name
    return text, "URDF text" if given else str(path)


def parse_urdf(text: str, source: str) -> UrdfDocument:
    """Parse URDF text; `source` names it in messages.

    Raises:
        ModelError: as `read_urdf`.
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
    drives, settings = read_drives(root, source), read_settings(root, source)
    add_mimics(root, clean, drives.params, source)
    robot = _parsed(clean, source)
    check_tree(source, reader.links, robot.joints)
    own = root.iterfind("constraint")
    closing = [*own, *closures_for_gazebo(root, clean, source)]
    closures = tuple(reader.closure(element) for element in closing)
    name_left_out(root, source)
    if settings.actuated_joints:
        drives = drives.overridden(settings.actuated_joints)
    motors = read_motors(root, source)
    return UrdfDocument(robot, closures, source, motors, drives, root, settings)


def actuated_joints(document: UrdfDocument) -> tuple[str, ...]:
    """Joints with an actuator, of which a joint that others follow has theirs; () if none is told.

    In the order of the document.
    """
    joints = {joint.name: joint for joint in document.robot.joints}
    moved = set(document.drives.actuated)
    for name in document.drives.actuated:
        joint = joints.get(name)
        for _ in joints:  # a mimic of a mimic; no more often than there are joints, if in a circle
            if joint is None or joint.mimic is None:
                break
            moved.add(joint.mimic.joint)
            joint = joints.get(joint.mimic.joint)
    return tuple(name for name in joints if name in moved)


def _parsed(clean: ElementTree.Element, source: str) -> Any:
    # Imported here: the parser is needed for URDF alone.
    from urdf_parser_py.urdf import Robot

    try:
        return Robot.from_xml_string(ElementTree.tostring(clean, encoding="unicode"))
    except Exception as failure:  # it also raises plain Exception and AssertionError
        reason = " ".join(str(failure).split())
        raise ModelError(f"{source}: not a URDF: {reason}", value=source) from failure


def root_tag(text: str) -> str:
    """Name of the root element, before which there may be comments; empty if there is no tag."""
    found = re.search(r"<([A-Za-z_][\w:.-]*)", without_comments(text))
    return found[1] if found else ""
