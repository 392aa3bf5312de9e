# SPDX-License-Identifier: Apache-2.0

"""URDF elements for simulators: read if they close loops or couple joints, else reported.

Gazebo inserts the content of `<gazebo>` into the SDF that it generates from a URDF, so a `<joint>`
there closes a loop. Plugins there attach links to each other or couple joints, as `<param>`s of
`<ros2_control>` do. For elements that no ROS URDF parser reads, warnings suggest an alternative.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import ModelError, warn
from robodyn.formats.xml_elements import element, frame_origin, read_frame
from robodyn.formats.xml_text import numbers_in
from robodyn.model import Closure, LinearSpring, Placement
from robodyn.parsing.foreign import FOREIGN, SPRING_DAMPER

# Gazebo plugins by a part of their name or file, without `-` and `_`.
ATTACHES = ("detachablejoint", "attachlinks")
MIMICS = ("mimicjoint",)
# Plugins that measure, or command efforts through ros2_control, and do not affect the mechanics.
HARMLESS = ("roscontrol", "ros2control", "statepublisher", "posepublisher", "odometrypublisher",
            "sensor", "imu", "camera", "laser", "p3d", "groundtruth")  # fmt: skip
KNOWN = (*ATTACHES, *MIMICS, *HARMLESS)
# Elements of a robot, its links and its joints that are read or do not affect the motion.
ROBOT = ("link", "joint", "constraint", "transmission", "ros2_control", "robodyn", "gazebo",
         "material", "sensor", "mujoco", "group", "verbose", "model_type", "drake:plugin",
         "drake:collision_filter_group", SPRING_DAMPER)  # fmt: skip
LINK = ("inertial", "visual", "collision", "contact", "sensor", "material", "verbose", "map",
        "self_collision_checking", "contact_coefficients", "drake:visual")  # fmt: skip
JOINT = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "robodyn",
         "calibration", "safety_controller", "hardwareInterface", "verbose")  # fmt: skip
# Elements of `<gazebo reference=...>` that affect the mechanics of a link or joint, with values
# that do not.
OVERRIDES = {"turnGravityOff": ("false", "0"), "gravity": ("true", "1"),
             "dampingFactor": ("0", "0.0"), "selfCollide": ("false", "0"),
             "self_collide": ("false", "0"), "static": ("false", "0"),
             "kinematic": ("false", "0"), "velocity_decay": ("0", "0.0")}  # fmt: skip
# Elements that MuJoCo reads in a URDF.
MUJOCO = ("compiler", "option", "size")
# Elements that Gazebo adds to the model.
BODIES = ("link", "model", "include", "frame")
CLOSE = "write a <constraint>, docs/closed_loops.md shows how"


def add_mimics(
    root: Element, clean: Element, params: Mapping[str, Mapping[str, str]], source: str
) -> None:
    """Add `<mimic>` to joints that a Gazebo plugin or `<ros2_control>` couples.

    Args:
        root: `<robot>` element of the file.
        clean: `<robot>` element with the checked copies of joints, to which `<mimic>` is added.
        params: values, as strings, of the `<param>`s of joints in `<ros2_control>`, by joint and
            name.
        source: name of the file, for messages.
    """
    joints = {joint.get("name", ""): joint for joint in clean.iterfind("joint")}
    found: list[tuple[str, str, str, dict[str, str]]] = []
    for plugin in _plugins(root):
        if _is_kind(plugin, MIMICS) or plugin.find("mimicJoint") is not None:
            given = {part.tag: (part.text or "").strip() for part in plugin}
            names = given.get("mimicJoint", ""), given.get("joint", "")
            found.append((*names, f"plugin {plugin.get('name')!r}", given))
    for name, texts in params.items():
        if "mimic" in texts:
            found.append((name, texts["mimic"], "<ros2_control>", dict(texts)))
    for follower, leader, where, given in found:
        if follower not in joints or leader not in joints or follower == leader:
            warn(
                f"{source}: {where}: ignored the mimic relation of joint {follower!r} to "
                f"{leader!r}, because they are not two different joints of the robot"
            )
        elif joints[follower].find("mimic") is None:
            factors = {key: given[key] for key in ("multiplier", "offset") if given.get(key)}
            element(joints[follower], "mimic", joint=leader, **factors)


def springs_for_gazebo(root: Element, source: str) -> dict[str, LinearSpring]:
    """Read the joint springs in `<gazebo reference=...>` elements of a URDF.

    Returns:
        The springs by name of the joint.

    Raises:
        ModelError: a value is not a valid number.
    """
    found = {}
    for block in root.iterfind("gazebo"):
        if block.find("springStiffness") is not None:
            name = block.get("reference", "")
            where = f"{source}: <gazebo reference={name!r}>"
            numbers = (
                numbers_in(block.findtext(tag, "0"), 1, f"{where}: {tag}", at_least=least)[0]
                for tag, least in (("springStiffness", 0.0), ("springReference", -np.inf))
            )
            found[name] = LinearSpring(*numbers)
    return found


def closures_for_gazebo(root: Element, clean: Element, source: str) -> list[Closure]:
    """Read loop closures from the joints and plugins in `<gazebo>` elements.

    Args:
        root: `<robot>` element of the file.
        clean: `<robot>` element with the checked copies of links and joints, which form a tree.
        source: name of the file, for messages.

    Returns:
        The closures.

    Raises:
        ModelError: a joint has invalid links, axis or pose.
    """
    joints = [joint for block in root.iterfind("gazebo") for joint in block.iterfind("joint")]
    attached = list(_attachments(root, source))
    if not joints and not attached:
        return []
    places, bodies = _zero_configuration(clean)
    out = _sdf_closures(joints, clean, places, source) if joints else []
    for parent, child, where in attached:
        if parent not in places or child not in places:
            warn(
                f"{source}: ignored {where}: {parent!r} and {child!r} are not both links of the "
                "robot"
            )
            continue
        seat = Placement.of(np.linalg.inv(places[parent]) @ places[child])
        out.append(Closure(f"{where}: {parent}-{child}", "fixed", parent, child, seat))
    kept, names = [], {item.get("name", "") for item in root.iterfind("constraint")}
    for made in out:
        if bodies[made.parent] == bodies[made.child]:
            continue  # one rigid body already, such as a base fixed to the world
        name = made.name
        while name in names:
            name = f"{made.name}_{len(names)}"
        names.add(name)
        kept.append(replace(made, name=name))
    return kept


def warn_of_ignored_elements(root: Element, left: dict[str, list[str]], source: str) -> None:
    """Warn about elements of a URDF that are ignored but may affect the motion.

    Args:
        root: `<robot>` element of the file.
        left: names of links and joints with attributes that were not read, by a description of the
            attribute.
        source: name of the file, for messages.
    """
    for part in root:
        if part.tag not in ROBOT:
            left.setdefault(_describe(part), [])
        known = {"link": LINK, "joint": JOINT}.get(part.tag)
        for inner in part if known else ():
            if inner.tag not in (known or ()):
                where = f"{part.tag} {part.get('name')!r}"
                left.setdefault(f"<{inner.tag}>", []).append(where)
    for block in root.iterfind("gazebo"):
        for inner in block:
            if inner.tag in BODIES:
                where = repr(inner.get("name") or inner.findtext("uri") or "")
                left.setdefault(f"<{inner.tag}> in <gazebo>", []).append(where)
            elif (inner.text or "").strip() not in OVERRIDES.get(
                inner.tag, (inner.text or "").strip()
            ):
                where = repr(block.get("reference", ""))
                left.setdefault(f"<{inner.tag}> in <gazebo>", []).append(where)
    for inner in root.iterfind("mujoco/*"):
        if inner.tag not in MUJOCO:
            left.setdefault(f"<{inner.tag}> in <mujoco>", [])
        elif "gravity" in inner.attrib:
            left.setdefault("gravity=... of <option> in <mujoco>", [])
    for plugin in _plugins(root):
        if not (_is_kind(plugin, KNOWN) or plugin.find("mimicJoint") is not None):
            where = repr(plugin.get("name") or plugin.get("filename"))
            left.setdefault("<plugin> in <gazebo>, which may affect the motion", []).append(where)
    for what, places in left.items():
        named = list(dict.fromkeys(places))
        at = f": {', '.join(named[:8])}{' ...' if len(named) > 8 else ''}" if named else ""
        warn(f"{source}: ignored {what}{at}")


def _plugins(root: Element) -> Iterator[Element]:
    for block in root.iterfind("gazebo"):
        yield from block.iterfind("plugin")


def _is_kind(plugin: Element, words: tuple[str, ...]) -> bool:
    text = f"{plugin.get('filename', '')} {plugin.get('name', '')}".lower()
    text = text.replace("_", "").replace("-", "")
    return any(word in text for word in words)


def _attachments(root: Element, source: str) -> Iterator[tuple[str, str, str]]:
    """Yield parent link, child link and plugin for each attachment by a Gazebo plugin."""
    for plugin in _plugins(root):
        where = f"plugin {plugin.get('name')!r}"
        if not _is_kind(plugin, ATTACHES):
            continue
        model = _text(plugin, "child_model")
        if model and model not in (root.get("name"), "__model__"):
            warn(f"{source}: ignored {where}, which attaches another model, {model!r}")
            continue
        pairs = (("parent_link", "child_link"), ("parent", "child"), ("link1", "link2"))
        found = [
            tuple(_text(part, key).rsplit("::", 1)[-1] for key in keys)
            for part in plugin.iter()
            for keys in pairs
            if all(part.find(key) is not None for key in keys)
        ]
        for parent, child in found:
            yield parent, child, where
        if not found:
            warn(f"{source}: ignored {where}, which names no parent and child")


def _text(parent: Element, tag: str) -> str:
    return (parent.findtext(tag) or "").strip()


def _zero_configuration(clean: Element) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """Return the links' frames (4, 4) at zero joint positions, and their rigid bodies.

    A rigid body is a group of links connected by fixed joints, named after its first link.
    """
    above = {joint.findall("child")[0].attrib["link"]: joint for joint in clean.iterfind("joint")}
    places: dict[str, FloatArray] = {}
    bodies: dict[str, str] = {}
    for link in clean.iterfind("link"):
        walk = [link.attrib["name"]]
        while walk[-1] not in places and walk[-1] in above:
            walk.append(above[walk[-1]].findall("parent")[0].attrib["link"])
        for name in reversed(walk):
            if name in places:
                continue
            joint = above.get(name)
            parent = "" if joint is None else joint.findall("parent")[0].attrib["link"]
            places[name] = (
                np.eye(4) if joint is None else places[parent] @ read_frame(joint.find("origin"))
            )
            fixed = joint is not None and joint.get("type") == "fixed"
            bodies[name] = bodies[parent] if fixed else name
    return places, bodies


def _sdf_closures(
    joints: list[Element], clean: Element, places: dict[str, FloatArray], source: str
) -> list[Closure]:
    """Create closures from SDF joints between links of a URDF at zero positions."""
    from robodyn.parsing.sdf.frames import WORLD, SdfFrames
    from robodyn.parsing.sdf.tree import CLOSURES, closure_of_joint

    model = Element("model", {"name": clean.get("name", "robot")})
    for name, place in places.items():
        pose = element(None, "pose")
        frame_origin(pose, place)
        origin = pose[0].attrib
        element(element(model, "link", name=name), "pose").text = f"{origin['xyz']} {origin['rpy']}"
    for joint in clean.iterfind("joint"):
        if joint.get("name") not in places:
            child = joint.findall("child")[0].attrib["link"]
            element(model, "frame", name=joint.get("name", ""), attached_to=child)
    root = next(iter(places))
    kept = []
    for number, joint in enumerate(joints, start=1):
        kind, name = joint.get("type", ""), joint.get("name") or f"gazebo_joint{number}"
        where = f"{source}: <joint> {name!r} for Gazebo"
        ends = [_text(joint, side).rsplit("::", 1)[-1] for side in ("parent", "child")]
        if not all(ends):
            warn(f"{where}: ignored, because it names no parent and child")
            continue
        if kind not in CLOSURES:
            raise ModelError(
                f"{where}: type is {kind!r}, expected one that can close a loop: "
                f"{', '.join(CLOSURES)}",
                value=kind,
            )
        made = Element("joint", {"name": f"{name} for Gazebo", "type": kind})
        for part in joint:
            if part.tag not in ("parent", "child"):
                made.append(part)
        for side, link in zip(("parent", "child"), ends, strict=True):
            element(made, side).text = link
        kept.append((made, name))
        model.append(made)
    frames, out = SdfFrames(model, source), []
    for made, name in kept:
        called = made.get("name", "")
        links = [
            frames.link_of(frames.resolved(_text(made, side), "", f"joint {name!r}: {side}"))
            for side in ("parent", "child")
        ]
        closure = closure_of_joint(frames, called, made.get("type", ""), (links[0], links[1]))
        parent, child = (
            root if link == WORLD and WORLD not in places else link
            for link in (closure.parent, closure.child)
        )
        out.append(replace(closure, name=name, parent=parent, child=child))
    return out


def _describe(part: Element) -> str:
    """Return a message about an unsupported element of a robot, with an alternative."""
    tag, name = part.tag, part.get("name")
    what = f"<{tag}>" + (f" {name!r}" if name else "")
    if tag == "drake:ball_constraint":
        given = {inner.tag.removeprefix("drake:ball_constraint_"): inner for inner in part}
        texts = {key: inner.get("name") or inner.get("value") or "" for key, inner in given.items()}
        return f"{what}; write {_constraint(texts, ('body_A', 'p_AP'), ('body_B', 'p_BQ'))}"
    if tag == "loop_joint":
        texts = {}
        for side in ("link1", "link2"):
            for end in part.iterfind(side):
                texts |= {side: end.get("link", ""), f"{side} xyz": end.get("xyz", "0 0 0")}
        kind = part.get("type") or "revolute"
        text = _constraint(texts, ("link1", "link1 xyz"), ("link2", "link2 xyz"), kind)
        return f"{what}, which closes a loop; write {text}, with <parent_axis> and <child_axis>"
    if tag.startswith("xacro:"):
        return f"{what}, which requires xacro; give the file the suffix .xacro"
    if tag in FOREIGN:
        return f"{what}, {FOREIGN[tag]}"
    if "constraint" in tag or "joint" in tag:
        return f"{what}; if it closes a loop, {CLOSE}"
    return (
        f"{what}, which is not an element of URDF; if it affects the motion, describe it by joints"
    )


def _constraint(
    texts: dict[str, str], parent: tuple[str, str], child: tuple[str, str], kind: str = "spherical"
) -> str:
    """Format a `<constraint>` between points of two links, as a suggested alternative."""
    ends = [
        f'<{side} link="{texts.get(link, "")}"/><{side}_origin xyz="{texts.get(at, "0 0 0")}"/>'
        for side, (link, at) in (("parent", parent), ("child", child))
    ]
    return f'<constraint name="..." type="{kind}">{"".join(ends)}</constraint>'
