# SPDX-License-Identifier: Apache-2.0

"""The description of a serial arm: frozen data, checked once on construction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from robodyn.actuators.actuator import IDEAL
from robodyn.errors import ModelError
from robodyn.model.body import Link, check_body, joined, payload
from robodyn.model.fields import GRAVITY, frozen, rotation_matrix, unit_axis
from robodyn.model.joint import Joint, MovingJoint
from robodyn.model.model import Model
from robodyn.model.placement import Placement
from robodyn.model.variants import WithJoints

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.actuators import Actuator
    from robodyn.arrays import FloatArray


KINDS = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True, eq=False)
class SerialJoint(MovingJoint):
    """A movable joint and the link that it moves.

    The moving frame is attached to that link and coincides with the joint's frame at position 0.

    Attributes:
        name: of the joint.
        kind: `revolute`, `continuous` or `prismatic`.
        rotation: (3, 3) axes of the joint's frame in the moving frame of the joint before.
        translation: (3,) [m] its origin there.
        axis: (3,) direction in the joint's frame; normalised.
        mass: [kg] of the link, not negative.
        com: (3,) [m] its centre of mass, moving frame.
        inertia: (3, 3) [kg m^2] about the centre of mass, in the axes of the moving frame.
        drive: as of every `MovingJoint`; its rotor's inertia is `armature`, G^2 Jm.
        link: name of the link.
    """

    name: str = field(compare=False)
    kind: str
    rotation: FloatArray
    translation: FloatArray
    axis: FloatArray
    mass: float
    com: FloatArray
    inertia: FloatArray
    link: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        where = f"joint {self.name!r}"
        if self.kind not in KINDS:
            raise ModelError(
                f"{where}: kind is {self.kind!r}, expected one of {', '.join(KINDS)}",
                value=self.kind,
            )
        put(self, "rotation", rotation_matrix(f"{where}: rotation", self.rotation))
        put(self, "translation", frozen(f"{where}: translation", self.translation, (3,), "m"))
        put(self, "axis", unit_axis(where, self.axis))
        check_body(self, f"{where}: ")
        self.check_motion(self.kind, where)
        if self.drive.rotor_inertia:
            raise ModelError(
                f"{where}: drive.rotor_inertia is {self.drive.rotor_inertia}, expected none: it is "
                "counted as armature; use `driven_by`",
                value=self.drive.rotor_inertia,
            )

    def driven_by(self, actuator: Actuator) -> SerialJoint:
        """The same joint with another actuator, whose rotor is armature.

        Raises:
            ModelError: a screw on a joint that turns.
        """
        driven = super().driven_by(replace(actuator, rotor_inertia=0.0))
        return replace(driven, armature=actuator.reflected_inertia)


@dataclass(frozen=True, eq=False)
class SerialModel(WithJoints):
    """A serial arm of any number of joints.

    Names, the source and the home position are not compared.

    Attributes:
        name: of the arm.
        joints: from the base to the tip.
        tip_rotation: (3, 3) axes of the tip in the last moving frame.
        tip_translation: (3,) [m] its origin there.
        gravity: (3,) [m/s^2] base frame.
        home: (n,) position at which the arm starts or is shown; by default zero, or the nearest
            limit.
        base_link, tip_link: names of the base and tip frames.
        source: where the description came from, for messages.
    """

    name: str = field(compare=False)
    joints: tuple[SerialJoint, ...]
    tip_rotation: FloatArray = field(default_factory=lambda: np.eye(3))
    tip_translation: FloatArray = field(default_factory=lambda: np.zeros(3))
    gravity: FloatArray = field(default_factory=lambda: GRAVITY)
    home: FloatArray | None = field(default=None, compare=False)
    base_link: str = field(default="base_link", compare=False)
    tip_link: str = field(default="tool0", compare=False)
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        where = self.source or self.name
        put(self, "joints", tuple(self.joints))
        if not self.joints:
            raise ModelError(f"{where}: no movable joint, an arm needs at least one", value=0)
        names = [joint.name for joint in self.joints]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f"{where}: two joints are named {name!r}", value=name)
        put(self, "tip_rotation", rotation_matrix(f"{where}: tip_rotation", self.tip_rotation))
        put(self, "tip_translation", frozen("tip_translation", self.tip_translation, (3,), "m"))
        put(self, "gravity", frozen(f"{where}: gravity", self.gravity, (3,), "m/s^2"))
        put(self, "home", self._checked_home(where))

    def _checked_home(self, where: str) -> FloatArray:
        if self.home is None:
            nearest = [np.clip(0.0, *joint.position) for joint in self.joints]
            return frozen("home", nearest, (len(nearest),))
        home = frozen(f"{where}: home", self.home, (len(self.joints),), "rad or m")
        for joint, value in zip(self.joints, home, strict=True):
            lower, upper = joint.position
            if not lower - 1e-9 <= value <= upper + 1e-9:
                raise ModelError(
                    f"{where}: home puts joint {joint.name!r} at {value:g}, outside its limits "
                    f"[{lower:g}, {upper:g}]",
                    value=value,
                )
        return home

    def without_actuators(self) -> SerialModel:
        """The same arm with ideal actuators: no armature, Coulomb friction or motor limits."""
        return self.driven_by({joint.name: IDEAL for joint in self.joints})

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> SerialModel:
        """The same arm with a body held at the tip.

        Args:
            mass: [kg].
            com: (3,) [m] its centre of mass, tip frame.
            inertia: (3, 3) [kg m^2] about it, in the axes of the tip frame; none by default.

        Raises:
            ModelError: a mass below zero, a wrong shape, or an inertia that is not symmetric.
        """
        R = self.tip_rotation.T
        carried = payload(mass, com, inertia).seen_from(R, -R @ self.tip_translation)
        return replace(self, joints=(*self.joints[:-1], joined(self.joints[-1], carried)))

    def expanded(self) -> Model:
        """The arm as a tree of joints, all driven; the tip is a link of its own."""
        links, joints = [Link(self.base_link)], []
        for number, joint in enumerate(self.joints, start=1):
            name = joint.link or f"link{number}"
            links.append(Link(name, joint.mass, joint.com, joint.inertia))
            place = Placement(joint.rotation, joint.translation)
            moves = Joint(joint.name, joint.kind, links[-2].name, name, place, axis=joint.axis)
            joints.append(moves.moving_as(joint))
        tip, place = self.tip_link, Placement(self.tip_rotation, self.tip_translation)
        if tip != links[-1].name or not np.array_equal(place.matrix, np.eye(4)):
            tip = tip if tip not in {link.name for link in links} else "tip"
            links.append(Link(tip))
            joints.append(Joint(f"{tip}_joint", "fixed", links[-2].name, tip, place))
        home = () if self.home is None else zip(self.joints, self.home.tolist(), strict=True)
        return Model(
            name=self.name,
            links=tuple(links),
            joints=tuple(joints),
            closures=(),
            driven=tuple(joint.name for joint in self.joints),
            tip_link=tip,
            home=tuple((joint.name, (value,)) for joint, value in home),
            gravity=self.gravity,
            source=self.source,
        )
