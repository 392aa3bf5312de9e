# SPDX-License-Identifier: Apache-2.0

"""URDF text of a mechanism for viewers and controllers, from any source."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

from robodyn.actuators.actuator import NO_FRICTION
from robodyn.errors import LeftOutWarning, MissingExtra, ModelError, UnphysicalInertiaWarning
from robodyn.formats import expand_xacro, parse_xml, root_tag
from robodyn.formats.meshes import with_mesh_files
from robodyn.formats.xml_elements import element, number, remove_params
from robodyn.formats.yaml_text import read_text
from robodyn.loading.registry import kind_of
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.builder import ModelBuilder
from robodyn.parsing.description import read_description
from robodyn.parsing.source import URDF_SUFFIXES, is_text, models
from robodyn.parsing.urdf import parse_urdf
from robodyn.presentation.nouns import nouns_of
from robodyn.writing.urdf import tree_urdf

# Default hardware: it communicates over two topics.
PLUGIN = "joint_state_topic_hardware_interface/JointStateTopicSystem"
# Attributes of `<dynamics>`, of a closure, and of our own element for motors.
FRICTION = ("damping", "friction", "friction_backward")


def robot_description(
    source: str | Path,
    mechanism: Mechanism,
    *,
    ros2_control: bool = False,
    own_hardware: bool = True,
    arguments: Mapping[str, str] | None = None,
) -> str:
    """Return URDF text of a mechanism loaded from `source`.

    URDF text, a .urdf and an expanded .xacro file are returned unchanged. For a bundled model, the
    result is its expanded xacro file; for other sources, the URDF that the kind exports, as
    platforms do.

    Args:
        source: source from which the mechanism was loaded.
        mechanism: the loaded mechanism.
        ros2_control: include a `<ros2_control>` element: that of the source, or a new one with an
            effort command and position, velocity and effort states for every driven joint, and with
            the hardware that `arguments` name.
        own_hardware: if False, omit `<ros2_control>` elements of the source with another plugin
            than that in `arguments`, so that a simulation does not start the driver of the real
            robot.
        arguments: arguments for the xacro file and the element: `plugin`, `joint_commands_topic`
            and `joint_states_topic`.

    Returns:
        The URDF text.

    Raises:
        ModelError: the source cannot be read, or has no URDF and its kind exports none.
        MissingExtra: the package xacro is missing for a .xacro file.
    """
    arguments = {"ros2_control": str(ros2_control).lower(), **(arguments or {})}
    text = source_urdf(source, arguments)
    if not text:
        text = exported_urdf(mechanism)
    if not text:
        noun = nouns_of(mechanism).mechanism
        raise ModelError(
            f"{source}: the {noun} has no URDF; load it from a .urdf or .xacro file",
            value=str(source),
        )
    if not ros2_control:
        return text
    root = parse_xml(text, "URDF text")
    others = [] if own_hardware else _hardware_of_others(root, arguments.get("plugin", PLUGIN))
    for system in others:
        root.remove(system)
    if not _lacks_hardware(root):
        return ElementTree.tostring(root, encoding="unicode") if others else text
    _add_hardware(root, mechanism, arguments)
    return ElementTree.tostring(root, encoding="unicode")


def frictionless(description: str) -> str:
    """Remove joint and actuator friction from URDF text, and return the new text.

    Raises:
        ModelError: the text is not well-formed XML.
    """
    root = parse_xml(description, "URDF text")
    for part in root.iter():
        for name in FRICTION:
            part.attrib.pop(name, None)
    remove_params(root, NO_FRICTION)
    return ElementTree.tostring(root, encoding="unicode")


def exported_urdf(mechanism: Mechanism) -> str:
    """Return a mechanism as URDF text; an empty string if its kind has no URDF."""
    export = kind_of(mechanism).to_urdf
    return "" if export is None else export(mechanism)


def source_urdf(source: str | Path, arguments: Mapping[str, str] | None = None) -> str:
    """Return the URDF text of a model's source.

    Args:
        source: bundled name, path, or URDF, SDF or MJCF text.
        arguments: arguments for a .xacro file, by name.

    Returns:
        Expanded URDF text; SDF and MJCF are converted. An empty string if the source is a YAML
        file.

    Raises:
        ModelError, MissingExtra: as for `robot_description`.
    """
    if str(source) in models():
        return _load_bundled(str(source), arguments)
    if not is_text(source) and Path(source).suffix.lower() not in URDF_SUFFIXES:
        return ""
    path = Path(source)
    if is_text(source):
        text = str(source)
    else:
        text = expand_xacro(path, arguments) if path.suffix == ".xacro" else read_text(path)
    if root_tag(text) in ("mujoco", "sdf"):
        builder = _describe_source(source)
        driven = builder.drives.driven or [j.name for j in builder.joints.values() if j.moves_alone]
        return tree_urdf(builder.model(driven=driven), builder.kind)
    return text if is_text(source) else with_mesh_files(text, path)


def source_builder(source: str | Path) -> ModelBuilder | None:
    """Read all links and joints of a model source, also those outside an arm's chain.

    For a bundled model, its xacro file is read.

    Args:
        source: bundled name, path, or URDF, SDF or MJCF text.

    Returns:
        A builder with the links and joints; None for a YAML file, or if the package xacro is
        required but not installed.

    Raises:
        ModelError, MissingExtra: as for `robot_description`.
    """
    if str(source) in models():
        text = _load_bundled(str(source), None)
        return parse_urdf(text, str(source)) if text else None
    if not is_text(source) and Path(source).suffix.lower() not in URDF_SUFFIXES:
        return None
    return _describe_source(source)


def _describe_source(source: str | Path) -> ModelBuilder:
    with warnings.catch_warnings():
        # warnings were given when it was loaded
        for category in (LeftOutWarning, UnphysicalInertiaWarning):
            warnings.simplefilter("ignore", category)
        return read_description(source)


def _load_bundled(name: str, arguments: Mapping[str, str] | None) -> str:
    for folder in _urdf_folders():
        path = folder / f"{name}.urdf.xacro"
        if path.is_file():
            try:
                return expand_xacro(path, arguments)
            except MissingExtra:
                return ""
    return ""


def _urdf_folders() -> Iterator[Path]:
    """Yield the folders that may contain the bundled xacro files."""
    package = Path(__file__).resolve().parents[1]
    yield package.parent / "urdf"
    for prefix in (Path(sys.prefix), *package.parents):
        yield prefix / "share" / "robodyn" / "urdf"


def _hardware_of_others(root: ElementTree.Element, plugin: str) -> list[ElementTree.Element]:
    found = []
    for system in root.iterfind("ros2_control"):
        named = system.findtext("hardware/plugin")
        if named is not None and named.strip() != plugin:
            found.append(system)
    return found


def _lacks_hardware(root: ElementTree.Element) -> bool:
    system = root.find("ros2_control")
    # an element with actuators only, as in exported text, still lacks its hardware
    return system is None or (system.find("hardware") is None and system.find("joint") is not None)


def _add_hardware(
    root: ElementTree.Element, mechanism: Mechanism, arguments: Mapping[str, str]
) -> None:
    system = root.find("ros2_control")
    if system is None:
        system = element(root, "ros2_control", name=mechanism.name, type="system")
    described = {joint.get("name"): joint for joint in system.iterfind("joint")}
    hardware = element(system, "hardware")
    element(hardware, "plugin").text = arguments.get("plugin", PLUGIN)
    topics = {name: value for name, value in arguments.items() if name.endswith("_topic")}
    # send every command, even an effort equal to the measured one
    for name, value in (topics | {"trigger_joint_command_threshold": "-1"}).items():
        element(hardware, "param", name=name).text = value
    home = mechanism.joint_positions(mechanism.home)
    for name, position in zip(mechanism.joint_names, home, strict=True):
        joint = described.get(name)
        if joint is None:
            joint = element(system, "joint", name=name)
        for interface in (*joint.findall("command_interface"), *joint.findall("state_interface")):
            joint.remove(interface)
        element(joint, "command_interface", name="effort")
        state = element(joint, "state_interface", name="position")
        element(state, "param", name="initial_value").text = number(float(position))
        element(joint, "state_interface", name="velocity")
        element(joint, "state_interface", name="effort")
