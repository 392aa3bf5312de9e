# SPDX-License-Identifier: Apache-2.0

"""Reader of SDF files: a model with closures, drives and a home configuration.

Each link keeps its frame and each joint its name; joint positions are zero in the poses of the
file. A link with several parent joints closes a loop: the first suitable joint becomes part of the
tree, the others become closures. Data that SDF cannot represent is in elements with the prefix
`robodyn:`, which SDF permits.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.errors import MissingInertiaWarning, ModelError, warn
from robodyn.formats.xml_elements import INERTIA, TAG
from robodyn.formats.xml_text import parse_xml, without_comments
from robodyn.model import Drives, Link, ModelBuilder, Placement
from robodyn.model.geometry import SIZES, Geometry, Material, MeshFile, Primitive
from robodyn.parsing.foreign import FOREIGN, refuse_foreign_joints, spring_dampers
from robodyn.parsing.own_attributes import read_settings
from robodyn.parsing.sdf.axes import TRUE
from robodyn.parsing.sdf.frames import WORLD, SdfFrames
from robodyn.parsing.sdf.tree import NAMESPACE, OWN, SCOPE, TreeReader, leave_out, own_elements

OLDEST, NEWEST = (1, 4), (1, 12)
# Gravity [m/s^2] of a world without <gravity>; a model outside of a world has this package's
# default.
GRAVITY, OURS = "0 0 -9.8", "0 0 -9.81"
# Gazebo plugins that drive the joints they name.
DRIVERS = ("JointController", "JointPositionController", "JointTrajectoryController",
           "ApplyJointForce")  # fmt: skip


def read_sdf(text: str, source: str) -> ModelBuilder:
    """Read an SDF text with one moving model.

    Args:
        text: content of the file.
        source: name of the file, for messages.

    Returns:
        A `ModelBuilder` with links, joints, closures, drives and the home configuration.

    Raises:
        ModelError: the text is malformed, or has unsupported elements, which the error names.
    """
    text = without_comments(text)
    root = parse_xml(text.replace(SCOPE, "::") if NAMESPACE in text else text, source)
    stated = root.get("version", "")
    parts = stated.split(".")
    version = tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()
    if root.tag != "sdf" or not OLDEST <= version[:2] <= NEWEST:
        raise ModelError(
            f"{source}: the root element is <{root.tag}> of the version {stated!r}, expected <sdf> "
            "of 1.4 to 1.12; `gz sdf -p FILE` converts older files",
            value=stated,
        )
    model, world = _model_in(root, source)
    refuse_foreign_joints(model, source)
    for part in model.iterfind(".//*"):
        if part.tag.startswith("drake:") and part.tag in FOREIGN:
            leave_out(source, f"model {model.get('name')!r}", f"<{part.tag}>, {FOREIGN[part.tag]}")
    for tag, why in (
        ("self_collide", "contacts are not modeled"),
        ("static", "its joints can move"),
    ):
        if (model.findtext(tag) or "").strip() in TRUE:
            leave_out(source, f"model {model.get('name')!r}", f"<{tag}>; {why}")
    frames = SdfFrames(model, source, version < (1, 7))
    if not frames.links:
        hint = (
            ""
            if model.find("include") is None
            else "; <include> is not supported, copy its elements into the file"
        )
        name = model.get("name")
        raise ModelError(f"{source}: model {name!r} has no <link>{hint}", value=name)
    builder = ModelBuilder(model.get("name", "robot"), source)
    with builder.error_source():
        tree = TreeReader(builder, frames, version < (1, 5))
        if tree.base == WORLD:
            builder.add(Link(WORLD))
        for name, link in frames.links.items():
            builder.add(_link(name, link, frames))
            builder.links_with_inertia.add(name)
        tree.read()
        builder.springs.extend(
            spring_dampers(
                model, lambda name, where: frames.link_of(frames.resolved(name, "", where))
            )
        )
        builder.check_tree()
    _read_settings(builder, model, world, frames, tree.base)
    return builder


def _model_in(root: Element, source: str) -> tuple[Element, Element | None]:
    """Return the XML elements of the only model that can move and of its world.

    The world is None for a model outside of any world.
    """
    worlds = {model: world for world in root.iterfind("world") for model in world.iterfind("model")}
    models = [*root.iterfind("model"), *worlds]
    free = [model for model in models if (model.findtext("static") or "").strip() not in TRUE]
    chosen = [model for model in free if model.find(".//joint") is not None] or free or models
    if len(chosen) != 1:
        names = [model.get("name") for model in chosen]
        raise ModelError(
            f"{source}: it has {len(chosen)} models with joints ({', '.join(map(repr, names))}), "
            "expected one; keep one in the file, or nest them in a <model>",
            value=names,
        )
    for model in models:
        if model is not chosen[0]:
            leave_out(source, f"model {model.get('name')!r}", "the whole model")
    for include in root.iterfind(".//include"):
        leave_out(source, "<include>", f"{(include.findtext('uri') or '').strip()!r}")
    return chosen[0], worlds.get(chosen[0])


def _link(name: str, link: Element, frames: SdfFrames) -> Link:
    where = f"link {name!r}"
    inertial = link.find("inertial")
    if (link.findtext("gravity") or "true").strip() not in TRUE:
        leave_out(frames.source, where, "<gravity>; gravity acts on the link in full")
    tensor = {key: "1" if key in ("ixx", "iyy", "izz") else "0" for key in INERTIA}
    text, place = "1", np.eye(4)
    if inertial is None:
        missing = f"{frames.source}: {where} without <inertial>: the defaults of SDF apply"
        warn(f"{missing}, 1 kg and 1 kg m^2", MissingInertiaWarning)
    else:
        if inertial.get("auto") in TRUE:
            expected = "explicit values, such as those that `gz sdf --inertial-stats` prints"
            raise frames.error(f"{where}: inertial auto", inertial.get("auto"), expected)
        if inertial.find("fluid_added_mass") is not None:
            leave_out(frames.source, where, "<fluid_added_mass>")
        place = frames.matrix(inertial.find("pose"), f"{where}: inertial")
        text = (inertial.findtext("mass") or text).strip()
        tensor = {
            key: (inertial.findtext(f"inertia/{key}") or default).strip()
            for key, default in tensor.items()
        }
    mass = frames.numbers(text, 1, f"{where}: inertial: mass value", at_least=0.0)[0]
    moments = np.zeros((3, 3))
    parts = (
        frames.numbers(part, 1, f"{where}: inertial: inertia {key}")[0]
        for key, part in tensor.items()
    )
    moments[np.triu_indices(3)] = list(parts)
    R = place[:3, :3]
    inertia = R @ (np.triu(moments) + np.triu(moments, 1).T) @ R.T
    inertia = 0.5 * (inertia + inertia.T)
    shapes = (tuple(read_shapes(link, tag, frames)) for tag in ("visual", "collision"))
    return Link(name, mass, place[:3, 3], inertia, *shapes)


def _read_settings(
    builder: ModelBuilder, model: Element, world: Element | None, frames: SdfFrames, base: str
) -> None:
    """Set gravity and driven joints from robodyn's element or the file's plugins."""
    for own in own_elements(model, TAG):
        read_settings(builder, own.attrib, f"{frames.source}: <{OWN}{TAG}> of the model")
        return
    acceleration = OURS if world is None else (world.findtext("gravity") or GRAVITY)
    gravity = np.array(frames.numbers(acceleration, 3, "gravity"))
    if base != WORLD:
        gravity = frames.relative(base, WORLD)[:3, :3].T @ gravity
    builder.gravity, builder.base_link = gravity, base
    driven: dict[str, None] = {}
    for plugin in model.iterfind("plugin"):
        name = plugin.get("name", "")
        joints = [(joint.text or "").strip() for joint in plugin.iterfind("joint_name")]
        if name.split("::")[-1].endswith(DRIVERS) and joints:
            driven.update(dict.fromkeys(joints))
        else:
            leave_out(frames.source, f"plugin {name!r}", "the whole plugin")
    if driven:
        builder.drives = Drives.of(tuple(driven))


def read_shapes(link: Element, tag: str, frames: SdfFrames) -> Iterator[Geometry]:
    """Yield the visual or collision shapes of a link; unsupported shapes are skipped.

    A shape that cannot be read causes only a warning, because it does not affect the motion.
    """
    for part in link.iterfind(tag):
        shape = next(iter(part.find("geometry") or ()), None)
        if shape is None or shape.tag not in (*SIZES, "mesh"):
            continue
        where = f"{tag} {part.get('name')!r} of link {link.get('name')!r}"
        try:
            form = _form(shape, where, frames)
            at = Placement.of(frames.matrix(part.find("pose"), where))
            diffuse = part.findtext("material/diffuse") if tag == "visual" else None
            material = None
            if diffuse:
                count = 3 if len(diffuse.split()) == 3 else 4
                color = frames.numbers(diffuse, count, f"{where}: diffuse")
                material = Material(color=(*color, 1.0)[:4])
        except ModelError as error:
            text = str(error).removeprefix(f"{frames.source}: ")
            warn(f"{frames.source}: {text if where in text else f'{where}: {text}'}; ignored")
            continue
        yield Geometry(form, at, material)


def _form(shape: Element, where: str, frames: SdfFrames) -> Primitive | MeshFile:
    if shape.tag == "mesh":
        scale = frames.numbers(shape.findtext("scale") or "1 1 1", 3, f"{where}: scale")
        return MeshFile((shape.findtext("uri") or "").strip(), (scale[0], scale[1], scale[2]))
    size: list[float] = []
    for key, count in SIZES[shape.tag].items():
        text = shape.findtext(key) or " ".join(["1"] * count)
        size += frames.numbers(text, count, f"{where}: {key}")
    return Primitive(shape.tag, tuple(size))
