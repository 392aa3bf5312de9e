# SPDX-License-Identifier: Apache-2.0

"""The description of a mechanism with closed loops: frozen data, checked once when it is made.

A mechanism is a tree of joints plus closures. Every link has a frame; joints and closures say
where they sit on two links by a `Placement` in each.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from robodyn.actuators.actuator import IDEAL
from robodyn.errors import ModelError
from robodyn.model.body import check_body, joined, payload
from robodyn.model.fields import frozen, not_negative, rotation_matrix, unit_axis, varied
from robodyn.model.joint import MovingJoint
from robodyn.model.variants import WithJoints

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray

JOINT_KINDS = ("revolute", "continuous", "prismatic", "floating", "fixed")
# Equations that each type of closure imposes.
CLOSURE_KINDS = {
    "spherical": 3,
    "universal": 4,
    "revolute": 5,
    "prismatic": 5,
    "cylindrical": 4,
    "fixed": 6,
}
# Axes of a prismatic closure in its two frames may differ by this [rad].
PARALLEL = 1e-6


@dataclass(frozen=True, eq=False)
class Placement:
    """A frame on a link.

    Attributes:
        rotation: (3, 3) its axes, as columns, in the link's frame.
        translation: (3,) [m] its origin in the link's frame.
    """

    rotation: FloatArray = field(default_factory=lambda: np.eye(3))
    translation: FloatArray = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "rotation", rotation_matrix("rotation", self.rotation))
        put(self, "translation", frozen("translation", self.translation, (3,), "m"))

    @property
    def matrix(self) -> FloatArray:
        """Homogeneous transform (4, 4), this frame to the link's."""
        out = np.eye(4)
        out[:3, :3], out[:3, 3] = self.rotation, self.translation
        return out


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body.

    Attributes:
        name: of the link.
        mass: [kg], not negative; a link may have none.
        com: (3,) [m] its centre of mass, link frame.
        inertia: (3, 3) [kg m^2] about the centre of mass, in the axes of the link frame.
    """

    name: str
    mass: float = 0.0
    com: FloatArray = field(default_factory=lambda: np.zeros(3))
    inertia: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))

    def __post_init__(self) -> None:
        check_body(self, f"link {self.name!r}: ")


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: position = multiplier * the other's + offset [rad or m]."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class TreeJoint(MovingJoint):
    """A joint of the tree.

    At position 0 the frames `at` (on the parent) and `child_at` (on the child) coincide; the
    child's frame then turns about, or slides along, the axis. A floating joint's position is the
    pose (7,) of `child_at` in `at`, its rate the twist (6,) of `child_at`'s origin relative to
    the parent, linear then angular, in the axes of the base frame.

    Attributes:
        name: of the joint.
        kind: `revolute`, `continuous`, `prismatic`, `floating` or `fixed`.
        parent, child: names of the links.
        at, child_at: frames on these.
        axis: (3,) direction in `at`; made unit.
        mimic: the joint that this one follows, if any.
        drive: as of every `MovingJoint`. Its rotor turns about the joint's axis in the parent link,
            whose mass and inertia hold it as if it were locked, or elsewhere where it is behind a
            screw's gear.
    """

    name: str
    kind: str
    parent: str
    child: str
    at: Placement = field(default_factory=Placement)
    child_at: Placement = field(default_factory=Placement)
    axis: FloatArray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        put, where = object.__setattr__, f"joint {self.name!r}"
        if self.kind not in JOINT_KINDS:
            raise ModelError(
                f"{where}: kind is {self.kind!r}, expected one of {', '.join(JOINT_KINDS)}",
                value=self.kind,
            )
        if self.kind in ("floating", "fixed") and self.mimic is not None:
            raise ModelError(f"{where}: a {self.kind} joint cannot mimic another", value=self.mimic)
        put(self, "axis", unit_axis(where, self.axis))
        self.check_motion(self.kind, where)

    @property
    def effort_limit(self) -> float:
        """[N m or N] of the joint, or of what its motor's torque allows."""
        return min(self.effort, self.drive.effort_limit)

    @property
    def reflected_inertia(self) -> float:
        """[kg m^2 or kg] of rotor and armature."""
        return self.armature + self.drive.reflected_inertia

    @property
    def spin_inertia(self) -> float:
        """J ratio [kg m^2 or kg m] of a rotor on the joint's own axis; 0 where it is not there.

        Of a joint that turns, that of a gear, too: those of robots' joints are built around them.
        """
        if self.kind == "prismatic":
            return self.drive.spin_inertia
        return self.drive.rotor_inertia * self.drive.ratio

    @property
    def moves(self) -> bool:
        """Whether the joint is not fixed."""
        return self.kind != "fixed"


@dataclass(frozen=True, eq=False)
class LoopClosure:
    """What closes a loop: two frames, one on each link, that a joint of some type would hold.

    spherical: the origins coincide (3 equations). universal: and the parent's axis is at right
    angles to the child's (4). revolute: the origins coincide and the axes are parallel (5).
    cylindrical: the child's origin is on the parent's axis, the axes are parallel (4).
    prismatic: the same, and the frames do not turn against each other (5). fixed: the frames
    coincide (6).

    Attributes:
        name: of the closure.
        kind: of `CLOSURE_KINDS`.
        parent, child: names of the links.
        at, child_at: frames on these.
        axis, child_axis: (3,) directions in these frames; made unit.
        damping: [N m s/rad] the moment on the child is -damping (omega_child - omega_parent).
    """

    name: str
    kind: str
    parent: str
    child: str
    at: Placement = field(default_factory=Placement)
    child_at: Placement = field(default_factory=Placement)
    axis: FloatArray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    child_axis: FloatArray | None = None
    damping: float = 0.0

    def __post_init__(self) -> None:
        put, where = object.__setattr__, f"closure {self.name!r}"
        if self.kind not in CLOSURE_KINDS:
            raise ModelError(
                f"{where}: type is {self.kind!r}, expected one of {', '.join(CLOSURE_KINDS)}",
                value=self.kind,
            )
        if self.parent == self.child:
            raise ModelError(f"{where}: closes {self.parent!r} to itself", value=self.parent)
        put(self, "axis", unit_axis(where, self.axis))
        other = self.axis if self.child_axis is None else self.child_axis
        put(self, "child_axis", unit_axis(where, other))
        put(self, "damping", not_negative(f"{where}: damping", self.damping))
        if self.kind == "prismatic" and self.child_axis is not None:
            apart = float(np.linalg.norm(np.cross(self.axis, self.child_axis)))
            if apart > PARALLEL:
                raise ModelError(
                    f"{where}: the axes of a prismatic closure are the same direction in both "
                    f"frames, which do not turn against each other; they differ by {apart:.3g} rad",
                    value=self.child_axis,
                )

    @property
    def equations(self) -> int:
        """How many equations it imposes."""
        return CLOSURE_KINDS[self.kind]


@dataclass(frozen=True, eq=False)
class ClosedLoopModel(WithJoints):
    """A tree of joints and the closures between its links.

    The name, the source and the guess of a home do not enter comparisons.

    Attributes:
        name: what the mechanism is called.
        links: all of them; the root of the tree stands still.
        joints: of the tree, in the order of the description, which is that of all joint arrays.
        closures: in the order of the description.
        driven: names of the driven joints, in the order of all effort arrays.
        independent: names of the joints that the motion is told in; empty for the first driven
            ones, as many as it takes.
        tip_link: the link that carries the tool.
        home: (name, position (1,) or pose (7,)) of joints: a guess from which the loops close.
        weights: (driven,) of the efforts where more joints are driven than need be; empty for 1.
        gravity: (3,) [m/s^2] base frame.
        source: where the description came from, for messages.
        urdf: text that it was read from, for drawings; empty if there is none.
    """

    name: str = field(compare=False)
    links: tuple[Link, ...]
    joints: tuple[TreeJoint, ...]
    closures: tuple[LoopClosure, ...]
    driven: tuple[str, ...]
    independent: tuple[str, ...] = ()
    tip_link: str = ""
    home: tuple[tuple[str, tuple[float, ...]], ...] = field(default=(), compare=False)
    weights: tuple[float, ...] = ()
    gravity: FloatArray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    source: str = field(default="", compare=False)
    urdf: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("links", "joints", "closures", "driven", "independent", "home", "weights"):
            put(self, name, tuple(getattr(self, name)))
        where = self.source or self.name
        put(self, "gravity", frozen(f"{where}: gravity", self.gravity, (3,), "m/s^2"))
        for what, items in (
            ("links", self.links),
            ("joints", self.joints),
            ("closures", self.closures),
        ):
            _refuse_twins(where, what, [item.name for item in items])
        self._check_tree(where)
        self._check_names(where)
        if not self.tip_link:
            put(self, "tip_link", self.joints[-1].child)

    def _check_tree(self, where: str) -> None:
        names = {link.name for link in self.links}
        if not any(joint.moves for joint in self.joints):
            raise ModelError(f"{where}: no movable joint, a mechanism needs one", value=0)
        above: dict[str, str] = {}
        parts: tuple[TreeJoint | LoopClosure, ...] = (*self.joints, *self.closures)
        for part in parts:
            for link in (part.parent, part.child):
                if link not in names:
                    raise ModelError(f"{where}: {part.name!r}: no link {link!r}", value=link)
        for joint in self.joints:
            if joint.child in above:
                raise ModelError(
                    f"{where}: link {joint.child!r} is the child of two joints; write a loop as "
                    "a closure",
                    value=joint.child,
                )
            above[joint.child] = joint.parent
        roots = [link.name for link in self.links if link.name not in above]
        if len(roots) != 1:
            raise ModelError(
                f"{where}: {len(roots)} root links ({', '.join(map(repr, roots[:8]))}), expected "
                "one tree with a single root",
                value=roots,
            )
        for link in above:
            count, walk = 0, link
            while walk in above:
                walk, count = above[walk], count + 1
                if count > len(above):
                    raise ModelError(
                        f"{where}: the joints above link {link!r} form a loop; write it as a "
                        "closure",
                        value=link,
                    )

    def _check_names(self, where: str) -> None:
        joints = {joint.name: joint for joint in self.joints}
        for what, names in (("driven", self.driven), ("independent", self.independent)):
            _refuse_twins(where, f"{what} joints", list(names))
            for name in names:
                joint = joints.get(name)
                if joint is None or joint.kind in ("floating", "fixed") or joint.mimic is not None:
                    kind = (
                        "no joint of the tree"
                        if joint is None
                        else ("a mimic joint" if joint.mimic else joint.kind)
                    )
                    raise ModelError(
                        f"{where}: {what} joint {name!r} is {kind}; expected a revolute, "
                        "continuous or prismatic joint of its own",
                        value=name,
                    )
        for joint in self.joints:
            if joint.mimic is None:
                continue
            source = joints.get(joint.mimic.joint)
            if source is None or source.kind in ("floating", "fixed") or source.mimic is not None:
                raise ModelError(
                    f"{where}: joint {joint.name!r} mimics {joint.mimic.joint!r}, which is not a "
                    "revolute, continuous or prismatic joint of its own",
                    value=joint.mimic.joint,
                )
        if self.tip_link and self.tip_link not in {link.name for link in self.links}:
            raise ModelError(f"{where}: no link {self.tip_link!r}", value=self.tip_link)
        for name, value in self.home:
            joint = joints.get(name)
            expected = 7 if joint is not None and joint.kind == "floating" else 1
            if joint is None or not joint.moves or len(value) != expected:
                raise ModelError(
                    f"{where}: home: {name!r} with {len(value)} numbers; expected a movable joint "
                    "and its position, or the pose (7) of a floating joint",
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

    @property
    def base_link(self) -> str:
        """The root of the tree."""
        children = {joint.child for joint in self.joints}
        return next(link.name for link in self.links if link.name not in children)

    def without_friction(self) -> ClosedLoopModel:
        """The same mechanism with neither viscous nor Coulomb friction, closures included."""
        closures = (varied(closure, damping=0.0) for closure in self.closures)
        return varied(super().without_friction(), closures=tuple(closures))

    def without_actuators(self) -> ClosedLoopModel:
        """The same mechanism with ideal actuators; joints that are not driven keep what they have.

        That is without rotors, dry friction and motor limits.
        """
        return self.driven_by(dict.fromkeys(self.driven, IDEAL))

    def with_home(self, home: Mapping[str, ArrayLike]) -> ClosedLoopModel:
        """The same mechanism with another guess from which its loops close."""
        given = ((name, np.atleast_1d(np.asarray(value, float))) for name, value in home.items())
        return replace(self, home=tuple((name, tuple(value.tolist())) for name, value in given))

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> ClosedLoopModel:
        """The same mechanism with a body fixed to its tip link.

        Args:
            mass: [kg].
            com: (3,) [m] its centre of mass, frame of the tip link.
            inertia: (3, 3) [kg m^2] about it, in the axes of that frame; none by default.

        Raises:
            ModelError: a mass below zero, a wrong shape, or an inertia that is not symmetric.
        """
        carried = payload(mass, com, inertia)
        links = (joined(k, carried) if k.name == self.tip_link else k for k in self.links)
        return replace(self, links=tuple(links))


def _refuse_twins(where: str, what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"{where}: two {what} are named {name!r}", value=name)
