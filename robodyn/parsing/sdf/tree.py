# SPDX-License-Identifier: Apache-2.0

"""Joints of an SDF model as a kinematic tree, and loop closures for the remaining joints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import number_in
from robodyn.errors import warn
from robodyn.formats.xml_elements import TAG, frame_of
from robodyn.formats.xml_text import numbers_in
from robodyn.model import Closure, Joint, Link, ModelBuilder, Placement
from robodyn.parsing.hardware import ROTORS
from robodyn.parsing.own_attributes import Motor, motor_of, with_motor
from robodyn.parsing.sdf.axes import Axis, read_axis
from robodyn.parsing.sdf.frames import MODEL, WORLD, SdfFrames
from robodyn.parsing.urdf_elements import ElementReader
from robodyn.poses import axis_motion

# Successive joints: name, kind, axis.
Step = tuple[str, str, Axis | None]
# Prefix of our own elements in an SDF, their XML namespace, and the replacement for `::` in names,
# which libsdformat reserves.
OWN, NAMESPACE, SCOPE = "robodyn:", "urn:robodyn:sdf", "_-_"
# Types of joints in a tree; others close loops or support floating links.
TREE = ("revolute", "continuous", "prismatic", "fixed", "universal", "revolute2", "screw")
CLOSURES = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic",
            "fixed": "fixed", "universal": "universal", "ball": "spherical"}  # fmt: skip
# Offset [m] of a joint from its child's origin below which it is rounding.
OFFSET_TOLERANCE = 1e-14
# Distance [m] between a parent's frame and the joint above which a warning is given.
FRAME_TOLERANCE = 1e-4


# Elements that are read, or do not affect the motion.
KNOWN = {
    "link": ("inertial", "visual", "collision", "pose", "gravity", "self_collide", "sensor",
             "light", "projector", "audio_sink", "audio_source", "battery", "particle_emitter",
             "must_be_base_link"),
    "joint": ("parent", "child", "pose", "axis", "axis2", "thread_pitch", "screw_thread_pitch",
              "gearbox_ratio", "gearbox_reference_body", "sensor", "physics", *ROTORS),
    "axis": ("xyz", "limit", "dynamics", "mimic", "use_parent_model_frame", "initial_position"),
    "limit": ("lower", "upper", "effort", "velocity", "stiffness", "dissipation"),
    "dynamics": ("damping", "friction", "spring_stiffness", "spring_reference"),
}  # fmt: skip
KNOWN["axis2"] = KNOWN["axis"]
# Paths of the elements with these children in a link or a joint.
READ = (".", *(f"{axis}{inner}" for axis in ("axis", "axis2")
               for inner in ("", "/limit", "/dynamics")))  # fmt: skip


def own_elements(parent: Element, tag: str) -> list[Element]:
    """Return the children of an element that have the tag `robodyn:<tag>`."""
    return [part for part in parent if part.tag == OWN + tag]


def _is_set(element: Element) -> bool:
    """Return whether a foreign element has a value other than 0 or `false`.

    Elements in robodyn's namespace are not foreign.
    """
    words = [
        word
        for part in element.iter()
        for text in (part.text or "", *part.attrib.values())
        for word in text.split()
    ]
    return not element.tag.startswith(OWN) and any(
        word != "false" and number_in(word) != 0.0 for word in words
    )


def leave_out(source: str, where: str, what: str) -> None:
    """Warn that an element or value is ignored."""
    warn(f"{source}: {where}: ignored {what}")


class TreeReader:
    """Reader that adds the joints of an SDF model to a builder.

    Args:
        builder: builder with all links of the model. The reader adds auxiliary links between the
            axes of a joint.
        frames: frames of the model.
        in_model: whether joint axes are given in the model's frame, as before SDF 1.5.

    Attributes:
        base: root of the tree; the world if a joint attaches a link to the world.
    """

    def __init__(self, builder: ModelBuilder, frames: SdfFrames, in_model: bool) -> None:
        self._builder, self._frames, self._in_model = builder, frames, in_model
        self._kinds: dict[str, str] = {}
        self._ends: dict[str, tuple[str, str]] = {}
        self._references: dict[str, float] = {}
        self._names: dict[str, str] = {}
        for name, joint in list(frames.joints.items()):
            if own_elements(joint, "mount"):  # added by our writer to fix the base
                del frames.joints[name]
                continue
            for own in own_elements(joint, "name"):  # in SDF, a link has that name already
                self._names[name] = (own.text or "").strip()
            self._kinds[name] = kind = joint.get("type", "")
            if kind not in (*TREE, "ball"):
                raise frames.error(
                    f"joint {name!r}: type",
                    kind,
                    f"one of {', '.join((*TREE, 'ball'))}; write a gearbox as <mimic>",
                )
            self._ends[name] = self._links_of(name, joint)
            self._check_frames(name, joint)
            self._references[name] = 0.0
            for own in own_elements(joint, TAG):
                text, where = own.get("reference", "0"), f"joint {name!r}: reference"
                self._references[name] = frames.numbers(text, 1, where)[0]
        self._warn_of_foreign()
        self.base = self._base()
        # joints that were added with an axis
        self._moved_alone: list[str] = []

    def _links_of(self, name: str, joint: Element) -> tuple[str, str]:
        ends = []
        for side in ("parent", "child"):
            link, where = (joint.findtext(side) or "").strip(), f"joint {name!r}: {side}"
            full = self._frames.resolved(link, self._frames.scope[name], where)
            ends.append(self._frames.link_of(full))
        if ends[0] == ends[1] or ends[1] == WORLD:
            raise self._frames.error(
                f"joint {name!r}: child", ends[1], "a link other than its parent and the world"
            )
        return ends[0], ends[1]

    def _warn_of_foreign(self) -> None:
        """Warn about elements that are not read but may affect the motion."""
        found: dict[str, list[str]] = {}
        for kind, named in (("link", self._frames.links), ("joint", self._frames.joints)):
            for name, element in named.items():
                for part in (each for path in READ for each in element.iterfind(path)):
                    for inner in part:
                        if inner.tag not in KNOWN[part.tag] and _is_set(inner):
                            found.setdefault(inner.tag, []).append(f"{kind} {name!r}")
        for tag, names in found.items():
            what = f"<{tag}>"
            if tag.endswith("_frame"):
                what += ": SDF places a joint at its child; name the frames as <parent> and <child>"
            leave_out(self._frames.source, ", ".join(names[:8]), what)

    def _check_frames(self, name: str, joint: Element) -> None:
        """Warn if the parent of a joint is a frame whose origin is not at the joint."""
        frames, where = self._frames, f"joint {name!r}"
        parent = (joint.findtext("parent") or "").strip()
        full = frames.resolved(parent, frames.scope[name], f"{where}: parent")
        if full in (WORLD, *frames.links) or self._kinds[name] in ("prismatic", "screw"):
            return
        apart = float(np.linalg.norm(frames.relative(name, full)[:3, 3]))
        if apart > FRAME_TOLERANCE:
            warn(
                f"{frames.source}: {where}: its parent, the frame {parent!r}, is {apart:.4g} m "
                "from the joint, because SDF places a joint at its child link by default; set "
                f'<pose relative_to="{parent}"> of the child link, or a <pose> of the joint'
            )

    def _base(self) -> str:
        parents = {child: parent for parent, child in self._ends.values()}
        elements = own_elements(self._frames.model, "floating")
        parents |= {own.get("child", ""): own.get("parent", "") for own in elements}
        if WORLD in parents.values():
            return WORLD
        link, passed = self._frames.link_of(MODEL), set()
        while link in parents and link not in passed:
            passed.add(link)
            link = parents[link]
        return link

    def read(self) -> None:
        """Add all joints to the builder.

        Joints that form a tree from `base` become joints of the model, the others loop closures.
        """
        frames, reached, waiting = self._frames, {self.base}, dict(self._frames.joints)
        elements = own_elements(frames.model, "floating")
        floating = {own.get("child", ""): own for own in elements}
        while not reached >= set(frames.links):
            for name in waiting:
                parent, child = self._ends[name]
                leads = parent in reached and child not in {*reached, *floating}
                if leads and self._kinds[name] in TREE:
                    self._add_tree_joint(name, waiting.pop(name))
                    reached.add(child)
                    break
            else:
                reached.add(self._add_float(reached, floating, list(waiting)))
        self._reorder()
        for name, joint in waiting.items():
            self._closure(name, joint)
        if waiting and not own_elements(frames.model, TAG):
            # the home position is that of the poses in the file
            self._builder.home.update(dict.fromkeys(self._moved_alone, (0.0,)))

    def _add_float(
        self, reached: set[str], floating: dict[str, Element], waiting: list[str]
    ) -> str:
        """Add a floating joint for a link that the tree does not reach yet.

        Return the name of this link.
        """
        for link, joint in floating.items():
            if link not in reached and joint.get("parent") in reached:
                own = dict(joint.attrib)
                where = f"{own['name']!r}: robodyn:floating"
                place = frame_of(*(self._frames.numbers(own[k], 3, where) for k in ("xyz", "rpy")))
                self._add_joint(own["name"], "floating", own["parent"], link, place)
                if "home" in own:
                    pose = self._frames.numbers(own["home"], 7, f"{where} home")
                    self._builder.home[self._original_name(own["name"])] = tuple(pose)
                return link
        loose = [link for link in self._frames.links if link not in reached]
        led = [self._ends[name][1] for name in waiting]
        for name in waiting:
            parent, child = self._ends[name]
            if parent in reached and child in loose and led.count(child) == 1:
                # attached by a ball joint alone: it turns about that point
                self._chain(name, child, [(name, "floating", None)])
                return child
        link = next((link for link in loose if link not in led), loose[0])
        place = self._frames.relative(link, self.base)
        self._add_joint(f"{link}_floating", "floating", self.base, link, place)
        return link

    def _original_name(self, name: str) -> str:
        """Return the original name of a joint that robodyn's writer renamed."""
        return self._names.get(name, name)

    def _add_joint(self, name: str, kind: str, parent: str, child: str, place: FloatArray) -> None:
        """Add a joint that has no axis, at a pose (4, 4) in the frame of the parent link."""
        self._builder.add(
            Joint(self._original_name(name), kind, parent, child, Placement.of(place))
        )

    def _reorder(self) -> None:
        """Sort the joints in the order of the file.

        An SDF joint with several axes is read as several joints, which remain next to each other.
        """
        frames, tags = self._frames, ("joint", f"{OWN}floating")
        names = [part.get("name", "") for part in frames.model if part.tag in tags]
        self._builder.reorder(joints=map(self._original_name, [*names, *frames.joints]))

    def _add_tree_joint(self, name: str, joint: Element) -> None:
        """Add a joint of the tree; a joint with several axes becomes several joints."""
        kind, (parent, child) = self._kinds[name], self._ends[name]
        if kind == "fixed":
            self._add_joint(name, "fixed", parent, child, self._frames.relative(child, parent))
            return
        first = self._axis(name, "axis")
        steps: list[Step] = [(name, kind, first)]
        if kind in ("universal", "revolute2"):
            second = self._axis(name, "axis2")
            steps = [(name, "revolute", first), (f"{name}_2", "revolute", second)]
        elif kind == "screw":
            slide = first.following(name, self._pitch(name, joint))
            steps = [(name, "revolute", first), (f"{name}_slide", "prismatic", slide)]
        self._chain(name, child, steps)
        self._drive(name, joint)

    def _drive(self, name: str, joint: Element) -> None:
        """Set the motor of a joint from elements in robodyn's and Drake's namespaces."""
        where, params = f"{self._frames.source}: joint {name!r}", dict[str, str]()
        attributes: dict[str, str] = {}
        for own in own_elements(joint, TAG):
            attributes |= {key: text for key, text in own.attrib.items() if key != "reference"}
        for part in joint:
            if part.tag in ROTORS:
                text, (key, _, least) = part.text or "", ROTORS[part.tag]
                value = numbers_in(text, 1, f"{where}: {part.tag}", at_least=least)[0]
                params[key] = repr(value)
        for param in own_elements(joint, "param"):
            params[param.get("name", "")] = param.text or ""
        called, joints = self._original_name(name), self._builder.joints
        motor = motor_of(attributes, f"{where}: <{OWN}{TAG}>") if attributes else Motor()
        joints[called] = with_motor(joints[called], motor, params)
        if motor.home is not None:
            self._builder.home[called] = motor.home

    def _pitch(self, name: str, joint: Element) -> float:
        """Return the travel [m/rad] of a screw joint along its axis."""
        for tag, factor in (("screw_thread_pitch", 0.5 / np.pi), ("thread_pitch", None)):
            pitch = joint.findtext(tag)
            if pitch is not None:
                value = self._frames.numbers(pitch, 1, f"joint {name!r}: {tag}")[0]
                if not value:
                    raise self._frames.error(f"joint {name!r}: {tag}", value, "a nonzero number")
                return value * factor if factor else -1.0 / value
        return 0.5 / np.pi  # 1 m per turn, SDF's default

    def _chain(self, name: str, child: str, steps: list[Step]) -> None:
        """Add an SDF joint as a chain of elementary joints, located at its origin.

        Massless links connect the joints. If the origin of the SDF joint is not that of the child
        link, a fixed joint to the child follows, unless the chain starts with a prismatic joint.
        """
        parent, shift = self._ends[name][0], np.eye(4)
        at = self._frames.relative(name, child)[:3, 3]
        if steps[0][1] != "prismatic" and np.abs(at).max() > OFFSET_TOLERANCE:
            shift[:3, 3] = at
        place = self._frames.relative(child, parent) @ shift
        for own, kind, axis in steps:
            last = own == steps[-1][0]
            link = child if last and not shift[:3, 3].any() else f"{child}_on_{own}"
            if link != child:
                self._builder.add(Link(link))
                self._builder.links_with_inertia.add(link)
            if axis is None:
                self._add_joint(own, kind, parent, link, place)
            else:
                self._add_moving_joint(own, kind, parent, link, place, axis)
            parent, place = link, np.eye(4)
        if parent != child:
            shift[:3, 3] *= -1.0
            self._add_joint(f"{name}_offset", "fixed", parent, child, shift)

    def _add_moving_joint(
        self, name: str, kind: str, parent: str, child: str, place: FloatArray, axis: Axis
    ) -> None:
        if axis.lower == axis.upper == 0.0:
            self._add_joint(name, "fixed", parent, child, place)
            return
        if kind == "revolute" and not np.isfinite([axis.lower, axis.upper]).any():
            kind = "continuous"
        at_zero = place @ axis_motion(kind, axis.direction, -axis.reference)
        called = self._original_name(name)
        joint = Joint(called, kind, parent, child, Placement.of(at_zero))
        self._builder.add(axis.joint(joint, self._references, self._names))
        self._builder.zero_limits[called] = axis.zero_limits
        self._moved_alone.append(called)

    def _axis(self, name: str, tag: str) -> Axis:
        return read_axis(self._frames, name, tag, self._in_model, self._references[name])

    def _closure(self, name: str, joint: Element) -> None:
        kind, links = self._kinds[name], self._ends[name]
        found = closure_of_joint(self._frames, name, kind, links, self._in_model)
        for own in own_elements(joint, "closure"):
            found = self._read_own_closure(found, own)
        self._builder.add(replace(found, name=self._original_name(name)))

    def _read_own_closure(self, found: Closure, own: Element) -> Closure:
        """Return a closure with the data that robodyn's writer stored in the joint."""
        item = Element("constraint", {"name": found.name, "type": found.kind} | own.attrib)
        for side, link in (("parent", found.parent), ("child", found.child)):
            SubElement(item, side, link=link)
        for part in own:
            SubElement(item, part.tag.removeprefix(OWN), part.attrib)
        return ElementReader(self._frames.source, links=self._builder.links).closure(item)


def closure_of_joint(
    frames: SdfFrames, name: str, kind: str, links: tuple[str, str], in_model: bool = False
) -> Closure:
    """Create the closure for a joint that closes a loop.

    Args:
        frames: frames of the model.
        name: name of the joint.
        kind: type of the joint, one of `CLOSURES`.
        links: names of its parent and its child, or `world`.
        in_model: whether axes are given in the model's frame, as before SDF 1.5.

    Returns:
        The closure.

    Raises:
        ModelError: the type is not supported, or the axis is invalid.
    """
    joint, (parent, child) = frames.joints[name], links
    if kind not in CLOSURES:
        raise frames.error(
            f"joint {name!r}, which closes a loop: type", kind, f"one of {', '.join(CLOSURES)}"
        )
    seats = {link: frames.relative(name, link) for link in (parent, child)}
    tags = [tag for tag in ("axis", "axis2") if joint.find(tag) is not None]
    used = [tag for tag in tags if kind not in ("ball", "fixed")]
    axes = [read_axis(frames, name, tag, in_model) for tag in used]
    damping = axes[0].damping if axes and kind != "prismatic" else 0.0
    if any(axis.has_limits_or_friction or axis.damping != damping for axis in axes):
        what = "limits, springs, friction and damping that a closure cannot have"
        leave_out(frames.source, f"joint {name!r}", what)
    # directions in the axes of the joint's frame
    along = [seats[child][:3, :3].T @ axis.direction for axis in axes] or [None]
    axes_of: dict[str, Any] = (
        {} if along[0] is None else {"axis": along[0], "child_axis": along[-1]}
    )
    places = Placement.of(seats[parent]), Placement.of(seats[child])
    return Closure(name, CLOSURES[kind], parent, child, *places, damping=damping, **axes_of)
