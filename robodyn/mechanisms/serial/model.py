# SPDX-License-Identifier: Apache-2.0

"""The description of a serial arm: frozen data, checked once on construction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from robodyn.actuators import Actuator
from robodyn.errors import ModelError
from robodyn.mechanisms.common.model_fields import (
    frozen,
    inertia_tensor,
    not_negative,
    rotation_matrix,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray


KINDS = ("revolute", "continuous", "prismatic")
# Two models are equal when their numbers agree within this, relative or absolute: the noise of
# turning a rotation into URDF's roll-pitch-yaw and back.
EQUALITY = 1e-12


@dataclass(frozen=True, eq=False)
class SerialJoint:
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
        armature: [kg m^2 or kg] inertia of the motor, reflected to the joint (G^2 Jm).
        damping: [N m s/rad or N s/m] viscous friction (G^2 B).
        friction: (2,) [N m or N] Coulomb friction when moving forward and backward, both positive.
        position: (2,) [rad or m] limits.
        velocity, effort: limits, positive.
        drive: the rest of what drives it: screw or gear, static friction, limits and constants of
            the motor. Its rotor inertia and Coulomb friction are `armature` and `friction`; see
            `driven_by` and `actuator`.
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
    armature: float = 0.0
    damping: float = 0.0
    friction: FloatArray = field(default_factory=lambda: np.zeros(2))
    position: FloatArray = field(default_factory=lambda: np.array([-np.inf, np.inf]))
    velocity: float = np.inf
    effort: float = np.inf
    drive: Actuator = field(default_factory=Actuator)
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
        axis = frozen(f"{where}: axis", self.axis, (3,))
        length = float(np.linalg.norm(axis))
        if not length > 1e-9:
            raise ModelError(f"{where}: axis has no direction, its length is zero", value=axis)
        put(self, "axis", frozen("axis", axis / length, (3,)))
        put(self, "com", frozen(f"{where}: com", self.com, (3,), "m"))
        put(self, "inertia", inertia_tensor(f"{where}: inertia", self.inertia))
        for name in ("mass", "armature", "damping"):
            put(self, name, not_negative(f"{where}: {name}", getattr(self, name)))
        put(self, "friction", frozen(f"{where}: friction", self.friction, (2,)))
        if (self.friction < 0.0).any():
            raise ModelError(
                f"{where}: friction is {self.friction.tolist()}, both must be at least 0",
                value=self.friction,
            )
        self._check_drive(where)
        self._check_limits(where)

    def driven_by(self, actuator: Actuator) -> SerialJoint:
        """The same joint with another actuator: its armature, its friction and all else.

        Raises:
            ModelError: a screw on a joint that turns.
        """
        drive = replace(actuator, rotor_inertia=0.0, coulomb=0.0, coulomb_backward=None)
        return replace(
            self,
            armature=actuator.reflected_inertia,
            friction=np.array(actuator.coulomb_both),
            drive=drive,
        )

    @property
    def actuator(self) -> Actuator:
        """What drives it; without a gear the rotor inertia is that reflected to the joint."""
        forward, backward = (float(level) for level in self.friction)
        static = self.drive.static
        return replace(
            self.drive,
            rotor_inertia=self.armature / self.drive.ratio**2,
            coulomb=forward,
            coulomb_backward=None if backward == forward else backward,
            static=None if static is None else max(static, forward, backward),
        )

    def _check_drive(self, where: str) -> None:
        drive = self.drive
        if drive.lead is not None and self.kind != "prismatic":
            raise ModelError(
                f"{where}: the actuator has a lead of {drive.lead:g} m, but the joint turns; give "
                "a gear_ratio instead",
                value=drive.lead,
            )
        for name in ("rotor_inertia", "coulomb", "coulomb_backward"):
            if getattr(drive, name):
                raise ModelError(
                    f"{where}: drive.{name} is {getattr(drive, name)}, expected none: it is "
                    "counted as armature or friction; use `driven_by`",
                    value=getattr(drive, name),
                )

    def _check_limits(self, where: str) -> None:
        lower, upper = (float(bound) for bound in self.position)
        if not lower <= upper:
            raise ModelError(
                f"{where}: position limits are [{lower}, {upper}], expected lower <= upper",
                value=(lower, upper),
            )
        limits = np.array([lower, upper])
        limits.setflags(write=False)
        object.__setattr__(self, "position", limits)
        for name in ("velocity", "effort"):
            value = float(getattr(self, name))
            if not value > 0.0:
                raise ModelError(
                    f"{where}: the limit of {name} is {value}, must be positive", value=value
                )
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class SerialModel:
    """A serial arm of any number of joints.

    Two models are equal when they describe the same mechanism: every number within `EQUALITY`.
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
    gravity: FloatArray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SerialModel):
            return NotImplemented
        # Imported here because the readers of files import this module.
        from robodyn.mechanisms.common.comparison import differences

        return not differences(self, other, EQUALITY)

    __hash__ = None  # type: ignore[assignment]  # equal within rounding cannot hash alike

    def without_friction(self) -> SerialModel:
        """The same arm with neither viscous nor Coulomb friction."""
        still = (
            replace(
                joint,
                damping=0.0,
                friction=np.zeros(2),
                drive=joint.drive.without_friction(),
            )
            for joint in self.joints
        )
        return replace(self, joints=tuple(still))

    def without_dry_friction(self, undamped: Collection[str] = ()) -> SerialModel:
        """The same arm without dry friction, and without damping at the joints named."""
        smooth = (
            replace(
                joint,
                damping=0.0 if joint.name in undamped else joint.damping,
                friction=np.zeros(2),
                drive=joint.drive.without_dry_friction(),
            )
            for joint in self.joints
        )
        return replace(self, joints=tuple(smooth))

    def without_actuators(self) -> SerialModel:
        """The same arm with ideal actuators: no armature, Coulomb friction or motor limits."""
        return replace(self, joints=tuple(joint.driven_by(Actuator()) for joint in self.joints))

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
        added = not_negative("payload mass", mass)
        R = self.tip_rotation
        place = self.tip_translation + R @ frozen("payload com", com, (3,), "m")
        tensor = inertia_tensor("payload inertia", np.zeros((3, 3)) if inertia is None else inertia)
        last = self.joints[-1]
        total = last.mass + added
        if total == 0.0:
            return self
        with np.errstate(over="ignore", invalid="ignore"):  # the new link raises
            middle = (last.mass * last.com + added * place) / total
            merged = last.inertia + R @ tensor @ R.T
            for weight, point in ((last.mass, last.com), (added, place)):
                arm = point - middle
                merged = merged + weight * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        loaded = replace(last, mass=total, com=middle, inertia=merged)
        return replace(self, joints=(*self.joints[:-1], loaded))
