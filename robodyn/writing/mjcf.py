# SPDX-License-Identifier: Apache-2.0

"""Writer of a model as MJCF, the format of MuJoCo.

The root is MuJoCo's world. A massless link between two joints does not become a body: its joint is
added to the body behind it. Data that MJCF cannot represent is in `<custom>` as a text named
`robodyn`, a JSON object for robodyn's MJCF reader.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import OutputError, warn
from robodyn.formats.inertia import unphysical
from robodyn.formats.xml_elements import UNLIMITED, document_text, element, number, numbers
from robodyn.model import Closure, Joint, Model
from robodyn.model.body import Body, Link, combine_bodies
from robodyn.model.geometry import MeshFile
from robodyn.model.zero_configuration import ZeroConfigurationTree
from robodyn.poses import matrix_from_pose, quaternion_of_rotation
from robodyn.writing.urdf import (
    closure_element,
    own_attributes,
    params_of_joint,
    unloaded_position,
)

# Smallest mass [kg] and inertia [kg m^2] that MuJoCo accepts, for massless bodies.
LEAST = 2e-15
# Largest number of joints of a MuJoCo body.
MOST = 6
# Distance [m] between the two points that constrain a revolute closure.
REVOLUTE_DISTANCE = 0.1
# Equalities of MuJoCo by type of closure.
HELD = {"spherical": "connect", "revolute": "connect", "fixed": "weld"}


def tree_mjcf(model: Model, settings: Mapping[str, str], positions: Mapping[str, Any]) -> str:
    """Format a model, a tree with loop closures, as MJCF text.

    Args:
        model: model to write.
        settings: attributes that make `load` read the model as its kind, from `settings_of`.
        positions: positions of joints, a number or a pose (7,) each, for the keyframe; by default
            the model's home.

    Returns:
        The text.

    Raises:
        OutputError: MuJoCo has no equality for a closure or no tendon for a spring, or a floating
            body is attached to a moving one.
    """
    return _Writer(model, settings, positions).document()


class _Writer:
    """Writer that formats one model as MJCF text."""

    def __init__(
        self, model: Model, settings: Mapping[str, str], positions: Mapping[str, Any]
    ) -> None:
        self._model, self._settings = model, dict(settings)
        self._home = dict(model.home)
        self._positions = positions or {
            name: value if len(value) > 1 else value[0] for name, value in self._home.items()
        }
        self._root = element(None, "mujoco", model=model.name)
        self._qpos: list[float] = []
        self._bodies: dict[str, ElementTree.Element] = {}
        self._below: dict[str, list[Joint]] = {}
        for joint in model.joints:
            self._below.setdefault(joint.parent, []).append(joint)
        self._tree = ZeroConfigurationTree(model)
        self._links = {link.name: link for link in model.links}
        self._merge_unphysical(model.base_link)
        self._meshes: list[str] = []
        balls = filter(self._is_ball, model.closures)
        self._balls = {closure.name: closure for closure in balls}
        self._closed = {
            name for closure in model.closures if closure.name not in self._balls
            for name in (closure.parent, closure.child)
        }  # fmt: skip
        self._closed |= {link for spring in model.springs for link, _ in spring.ends}

    def document(self) -> str:
        """Return the complete MJCF text of the model."""
        model, root = self._model, self._root
        element(root, "compiler", angle="radian", autolimits="false", eulerseq="XYZ")
        element(root, "option", gravity=numbers(model.gravity))
        custom = element(element(root, "custom"), "text", name="robodyn")
        world = self._bodies[model.base_link] = element(root, "worldbody")
        self._shapes(world, model.base_link)
        for joint in self._below.get(model.base_link, ()):
            self._branch(world, model.base_link, joint, np.eye(4))
        closures = self._equalities()
        self._tendons()
        self._actuators()
        if self._positions:
            key = element(element(root, "keyframe"), "key", name="home")
            key.set("qpos", numbers(self._qpos))
        own = {
            "base_link": model.base_link,
            "robot": self._settings,
            "links": [link.name for link in model.links],
            "joints": {joint.name: self._own_data(joint) for joint in model.joints},
            "closures": closures,
        }
        preloads = {s.name: s.spring.preload for s in model.springs if s.spring.preload}
        if preloads:
            own["preloads"] = preloads
        custom.set("data", json.dumps(own))
        if self._meshes:
            warn(
                f"{model.name}: ignored {len(self._meshes)} meshes of visuals, such as "
                f"{self._meshes[0]}, which robodyn does not write to MJCF files; write a .urdf "
                "or .sdf file"
            )
        return document_text(root)

    def _branch(
        self, into: ElementTree.Element, parent: str, joint: Joint, above: FloatArray
    ) -> None:
        """Write the body that a joint moves, and then the bodies that this body carries.

        Joints connected by massless links become several joints of one body.
        """
        chain = [joint]
        while len(chain) < MOST and self._is_between(chain[-1]):
            chain.append(self._below[chain[-1].child][0])
        # places of the joints in the body's frame; exact if the frames are equal
        seats: list[Any] = []
        place = np.eye(4)
        for each in reversed(chain):
            seats.insert(0, np.linalg.inv(place))
            place = each.at.matrix @ place
        link = self._links[chain[-1].child]
        floats = chain[0].kind == "floating" and chain[0].name not in self._balls
        if floats and parent != self._model.base_link:
            if self._tree.body[parent] != self._tree.root:
                raise OutputError(
                    f"joint {joint.name!r} floats on {parent!r}, which moves; in MJCF only "
                    "children of the world can float; write a .urdf or .sdf file",
                    value=joint.name,
                )
            place, into = above @ place, self._bodies[self._model.base_link]
        body = element(into, "body", name=link.name)
        _place(body, place)
        self._bodies[link.name] = body
        for each, seat in zip(chain, seats, strict=True):
            if each.moves:
                self._joint(body, each, seat, above)
        self._inertial(body, link, any(each.moves for each in chain))
        self._shapes(body, link.name)
        own = place if floats else above @ place
        for each in self._below.get(link.name, ()):
            self._branch(body, link.name, each, own)

    def _merge_unphysical(self, name: str) -> None:
        """Merge inertias that MuJoCo rejects into the link they are rigidly fixed to."""
        links = self._links
        for joint in self._below.get(name, ()):
            self._merge_unphysical(joint.child)
            link, at = links[joint.child], joint.at
            if not joint.moves and unphysical(link.inertia) is not None:
                body = Body(link.mass, link.com, link.inertia)
                body = body.seen_from(at.rotation.T, -at.rotation.T @ at.translation)
                links[name], links[link.name] = combine_bodies(links[name], body), Link(link.name)

    def _is_between(self, joint: Joint) -> bool:
        """Return whether the child of a joint is massless and only carries the next joint."""
        link, below = self._links[joint.child], self._below.get(joint.child, ())
        kinds = {joint.kind, *(each.kind for each in below)}
        alone = len(below) == 1 and not kinds & {"fixed", "floating"}
        used = link.name in self._closed or link.name == self._model.tip_link
        return alone and not link.has_inertia and not used

    def _is_ball(self, closure: Closure) -> bool:
        joint = self._tree.above.get(closure.child)
        if joint is None or (joint.name, joint.kind) != (closure.name, "floating"):
            return False
        alike = closure.kind == "spherical" and joint.parent == closure.parent
        moved = np.abs(closure.at.translation - joint.at.translation).max()
        seated = moved < 1e-15 and not closure.child_at.translation.any()
        turned = closure.at.rotation - joint.at.rotation @ closure.child_at.rotation
        # a MuJoCo spring is at rest in the file's pose
        return bool(alike and seated and (not closure.stiffness or np.abs(turned).max() < 1e-15))

    def _joint(
        self, body: ElementTree.Element, joint: Joint, seat: FloatArray, above: FloatArray
    ) -> None:
        value = self._positions.get(joint.name)
        if joint.kind == "floating":
            held = [0.0] * 6 + [1.0] if value is None else list(value)
            if joint.name in self._balls:
                ball = self._balls[joint.name]
                made = element(body, "joint", name=joint.name, type="ball")
                made.set("damping", number(ball.damping))
                if ball.stiffness:
                    made.set("stiffness", number(ball.stiffness))
                self._qpos += [held[6], *held[3:6]]
            else:
                element(body, "freejoint", name=joint.name)
                pose = above @ joint.at.matrix @ matrix_from_pose(held)
                self._qpos += [*pose[:3, 3], *quaternion(pose[:3, :3])]
            return
        slides = joint.kind == "prismatic"
        made = element(body, "joint", name=joint.name, type="slide" if slides else "hinge")
        made.set("axis", numbers(seat[:3, :3] @ joint.axis))
        if np.abs(seat[:3, 3]).max() and not slides:
            made.set("pos", numbers(seat[:3, 3]))
        if np.isfinite(joint.position).any():
            made.set("limited", "true")
            made.set("range", numbers(np.clip(joint.position, -UNLIMITED, UNLIMITED)))
        amounts = {"damping": joint.damping, "frictionloss": joint.friction[0]}
        amounts["armature"] = joint.reflected_inertia
        amounts["springref"] = unloaded_position(joint, "MJCF")
        amounts["stiffness"] = joint.spring.stiffness
        made.attrib.update({key: number(value) for key, value in amounts.items() if value})
        self._qpos.append(value or 0.0)

    def _inertial(self, body: ElementTree.Element, link: Link, moves: bool) -> None:
        held = [joint.child for joint in self._below.get(link.name, ()) if not joint.moves]
        if not link.has_inertia and (not moves or any(self._links[name].mass for name in held)):
            return
        found = unphysical(link.inertia) if moves else None
        if found is not None:
            raise OutputError(
                f"link {link.name!r}: MuJoCo rejects moments of inertia of "
                f"{found[0].tolist()} kg m^2, of which {found[1]}; correct them, or write a .urdf "
                "or .sdf file",
                value=link.inertia,
            )
        moments, axes = np.linalg.eigh(link.inertia)
        # rounding must not make the largest exceed the sum of the others
        moments[0] = max(moments[0], (moments[2] - moments[1]) * (1.0 + 1e-15))
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] *= -1.0
        element(
            body, "inertial", pos=numbers(link.com), mass=number(max(link.mass, LEAST)),
            diaginertia=numbers(np.maximum(moments, LEAST)), quat=numbers(quaternion(axes)),
        )  # fmt: skip

    def _equalities(self) -> list[dict[str, Any]]:
        """Write couplings and closures; return closure data that MJCF cannot represent."""
        out, closures = element(None, "equality"), []
        for joint in self._model.joints:
            if joint.mimic is not None:
                coefficients = numbers([joint.mimic.offset, joint.mimic.multiplier, 0.0, 0.0, 0.0])
                made = element(out, "joint", name=f"{joint.name}_mimic", joint1=joint.name)
                made.set("joint2", joint.mimic.joint)
                made.set("polycoef", coefficients)
        for closure in self._model.closures:
            if closure.name in self._balls:
                continue
            if closure.kind not in HELD:
                raise OutputError(
                    f"closure {closure.name!r} is {closure.kind}, but MuJoCo's equalities can only "
                    f"be {', '.join(HELD)}; write a .urdf or .sdf file, or replace it by a light "
                    "link and joints",
                    value=closure.kind,
                )
            if closure.stiffness:
                raise OutputError(
                    f"closure {closure.name!r} has a stiffness, but in MJCF only ball joints have "
                    "one; write a .yaml or .urdf file",
                    value=closure.stiffness,
                )
            points = {closure.name: 0.0}
            if closure.kind == "revolute":
                points[f"{closure.name}_axis"] = REVOLUTE_DISTANCE
            for name, along in points.items():
                self._sites(out, closure, name, along)
            constraint = closure_element(None, closure)
            parts = {"constraint": constraint.attrib} | {
                part.tag: part.attrib for part in constraint
            }
            closures.append({"equalities": list(points)} | parts)
        if len(out):
            self._root.append(out)
        return closures

    def _sites(self, out: ElementTree.Element, closure: Closure, name: str, along: float) -> None:
        made = element(out, HELD[closure.kind], name=name)
        for number_, (link, place, axis) in enumerate(closure.ends, start=1):
            site = element(self._bodies[link], "site", name=f"{name}_{number_}")
            seat = place.matrix.copy()
            seat[:3, 3] += along * seat[:3, :3] @ axis
            _place(site, seat)
            made.set(f"site{number_}", f"{name}_{number_}")

    def _tendons(self) -> None:
        """Write springs between points as spatial tendons.

        Raises:
            OutputError: the unloaded length of a spring is negative, which MJCF does not support.
        """
        out = element(self._root, "tendon") if self._model.springs else None
        for spring in self._model.springs:
            length = unloaded_position(spring, "MJCF")
            if length < 0.0:
                raise OutputError(
                    f"spring {spring.name!r} is unloaded at a length of {length:g} m, but in "
                    "MJCF this length must be at least 0; write a .yaml or .urdf file",
                    value=length,
                )
            lengths = f"0 {number(length)}" if spring.tension_only else number(length)
            made = element(out, "spatial", name=spring.name, springlength=lengths)
            made.set("stiffness", number(spring.spring.stiffness))
            made.set("damping", number(spring.damping))
            for end, (link, point) in enumerate(spring.ends, start=1):
                site = f"{spring.name}_{end}"
                element(self._bodies[link], "site", name=site, pos=numbers(point))
                element(made, "site", site=site)

    def _actuators(self) -> None:
        out = element(self._root, "actuator")
        for joint in self._model.driven_joints:
            motor = element(out, "motor", name=joint.name, joint=joint.name)
            if np.isfinite(joint.effort_range).all():
                motor.set("ctrllimited", "true")
                motor.set("ctrlrange", numbers(joint.effort_range))

    def _own_data(self, joint: Joint) -> dict[str, Any]:
        """Return the data of a joint that MJCF cannot represent, as a dictionary."""
        own = own_attributes(joint, self._home.get(joint.name))
        if joint.spring.preload:
            own["spring_preload"] = number(joint.spring.preload)
        options = {"child": joint.child, "own": own}
        if joint.kind in ("floating", "fixed"):
            return options
        limits = {"effort": joint.effort, "velocity": joint.velocity}
        return options | {
            "limit": {key: value for key, value in limits.items() if np.isfinite(value)},
            "params": params_of_joint(joint),
        }

    def _shapes(self, body: ElementTree.Element, name: str) -> None:
        """Write a link's visual primitives as geoms without contacts and mass."""
        for shape in self._tree.links[name].visuals:
            if isinstance(shape.form, MeshFile):
                self._meshes.append(shape.form.file)
                continue
            halves = [0.5 * size for size in shape.form.size]
            if shape.form.kind != "box":
                halves[0] = shape.form.size[0]
            geom = element(body, "geom", type=shape.form.kind, size=numbers(halves))
            geom.attrib.update(contype="0", conaffinity="0", group="1", mass="0")
            _place(geom, shape.at.matrix)
            if shape.material is not None and shape.material.color is not None:
                geom.set("rgba", numbers(shape.material.color))


def quaternion(rotation: FloatArray) -> list[float]:
    """Convert a rotation matrix (3, 3) to a quaternion [w, x, y, z]."""
    x, y, z, w = quaternion_of_rotation(rotation).tolist()
    return [w, x, y, z]


def _place(made: ElementTree.Element, place: FloatArray) -> None:
    if place[:3, 3].any():
        made.set("pos", numbers(place[:3, 3]))
    if not np.array_equal(place[:3, :3], np.eye(3)):
        made.set("quat", numbers(quaternion(place[:3, :3])))
