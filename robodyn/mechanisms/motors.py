# SPDX-License-Identifier: Apache-2.0

"""What drives a mechanism's joints: motors, their torques and currents, and friction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.actuators import Actuator
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput
from robodyn.mechanisms.common.joint_friction import friction_row
from robodyn.mechanisms.common.kernels.end_stops import motor_limits
from robodyn.mechanisms.joints import Joints
from robodyn.numerics.broadcasting import flatten


class JointsWithMotors(Joints):
    """The second part of `Mechanism`: what drives its joints."""

    def friction_rows(self) -> FloatArray:
        """(nf, sticking.ROW) dry friction of every driven joint, in their order, and of others."""
        return np.array([friction_row(actuator, i) for i, actuator in enumerate(self.actuators)])

    @cached_property
    def has_torque_speed_curve(self) -> bool:
        """Whether what a motor has depends on its speed; else `effort_limits` say all."""
        return any(actuator.has_torque_speed_curve for actuator in self.actuators)

    @cached_property
    def motor_table(self) -> FloatArray:
        """(n, k) travel of the driven joints and what their motors have; see `joint_table`."""
        return joint_table(self.position_limits, self.actuators)

    def effort_limits_at(self, rates: ArrayLike, /) -> FloatArray:
        """Largest efforts (..., n) [N or N m] at rates (..., n) of the driven joints.

        Those of `effort_limits`, or less where a motor's torque-speed curve has fallen; none beyond
        its end.

        Raises:
            InvalidInput: a wrong shape, or not finite.
        """
        speeds = as_array("rates", rates, (len(self.joint_names),), "m/s or rad/s")
        # a copy, so that the kernel always gets the same type of array
        flat = np.array(speeds).reshape(-1, speeds.shape[-1])
        limits = np.empty_like(flat)
        motor_limits(flat, self.effort_limits, self.motor_table, limits)
        return limits.reshape(speeds.shape)

    def motor_torques(self, efforts: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """Torques (..., n) [N m] at the motors for efforts (..., n) [N or N m] of the joints.

        Where an actuator's efficiency is below 1, `rates` (..., n) [m/s or rad/s] of the joints
        say whether motor or load drives; without them the motor does.

        Raises:
            InvalidInput: a wrong shape, not finite, or a joint that slides without a screw's lead.
        """
        return self._each_joint(Actuator.torques, "efforts", efforts, "N or N m", rates)

    def efforts_of(self, motor_torques: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """Efforts (..., n) [N or N m] of motor torques (..., n) [N m]: inverts `motor_torques`.

        Raises:
            InvalidInput: as for `motor_torques`.
        """
        return self._each_joint(Actuator.efforts, "motor_torques", motor_torques, "N m", rates)

    def motor_currents(self, efforts: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """Currents (..., n) [A] of the motors for efforts (..., n) [N or N m] of the joints.

        Raises:
            InvalidInput: as for `motor_torques`, or a motor without a torque constant.
        """
        return np.asarray(self.motor_torques(efforts, rates) / self._torque_constants())

    def efforts_of_currents(
        self, currents: ArrayLike, rates: ArrayLike | None = None
    ) -> FloatArray:
        """Efforts (..., n) [N or N m] of motor currents (..., n) [A]: inverts `motor_currents`.

        Raises:
            InvalidInput: as for `motor_currents`.
        """
        constants = self._torque_constants()
        given = as_array("currents", currents, constants.shape, "A")
        return self.efforts_of(given * constants, rates)

    def _torque_constants(self) -> FloatArray:
        constants = []
        for name, actuator in zip(self.joint_names, self.actuators, strict=True):
            if actuator.torque_constant is None:
                raise InvalidInput(
                    f"joint {name!r}: the actuator has no torque_constant [N m/A], so its current "
                    "is not known; give one in the description",
                    value=name,
                )
            constants.append(actuator.torque_constant)
        return np.array(constants)

    def _each_joint(
        self,
        convert: Callable[..., FloatArray],
        name: str,
        given: ArrayLike,
        unit: str,
        rates: ArrayLike | None,
    ) -> FloatArray:
        shape = (len(self.joint_names),)
        values = as_array(name, given, shape, unit)
        speeds: Any = None
        if rates is not None:
            speeds = as_array("rates", rates, shape, "m/s or rad/s")
            leading, flat = flatten(**{name: values, "rates": speeds})
            values, speeds = (part.reshape(leading + shape) for part in flat)
        out = np.empty(values.shape)
        units = self.joint_units
        for i, actuator in enumerate(self.actuators):
            if units[i] == "m" and actuator.lead is None:
                raise InvalidInput(
                    f"joint {self.joint_names[i]!r} slides but its actuator has no lead, so its "
                    "motor's torque is not known; give `lead` [m a turn] in the description",
                    value=self.joint_names[i],
                )
            speed = None if speeds is None else speeds[..., i]
            out[..., i] = convert(actuator, values[..., i], speed)
        return out


def joint_table(position_limits: FloatArray, actuators: Sequence[Actuator]) -> FloatArray:
    """(n, 2), or (n, 3 + 2 k) for the kernel `motor_effort`, of limits (n, 2) and n actuators."""
    if not any(actuator.has_torque_speed_curve for actuator in actuators):
        return position_limits
    curves = [_curve(actuator) for actuator in actuators]
    longest = max(len(curve) for curve in curves)
    table = np.empty((len(position_limits), 3 + 2 * longest))
    table[:, :2] = position_limits
    table[:, 2] = [actuator.rate_limit for actuator in actuators]
    for row, curve in zip(table, curves, strict=True):
        knots = [*curve, *[curve[-1]] * (longest - len(curve))]
        row[3:] = np.array(knots).ravel()
    return table


def _curve(actuator: Actuator) -> list[tuple[float, float]]:
    """(rate, effort) of the joint where the line of what the motor has bends."""
    fastest, ratio = actuator.rate_limit, abs(actuator.ratio)
    speeds = [0.0]
    if actuator.torque_speed is not None:
        points = actuator.torque_speed
        speeds = [speed for speed, _ in points if speed / ratio < fastest] + [fastest * ratio]
        most = actuator.torque_limit
        for (slow, more), (fast, less) in zip(points[:-1], points[1:], strict=True):
            if less < most < more:  # where the curve falls below the limit
                speeds.append(slow + (more - most) / (more - less) * (fast - slow))
    rates = sorted({speed / ratio for speed in speeds if speed / ratio <= fastest})
    # a little less, so that rounding does not take the last one beyond the end
    return [(rate, float(actuator.effort_limit_at(rate * (1.0 - 1e-15)))) for rate in rates]
