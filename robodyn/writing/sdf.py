# SPDX-License-Identifier: Apache-2.0

"""Writer of a model as SDF.

Links are placed at the mechanism's home, so that its loops are also closed in Gazebo: a closure
becomes a second joint that leads to the same link. Data that SDF cannot represent is in elements
with the prefix `robodyn:`, which SDF permits; see `robodyn.parsing.sdf.reader`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import OutputError
from robodyn.formats.xml_elements import (
    INERTIA,
    TAG,
    document_text,
    element,
    frame_of,
    number,
    numbers,
)
from robodyn.model import Closure, Joint, Link, Model
from robodyn.model.geometry import Geometry, MeshFile
from robodyn.parsing.sdf.tree import CLOSURES, NAMESPACE, OWN, SCOPE
from robodyn.poses import rpy_of_rotation
from robodyn.writing.urdf import (
    closure_element,
    own_attributes,
    params_of_joint,
    unloaded_position,
)

WORLD = "world"
TYPES = {kind: name for name, kind in CLOSURES.items() if name != "continuous"}


def tree_sdf(model: Model, settings: Mapping[str, str], positions: Mapping[str, Any]) -> str:
    """Format a model, a tree with loop closures, as SDF text.

    Args:
        model: model to write.
        settings: attributes that make `load` read the model as its kind, from `settings_of`.
        positions: positions of joints, a number or a pose (7,) each, at which links are placed; 0
            for other joints.

    Returns:
        The text.

    Raises:
        OutputError: SDF has no joint for a closure, or there is a spring between points.
    """
    for spring in model.springs:
        raise OutputError(
            f"spring {spring.name!r} is between points, which SDF cannot describe; write a .yaml, "
            ".urdf or .xml file",
            value=spring.name,
        )
    mimics = any(joint.mimic is not None for joint in model.joints)
    root = element(None, "sdf", version="1.11" if mimics else "1.9")
    root.set(f"xmlns:{OWN[:-1]}", NAMESPACE)
    out = element(root, "model", name=model.name)
    element(out, OWN + TAG, **settings)
    if model.base_link != WORLD:
        out.set("canonical_link", model.base_link)
        mount = _joint(out, "robodyn_mount", "fixed", WORLD, model.base_link)
        element(mount, f"{OWN}mount")
    above = {joint.child: joint for joint in model.joints}
    for link in model.links:
        if link.name != WORLD:
            _link(out, link, above.get(link.name), positions)
    home = dict(model.home)
    for joint in model.joints:
        if joint.kind == "floating":
            own = element(out, f"{OWN}floating", name=joint.name)
            own.attrib.update(parent=joint.parent, child=joint.child)
            own.attrib.update(xyz=numbers(joint.at.translation), rpy=_rpy(joint.at.rotation))
            if joint.name in home:
                own.set("home", numbers(home[joint.name]))
        else:
            _tree_joint(out, joint, positions, home.get(joint.name))
    for closure in model.closures:
        _closure(out, closure)
    return document_text(root).replace("::", SCOPE)


def _rpy(rotation: FloatArray) -> str:
    return numbers(rpy_of_rotation(rotation))


def _pose(parent: ElementTree.Element, place: FloatArray, relative_to: str = "") -> None:
    if relative_to in ("", WORLD) and np.array_equal(place, np.eye(4)):
        return
    pose = element(parent, "pose")
    pose.text = f"{numbers(place[:3, 3])} {_rpy(place[:3, :3])}"
    if relative_to not in ("", WORLD):
        pose.set("relative_to", relative_to)


def _text(parent: ElementTree.Element, tag: str, value: str, **attributes: str) -> None:
    element(parent, tag, **attributes).text = value


def _link(
    out: ElementTree.Element,
    link: Link,
    joint: Joint | None,
    positions: Mapping[str, Any],
) -> None:
    made = element(out, "link", name=link.name)
    if joint is not None:
        _pose(made, joint.child_frame(positions.get(joint.name)), joint.parent)
    inertial = element(made, "inertial")
    _pose(inertial, frame_of(link.com))
    _text(inertial, "mass", number(link.mass))
    inertia = element(inertial, "inertia")
    for key, part in zip(INERTIA, link.inertia[np.triu_indices(3)], strict=True):
        _text(inertia, key, number(part))
    for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
        for index, shape in enumerate(shapes):
            _shape(element(made, tag, name=f"{tag}{index}"), shape)


def _tree_joint(
    out: ElementTree.Element,
    joint: Joint,
    positions: Mapping[str, Any],
    home: tuple[float, ...] | None,
) -> None:
    made = _joint(out, joint.name, joint.kind, joint.parent, joint.child)
    _pose(made, joint.child_at.matrix)
    if joint.kind == "fixed":
        return
    at = positions.get(joint.name, 0.0)
    axis = element(made, "axis")
    _text(axis, "xyz", numbers(joint.axis))
    limits = dict(zip(("lower", "upper"), joint.position - at, strict=True))
    limits |= {"effort": joint.effort, "velocity": joint.velocity}
    limit = element(axis, "limit")
    for key, value in limits.items():
        if np.isfinite(value):
            _text(limit, key, number(value))
    dynamics = element(axis, "dynamics")
    _text(dynamics, "damping", number(joint.damping))
    _text(dynamics, "friction", number(joint.friction[0]))
    if joint.spring.acts:
        _text(dynamics, "spring_reference", number(unloaded_position(joint, "SDF") - at))
        _text(dynamics, "spring_stiffness", number(joint.spring.stiffness))
    if joint.mimic is not None:
        links = {link.get("name") for link in out.iterfind("link")}
        mimic = element(axis, "mimic", joint=_joint_name(joint.mimic.joint, links))
        factor = joint.mimic.multiplier
        offset = joint.mimic.offset + factor * positions.get(joint.mimic.joint, 0.0) - at
        _text(mimic, "multiplier", number(factor))
        _text(mimic, "offset", number(offset))
        _text(mimic, "reference", "0")
    own = own_attributes(joint, home)
    if at:
        own["reference"] = number(at)
    if joint.spring.preload:
        own["spring_preload"] = number(joint.spring.preload)
    if own:
        element(made, OWN + TAG, **own)
    for name, text in params_of_joint(joint).items():
        _text(made, f"{OWN}param", text, name=name)


def _closure(out: ElementTree.Element, closure: Closure) -> None:
    if closure.stiffness:
        raise OutputError(
            f"closure {closure.name!r} has a stiffness, which SDF cannot describe; write a .yaml "
            "or .urdf file",
            value=closure.stiffness,
        )
    if closure.kind not in TYPES or closure.child == WORLD:
        raise OutputError(
            f"closure {closure.name!r} is {closure.kind}, but a joint of SDF can only be "
            f"{', '.join(TYPES)}; write a .urdf file, or two closures with a light link between",
            value=closure.kind,
        )
    made = _joint(out, closure.name, TYPES[closure.kind], closure.parent, closure.child)
    _pose(made, closure.child_at.matrix)
    child_axis = numbers(closure.ends[1][2])
    if closure.kind == "universal":
        first = element(made, "axis")
        axis = numbers(closure.at.rotation @ closure.axis)
        _text(first, "xyz", axis, expressed_in=closure.parent)
        _text(element(made, "axis2"), "xyz", child_axis)
    elif closure.kind in ("revolute", "prismatic"):
        first = element(made, "axis")
        _text(first, "xyz", child_axis)
        damping = closure.damping if closure.kind == "revolute" else 0.0
        _text(element(first, "dynamics"), "damping", number(damping))
    block = element(made, f"{OWN}closure", damping=number(closure.damping))
    for part in closure_element(None, closure):
        if part.tag not in ("parent", "child"):
            element(block, OWN + part.tag, **part.attrib)


def _joint(
    out: ElementTree.Element, name: str, kind: str, parent: str, child: str
) -> ElementTree.Element:
    links = {link.get("name") for link in out.iterfind("link")}
    made = element(out, "joint", name=_joint_name(name, links), type=kind)
    _text(made, "parent", parent)
    _text(made, "child", child)
    if name in links:
        _text(made, f"{OWN}name", name)
    return made


def _joint_name(name: str, links: set[str | None]) -> str:
    """Return a name for a joint that differs from all names of links, as SDF requires."""
    while name in links:
        name += "__joint"
    return name


def _shape(made: ElementTree.Element, shape: Geometry) -> None:
    """Write the pose, shape and color of a visual or collision body."""
    _pose(made, shape.at.matrix)
    geometry, form = element(made, "geometry"), shape.form
    if isinstance(form, MeshFile):
        mesh = element(geometry, "mesh")
        _text(mesh, "uri", form.file)
        _text(mesh, "scale", numbers(form.scale))
    else:
        primitive = element(geometry, form.kind)
        for key, values in form.attributes.items():
            _text(primitive, key, numbers(values))
    if shape.material is not None and shape.material.color is not None:
        material = element(made, "material")
        for key in ("ambient", "diffuse"):
            _text(material, key, numbers(shape.material.color))
