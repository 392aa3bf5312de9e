# SPDX-License-Identifier: Apache-2.0

"""Elements of a URDF that define a mechanism, checked while they are copied.

Errors name the file, the link or joint, the attribute and its value. `urdf_parser_py` would accept
`nan`, and its messages are less specific.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from robodyn.checks import LARGEST_STATE, number_in
from robodyn.errors import ModelError, warn
from robodyn.formats.xml_elements import (
    QUATERNION,
    UNLIMITED,
    numbers,
    read_frame,
    rpy_of_quaternion,
)
from robodyn.formats.xml_text import numbers_in
from robodyn.model import Closure, Placement
from robodyn.parsing.foreign import INSTEAD, JOINT_TYPES

# Copied child elements: attribute -> (number of numbers, required); 0 means a name.
Table = dict[str, dict[str, tuple[int, bool]]]
_LINK = {"link": (0, True)}
_ORIGIN = {"xyz": (3, False), "rpy": (3, False)}
_AXIS = {"xyz": (3, True)}
_JOINT: Table = {
    "origin": _ORIGIN,
    "parent": _LINK,
    "child": _LINK,
    "axis": _AXIS,
    "limit": {
        "lower": (1, False),
        "upper": (1, False),
        "effort": (1, True),
        "velocity": (1, True),
    },
    "dynamics": {"damping": (1, False), "friction": (1, False)},
    "mimic": {"joint": (0, True), "multiplier": (1, False), "offset": (1, False)},
}
_INERTIAL: Table = {
    "origin": _ORIGIN,
    "mass": {"value": (1, True)},
    "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), (1, True)),
}
_CLOSURE: Table = {
    "parent": _LINK,
    "parent_origin": _ORIGIN,
    "parent_axis": _AXIS,
    "child": _LINK,
    "child_origin": _ORIGIN,
    "child_axis": _AXIS,
}


# Attributes of a `<constraint>`.
_CONSTRAINT = ("name", "type", "damping", "stiffness")


class ElementReader:
    """Reader that copies and checks the elements of a URDF that define a mechanism.

    Args:
        source: name of the file, for messages.
        version: version of the URDF, such as (1, 0); quaternions are supported from 1.1.
        links: names of links that have already been read.

    Attributes:
        left_out: links and joints with attributes that are not read, by a description of the
            attribute.
    """

    def __init__(
        self, source: str, version: tuple[int, ...] = (1, 0), links: Iterable[str] = ()
    ) -> None:
        self.source, self._version = source, version
        self.left_out: dict[str, list[str]] = {}
        self._names: dict[str, dict[str, None]] = {
            "link": dict.fromkeys(links), "joint": {}, "constraint": {}
        }  # fmt: skip

    @property
    def links(self) -> list[str]:
        """Names of the links copied so far."""
        return list(self._names["link"])

    def link(self, element: Element, clean: Element) -> None:
        """Copy a link with its inertial, but without visual and collision elements.

        Args:
            element: link in the file.
            clean: `<robot>` element to which the copy is appended.

        Raises:
            ModelError: the link is invalid.
        """
        name, where = self._register_name(element)
        copy = SubElement(clean, "link", {"name": name})
        inertial = self._only_child(element, "inertial", where)
        if inertial is None:
            return
        target = SubElement(copy, "inertial")
        self._copy(inertial, target, _INERTIAL, f"{where}: inertial", ("mass", "inertia"))
        mass = target.findall("mass")[0].attrib["value"]
        numbers_in(mass, 1, f"{self.source}: {where}: mass", at_least=0.0)

    def joint(self, element: Element, clean: Element) -> None:
        """Copy a joint with its axis, limits and dynamics.

        Args:
            element: joint in the file.
            clean: `<robot>` element to which the copy is appended.

        Raises:
            ModelError: the joint is invalid.
        """
        name, where = self._register_name(element)
        kind = element.get("type")
        if kind not in JOINT_TYPES:
            expected = "one of " + ", ".join(JOINT_TYPES)
            if kind in INSTEAD:
                expected += f"; {INSTEAD[kind]}"
            raise self._error(f"{where}: type", kind, expected)
        copy = SubElement(clean, "joint", {"name": name, "type": kind})
        self._copy(element, copy, _JOINT, where, ("parent", "child"))
        if kind not in ("fixed", "floating"):  # exporters write zeros for these, which have no axis
            self._check_axes(copy, where)
        if kind in ("revolute", "prismatic") and copy.find("limit") is None:
            what = "the missing <limit>, which URDF requires; these joints have no limits"
            self.left_out.setdefault(what, []).append(where)
        for limit in copy.iterfind("limit"):
            ends = [float(limit.get(key, "0")) for key in ("lower", "upper")]
            if kind in ("revolute", "prismatic") and ends == [0.0, 0.0]:
                what = (
                    "position limits that are both 0 or missing, which exporters write as "
                    "placeholders"
                )
                self.left_out.setdefault(what, []).append(where)
            for key in ("effort", "velocity"):
                value = float(limit.get(key, "0"))
                if value == -1.0:  # "no limit" in files from manufacturers and from SDF converters
                    what = f"the {key} limit of -1, which means no limit"
                    self.left_out.setdefault(what, []).append(where)
                    limit.set(key, repr(UNLIMITED))
                elif value < 0.0:
                    expected = f"a number of at least 0; for no limit -1, or at least {UNLIMITED:g}"
                    raise self._error(f"{where}: limit {key}", limit.get(key), expected)
            self._leave_out_soft_limits(element, ends, where)

    def _leave_out_soft_limits(self, element: Element, ends: list[float], where: str) -> None:
        """Ignore `<safety_controller>`; report it if its range is narrower than `<limit>`."""
        for soft in element.iterfind("safety_controller"):
            stated = [soft.get(f"soft_{key}_limit", "0") for key in ("lower", "upper")]
            place = f"{self.source}: {where}: safety_controller"
            low, high = (numbers_in(text, 1, place)[0] for text in stated)
            if low < high and (low > ends[0] or high < ends[1]):
                what = "<safety_controller>, whose range is narrower than that of <limit>"
                self.left_out.setdefault(what, []).append(where)

    def closure(self, element: Element) -> Closure:
        """Return the loop closure that a `<constraint>` element describes.

        All links must already have been read.

        Raises:
            ModelError: the element is invalid.
        """
        name, where = self._register_name(element)
        copy = Element("constraint", {"name": name, "type": element.get("type") or "spherical"})
        for part in element:
            if part.tag not in _CLOSURE:
                raise self._unknown_error(f"{where}: element", part.tag, _CLOSURE)
            for key in part.attrib.keys() - _CLOSURE[part.tag] - {QUATERNION}:
                raise self._unknown_error(
                    f"{where}: <{part.tag}>: attribute", key, _CLOSURE[part.tag]
                )
        for key in element.attrib.keys() - _CONSTRAINT:
            raise self._unknown_error(f"{where}: attribute", key, _CONSTRAINT)
        self._copy(element, copy, _CLOSURE, where, ("parent", "child"))
        self._check_axes(copy, where)
        for end in copy.iterfind("*[@link]"):
            if end.attrib["link"] not in self._names["link"]:
                expected = "the name of a link"
                raise self._error(f"{where}: {end.tag} link", end.attrib["link"], expected)
        stated: dict[str, Any] = {}
        for key in ("damping", "stiffness"):
            text = element.get(key, "0")
            (stated[key],) = numbers_in(text, 1, f"{self.source}: {where}: {key}", at_least=0.0)
        for side, prefix in (("parent", ""), ("child", "child_")):
            stated[side] = copy.findall(side)[0].attrib["link"]
            stated[f"{prefix}at"] = Placement.of(read_frame(copy.find(f"{side}_origin")))
            for axis in copy.iterfind(f"{side}_axis"):
                stated[f"{prefix}axis"] = np.array(numbers_in(axis.attrib["xyz"], 3, "axis"))
        try:
            return Closure(name, copy.attrib["type"], **stated)
        except ModelError as error:
            raise ModelError(f"{self.source}: {error}", value=error.value) from error

    def _register_name(self, element: Element) -> tuple[str, str]:
        """Return the name of an element, and the phrase that refers to it in messages.

        The name must be unique.
        """
        tag, name = element.tag, element.get("name", "")
        if not name:
            raise ModelError(f"{self.source}: a {tag} has no name", value=name)
        if name in self._names[tag]:
            raise ModelError(f"{self.source}: two {tag}s are named {name!r}", value=name)
        self._names[tag][name] = None
        return name, f"{tag} {name!r}"

    def _check_axes(self, copy: Element, where: str) -> None:
        for axis in copy:
            if axis.tag.endswith("axis") and not any(map(float, axis.attrib["xyz"].split())):
                expected = "a nonzero direction"
                raise self._error(f"{where}: {axis.tag} xyz", axis.attrib["xyz"], expected)

    def _only_child(self, element: Element, tag: str, where: str) -> Element | None:
        found = element.findall(tag)
        if len(found) > 1:
            raise ModelError(
                f"{self.source}: {where} has {len(found)} <{tag}> elements, expected one", value=tag
            )
        return found[0] if found else None

    def _copy(
        self, element: Element, target: Element, table: Table, where: str, required: tuple[str, ...]
    ) -> None:
        for tag, attributes in table.items():
            child = self._only_child(element, tag, where)
            if child is None:
                if tag in required:
                    raise ModelError(f"{self.source}: {where} has no <{tag}>", value=None)
                continue
            copy = SubElement(target, tag)
            for key, text in child.attrib.items():
                if key not in (*attributes, QUATERNION) and any(map(number_in, text.split())):
                    self.left_out.setdefault(f"{key}=... of <{tag}>", []).append(where)
            if QUATERNION in child.attrib and "rpy" in attributes:
                self._quaternion(child, copy, f"{where}: {tag}")
            for key, (count, needed) in attributes.items():
                if key in copy.attrib:
                    continue
                value = child.get(key)
                if value is not None:
                    within = LARGEST_STATE if key in _ORIGIN else math.inf
                    text = self._numbers(value, count, f"{where}: {tag} {key}", within)
                    copy.set(key, text)
                elif needed:
                    raise ModelError(f"{self.source}: {where}: <{tag}> has no {key}", value=None)

    def _quaternion(self, origin: Element, copy: Element, where: str) -> None:
        """Convert the quaternion of an origin to roll, pitch, yaw, from URDF 1.1 on."""
        text, place = origin.attrib[QUATERNION], f"{self.source}: {where}"
        if self._version < (1, 1):
            warn(
                f'{place}: ignored {QUATERNION}="{text[:100]}", which URDF supports only since '
                'version 1.1; write <robot version="1.1">, or rpy'
            )
        elif "rpy" in origin.attrib:
            raise ModelError(
                f"{place} has both rpy and {QUATERNION}, expected only one", value=text
            )
        else:
            copy.set("rpy", numbers(rpy_of_quaternion(text, f"{place} {QUATERNION}")))

    def _numbers(self, text: str, count: int, where: str, within: float) -> str:
        """Check that a text contains `count` numbers (0: any text); return the text."""
        if not count:
            return text
        numbers_in(text, count, f"{self.source}: {where}", within=within)
        return " ".join(text.split())

    def _unknown_error(self, where: str, name: str, known: Iterable[str]) -> ModelError:
        """Create the error for an unknown element or attribute of a `<constraint>`."""
        expected = ", ".join(known)
        if name in ("xyz", "rpy", "origin"):
            expected += "; give the position in <parent_origin> and <child_origin>"
        elif name == "axis":
            expected += "; give the axis in <parent_axis>"
        return self._error(where, name, expected)

    def _error(self, where: str, value: Any, expected: str) -> ModelError:
        shown = repr(value if value is None else str(value)[:100])
        return ModelError(f"{self.source}: {where} is {shown}, expected {expected}", value=value)
