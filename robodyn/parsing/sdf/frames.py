# SPDX-License-Identifier: Apache-2.0

"""Frames of an SDF model and its nested models, by name.

SDF 1.7 and later: http://sdformat.org/tutorials?tut=pose_frame_semantics_proposal. A pose is given
relative to another frame; a frame is attached to a link. Nested names are joined by `::`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import ModelError
from robodyn.formats.xml_elements import frame_of
from robodyn.formats.xml_text import numbers_in
from robodyn.poses import matrix_from_pose

WORLD = "world"
MODEL = "__model__"


class SdfFrames:
    """Index of the links, joints and frames of an SDF model by full name.

    Args:
        model: element of the model.
        source: name of the file for messages.
        shared: whether a joint may have the name of a link, as before SDF 1.7; it is then renamed
            to `<name>_joint`, as libsdformat does.

    Attributes:
        model: element of the model.
        links, joints: elements by full name, in the order of the document.
        scope: prefix of the names inside an element, by its full name.
    """

    def __init__(self, model: Element, source: str, shared: bool = False) -> None:
        self.model, self.source, self._shared = model, source, shared
        self.links: dict[str, Element] = {}
        self.joints: dict[str, Element] = {}
        self.scope: dict[str, str] = {}
        self._elements: dict[str, Element] = {}
        self._local: dict[str, tuple[str, FloatArray]] = {}
        self._collect(model, "", "")

    def relative(self, frame: str, base: str) -> FloatArray:
        """Compute the transform (4, 4) of a frame relative to the frame `base`.

        Both are given by full names. The result is not rounded if the file states this transform.
        """
        up, down = list(self._above(frame)), list(self._above(base))
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        above, below = (self._product(names) for names in (up, down))
        out = np.eye(4)
        out[:3, :3] = below[:3, :3].T @ above[:3, :3]
        out[:3, 3] = below[:3, :3].T @ (above[:3, 3] - below[:3, 3])
        return out

    def resolved(self, name: str, scope: str, where: str) -> str:
        """Return the full name of a link, joint, frame or nested model.

        Args:
            name: name in the file.
            scope: prefix of the names where the name is used.
            where: element that uses the name, for messages.

        Returns:
            The full name.

        Raises:
            ModelError: there is no such element.
        """
        if name == WORLD:
            return WORLD
        for full in (scope + name, f"{scope}{name}::{MODEL}"):
            if full in self._elements:
                return full
        raise self.error(
            where,
            name,
            "the name of a link, joint or frame of its model; <include> is not supported, copy its "
            "elements into the file",
        )

    def link_of(self, name: str) -> str:
        """Return the full name of the link, or `world`, to which a frame is attached.

        Raises:
            ModelError: the frame is attached to itself in a cycle.
        """
        passed = [name]
        while name not in self.links and name != WORLD:
            name = self._carrier(name)
            if name in passed:
                raise self.error(f"frame {name!r}", name, "a chain of frames that ends at a link")
            passed.append(name)
        return name

    def error(self, where: str, value: object, expected: str) -> ModelError:
        """Create a `ModelError` for an invalid value, which states the expected value."""
        return ModelError(f"{self.source}: {where} is {value!r}, expected {expected}", value=value)

    def numbers(
        self,
        text: str,
        count: int,
        where: str,
        *,
        infinite: bool = False,
        at_least: float = -math.inf,
    ) -> list[float]:
        """Parse numbers separated by blanks.

        Args:
            text: text of an element.
            count: number of values.
            where: name of the element, for messages.
            infinite: whether infinite values are permitted.
            at_least: smallest permitted value.

        Returns:
            The values (count,).

        Raises:
            ModelError: the text does not consist of such numbers.
        """
        place = f"{self.source}: {where}"
        return numbers_in(text, count, place, infinite=infinite, at_least=at_least)

    def matrix(self, pose: Element | None, where: str) -> FloatArray:
        """Convert a `<pose>` to a transform (4, 4); the identity if it is missing."""
        if pose is None or not (pose.text or "").strip():
            return np.eye(4)
        text, where = pose.text or "", f"{where}: pose"
        if pose.get("rotation_format", "euler_rpy") == "euler_rpy":
            values = self.numbers(text, 6, where)
            degrees = pose.get("degrees", "false") in ("true", "1")
            return frame_of(values[:3], np.radians(values[3:]) if degrees else values[3:])
        values = self.numbers(text, 7, where)
        length = math.hypot(*values[3:])
        if length < 1e-6:
            raise self.error(where, text.strip(), "a nonzero quaternion")
        return matrix_from_pose([*values[:3], *(value / length for value in values[3:])])

    def _collect(self, model: Element, scope: str, title: str) -> None:
        self._elements[scope + MODEL] = model
        self.scope[scope + MODEL] = scope[: -len(f"{title}::")] if title else ""
        for tag, found in (("link", self.links), ("joint", self.joints), ("frame", {})):
            for element in model.iterfind(tag):
                full = scope + self._name(element, tag, scope)
                found[full] = self._elements[full] = element
                self.scope[full] = scope
        for nested in model.iterfind("model"):
            name = self._name(nested, "model", scope)
            self._collect(nested, f"{scope}{name}::", name)

    def _name(self, element: Element, tag: str, scope: str) -> str:
        name = element.get("name", "")
        if self._shared and tag == "joint" and scope + name in self.links:
            name += "_joint"
        if not name or scope + name in self._elements:
            expected = "a name" if not name else "a name that is unique in its model"
            raise self.error(f"name of a <{tag}>", name, expected)
        return name

    def _above(self, name: str, end: str = WORLD) -> Iterator[str]:
        """Yield the name of a frame, then of its reference frame, and so on up the tree.

        The iteration ends before the frame `end` or the world.
        """
        count = 0
        while name not in (end, WORLD):
            yield name
            name, count = self._place(name)[0], count + 1
            if count > len(self._elements):
                raise self.error(f"pose of {name!r}", name, "poses without a circular reference")

    def _product(self, names: list[str]) -> FloatArray:
        out = np.eye(4)
        for name in reversed(names):
            out = out @ self._place(name)[1]
        return out

    def _place(self, name: str) -> tuple[str, FloatArray]:
        """Return the reference frame of a frame, and the frame's pose (4, 4) in it."""
        if name not in self._local:
            self._local[name] = self._read(name)
        return self._local[name]

    def _read(self, name: str) -> tuple[str, FloatArray]:
        element, scope = self._elements[name], self.scope[name]
        where = f"{element.tag} {name.removesuffix('::' + MODEL)!r}"
        pose = element.find("pose")
        place = self.matrix(pose, where)
        relative_to = "" if pose is None else pose.get("relative_to") or pose.get("frame") or ""
        if element.tag == "model":
            inner = name.removesuffix(MODEL)
            held = element.get("placement_frame")
            if held:
                own = list(self._above(self.resolved(held, inner, where), name))
                place = place @ np.linalg.inv(self._product(own))
            relative_to = relative_to or (MODEL if inner else WORLD)
            if relative_to == WORLD:
                return WORLD, place
        elif element.tag == "joint":
            relative_to = relative_to or (element.findtext("child") or "").strip()
        elif element.tag == "frame":
            relative_to = relative_to or element.get("attached_to", "")
        return self.resolved(relative_to or MODEL, scope, f"{where}: pose relative_to"), place

    def _carrier(self, name: str) -> str:
        """Return the full name of the element that carries a joint, frame or model."""
        element, scope = self._elements[name], self.scope[name]
        where = f"{element.tag} {name!r}"
        if element.tag == "joint":
            return self.resolved((element.findtext("child") or "").strip(), scope, where)
        if element.tag == "frame":
            attached_to = element.get("attached_to") or MODEL
            return self.resolved(attached_to, scope, f"{where}: attached_to")
        inner = name.removesuffix(MODEL)
        canonical = element.get("canonical_link", "")
        if canonical:
            return self.resolved(canonical, inner, f"{where}: canonical_link")
        first = next((link for link in self.links if link.startswith(inner)), None)
        if first is None:
            raise self.error(where, name, "a model with a link")
        return first
