# SPDX-License-Identifier: Apache-2.0

"""Colcon package around an exported library: a chainable controller, and simulated hardware."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from robodyn.algorithms.description import gravity_vector
from robodyn.algorithms.elasticity import fastest_vibration, motors_at_home
from robodyn.errors import ModelError
from robodyn.exporting.escaping import c_string, in_comment, yaml_string
from robodyn.exporting.texts import TEMPLATES, fill_template
from robodyn.formats.xml_elements import element
from robodyn.formats.xml_text import parse_xml
from robodyn.loading.robot_description import exported_urdf, source_urdf
from robodyn.mechanism.mechanism import Mechanism
from robodyn.version import __version__

# Longest step [s] of the simulation; with elastic drives, as a fraction of the time in which their
# fastest vibration advances by a radian.
STEP, FRACTION = 1e-3, 0.5
_POSE = ("position.x", "position.y", "position.z")
_TURN = ("orientation.x", "orientation.y", "orientation.z", "orientation.w")


def package_name(name: str) -> str:
    """Return the name of the colcon package for an exported library."""
    return f"{name.lower()}_ros2_control"


def package_texts(name: str, mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    """Yield path and content of each text file in the colcon package for ros2_control.

    The library goes into the folder `library` of the package.

    Raises:
        ModelError: the mechanism has no URDF.
    """
    package, joints = package_name(name), list(mechanism.joint_names)
    positions = mechanism.joint_positions(mechanism.home)
    measured = (positions - mechanism.drives.offsets) / mechanism.drives.signs
    step, is_elastic = STEP, mechanism.drives.elasticity is not None
    if is_elastic:
        positions = motors_at_home(mechanism)
        step = min(STEP, FRACTION / fastest_vibration(mechanism, mechanism.home))
    values = {
        "NAME": name,
        "UPPER": name.upper(),
        "PACKAGE": package,
        "MECHANISM": in_comment(mechanism.name),
        "MECHANISM_STRING": c_string(mechanism.name),
        "PACKAGE_VERSION": re.sub(r"[^0-9.].*", "", __version__),
        "SIGNS": ", ".join(repr(float(x)) for x in mechanism.drives.signs),
        "OFFSETS": ", ".join(repr(float(x)) for x in mechanism.drives.offsets),
        "IS_ELASTIC": str(is_elastic).lower(),
        "HOME_MOTORS": ", ".join(repr(float(x)) for x in positions),
        "MOTOR_STATES": " state.motors.data(), state.motor_rates.data()," if is_elastic else "",
        "LONGEST_STEP": repr(step),
        "GRAVITY": ", ".join(repr(float(x)) for x in gravity_vector(mechanism)),
        "PASSIVE": ",".join(
            f"\n  {{{c_string(joint)}, {at}}}" for joint, at in _passive(mechanism).items()
        ),
        "PASSIVE_COUNT": len(_passive(mechanism)),
        "JOINTS": f"[{', '.join(map(yaml_string, joints))}]",
        "REFERENCES": ", ".join(
            yaml_string(f"model_based_controller/{joint}") for joint in joints
        ).join("[]"),
        "HOME": repr(dict(zip(joints, measured.tolist(), strict=True))),
    }
    yield f"urdf/{name}.urdf", _urdf(package, mechanism)
    folder = TEMPLATES / "ros2_control"
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        inside = path.relative_to(TEMPLATES).as_posix()
        # templates of Python files are not valid Python
        yield path.relative_to(folder).as_posix().removesuffix(".in"), fill_template(inside, values)


def _passive(mechanism: Mechanism) -> dict[str, int]:
    """Map the name of each passive joint to its index in the configuration."""
    names = mechanism.coordinates.configuration_names
    return {
        name: at
        for at, name in enumerate(names)
        if name in mechanism.passive_joint_names and name not in mechanism.joint_names
    }


def _urdf(package: str, mechanism: Mechanism) -> str:
    """Return the mechanism's URDF with simulated ros2_control hardware only."""
    text = source_urdf(mechanism.model.source) or exported_urdf(mechanism)
    if not text:
        raise ModelError(
            f"{mechanism.name} cannot be exported for ros2_control: it has no URDF; save it as "
            "a URDF first (robodyn.save)"
        )
    root = parse_xml(text, "URDF text")
    for system in root.findall("ros2_control"):
        root.remove(system)
    system = element(root, "ros2_control", name=mechanism.name, type="system")
    plugin = element(element(system, "hardware"), "plugin")
    plugin.text = f"{package}/SimulatedMechanism"
    is_elastic = mechanism.drives.elasticity is not None
    for name in mechanism.joint_names:
        joint = element(system, "joint", name=name)
        # drives that hold positions would make elastic ones unstable
        for kind in ("effort",) if is_elastic else ("effort", "position", "velocity"):
            element(joint, "command_interface", name=kind)
        for kind in ("position", "velocity", "effort"):
            element(joint, "state_interface", name=kind)
    for name in _passive(mechanism):
        joint = element(system, "joint", name=name)
        for kind in ("position", "velocity"):
            element(joint, "state_interface", name=kind)
    body = element(system, "sensor", name="body")
    for kind in (*_POSE, *_TURN):
        element(body, "state_interface", name=kind)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"
