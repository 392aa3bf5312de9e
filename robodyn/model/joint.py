# SPDX-License-Identifier: Apache-2.0

"""Joints of a model's tree: frames, friction, limits and drives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from robodyn.actuators import IDEAL, Actuator
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import check_choice
from robodyn.errors import ModelError
from robodyn.model.fields import frozen, nonnegative_number, unit_axis
from robodyn.model.placement import Placement
from robodyn.model.spring import NO_SPRING, LinearSpring
from robodyn.poses import axis_motion, matrix_from_pose

JOINT_KINDS = ("revolute", "continuous", "prismatic", "floating", "fixed")
UNBOUNDED = np.array([-np.inf, np.inf])
NO_FRICTION = np.zeros(2)
for constant in (UNBOUNDED, NO_FRICTION):
    constant.setflags(write=False)


@dataclass(frozen=True)
class Mimic:
    """Mimic relation: position = multiplier * other joint's position + offset.

    The offset is in rad or m.
    """

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Joint:
    """Joint between two links of a model's kinematic tree.

    At position 0 the frames `at` (on the parent) and `child_at` (on the child) coincide; the
    child's frame then turns about, or slides along, the axis. A floating joint's position is the
    pose (7,) of `child_at` in `at`, its rate the twist (6,) of `child_at`'s origin relative to
    the parent, linear then angular, in the axes of the base frame.

    Attributes:
        name: name of the joint.
        kind: `revolute`, `continuous`, `prismatic`, `floating` or `fixed`.
        parent, child: names of the links.
        at, child_at: frames on these links.
        axis: (3,) direction in `at`; normalized.
        mimic: the joint that this one follows, if any.
        armature: [kg m^2 or kg] reflected rotor inertia without gyroscopic effects.
        damping: [N m s/rad or N s/m] viscous friction.
        friction: (2,) [N m or N] Coulomb friction when moving forward and backward, not negative.
        spring: spring between parent and child, parallel to the drive.
        position: (2,) [rad or m] limits.
        velocity, effort: limits [rad/s or m/s] and [N m or N], positive.
        drive: other properties of the actuator: screw or gear, static friction, motor limits and
            constants. Coulomb friction is in `friction`; see `driven_by` and `actuator`. The rotor
            turns about the joint's axis, or about another axis if a gear drives the screw. The mass
            and inertia of the parent link include the locked rotor.
    """

    name: str
    kind: str
    parent: str
    child: str
    at: Placement = field(default_factory=Placement)
    child_at: Placement = field(default_factory=Placement)
    axis: FloatArray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    mimic: Mimic | None = None
    armature: float = 0.0
    damping: float = 0.0
    friction: FloatArray = field(default_factory=lambda: NO_FRICTION)
    position: FloatArray = field(default_factory=lambda: UNBOUNDED)
    velocity: float = np.inf
    effort: float = np.inf
    drive: Actuator = field(default_factory=Actuator)
    spring: LinearSpring = NO_SPRING

    def __post_init__(self) -> None:
        put, where = object.__setattr__, f"joint {self.name!r}"
        check_choice(f"{where}: kind", self.kind, JOINT_KINDS, ModelError)
        if self.kind in ("floating", "fixed") and self.mimic is not None:
            raise ModelError(f"{where}: a {self.kind} joint cannot mimic another", value=self.mimic)
        if self.mimic is not None:
            frozen(f"{where}: mimic", (self.mimic.multiplier, self.mimic.offset), (2,))
        if self.spring.acts and self.kind in ("floating", "fixed"):
            raise ModelError(
                f"{where}: a {self.kind} joint has no spring; put springs between points of its "
                "links",
                value=self.spring,
            )
        put(self, "axis", unit_axis(where, self.axis))
        self._check_motion(where)

    def _check_motion(self, where: str) -> None:
        """Check and freeze the fields that affect motion; `where` names the joint."""
        put = object.__setattr__
        for name in ("armature", "damping"):
            put(self, name, nonnegative_number(f"{where}: {name}", getattr(self, name)))
        put(self, "friction", frozen(f"{where}: friction", self.friction, (2,)))
        if (self.friction < 0.0).any():
            raise ModelError(
                f"{where}: friction is {self.friction.tolist()}, expected two values of at least 0",
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
                    f"{where}: the {name} limit is {value}, expected a positive value", value=value
                )
            put(self, name, value)
        if self.drive.lead is not None and self.kind != "prismatic":
            raise ModelError(
                f"{where}: the actuator has a lead of {self.drive.lead:g} m, but the joint is "
                "not prismatic; give a gear_ratio instead",
                value=self.drive.lead,
            )
        if self.drive.coulomb or self.drive.coulomb_backward:
            raise ModelError(
                f"{where}: drive.coulomb is {self.drive.coulomb_pair}, expected 0: it "
                "belongs to the joint's friction; attach the actuator with `driven_by`",
                value=self.drive.coulomb,
            )

    def driven_by(self, actuator: Actuator) -> Joint:
        """Return a copy of the joint with a different actuator and no armature.

        Raises:
            ModelError: a joint with a screw is not prismatic.
        """
        return replace(
            self,
            armature=0.0,
            friction=np.array(actuator.coulomb_pair),
            drive=replace(actuator, coulomb=0.0, coulomb_backward=None),
        )

    @cached_property
    def actuator(self) -> Actuator:
        """Actuator of the joint, with the joint's friction and armature.

        It is the joint's `drive` with the joint's friction, and the armature as a rotor.
        """
        forward, backward = self.friction.tolist()
        drive = self.drive
        if not (forward or backward or self.armature):
            return drive
        return replace(
            drive,
            rotor_inertia=drive.rotor_inertia + self.armature / drive.ratio**2,
            coulomb=forward,
            coulomb_backward=None if backward == forward else backward,
            static=None if drive.static is None else max(drive.static, forward, backward),
        )

    @property
    def frictionless_drive(self) -> Actuator:
        """The joint's `drive` without friction and losses."""
        return IDEAL if self.drive == IDEAL else self.drive.without_friction()

    @property
    def effort_limit(self) -> float:
        """Effort limit [N m or N], the smaller of the limits of joint and motor."""
        return min(self.effort, self.drive.effort_limit)

    @property
    def effort_range(self) -> tuple[float, float]:
        """Least and largest effort [N m or N]; both have the same sign for a cable."""
        most = self.effort_limit
        return max(-most, self.drive.least_effort), min(most, self.drive.largest_effort)

    @property
    def reflected_inertia(self) -> float:
        """Inertia [kg m^2 or kg] of rotor and armature at the joint."""
        return self.armature + self.drive.reflected_inertia

    @property
    def spin_inertia(self) -> float:
        """Rotor inertia times gear ratio [kg m^2 or kg m], for gyroscopic effects.

        It is 0 if the rotor is not on the joint's axis. Rotors of revolute joints are included even
        if there is a gear, because robots' gears are coaxial.
        """
        if self.kind == "prismatic":
            return self.drive.spin_inertia
        return self.drive.rotor_inertia * self.drive.ratio

    @property
    def wraps(self) -> bool:
        """Whether positions a full turn apart are equal.

        This holds for a continuous joint without limits. A revolute joint without limits counts its
        turns.
        """
        free = self.kind == "continuous" and self.mimic is None
        return free and not np.isfinite(self.position).any()

    @property
    def moves(self) -> bool:
        """Whether the joint is not fixed."""
        return self.kind != "fixed"

    @property
    def moves_alone(self) -> bool:
        """Whether the joint has a single coordinate, independent of other joints."""
        return self.kind not in ("floating", "fixed") and self.mimic is None

    def child_frame(self, position: ArrayLike | None = None) -> FloatArray:
        """Compute the frame of the child link in the frame of the parent link.

        Args:
            position: (...) [rad or m]; for a floating joint, poses (..., 7). By default zero.

        Returns:
            Homogeneous transforms (..., 4, 4) from the child's frame to the parent's.
        """
        frame = self.at.matrix
        if position is not None and self.moves:
            floats = self.kind == "floating"
            frame = frame @ (
                matrix_from_pose(position)
                if floats
                else axis_motion(self.kind, self.axis, position)
            )
        return frame if self.child_at.is_link_frame else frame @ self._child_in_joint

    @cached_property
    def _child_in_joint(self) -> FloatArray:
        return np.asarray(np.linalg.inv(self.child_at.matrix))
