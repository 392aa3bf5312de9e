# SPDX-License-Identifier: Apache-2.0

"""Motion of a mechanism's base, such as a ship, a vehicle, or a platform that carries it."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact, as_pose, as_scalar
from robodyn.errors import InvalidInput
from robodyn.numerics.broadcasting import flatten
from robodyn.poses import inverse_pose, rotation_matrix

_NONE = np.zeros(3)
_GRAVITY = np.array([0.0, 0.0, -9.81])
# Gap between two samples of an IMU [s] after which the angular acceleration restarts at zero.
LONGEST_GAP = 0.2


class BaseMotion:
    """Motion of a base as measured by an inertial measurement unit at the base's origin.

    Positions, velocities, wrenches and all other quantities of a mechanism remain relative to the
    base and in its axes. The position and velocity of the base do not matter, only its
    accelerations and rotation.

    Args:
        specific_force: (..., 3) [m/s^2], acceleration of the origin minus gravity, base frame; at
            rest it is minus gravity, [0, 0, 9.81] with z up.
        angular_velocity: (..., 3) [rad/s], base frame.
        angular_acceleration: (..., 3) [rad/s^2], base frame.

    Attributes:
        rows: (..., 9) the three arguments, concatenated along the last axis; read-only.

    Raises:
        InvalidInput: the shape is wrong, or a value is not finite.
    """

    __slots__ = ("rows",)

    def __init__(
        self,
        specific_force: ArrayLike,
        angular_velocity: ArrayLike = _NONE,
        angular_acceleration: ArrayLike = _NONE,
    ) -> None:
        shape, parts = flatten(
            specific_force=as_array("specific_force", specific_force, (3,), "m/s^2"),
            angular_velocity=as_array("angular_velocity", angular_velocity, (3,), "rad/s"),
            angular_acceleration=as_array(
                "angular_acceleration", angular_acceleration, (3,), "rad/s^2"
            ),
        )
        self.rows: FloatArray = np.concatenate(parts, axis=-1).reshape(*shape, 9)
        self.rows.flags.writeable = False

    @classmethod
    def of(
        cls, pose: ArrayLike, twist: ArrayLike, accel: ArrayLike, gravity: ArrayLike = _GRAVITY
    ) -> BaseMotion:
        """Compute the motion of a base from its pose, twist and acceleration.

        Args:
            pose: (..., 7) [m, -] pose of the base in the inertial frame.
            twist, accel: (..., 6) [m/s, rad/s], [m/s^2, rad/s^2] velocity and acceleration of the
                base, linear (of its origin) before angular, inertial frame.
            gravity: (3,) [m/s^2], in the inertial frame.

        Returns:
            The motion of the base.
        """
        R = np.swapaxes(rotation_matrix(pose), -1, -2)
        v, a = as_array("twist", twist, (6,)), as_array("accel", accel, (6,))
        felt = a[..., :3] - as_array("gravity", gravity, (3,), "m/s^2")
        return cls(*((R @ part[..., None])[..., 0] for part in (felt, v[..., 3:], a[..., 3:])))

    @property
    def specific_force(self) -> FloatArray:
        """Acceleration of the base's origin minus gravity, (..., 3) [m/s^2], base frame."""
        return self.rows[..., :3]

    @property
    def angular_velocity(self) -> FloatArray:
        """Angular velocity of the base in inertial space, (..., 3) [rad/s], base frame."""
        return self.rows[..., 3:6]

    @property
    def angular_acceleration(self) -> FloatArray:
        """Time derivative of the base's angular velocity, (..., 3) [rad/s^2], base frame."""
        return self.rows[..., 6:]

    def felt_at(self, pose: ArrayLike) -> BaseMotion:
        """Return this motion as an IMU at another frame, fixed to the base, measures it.

        Args:
            pose: (7,) pose of that frame in this one. To convert measurements of an IMU to the base
                frame, pass the pose of the base frame in the frame of the IMU.

        Returns:
            The motion at the origin of that frame, in its axes.
        """
        given = as_pose("pose", pose)
        R, p, w = rotation_matrix(given), given[..., :3], self.angular_velocity
        force = self.specific_force + np.cross(self.angular_acceleration, p)
        force = force + np.cross(w, np.cross(w, p))
        return BaseMotion(*(part @ R for part in (force, w, self.angular_acceleration)))

    def __getitem__(self, index: Any) -> BaseMotion:
        """Return the motion at an index of the leading dimensions of a batch."""
        places = index if isinstance(index, tuple) else (index,)
        rows = self.rows[places + (slice(None),)]  # noqa: RUF005  # Python 3.10 has no stars there
        return BaseMotion(*np.split(rows, 3, axis=-1))

    def __repr__(self) -> str:
        parts = ", ".join(np.array2string(part, separator=", ") for part in np.split(
            self.rows, 3, axis=-1))  # fmt: skip
        return f"BaseMotion({parts})"


class BaseMotionFilter:
    """Filter that computes the motion of a base from an IMU mounted on it.

    The angular acceleration is the difference quotient of the angular velocity between samples,
    smoothed by a first-order low-pass filter. Samples may be irregular. The delay of the filter is
    1 / cutoff.

    Args:
        cutoff: cutoff frequency [rad/s] of the low-pass filter.
        pose: (7,) pose of the IMU in the base frame; by default the two frames coincide.

    Raises:
        InvalidInput: `cutoff` is not positive, or `pose` is not a pose.
    """

    def __init__(self, cutoff: float = 100.0, pose: ArrayLike | None = None) -> None:
        self._cutoff = as_scalar("cutoff", cutoff, "rad/s", above=0.0)
        self._base: FloatArray | None = None  # pose of the base frame in the IMU's frame
        if pose is not None:
            self._base = inverse_pose(as_exact("pose", pose, (7,)))
        self._last: tuple[float, FloatArray] | None = None
        self._acceleration = _NONE

    def step(
        self, time: float, specific_force: ArrayLike, angular_velocity: ArrayLike
    ) -> BaseMotion:
        """Update the filter with a sample of the IMU.

        Args:
            time: time [s] of the sample.
            specific_force: (3,) [m/s^2] specific force in the IMU's frame.
            angular_velocity: (3,) [rad/s] angular velocity in the IMU's frame.

        Returns:
            Motion of the base, in the base frame.

        Raises:
            InvalidInput: a shape is wrong, a value is not finite, or the time is not after the last
                one.
        """
        force = as_exact("specific_force", specific_force, (3,), "m/s^2")
        rate = as_exact("angular_velocity", angular_velocity, (3,), "rad/s")
        before, since = self._last or (-np.inf, rate)
        dt = as_scalar("time", time, "s") - before
        if not dt > 0.0:
            raise InvalidInput(
                f"time is {time:.6f} s, must be after the previous sample at {before:.6f} s",
                value=time,
            )
        slope = (rate - since) / dt
        self._acceleration = self._acceleration + (1.0 - np.exp(-self._cutoff * dt)) * (
            slope - self._acceleration
        )
        if dt > LONGEST_GAP:
            self._acceleration = _NONE
        self._last = time, rate
        moved = BaseMotion(force, rate, self._acceleration)
        return moved if self._base is None else moved.felt_at(self._base)


def rows_of(base: BaseMotion) -> FloatArray:
    """Return the array (..., 9) `rows` of a base motion.

    Raises:
        InvalidInput: the argument is not a `BaseMotion`.
    """
    if not isinstance(base, BaseMotion):
        raise InvalidInput(
            f"base is {base!r:.80}, expected a robodyn.BaseMotion of specific force, angular "
            "velocity and angular acceleration",
            value=base,
        )
    return base.rows
