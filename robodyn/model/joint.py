# SPDX-License-Identifier: Apache-2.0

"""What a joint that moves has besides its place: friction, limits, and what drives it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from robodyn.actuators import Actuator
from robodyn.actuators.actuator import IDEAL
from robodyn.errors import ModelError
from robodyn.model.fields import frozen, not_negative

if TYPE_CHECKING:
    from typing_extensions import Self

    from robodyn.arrays import FloatArray

UNBOUNDED = np.array([-np.inf, np.inf])
NO_FRICTION = np.zeros(2)
for constant in (UNBOUNDED, NO_FRICTION):
    constant.setflags(write=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class MovingJoint:
    """The part that joints of arms and of trees share.

    Attributes:
        armature: [kg m^2 or kg] inertia of a motor, reflected to the joint and nothing else.
        damping: [N m s/rad or N s/m] viscous friction.
        friction: (2,) [N m or N] Coulomb friction when moving forward and backward, not negative.
        position: (2,) [rad or m] limits.
        velocity, effort: limits, positive.
        drive: the rest of what drives it: screw or gear, static friction, limits and constants of
            the motor. Its Coulomb friction is `friction`; see `driven_by` and `actuator`.
    """

    armature: float = 0.0
    damping: float = 0.0
    friction: FloatArray = field(default_factory=lambda: NO_FRICTION)
    position: FloatArray = field(default_factory=lambda: UNBOUNDED)
    velocity: float = np.inf
    effort: float = np.inf
    drive: Actuator = field(default_factory=Actuator)

    def check_motion(self, kind: str, where: str) -> None:
        """Check and freeze the fields; `where` names the joint.

        Raises:
            ModelError: one of them is wrong.
        """
        put = object.__setattr__
        for name in ("armature", "damping"):
            put(self, name, not_negative(f"{where}: {name}", getattr(self, name)))
        put(self, "friction", frozen(f"{where}: friction", self.friction, (2,)))
        if (self.friction < 0.0).any():
            raise ModelError(
                f"{where}: friction is {self.friction.tolist()}, both must be at least 0",
                value=self.friction,
            )
        limits = np.array(self.position, dtype=np.float64)
        if limits.shape != (2,) or not limits[0] <= limits[1]:
            raise ModelError(
                f"{where}: position limits are {limits.tolist()}, expected lower <= upper",
                value=self.position,
            )
        limits.setflags(write=False)
        put(self, "position", limits)
        for name in ("velocity", "effort"):
            value = float(getattr(self, name))
            if not value > 0.0:
                raise ModelError(
                    f"{where}: the limit of {name} is {value}, must be positive", value=value
                )
            put(self, name, value)
        if self.drive.lead is not None and kind != "prismatic":
            raise ModelError(
                f"{where}: the actuator has a lead of {self.drive.lead:g} m, but the joint does "
                "not slide; give a gear_ratio instead",
                value=self.drive.lead,
            )
        if self.drive.coulomb or self.drive.coulomb_backward:
            raise ModelError(
                f"{where}: drive.coulomb is {self.drive.coulomb_both}, expected none: it is "
                "counted as friction; use `driven_by`",
                value=self.drive.coulomb,
            )

    def driven_by(self, actuator: Actuator) -> Self:
        """The same joint with another actuator, without armature: its friction and all else.

        Raises:
            ModelError: a screw on a joint that does not slide.
        """
        return replace(
            self,
            armature=0.0,
            friction=np.array(actuator.coulomb_both),
            drive=replace(actuator, coulomb=0.0, coulomb_backward=None),
        )

    @property
    def actuator(self) -> Actuator:
        """What drives it, its armature counted as a rotor behind the same gear."""
        forward, backward = (float(level) for level in self.friction)
        drive = self.drive
        return replace(
            drive,
            rotor_inertia=drive.rotor_inertia + self.armature / drive.ratio**2,
            coulomb=forward,
            coulomb_backward=None if backward == forward else backward,
            static=None if drive.static is None else max(drive.static, forward, backward),
        )

    @property
    def frictionless_drive(self) -> Actuator:
        """Its `drive` without friction and losses."""
        return IDEAL if self.drive == IDEAL else self.drive.without_friction()
