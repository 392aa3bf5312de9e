# SPDX-License-Identifier: Apache-2.0

"""Model of a mechanism: a tree of joints, and closures of its loops, frozen and checked once.

Every link has a frame; a joint or closure has a `Placement` on each of its two links.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.actuators import IDEAL, Actuator
from robodyn.arrays import ArrayLike, FloatArray, short_repr
from robodyn.checks import as_scalar, check_tree
from robodyn.errors import ModelError
from robodyn.model.body import Link, combine_bodies, payload
from robodyn.model.closure import Closure
from robodyn.model.comparison import Comparable
from robodyn.model.fields import GRAVITY, frozen, replace_checked, replace_unchecked
from robodyn.model.joint import NO_FRICTION, Joint
from robodyn.model.placement import Placement
from robodyn.model.spring import NO_SPRING, LinearSpring, PointSpring
from robodyn.poses import rotation_matrix

BASES = ("fixed", "moving")


@dataclass(frozen=True, eq=False)
class Model(Comparable):
    """Model of a mechanism: links, a tree of joints, and closures of its loops.

    Comparisons ignore the name, the source and the guess of a home.

    Attributes:
        name: name of the mechanism.
        links: all links; the root of the tree is fixed.
        joints: joints of the tree, in the order of the description and of all joint arrays.
        closures: closures in the order of the description.
        driven: names of the driven joints, in the order of all effort arrays.
        independent: names of the independent joints; empty for the first driven joints, as many as
            needed.
        tip_link: link with the tool.
        home: names of joints, each with its position (1,) or pose (7,): a guess from which the
            loops close.
        weights: (driven,) effort weights of redundant drives; empty if all are 1.
        gravity: (3,) [m/s^2] base frame.
        base_cone, body_cone: [rad] largest angles from home of the joints at the legs' ends, at the
            base and at the moving body; infinite for no limit.
        source: source of the description, for messages.
        springs: springs between points of links.
    """

    name: str = field(compare=False)
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    closures: tuple[Closure, ...]
    driven: tuple[str, ...]
    independent: tuple[str, ...] = ()
    tip_link: str = ""
    home: tuple[tuple[str, tuple[float, ...]], ...] = field(default=(), compare=False)
    weights: tuple[float, ...] = ()
    gravity: FloatArray = field(default_factory=lambda: GRAVITY)
    base_cone: float = np.inf
    body_cone: float = np.inf
    source: str = field(default="", compare=False)
    springs: tuple[PointSpring, ...] = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("links", "joints", "closures", "driven", "independent", "home", "weights",
                     "springs"):  # fmt: skip
            put(self, name, tuple(getattr(self, name)))
        where = self.source or self.name
        put(self, "gravity", frozen(f"{where}: gravity", self.gravity, (3,), "m/s^2"))
        check_cones(where, self)
        for what in ("links", "joints", "closures", "springs"):
            _refuse_duplicates(where, what, [item.name for item in getattr(self, what)])
        if not self.tip_link and self.joints:
            put(self, "tip_link", self.joints[-1].child)
        self._check_tree(where)
        self._check_names(where)

    def _check_tree(self, where: str) -> None:
        names = [link.name for link in self.links]
        if not any(joint.moves for joint in self.joints):
            raise ModelError(f"{where}: no movable joint; a mechanism needs at least one", value=0)
        check_tree(where, names, self.joints)
        ends = [(k.name, link) for k in self.closures for link in (k.parent, k.child)]
        ends += [(spring.name, link) for spring in self.springs for link, _ in spring.ends]
        for name, link in [*ends, ("tip_link", self.tip_link)]:
            if link not in names:
                raise ModelError(f"{where}: {name!r}: no link {link!r}", value=link)

    def _check_names(self, where: str) -> None:
        joints = {joint.name: joint for joint in self.joints}
        alone = {joint.name for joint in self.joints if joint.moves_alone}
        for what, names in (("driven", self.driven), ("independent", self.independent)):
            _refuse_duplicates(where, f"{what} joints", list(names))
            for name in names:
                if name not in alone:
                    kind = "no joint of the tree"
                    if name in joints:
                        kind = "a mimic joint" if joints[name].mimic else joints[name].kind
                    raise ModelError(
                        f"{where}: {what} joint {name!r} is {kind}; expected a revolute, "
                        "continuous or prismatic joint that mimics no other",
                        value=name,
                    )
        for joint in self.joints:
            if joint.mimic is not None and joint.mimic.joint not in alone:
                raise ModelError(
                    f"{where}: joint {joint.name!r} mimics {joint.mimic.joint!r}, expected a "
                    "revolute, continuous or prismatic joint that mimics no other",
                    value=joint.mimic.joint,
                )
        sizes = {j.name: 7 if j.kind == "floating" else 1 for j in self.joints if j.moves}
        for name, value in self.home:
            if len(value) != sizes.get(name):
                raise ModelError(
                    f"{where}: home: {name!r} has {len(value)} numbers; expected a movable joint "
                    "with its position, or a floating joint with its pose (7)",
                    value=name,
                )
        if self.weights and (
            len(self.weights) != len(self.driven) or not all(w > 0.0 for w in self.weights)
        ):
            raise ModelError(
                f"{where}: weights are {self.weights}, expected a positive number for each of the "
                f"{len(self.driven)} driven joints",
                value=self.weights,
            )

    def with_cones(self, base_cone: float | None = None, body_cone: float | None = None) -> Model:
        """Return a copy with different limits on the angles of the legs' end joints.

        Args:
            base_cone, body_cone: [rad] largest angles from home at the base and at the moving body;
                None for no change.

        Raises:
            ModelError: an angle is not positive.
        """
        return replace(
            self,
            base_cone=self.base_cone if base_cone is None else base_cone,
            body_cone=self.body_cone if body_cone is None else body_cone,
        )

    @property
    def base_link(self) -> str:
        """Name of the root of the tree."""
        children = {joint.child for joint in self.joints}
        return next(link.name for link in self.links if link.name not in children)

    @property
    def driven_joints(self) -> tuple[Joint, ...]:
        """Driven joints, in the order of `driven`."""
        joints = {joint.name: joint for joint in self.joints}
        return tuple(joints[name] for name in self.driven)

    @cached_property
    def wrapping_joints(self) -> frozenset[str]:
        """Names of the joints whose positions a full turn apart are equal.

        See `Joint.wraps`. A joint that other joints follow counts its turns, like a motor that
        drives a belt or a screw.
        """
        leaders = {joint.mimic.joint for joint in self.joints if joint.mimic is not None}
        wraps = (joint.name for joint in self.joints if joint.wraps)
        return frozenset(name for name in wraps if name not in leaders)

    def without_friction(self) -> Model:
        """Return a copy without friction and damping, also in closures and springs."""
        joints = (
            replace_unchecked(
                joint, damping=0.0, friction=NO_FRICTION, drive=joint.frictionless_drive
            )
            for joint in self.joints
        )
        closures = (replace_unchecked(closure, damping=0.0) for closure in self.closures)
        springs = (replace_unchecked(spring, damping=0.0) for spring in self.springs)
        return replace_unchecked(
            self, joints=tuple(joints), closures=tuple(closures), springs=tuple(springs)
        )

    def without_dry_friction(self, undamped: Collection[str] = ()) -> Model:
        """Return a copy without dry friction; joints in `undamped` also lose their damping."""
        joints = (
            replace_checked(
                joint,
                damping=0.0 if joint.name in undamped else joint.damping,
                friction=NO_FRICTION,
                drive=joint.drive.without_dry_friction(),
            )
            for joint in self.joints
        )
        return replace_unchecked(self, joints=tuple(joints))

    def driven_by(self, actuators: Mapping[str, Actuator]) -> Model:
        """Return a copy with different actuators, given by joint name.

        Raises:
            ModelError: there is no such joint, or a joint with a screw is not prismatic.
        """
        known = {joint.name for joint in self.joints if joint.kind not in ("floating", "fixed")}
        self._check_joints(actuators, known, "that an actuator could drive")
        joints = (
            joint.driven_by(actuators[joint.name]) if joint.name in actuators else joint
            for joint in self.joints
        )
        return replace_unchecked(self, joints=tuple(joints))

    def _check_joints(self, names: Iterable[str], known: Collection[str], what: str) -> None:
        for name in names:
            if name not in known:
                raise ModelError(
                    f"{self.source or self.name}: no joint {name!r} {what}; expected one of "
                    f"{', '.join(sorted(known))}",
                    value=name,
                )

    def with_drive_stiffness(self, drives: Mapping[str, tuple[float, float]]) -> Model:
        """Return a copy with different drive stiffness and damping, by joint name.

        `drives` contains, by joint, a stiffness [N m/rad or N/m] and a damping [N m s/rad or N
        s/m].
        """
        joints = []
        for joint in self.joints:
            if joint.name in drives:
                stiffness, damping = drives[joint.name]
                drive = replace(joint.drive, stiffness=stiffness, stiffness_damping=damping)
                joint = replace(joint, drive=drive)
            joints.append(joint)
        return replace_unchecked(self, joints=tuple(joints))

    def with_joint_springs(self, springs: Mapping[str, LinearSpring]) -> Model:
        """Return a copy with different joint springs, given by joint name.

        Raises:
            ModelError: there is no such joint, or it is fixed or floating.
        """
        self._check_joints(springs, {joint.name for joint in self.joints}, "for a spring")
        joints = (
            replace(joint, spring=springs[joint.name]) if joint.name in springs else joint
            for joint in self.joints
        )
        return replace_unchecked(self, joints=tuple(joints))

    @property
    def has_springs(self) -> bool:
        """Whether the model has a spring at a joint, at a closure or between points."""
        stiff = any(closure.stiffness for closure in self.closures)
        return stiff or bool(self.springs) or any(joint.spring.acts for joint in self.joints)

    def without_springs(self) -> Model:
        """Return a copy without springs."""
        joints = (replace_checked(joint, spring=NO_SPRING) for joint in self.joints)
        closures = tuple(replace_unchecked(each, stiffness=0.0) for each in self.closures)
        return replace_unchecked(self, joints=tuple(joints), closures=closures, springs=())

    def without_actuators(self) -> Model:
        """Return a copy with ideal actuators: no rotors, dry friction or motor limits.

        Joints that are not driven are unchanged.
        """
        return self.driven_by(dict.fromkeys(self.driven, IDEAL))

    def with_home(self, home: Mapping[str, ArrayLike]) -> Model:
        """Return a copy with a different initial guess for closing its loops.

        `home` contains, by joint name, a position (1,) [rad or m] or a pose (7,).
        """
        given = ((name, np.atleast_1d(np.asarray(value, float))) for name, value in home.items())
        return replace(self, home=tuple((name, tuple(value.tolist())) for name, value in given))

    def with_gravity(self, gravity: ArrayLike) -> Model:
        """Return a copy with a different gravity vector (3,) [m/s^2], base frame.

        Raises:
            ModelError: the shape is wrong or a value is not finite.
        """
        return replace(self, gravity=gravity)  # type: ignore[arg-type]

    def with_base(self, base: str) -> Model:
        """Return a copy whose base is `fixed`, or `moving` freely.

        A moving base floats relative to a fixed link. The base is the floating link on the root
        that carries the joints; a fixed base stays at home.

        Raises:
            ModelError: `base` is neither `fixed` nor `moving`.
        """
        if base not in BASES:
            raise ModelError(
                f"{self.source or self.name}: base is {base!r}, expected fixed or moving",
                value=base,
            )
        root, carrying = self.base_link, {joint.parent for joint in self.joints}
        floating = [
            joint.name
            for joint in self.joints
            if joint.kind == "floating" and joint.parent == root and joint.child in carrying
        ]
        if bool(floating) == (base == "moving"):
            return self
        if base == "moving":
            links = {link.name: link for link in self.links}
            first = [joint for joint in self.joints if joint.parent == root]
            if not links[root].has_inertia and len(first) == 1 and not first[0].moves:
                # a massless root is the world already
                floats = replace(first[0], kind="floating")
                rest = (joint for joint in self.joints if joint is not first[0])
                return replace(self, joints=(floats, *rest))
            world = next(name for name in ("world", "odom", f"{root}_world") if name not in links)
            joint = Joint(f"{world}_to_{root}", "floating", world, root)
            return replace(self, links=(Link(world), *self.links), joints=(joint, *self.joints))
        joints, home = list(self.joints), dict(self.home)
        for n, joint in enumerate(joints):
            if joint.name in floating:
                pose = np.array(home.pop(joint.name, (0.0,) * 6 + (1.0,)))
                R, shift = joint.at.rotation, joint.at.rotation @ pose[:3]
                at = Placement(R @ rotation_matrix(pose), joint.at.translation + shift)
                joints[n] = replace(joint, kind="fixed", at=at)
        return replace(self, joints=tuple(joints), home=tuple(home.items()))

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> Model:
        """Return a copy with a payload fixed to its tip link.

        Args:
            mass: [kg].
            com: (3,) [m] center of mass of the payload, frame of the tip link.
            inertia: (3, 3) [kg m^2] about the center of mass, in the axes of that frame; a point
                mass by default.

        Returns:
            The model with the payload.

        Raises:
            ModelError: the mass is negative, a shape is wrong, or the inertia is not symmetric.
        """
        carried = payload(mass, com, inertia)
        links = (combine_bodies(k, carried) if k.name == self.tip_link else k for k in self.links)
        return replace(self, links=tuple(links))


def check_cones(where: str, model: Any) -> None:
    """Raise an error unless the largest angles of the legs' end joints are positive.

    Raises:
        ModelError: the error names the cone.
    """
    for name in ("base_cone", "body_cone"):
        given = getattr(model, name)
        cone = given if given == math.inf else as_scalar(f"{where}: {name}", given, "rad")
        if not cone > 0.0:
            raise ModelError(
                f"{where}: {name} is {cone:g}, expected a positive angle [rad]", value=cone
            )
        object.__setattr__(model, name, cone)


def _refuse_duplicates(where: str, what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"{where}: two {what} are named {name!r}", value=name)
