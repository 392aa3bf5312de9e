# SPDX-License-Identifier: Apache-2.0

"""The elements of a URDF that make up a mechanism, each checked as it is copied.

Errors name the file, the link or joint, the attribute and its value; `urdf_parser_py` would accept
`nan`, and its messages say less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import number_in
from robodyn.errors import ModelError

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")

# Child elements kept: attribute -> (number of numbers, required); 0 means a name.
_ORIGIN = {"xyz": (3, False), "rpy": (3, False)}
_INERTIA = dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (1, True))
_JOINT: dict[str, dict[str, tuple[int, bool]]] = {
    "origin": _ORIGIN,
    "parent": {"link": (0, True)},
    "child": {"link": (0, True)},
    "axis": {"xyz": (3, True)},
    "limit": {
        "lower": (1, False),
        "upper": (1, False),
        "effort": (1, True),
        "velocity": (1, True),
    },
    "dynamics": {"damping": (1, False), "friction": (1, False)},
    "mimic": {"joint": (0, True), "multiplier": (1, False), "offset": (1, False)},
}
_INERTIAL: dict[str, dict[str, tuple[int, bool]]] = {
    "origin": _ORIGIN,
    "mass": {"value": (1, True)},
    "inertia": _INERTIA,
}
_CLOSURE: dict[str, dict[str, tuple[int, bool]]] = {
    "parent": {"link": (0, True)},
    "parent_origin": _ORIGIN,
    "parent_axis": {"xyz": (3, True)},
    "child": {"link": (0, True)},
    "child_origin": _ORIGIN,
    "child_axis": {"xyz": (3, True)},
}


@dataclass(frozen=True)
class UrdfClosure:
    """A robot-level `<constraint>`: two frames, one on each link, that a joint holds together.

    Attributes:
        name, kind: of the element; `kind` is its `type`.
        links: names of the parent and the child link.
        points: (2, 3) [m] origins of the frames, in the parent's and in the child's frame.
        damping: [N m s/rad] viscous friction.
        angles: (2, 3) [rad] roll, pitch and yaw of the frames.
        axes: (2,) of a direction (3,) in each frame, or None where there is none.
    """

    name: str
    kind: str
    links: tuple[str, str]
    points: FloatArray
    damping: float
    angles: FloatArray = field(default_factory=lambda: np.zeros((2, 3)))
    axes: tuple[FloatArray | None, FloatArray | None] = (None, None)


class ElementReader:
    """Copies the elements that make up a mechanism, checking names and numbers."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.links: dict[str, None] = {}
        self.joints: dict[str, ElementTree.Element] = {}
        self.closures: set[str] = set()

    def link(self, element: ElementTree.Element, clean: ElementTree.Element) -> None:
        """Copy a link and its inertial, without visuals and collision shapes."""
        name = self._name(element, "link", self.links)
        self.links[name] = None
        copy = ElementTree.SubElement(clean, "link", {"name": name})
        where = f"link {name!r}"
        inertial = self._single(element, "inertial", where)
        if inertial is None:
            return
        target = ElementTree.SubElement(copy, "inertial")
        self._copy(inertial, target, _INERTIAL, f"{where}: inertial", ("mass", "inertia"))
        mass = target.find("mass")
        if mass is not None and float(mass.attrib["value"]) < 0.0:
            raise self._error(f"{where}: mass", mass.attrib["value"], "a number of at least 0 [kg]")

    def joint(self, element: ElementTree.Element, clean: ElementTree.Element) -> None:
        """Copy a joint."""
        name = self._name(element, "joint", self.joints)
        kind = element.get("type")
        where = f"joint {name!r}"
        if kind not in JOINT_TYPES:
            raise self._error(f"{where}: type", kind, "one of " + ", ".join(JOINT_TYPES))
        copy = ElementTree.SubElement(clean, "joint", {"name": name, "type": kind})
        self._copy(element, copy, _JOINT, where, ("parent", "child"))
        axis = copy.find("axis")
        turns = kind not in ("fixed", "floating")  # other joint types have no axis
        if turns and axis is not None and not any(map(float, axis.attrib["xyz"].split())):
            raise self._error(f"{where}: axis xyz", axis.attrib["xyz"], "a direction, not zero")
        self.joints[name] = copy

    def closure(self, element: ElementTree.Element) -> UrdfClosure:
        """Read a `<constraint>`; all links must have been read."""
        name = self._name(element, "constraint", self.closures)
        self.closures.add(name)
        where = f"constraint {name!r}"
        copy = ElementTree.Element("constraint")
        self._copy(element, copy, _CLOSURE, where, ("parent", "child"))
        links = []
        points, angles, axes = [], [], []
        for side in ("parent", "child"):
            link = copy.find(side)
            origin = copy.find(f"{side}_origin")
            links.append("" if link is None else link.attrib["link"])
            points.append(_three(origin, "xyz"))
            angles.append(_three(origin, "rpy"))
            axis = copy.find(f"{side}_axis")
            axes.append(None if axis is None else np.array(_three(axis, "xyz")))
            if axis is not None and not any(_three(axis, "xyz")):
                given = axis.attrib["xyz"]
                raise self._error(f"{where}: {side}_axis xyz", given, "a direction, not zero")
            if links[-1] not in self.links:
                raise self._error(f"{where}: {side} link", links[-1], "the name of a link")
        damping = self._numbers(element.get("damping", "0"), 1, f"{where}: damping")
        if float(damping) < 0.0:
            raise self._error(f"{where}: damping", damping, "a number of at least 0 [N m s/rad]")
        return UrdfClosure(
            name,
            element.get("type", ""),
            (links[0], links[1]),
            np.array(points, dtype=np.float64),
            float(damping),
            np.array(angles, dtype=np.float64),
            (axes[0], axes[1]),
        )

    def check_references(self, clean: ElementTree.Element) -> None:
        """Reject unknown links, links with two parent joints, and anything but a single tree."""
        parents: dict[str, str] = {}
        by: dict[str, str] = {}
        for joint in clean.iterfind("joint"):
            name = joint.attrib["name"]
            ends = {}
            for side in ("parent", "child"):
                link = joint.find(side)
                ends[side] = "" if link is None else link.attrib["link"]
                if ends[side] not in self.links:
                    raise self._error(
                        f"joint {name!r}: {side} link", ends[side], "the name of a link"
                    )
            if ends["child"] in parents:
                raise ModelError(
                    f"{self.source}: link {ends['child']!r} is the child of two joints, "
                    f"{by[ends['child']]!r} and {name!r}; write a loop as a <constraint>",
                    value=ends["child"],
                )
            parents[ends["child"]], by[ends["child"]] = ends["parent"], name
        roots = [link for link in self.links if link not in parents]
        if len(roots) != 1:
            raise ModelError(
                f"{self.source}: {len(roots)} root links ({', '.join(map(repr, roots[:8]))}), "
                "expected one tree of joints with a single root",
                value=roots,
            )
        self._check_acyclic(parents, roots[0])

    def _check_acyclic(self, parents: dict[str, str], root: str) -> None:
        reaches_root = {root}
        for link in self.links:
            walk: list[str] = []
            while link not in reaches_root:
                if link in walk[:1] or len(walk) > len(self.links):
                    raise ModelError(
                        f"{self.source}: the joints above link {link!r} form a loop; write a loop "
                        "as a <constraint>",
                        value=link,
                    )
                walk.append(link)
                link = parents[link]
            reaches_root.update(walk)

    def _name(self, element: ElementTree.Element, what: str, taken: Any) -> str:
        name = element.get("name", "")
        if not name:
            raise ModelError(f"{self.source}: a {what} has no name", value=name)
        if name in taken:
            raise ModelError(f"{self.source}: two {what}s are named {name!r}", value=name)
        return name

    def _single(
        self, element: ElementTree.Element, tag: str, where: str
    ) -> ElementTree.Element | None:
        found = element.findall(tag)
        if len(found) > 1:
            raise ModelError(f"{self.source}: {where} has {len(found)} <{tag}>", value=tag)
        return found[0] if found else None

    def _copy(
        self,
        element: ElementTree.Element,
        target: ElementTree.Element,
        table: dict[str, dict[str, tuple[int, bool]]],
        where: str,
        required: tuple[str, ...],
    ) -> None:
        for tag, attributes in table.items():
            child = self._single(element, tag, where)
            if child is None:
                if tag in required:
                    raise ModelError(f"{self.source}: {where} has no <{tag}>", value=None)
                continue
            copy = ElementTree.SubElement(target, tag)
            for key, (count, needed) in attributes.items():
                value = child.get(key)
                if value is None:
                    if needed:
                        raise ModelError(
                            f"{self.source}: {where}: <{tag}> has no {key}", value=None
                        )
                    continue
                copy.set(key, self._numbers(value, count, f"{where}: {tag} {key}"))

    def _numbers(self, text: str, count: int, where: str) -> str:
        if not count:
            return text
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        if "${" in text:
            expected += "; an expression needs xacro, so name the file .xacro"
        parts = text.split()
        if len(parts) != count or not all(math.isfinite(number_in(part)) for part in parts):
            raise self._error(where, text, expected)
        return " ".join(parts)

    def _error(self, where: str, value: Any, expected: str) -> ModelError:
        shown = repr(value if value is None else str(value)[:100])
        return ModelError(f"{self.source}: {where} is {shown}, expected {expected}", value=value)


def _three(element: ElementTree.Element | None, key: str) -> list[float]:
    text = "0 0 0" if element is None else element.get(key, "0 0 0")
    return [float(part) for part in text.split()]
