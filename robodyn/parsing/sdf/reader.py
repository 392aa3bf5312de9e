# SPDX-License-Identifier: Apache-2.0

"""An SDF file as URDF text, with closures, drives and a home, for the readers that there are.

Each link keeps its frame and each joint its name; positions are zero where the file's poses have
the links. A link that two joints lead to closes a loop: the first of them that can stands in the
tree, the others are closures. What our own writer says beyond SDF stands in elements with the
prefix `robodyn:`, which SDF lets programs add.
"""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.errors import MissingInertiaWarning, ModelError, warn
from robodyn.formats.urdf_shapes import (
    INERTIA,
    TAG,
    document_text,
    element,
    frame_origin,
    numbers,
    write_params,
)
from robodyn.formats.xml_text import parse_xml, without_comments
from robodyn.parsing.foreign import FOREIGN, refuse_foreign_joints
from robodyn.parsing.sdf.axes import TRUE
from robodyn.parsing.sdf.frames import WORLD, SdfFrames
from robodyn.parsing.sdf.tree import (
    NAMESPACE,
    SCOPE,
    TreeWriter,
    leave_out,
    own_elements,
)

OLDEST, NEWEST = (1, 4), (1, 12)
# [m/s^2] of a world without <gravity>; of a model alone, ours.
GRAVITY, OURS = "0 0 -9.8", "0 0 -9.81"
# Plugins of Gazebo that drive the joints which they name.
DRIVERS = ("JointController", "JointPositionController", "JointTrajectoryController",
           "ApplyJointForce")  # fmt: skip


def read_sdf(text: str, source: str) -> str:
    """URDF text of the one model that moves in an SDF text.

    Raises:
        ModelError: it is malformed, or has something that is not read here; by name.
    """
    text = without_comments(text)
    root = parse_xml(text.replace(SCOPE, "::") if NAMESPACE in text else text, source)
    stated = root.get("version", "")
    parts = stated.split(".")
    version = tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()
    if root.tag != "sdf" or not OLDEST <= version[:2] <= NEWEST:
        raise ModelError(
            f"{source}: the root element is <{root.tag}> of the version {stated!r}, expected <sdf> "
            "of 1.4 to 1.12; `gz sdf -p FILE` rewrites older ones",
            value=stated,
        )
    model, world = _model_in(root, source)
    refuse_foreign_joints(model, source)
    for part in model.iterfind(".//*"):
        if part.tag.startswith("drake:") and part.tag in FOREIGN:
            leave_out(source, f"model {model.get('name')!r}", f"<{part.tag}>, {FOREIGN[part.tag]}")
    if (model.findtext("self_collide") or "").strip() in TRUE:
        leave_out(source, f"model {model.get('name')!r}", "<self_collide>; there are no contacts")
    frames = SdfFrames(model, source, version < (1, 7))
    if not frames.links:
        hint = "" if model.find("include") is None else "; what is in an <include> is not read"
        name = model.get("name")
        raise ModelError(f"{source}: model {name!r} has no <link>{hint}", value=name)
    robot = element(None, "robot", name=model.get("name", "robot"))
    tree = TreeWriter(robot, frames, version < (1, 5))
    if tree.base == WORLD:
        element(robot, "link", name=WORLD)
    for name, link in frames.links.items():
        out = element(robot, "link", name=name)
        _inertial(out, link, frames, f"link {name!r}")
        add_shapes(out, link, frames)
    tree.write()
    write_params(robot, tree.params)
    _settings(robot, model, world, frames, tree.base)
    return document_text(robot)


def _model_in(root: Element, source: str) -> tuple[Element, Element | None]:
    """The model of the file, or the one that moves in its world, and that world."""
    worlds = {model: world for world in root.iterfind("world") for model in world.iterfind("model")}
    models = [*root.iterfind("model"), *worlds]
    free = [model for model in models if (model.findtext("static") or "").strip() not in TRUE]
    chosen = [model for model in free if model.find(".//joint") is not None] or free or models
    if len(chosen) != 1:
        names = [model.get("name") for model in chosen]
        raise ModelError(
            f"{source}: it has {len(chosen)} models with joints ({', '.join(map(repr, names))}), "
            "expected one; leave one in the file, or nest them in a <model>",
            value=names,
        )
    for model in models:
        if model is not chosen[0]:
            leave_out(source, f"model {model.get('name')!r}", "all of it")
    for include in root.iterfind(".//include"):
        leave_out(source, "<include>", f"{(include.findtext('uri') or '').strip()!r}")
    return chosen[0], worlds.get(chosen[0])


def _inertial(out: Element, link: Element, frames: SdfFrames, where: str) -> None:
    inertial = link.find("inertial")
    if (link.findtext("gravity") or "true").strip() not in TRUE:
        leave_out(frames.source, where, "<gravity>; its weight counts in full")
    tensor = {key: "1" if key in ("ixx", "iyy", "izz") else "0" for key in INERTIA}
    mass, place = "1", np.eye(4)
    if inertial is None:
        text = f"{frames.source}: {where} without <inertial>: 1 kg and 1 kg m^2, as SDF has it"
        warn(text, MissingInertiaWarning)
    else:
        if inertial.get("auto") in TRUE:
            expected = "its numbers, as `gz sdf --inertial-stats` tells them"
            raise frames.error(f"{where}: inertial auto", inertial.get("auto"), expected)
        if inertial.find("fluid_added_mass") is not None:
            leave_out(frames.source, where, "<fluid_added_mass>")
        place = frames.matrix(inertial.find("pose"), f"{where}: inertial")
        mass = (inertial.findtext("mass") or mass).strip()
        tensor = {
            key: (inertial.findtext(f"inertia/{key}") or default).strip()
            for key, default in tensor.items()
        }
    into = element(out, "inertial")
    frame_origin(into, place)
    element(into, "mass", value=mass)
    element(into, "inertia", **tensor)


def _settings(
    robot: Element, model: Element, world: Element | None, frames: SdfFrames, base: str
) -> None:
    """Gravity, and which joints are driven: what our own element says, or the file's plugins."""
    for own in own_elements(model, TAG):
        element(robot, TAG, **own.attrib)
        return
    acceleration = OURS if world is None else (world.findtext("gravity") or GRAVITY)
    gravity = np.array(frames.numbers(acceleration, 3, "gravity"))
    if base != WORLD:
        gravity = frames.relative(base, WORLD)[:3, :3].T @ gravity
    settings = {"gravity": numbers(gravity), "base_link": base}
    driven: dict[str, None] = {}
    for plugin in model.iterfind("plugin"):
        name = plugin.get("name", "")
        joints = [(joint.text or "").strip() for joint in plugin.iterfind("joint_name")]
        if name.split("::")[-1].endswith(DRIVERS) and joints:
            driven.update(dict.fromkeys(joints))
        else:
            leave_out(frames.source, f"plugin {name!r}", "all of it")
    if driven:
        settings["actuated_joints"] = ",".join(driven)
    element(robot, TAG, **settings)


SHAPES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"),
          "capsule": ("radius", "length")}  # fmt: skip


def add_shapes(out: ElementTree.Element, link: ElementTree.Element, frames: SdfFrames) -> None:
    """Add what is drawn of a link to that of a URDF; other shapes are passed over."""
    for visual in link.iterfind("visual"):
        shape = next(iter(visual.find("geometry") or ()), None)
        if shape is None or shape.tag not in (*SHAPES, "mesh"):
            continue
        place = frames.matrix(visual.find("pose"), f"visual {visual.get('name')!r}")
        drawn = element(out, "visual")
        frame_origin(drawn, place)
        geometry = element(drawn, "geometry")
        if shape.tag == "mesh":
            mesh = {"filename": (shape.findtext("uri") or "").strip()}
            scale = shape.findtext("scale")
            element(geometry, "mesh", **mesh | ({"scale": scale.strip()} if scale else {}))
        else:
            sizes = {key: (shape.findtext(key) or "1").strip() for key in SHAPES[shape.tag]}
            tag = "cylinder" if shape.tag == "capsule" else shape.tag
            element(geometry, tag, **sizes)
        color = visual.findtext("material/diffuse")
        if color:
            parts = (*(float(part) for part in color.split()), 1.0)[:4]
            material = element(drawn, "material", name=f"{link.get('name')} {visual.get('name')}")
            element(material, "color", rgba=numbers(parts))
