# SPDX-License-Identifier: Apache-2.0

"""Limits of position, velocity, acceleration and jerk of a machine's drives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.algorithms.motions import motion_of_joints
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism

# Time [s] in which a drive without an effort limit reaches its rate, and any drive its
# acceleration.
TO_RATE, TO_ACCELERATION = 0.25, 0.05


@dataclass(frozen=True)
class DriveLimits:
    """Limits of position, velocity, acceleration and jerk of the driven joints (n,).

    Attributes:
        positions: (n, 2) [m or rad] least and largest position.
        rates: [m/s or rad/s] largest speed.
        accelerations: [m/s^2 or rad/s^2] largest acceleration.
        jerks: [m/s^3 or rad/s^3] largest jerk.
    """

    positions: FloatArray
    rates: FloatArray
    accelerations: FloatArray
    jerks: FloatArray

    def describe_excess(
        self, positions: FloatArray, mechanism: Mechanism, slack: ArrayLike = 0.0
    ) -> str:
        """Describe the joint that is farthest beyond an end of its range.

        Args:
            positions: (n,) [m or rad] of the joints.
            mechanism: mechanism with these joints.
            slack: [m or rad] permitted excess, one number or (n,).

        Returns:
            The description; empty if no joint exceeds its range by more than `slack`.
        """
        least, largest = self.positions.T
        excess = np.maximum(positions - largest, least - positions)
        worst = int(np.argmax(excess - slack))
        if (excess <= slack).all():
            return ""
        is_above = positions[worst] > largest[worst]
        end, limit = ("upper", largest) if is_above else ("lower", least)
        unit = mechanism.drives.units[worst]
        return (
            f"{mechanism.joint_names[worst]} at {positions[worst]:.6g} {unit} is "
            f"{excess[worst]:.3g} {unit} beyond its {end} limit, {limit[worst]:.6g} {unit}"
        )

    @property
    def rows(self) -> FloatArray:
        """Velocity, acceleration and jerk limits (3, n)."""
        return np.array([self.rates, self.accelerations, self.jerks])

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        *,
        rates: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
        jerks: ArrayLike | None = None,
    ) -> DriveLimits:
        """Create the limits of a mechanism's drives from its model.

        Arguments that are given replace the defaults. The default rates are the velocity limits of
        the mechanism.

        Args:
            mechanism: mechanism with position limits and, unless given, velocity limits.
            rates, accelerations, jerks: one number, or one for each driven joint. The default
                accelerations are those of `drive_accelerations`; the default jerks reach them in
                0.05 s.

        Raises:
            InvalidInput: a value is not positive or has another shape, or a joint has no velocity
                limit.
        """
        most = _positive("rates", mechanism.velocity_limits if rates is None else rates, mechanism)
        change = (
            drive_accelerations(mechanism, most)
            if accelerations is None
            else _positive("accelerations", accelerations, mechanism)
        )
        jerk = change / TO_ACCELERATION if jerks is None else _positive("jerks", jerks, mechanism)
        return cls(np.array(mechanism.position_limits, dtype=np.float64), most, change, jerk)


def drive_accelerations(mechanism: Mechanism, rates: FloatArray) -> FloatArray:
    """Compute the acceleration that each drive can give its joint at home.

    While one joint accelerates, all others rest. The acceleration is the effort limit minus the
    effort that holds the joint against gravity, divided by the inertia. Callers must check joints
    that accelerate together. No joint reaches its rate in `rates` (n,) in less than 0.05 s. If
    efforts are not limited, or do not support the weight, the joint reaches its rate in 0.25 s.

    Returns:
        Accelerations (n,) [m/s^2 or rad/s^2].
    """
    n, home = len(mechanism.joint_names), mechanism.home
    gentle = rates / TO_RATE
    units = np.eye(n + 1, n)  # the last is at rest
    try:
        motions = [
            motion_of_joints(mechanism, mechanism.joint_positions(home), np.zeros(n), unit, home)
            for unit in units
        ]
        efforts = np.array([mechanism.inverse_dynamics(*motion) for motion in motions])
    except (ArithmeticError, InvalidInput):  # singular at home, or not fully driven
        return gentle
    at_rest = efforts[n]
    inertia = np.abs(np.diagonal(efforts[:n] - at_rest))
    left = mechanism.effort_limits - np.abs(at_rest)
    if not (np.isfinite(left).all() and (left > 0.0).all() and (inertia > 0.0).all()):
        return gentle
    return np.asarray(np.minimum(left / inertia, rates / TO_ACCELERATION))


def _positive(name: str, value: ArrayLike, mechanism: Mechanism) -> FloatArray:
    joints = mechanism.joint_names
    given = np.asarray(value, dtype=np.float64)
    if given.size not in (1, len(joints)):
        raise InvalidInput(
            f"{name}: expected 1 value or {len(joints)} values, got {given.size}", value=value
        )
    limits = np.full(len(joints), given.ravel())
    for joint, limit in zip(joints, limits, strict=True):
        if not 0.0 < limit < np.inf:
            raise InvalidInput(
                f"{name}: {joint} has the limit {limit:g}, expected a finite, positive one: give "
                f"`{name}`, or a <limit velocity=...> in the description",
                value=limit,
            )
    return limits
