# SPDX-License-Identifier: Apache-2.0

"""Frames of links and rigid bodies of a model with all joints at zero."""

from __future__ import annotations

from functools import reduce

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.model.body import Body, combine_bodies
from robodyn.model.geometry import Geometry
from robodyn.model.joint import Joint
from robodyn.model.model import Model


class ZeroConfigurationTree:
    """Links of a model with all joints at zero.

    Attributes:
        links: links by name; `root` is the name of the fixed link.
        above: for each link, the joint whose child it is; the root has no such joint.
        body: for each link, the name of the topmost link that it is rigidly attached to.
        source: source of the model, for messages.
    """

    def __init__(self, model: Model) -> None:
        self.links = {link.name: link for link in model.links}
        self.above = {joint.child: joint for joint in model.joints}
        self.root, self.source = model.base_link, model.source or model.name
        self.body: dict[str, str] = {}
        for link in self.links:
            top = link
            while top in self.above and not self.above[top].moves:
                top = self.above[top].parent
            self.body[link] = top

    def moving_joints_above(self, link: str) -> list[Joint]:
        """Return the movable joints between the root and a link, in that order."""
        found = []
        while link in self.above:
            joint = self.above[link]
            if joint.moves:
                found.append(joint)
            link = joint.parent
        return found[::-1]

    def relative(self, link: str, above: str) -> FloatArray:
        """Compute the frame (4, 4) of a link relative to a link above it in the tree."""
        out = np.eye(4)
        while link != above:
            joint = self.above[link]
            out, link = joint.child_frame() @ out, joint.parent
        return out

    def places(self, body: str) -> list[tuple[str, FloatArray]]:
        """Return the names and frames (4, 4) of the links that form a rigid body.

        The frames are relative to the topmost link, whose name is `body`. Other links are omitted
        if they have neither mass nor inertia.
        """
        others = (name for name, own in self.body.items() if own == body and name != body)
        massive = [name for name in others if self.links[name].has_inertia]
        return [(name, self.relative(name, body)) for name in (body, *massive)]

    def merged(self, body: str) -> Body:
        """Combine the links of a rigid body into one, in the frame of the topmost link."""
        parts = []
        for name, frame in self.places(body):
            link, R = self.links[name], frame[:3, :3].T
            own = Body(link.mass, link.com, link.inertia)
            parts.append(own if name == body else own.seen_from(R, -R @ frame[:3, 3]))
        return reduce(combine_bodies, parts)

    def geometry(self, body: str, kind: str) -> tuple[Geometry, ...]:
        """Return `visuals` or `collisions` of a rigid body, in its topmost link's frame."""
        found: list[Geometry] = []
        for name in (link for link, own in self.body.items() if own == body):
            shapes = getattr(self.links[name], kind)
            frame = self.relative(name, body) if shapes and name != body else None
            found += shapes if frame is None else [shape.seen_from(frame) for shape in shapes]
        return tuple(found)
