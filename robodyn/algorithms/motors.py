# SPDX-License-Identifier: Apache-2.0

"""Drives of a mechanism's joints: units and ranges, motors, torques and currents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.actuators import Actuator
from robodyn.algorithms.description import EffortUnit, driven_joints
from robodyn.arguments import check_method_arguments
from robodyn.arrays import ArrayLike, BoolArray, FloatArray
from robodyn.checks import as_array
from robodyn.dynamics.kernels.end_stops import motor_limits
from robodyn.errors import InvalidInput
from robodyn.numerics.broadcasting import flatten

# Excess over a limit, relative to it, that counts as rounding, since a path may run along its
# limit.
LIMIT_TOLERANCE = 1e-9


class Drives:
    """The n driven joints of a mechanism with their actuators, limits and conversions.

    A mechanism may measure a driven joint differently from its URDF (a leg by its length): position
    = signs * URDF position + offsets.

    Args:
        mechanism: mechanism with the joints.
        signs, offsets: (n,) see above; by default 1 and 0 [m or rad].

    Attributes:
        names: names of the joints.
        units: `m` or `rad` of each joint's position.
        actuators: actuator of each joint.
        position_limits: (n, 2) [m or rad] lower and upper limits, as the mechanism measures the
            joints.
        effort_limits: (n,) [N or N m] largest magnitudes at standstill.
        signs, offsets: (n,) 1 or -1, and [m or rad].
    """

    def __init__(
        self,
        mechanism: Any,
        signs: FloatArray | None = None,
        offsets: FloatArray | None = None,
    ) -> None:
        self.names, self.units = (
            tuple(mechanism.joint_names),
            tuple(joint.unit for joint in driven_joints(mechanism)),
        )
        self.actuators: Sequence[Actuator] = mechanism.actuators
        self.position_limits: FloatArray = mechanism.position_limits
        self.effort_limits: FloatArray = mechanism.effort_limits
        self.signs = np.ones(len(self.names)) if signs is None else signs
        self.offsets = np.zeros(len(self.names)) if offsets is None else offsets

    @cached_property
    def effort_units(self) -> tuple[EffortUnit, ...]:
        """Units (n,) of the efforts, `N` or `N m`."""
        return tuple("N" if unit == "m" else "N m" for unit in self.units)

    @cached_property
    def effort_ranges(self) -> FloatArray:
        """Least and largest efforts (n, 2) [N or N m] at standstill.

        Both may have one sign, for example for a cable, which only pulls.
        """
        drives = [(drive.least_effort, drive.largest_effort) for drive in self.actuators]
        ends = np.array(drives, dtype=np.float64).reshape(-1, 2)
        return np.clip(ends, -self.effort_limits[:, None], self.effort_limits[:, None])

    @cached_property
    def effort_ends(self) -> FloatArray:
        """Least and largest efforts (2, n) [N or N m] at standstill, extended to zero.

        They are those of `effort_ranges`, but the range of a drive whose efforts have one sign,
        such as a cable, includes zero: a slack cable.
        """
        least, largest = self.effort_ranges.T
        return np.stack([np.minimum(least, 0.0), np.maximum(largest, 0.0)])

    def cut_efforts(self, efforts: FloatArray, limits: FloatArray | None = None) -> FloatArray:
        """Clip efforts (..., n) to +-`limits` (..., n), by default the limits at standstill.

        Returns efforts (..., n) [N or N m]. A drive whose efforts have one sign, such as a cable,
        exerts no effort of the other sign.
        """
        least, largest = self.effort_ends
        if limits is not None:
            least, largest = np.maximum(-limits, least), np.minimum(limits, largest)
        return np.asarray(np.clip(efforts, least, largest))

    def within_position_limits(self, positions: FloatArray) -> BoolArray:
        """Return whether positions (..., n) are finite and within their limits.

        The result (...) has one boolean for all n joints.
        """
        limits = self.position_limits
        room = np.where(np.isfinite(limits), np.abs(limits), 0.0) * LIMIT_TOLERANCE
        inside = (positions >= limits[:, 0] - room[:, 0]) & (positions <= limits[:, 1] + room[:, 1])
        return np.asarray((inside & np.isfinite(positions)).all(axis=-1))

    @cached_property
    def has_torque_speed_curve(self) -> bool:
        """Whether the largest effort of any motor depends on its speed."""
        return any(actuator.has_torque_speed_curve for actuator in self.actuators)

    @cached_property
    def motor_table(self) -> FloatArray:
        """Table (n, k) of position limits and torque-speed curves; see `joint_table`."""
        return joint_table(self.position_limits, self.actuators)

    @cached_property
    def elasticity(self) -> FloatArray | None:
        """Stiffness, damping and reflected inertia (n, 3) of elastic drives; None if all are rigid.

        Raises:
            InvalidInput: some drives are rigid, or the motor of an elastic drive has no inertia.
        """
        table = np.array([[a.stiffness, a.stiffness_damping, a.reflected_inertia]
                          for a in self.actuators]).reshape(-1, 3)  # fmt: skip
        rigid = np.isinf(table[:, 0])
        if rigid.all():
            return None
        massless = table[:, 2] == 0.0
        if rigid.any() or massless.any():
            at = int(np.flatnonzero(rigid if rigid.any() else massless)[0])
            missing = "stiffness [N/m or N m/rad]" if rigid.any() else "rotor_inertia [kg m^2]"
            raise InvalidInput(
                f"the actuator of {self.names[at]} has no {missing}, which a simulation of elastic "
                "drives requires of every actuator",
                value=self.names[at],
            )
        return table

    def effort_limits_at(self, rates: ArrayLike) -> FloatArray:
        """Compute the largest efforts (..., n) [N or N m] at joint velocities (..., n).

        These are `effort_limits`, or less according to the torque-speed curve of a motor; zero
        beyond its end.

        Raises:
            InvalidInput: the shape is wrong, or a value is not finite.
        """
        speeds = as_array("rates", rates, (len(self.names),), "m/s or rad/s")
        # a copy, so that the kernel always gets the same type of array
        flat = np.array(speeds).reshape(-1, speeds.shape[-1])
        limits = np.empty_like(flat)
        motor_limits(flat, self.effort_limits, self.motor_table, limits)
        return limits.reshape(speeds.shape)

    def torques(self, efforts: ArrayLike, rates: ArrayLike | None) -> FloatArray:
        """Convert joint efforts (..., n) to motor torques (..., n) [N m].

        The joint velocities `rates` are used as in `Mechanism.motor_torques`.
        """
        return self._each_joint(Actuator.torques, "efforts", efforts, "N or N m", rates)

    def efforts(self, motor_torques: ArrayLike, rates: ArrayLike | None) -> FloatArray:
        """Convert motor torques (..., n) [N m] to joint efforts (..., n) [N or N m].

        The joint velocities `rates` are used as in `Mechanism.efforts_of`.
        """
        return self._each_joint(Actuator.efforts, "motor_torques", motor_torques, "N m", rates)

    def currents(self, efforts: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """Convert joint efforts (..., n) [N or N m] into motor currents (..., n) [A].

        The joint velocities `rates` are used as in `Mechanism.motor_torques`.

        Raises:
            InvalidInput: as for `Mechanism.motor_torques`, or a motor has no torque constant.
        """
        return np.asarray(self.torques(efforts, rates) / self.torque_constants)

    def efforts_of_currents(
        self, currents: ArrayLike, rates: ArrayLike | None = None
    ) -> FloatArray:
        """Convert motor currents (..., n) [A] into joint efforts (..., n) [N or N m].

        It is the inverse of `currents`. The joint velocities `rates` are used as in
        `Mechanism.efforts_of`.

        Raises:
            InvalidInput: as for `currents`.
        """
        given = as_array("currents", currents, self.torque_constants.shape, "A")
        return self.efforts(given * self.torque_constants, rates)

    @cached_property
    def torque_constants(self) -> FloatArray:
        """Torque constants (n,) [N m/A] of the motors.

        Raises:
            InvalidInput: a motor has none.
        """
        constants = []
        for name, actuator in zip(self.names, self.actuators, strict=True):
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
        shape = (len(self.names),)
        values = as_array(name, given, shape, unit)
        speeds: Any = None
        if rates is not None:
            speeds = as_array("rates", rates, shape, "m/s or rad/s")
            leading, flat = flatten(**{name: values, "rates": speeds})
            values, speeds = (part.reshape(leading + shape) for part in flat)
        out = np.empty(values.shape)
        for i, (joint, actuator) in enumerate(zip(self.names, self.actuators, strict=True)):
            if self.units[i] == "m" and actuator.lead is None:
                raise InvalidInput(
                    f"joint {joint!r} is prismatic, but its actuator has no lead, so the motor's "
                    "torque is not known; give `lead` [m per turn] in the description",
                    value=joint,
                )
            speed = None if speeds is None else speeds[..., i]
            out[..., i] = convert(actuator, values[..., i], speed)
        return out


check_method_arguments(Drives)


def joint_table(position_limits: FloatArray, actuators: Sequence[Actuator]) -> FloatArray:
    """Build the table of position limits and torque-speed curves for compiled simulations.

    Returns:
        Table with a row for each of n joints: lower and upper position limit. If any motor has a
        torque-speed curve, they are followed by the largest rate and the curve's k points (rate,
        effort) at the joint: (n, 3 + 2 k) instead of (n, 2).
    """
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
    """Return corners (joint rate, joint effort) of an actuator's torque-speed curve."""
    fastest, ratio = actuator.rate_limit, abs(actuator.ratio)
    speeds = [0.0]
    if actuator.torque_speed is not None:
        points = actuator.torque_speed
        speeds = [speed for speed, _ in points if speed / ratio < fastest] + [fastest * ratio]
        most = actuator.torque_limit
        for (slow, more), (fast, less) in zip(points[:-1], points[1:], strict=True):
            if less < most < more:  # the curve falls below the limit here
                speeds.append(slow + (more - most) / (more - less) * (fast - slow))
    rates = sorted({speed / ratio for speed in speeds if speed / ratio <= fastest})
    # slightly less, so that rounding does not move the last one beyond the end
    return [(rate, float(actuator.effort_limit_at(rate * (1.0 - 1e-15)))) for rate in rates]
