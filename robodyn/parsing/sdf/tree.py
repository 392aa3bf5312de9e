# SPDX-License-Identifier: Apache-2.0

"""The joints of an SDF as a tree and what closes its loops, in the words of URDF."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import warn
from robodyn.formats.urdf_shapes import (
    TAG,
    element,
    inertial,
    put_in_order,
    renewed,
    write_closure,
    write_joint,
)
from robodyn.formats.xml_text import numbers_in
from robodyn.parsing.hardware import ROTORS
from robodyn.parsing.sdf.axes import Axis, read_axis
from robodyn.parsing.sdf.frames import MODEL, WORLD, SdfFrames
from robodyn.poses import axis_motion

# Of joints one behind another: name, kind in URDF, axis.
Step = tuple[str, str, Axis | None]
# Our own elements in an SDF, their namespace, as XML asks for one, and what stands in such a file
# for the `::` of names, which libsdformat keeps to itself.
OWN, NAMESPACE, SCOPE = "robodyn:", "urn:robodyn:sdf", "_-_"
# Joints of a tree; others close loops, or hold what floats.
TREE = ("revolute", "continuous", "prismatic", "fixed", "universal", "revolute2", "screw")
CLOSURES = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic",
            "fixed": "fixed", "universal": "universal", "ball": "spherical"}  # fmt: skip
# An offset of a joint from its child's origin that is rounding [m].
ROUNDING = 1e-14
# A frame of the parent further from the joint than this is told [m].
APART = 1e-4


def own_elements(parent: Element, tag: str) -> list[Element]:
    """Our own elements of a name in another."""
    return [part for part in parent if part.tag == OWN + tag]


def leave_out(source: str, where: str, what: str) -> None:
    """Warn that something is left out."""
    warn(f"{source}: {where}: left out is {what}")


class TreeWriter:
    """Writes the joints of a model.

    Args:
        robot: that they are written into.
        frames: of the model.
        in_model: whether axes are told in the model's axes, as before SDF 1.5.

    Attributes:
        base: the root of the tree: the world where a joint holds a link to it.
        params: parameters of actuators, by joint.
    """

    def __init__(self, robot: Element, frames: SdfFrames, in_model: bool) -> None:
        self._robot, self._frames, self._in_model = robot, frames, in_model
        self._kinds: dict[str, str] = {}
        self._ends: dict[str, tuple[str, str]] = {}
        self._references: dict[str, float] = {}
        self._names: dict[str, str] = {}
        for name, joint in list(frames.joints.items()):
            if own_elements(joint, "mount"):  # added by our writer, so that the base stands
                del frames.joints[name]
                continue
            for own in own_elements(joint, "name"):  # in SDF, a link of that name had it first
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
        self._name_foreign()
        self.base = self._base()
        # what our own elements say of joints, and the parameters of their actuators
        self._own_attributes: dict[str, tuple[Element, dict[str, str]]] = {}
        self.params: dict[str, dict[str, str]] = {}

    def _links_of(self, name: str, joint: Element) -> tuple[str, str]:
        ends = []
        for side in ("parent", "child"):
            link, where = (joint.findtext(side) or "").strip(), f"joint {name!r}: {side}"
            full = self._frames.resolved(link, self._frames.scope[name], where)
            ends.append(self._frames.link_of(full))
        if ends[0] == ends[1] or ends[1] == WORLD:
            raise self._frames.error(f"joint {name!r}: child", ends[1], "a link other than that")
        return ends[0], ends[1]

    def _name_foreign(self) -> None:
        """Warn of elements of Drake in joints that are not read."""
        found: dict[str, list[str]] = {}
        for name, joint in self._frames.joints.items():
            for part in joint:
                if part.tag.startswith("drake:") and part.tag not in ROTORS:
                    found.setdefault(part.tag, []).append(repr(name))
        for tag, names in found.items():
            what = f"<{tag}>"
            if tag.endswith("_frame"):
                what += ": SDF has a joint at its child; name the frames as <parent> and <child>"
            leave_out(self._frames.source, f"joints {', '.join(names[:8])}", what)

    def _check_frames(self, name: str, joint: Element) -> None:
        """Warn of a parent's frame that stands apart from the joint."""
        frames, where = self._frames, f"joint {name!r}"
        parent = (joint.findtext("parent") or "").strip()
        full = frames.resolved(parent, frames.scope[name], f"{where}: parent")
        if full in (WORLD, *frames.links) or self._kinds[name] in ("prismatic", "screw"):
            return
        apart = float(np.linalg.norm(frames.relative(name, full)[:3, 3]))
        if apart > APART:
            warn(
                f"{frames.source}: {where}: its parent, the frame {parent!r}, is {apart:.4g} m "
                "from the joint, which SDF has at its child; place the child's link by "
                f'<pose relative_to="{parent}">, or the joint by a <pose>'
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

    def write(self) -> None:
        """Write all of them: a tree from the base, and what closes its loops."""
        frames, reached, waiting = self._frames, {self.base}, dict(self._frames.joints)
        elements = own_elements(frames.model, "floating")
        floating = {own.get("child", ""): own for own in elements}
        while not reached >= set(frames.links):
            for name in waiting:
                parent, child = self._ends[name]
                leads = parent in reached and child not in {*reached, *floating}
                if leads and self._kinds[name] in TREE:
                    self._moving(name, waiting.pop(name))
                    reached.add(child)
                    break
            else:
                reached.add(self._float(reached, floating, list(waiting)))
        self._put_in_order()
        for name, joint in waiting.items():
            self._closure(name, joint)
        self._rename()
        closes = bool(waiting) and not own_elements(frames.model, TAG)
        for made, own in self._own_attributes.values():
            if closes:  # where the file's poses have the links
                own["home"] = "0"
            if own:
                element(made, TAG, **own)

    def _float(self, reached: set[str], floating: dict[str, Element], waiting: list[str]) -> str:
        """Let a link float that no joint of the tree leads to; returns its name."""
        for link, joint in floating.items():
            if link not in reached and joint.get("parent") in reached:
                own = dict(joint.attrib)
                joint = write_joint(self._robot, own["name"], "floating", own["parent"], link)
                element(joint, "origin", xyz=own["xyz"], rpy=own["rpy"])
                if "home" in own:
                    element(joint, TAG, home=own["home"])
                return link
        loose = [link for link in self._frames.links if link not in reached]
        led = [self._ends[name][1] for name in waiting]
        for name in waiting:
            parent, child = self._ends[name]
            if parent in reached and child in loose and led.count(child) == 1:
                # by a ball joint alone: it turns about that point
                self._chain(name, child, [(name, "floating", None)])
                return child
        link = next((link for link in loose if link not in led), loose[0])
        place = self._frames.relative(link, self.base)
        write_joint(self._robot, f"{link}_floating", "floating", self.base, link, place)
        return link

    def _put_in_order(self) -> None:
        """Bring the joints into the order of the file, each before those made of it."""
        frames, tags = self._frames, ("joint", f"{OWN}floating")
        names = [part.get("name", "") for part in frames.model if part.tag in tags]
        put_in_order(self._robot, "joint", dict.fromkeys([*names, *frames.joints]))

    def _rename(self) -> None:
        """Give joints the names that they had before our writer made them differ from links'."""
        for joint in (*self._robot.iterfind("joint"), *self._robot.iterfind("constraint")):
            joint.set("name", self._names.get(joint.get("name", ""), joint.get("name", "")))
            for mimic in joint.iterfind("mimic"):
                leader = mimic.get("joint", "")
                mimic.set("joint", self._names.get(leader, leader))
        self.params = {self._names.get(name, name): params for name, params in self.params.items()}

    def _moving(self, name: str, joint: Element) -> None:
        """Write a joint of the tree, one of several axes as several."""
        kind, (parent, child) = self._kinds[name], self._ends[name]
        if kind == "fixed":
            write_joint(
                self._robot, name, "fixed", parent, child, self._frames.relative(child, parent)
            )
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
        for own in own_elements(joint, TAG):
            given = {key: text for key, text in own.attrib.items() if key != "reference"}
            self._own_attributes[name][1].update(given)
        for part in joint:
            if part.tag in ROTORS:
                text, (key, _, least) = part.text or "", ROTORS[part.tag]
                where = f"{self._frames.source}: joint {name!r}: {part.tag}"
                self.params.setdefault(name, {})[key] = repr(
                    numbers_in(text, 1, where, at_least=least)[0]
                )
        for param in own_elements(joint, "param"):
            self.params.setdefault(name, {})[param.get("name", "")] = param.text or ""

    def _pitch(self, name: str, joint: Element) -> float:
        """[m/rad] a screw's joint goes on along its axis."""
        for tag, factor in (("screw_thread_pitch", 0.5 / np.pi), ("thread_pitch", None)):
            pitch = joint.findtext(tag)
            if pitch is not None:
                value = self._frames.numbers(pitch, 1, f"joint {name!r}: {tag}")[0]
                if not value:
                    raise self._frames.error(f"joint {name!r}: {tag}", value, "a number, not zero")
                return value * factor if factor else -1.0 / value
        return 0.5 / np.pi  # of 1 m a turn, as SDF has it

    def _chain(self, name: str, child: str, steps: list[Step]) -> None:
        """Write the joints that one stands for, at its point of the child.

        Between them, and where the point is not the child's origin, there are massless links.
        """
        parent, shift = self._ends[name][0], np.eye(4)
        at = self._frames.relative(name, child)[:3, 3]
        if steps[0][1] != "prismatic" and np.abs(at).max() > ROUNDING:
            shift[:3, 3] = at
        place = self._frames.relative(child, parent) @ shift
        for own, kind, axis in steps:
            last = own == steps[-1][0]
            link = child if last and not shift[:3, 3].any() else f"{child}_on_{own}"
            if link != child:
                inertial(element(self._robot, "link", name=link))
            if axis is None:
                write_joint(self._robot, own, kind, parent, link, place)
            else:
                self._moved(own, kind, parent, link, place, axis)
            parent, place = link, np.eye(4)
        if parent != child:
            shift[:3, 3] *= -1.0
            write_joint(self._robot, f"{name}_offset", "fixed", parent, child, shift)

    def _moved(
        self, name: str, kind: str, parent: str, child: str, place: FloatArray, axis: Axis
    ) -> None:
        if axis.lower == axis.upper == 0.0:
            write_joint(self._robot, name, "fixed", parent, child, place)
            return
        if kind == "revolute" and not np.isfinite([axis.lower, axis.upper]).any():
            kind = "continuous"
        at_zero = place @ axis_motion(kind, axis.direction, -axis.reference)
        joint = write_joint(self._robot, name, kind, parent, child, at_zero)
        axis.write(joint, self._references)
        self._own_attributes[name] = joint, {}
        if axis.spring:
            leave_out(self._frames.source, f"joint {name!r}", "<spring_stiffness>")

    def _axis(self, name: str, tag: str) -> Axis:
        return read_axis(self._frames, name, tag, self._in_model, self._references[name])

    def _closure(self, name: str, joint: Element) -> None:
        out = closure_of_joint(
            self._frames, name, self._kinds[name], self._ends[name], self._in_model
        )
        self._robot.append(out)
        for own in own_elements(joint, "closure"):
            out.attrib.update(own.attrib)
            for part in own:
                tag = part.tag.removeprefix(OWN)
                renewed(out, tag)
                element(out, tag, **part.attrib)


def closure_of_joint(
    frames: SdfFrames, name: str, kind: str, links: tuple[str, str], in_model: bool = False
) -> Element:
    """The `<constraint>` that a joint is where it closes a loop.

    Args:
        frames: of the model.
        name: of the joint.
        kind: its type, one of `CLOSURES`.
        links: its parent and its child, or `world`.
        in_model: whether axes are told in the model's axes.

    Raises:
        ModelError: another type, or an axis that is not right.
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
    if any(axis.narrows or axis.damping != damping for axis in axes):
        what = "limits, friction and damping that a closure cannot have"
        leave_out(frames.source, f"joint {name!r}", what)
    # directions in the axes of the joint's frame
    along = [seats[child][:3, :3].T @ axis.direction for axis in axes] or [None]
    ends = (parent, seats[parent], along[0]), (child, seats[child], along[-1])
    return write_closure(None, name, CLOSURES[kind], ends, damping)
