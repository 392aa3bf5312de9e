# SPDX-License-Identifier: Apache-2.0

"""What limits a motion along a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism


class Curves(NamedTuple):
    """Curves (n, P) by which the efforts that are available fall with the joints' rates.

    Attributes:
        speeds: [m/s or rad/s] increasing, from 0.
        efforts: [N or N m].
        counts: (n,) how many points each has; 0 for none.
    """

    speeds: FloatArray
    efforts: FloatArray
    counts: NDArray[np.int64]

    def at(self, rates: FloatArray) -> FloatArray:
        """What is available (..., n) [N or N m] at rates (..., n); infinite without a curve."""
        out = np.full(rates.shape, np.inf)
        for i, count in enumerate(self.counts):
            if count:
                curve = self.speeds[i, :count], self.efforts[i, :count]
                out[..., i] = np.interp(np.abs(rates[..., i]), *curve)
        return out


class Limits(NamedTuple):
    """The limits of a motion, of n driven joints.

    Attributes:
        effort: (n, 2) [N or N m] least and largest.
        velocity, acceleration: (n,) of the joints' rates and their derivatives, either way.
        tip_speed: [m/s] of the body at `body_pose`.
        condition: number that the path may not exceed.
        characteristic_length: [m] of that number.
        curves: what motors have at speed, besides.
        jerk: (n,) [m/s^3 or rad/s^3] of the joints, either way.
        effort_rate: (n,) [N/s or N m/s] either way.
    """

    effort: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    tip_speed: float
    condition: float
    characteristic_length: float
    curves: Curves
    jerk: FloatArray
    effort_rate: FloatArray

    @property
    def are_smooth(self) -> bool:
        """Whether accelerations or efforts may not jump."""
        return bool(np.isfinite(self.jerk).any() or np.isfinite(self.effort_rate).any())


def effort_curves(mechanism: Mechanism) -> Curves:
    """The torque-speed curves of a mechanism's motors, at its joints.

    A motor's torque reaches its joint by screw and gear with their efficiency, as when it drives.
    """
    found = []
    for actuator in mechanism.actuators:
        points = np.empty((0, 2))
        if actuator.torque_speed is not None:
            ratio = abs(actuator.ratio)
            speeds, torques = np.array(actuator.torque_speed).T
            torques = np.minimum(torques, actuator.torque_limit)
            points = np.stack([speeds / ratio, torques * ratio * actuator.efficiency], axis=1)
        found.append(points)
    longest = max((len(points) for points in found), default=0)
    table = np.zeros((len(found), max(longest, 1), 2))
    for row, points in zip(table, found, strict=True):
        row[: len(points)] = points
    counts = np.array([len(points) for points in found], dtype=np.int64)
    speeds, efforts = np.ascontiguousarray(np.moveaxis(table, -1, 0))
    return Curves(speeds, efforts, counts)


def limits_of(
    mechanism: Mechanism,
    effort_limits: ArrayLike | None,
    velocity_limits: ArrayLike | None,
    acceleration_limits: ArrayLike | None,
    tip_speed: float | None,
    condition_limit: float | None,
    characteristic_length: float,
    reserve: float,
    jerk_limits: ArrayLike | None = None,
    effort_rate_limits: ArrayLike | None = None,
) -> Limits:
    """Limits as `time_optimal` takes them; those of the mechanism where None is given.

    Raises:
        InvalidInput: numbers that are no limits, or that contradict each other.
    """
    share = 1.0 - as_scalar("reserve", reserve, at_least=0.0)
    if not share > 0.0:
        raise InvalidInput(f"reserve is {reserve:g}, expected a number below 1", value=reserve)
    count = len(mechanism.joint_names)
    effort = mechanism.effort_limits if effort_limits is None else effort_limits
    velocity = mechanism.velocity_limits if velocity_limits is None else velocity_limits
    acceleration = np.inf if acceleration_limits is None else acceleration_limits
    speed = np.inf if tip_speed is None else tip_speed
    condition = np.inf if condition_limit is None else condition_limit
    curves = effort_curves(mechanism)
    return Limits(
        share * _both_ways("effort_limits", effort, mechanism),
        _positive("velocity_limits", velocity, count),
        _positive("acceleration_limits", acceleration, count),
        float(_positive("tip_speed", speed, 1)[0]),
        float(_positive("condition_limit", condition, 1)[0]),
        as_scalar("characteristic_length", characteristic_length, "m", above=0.0),
        curves._replace(efforts=share * curves.efforts),
        _positive("jerk_limits", np.inf if jerk_limits is None else jerk_limits, count),
        _positive(
            "effort_rate_limits",
            np.inf if effort_rate_limits is None else effort_rate_limits,
            count,
        ),
    )


def _numbers(name: str, value: ArrayLike) -> FloatArray:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be numbers: {error}", value=value) from error
    if np.isnan(array).any():
        raise InvalidInput(f"{name} is {array.tolist()}, expected numbers", value=value)
    return array


def _positive(name: str, value: ArrayLike, count: int) -> FloatArray:
    array = _numbers(name, value)
    if array.shape not in ((), (count,)):
        raise InvalidInput(
            f"{name} has shape {array.shape}, expected a number or ({count},)", value=value
        )
    if not (array > 0.0).all():
        raise InvalidInput(f"{name} is {array.tolist()}, must be above 0", value=value)
    return np.array(np.broadcast_to(array, (count,)))


def _both_ways(name: str, value: ArrayLike, mechanism: Mechanism) -> FloatArray:
    """(n, 2) of a number or (n,), either way, or of (n, 2)."""
    array = _numbers(name, value)
    count = len(mechanism.joint_names)
    if array.shape != (count, 2):
        bound = _positive(name, value, count)
        return np.stack([-bound, bound], axis=1)
    crossed = np.flatnonzero(array[:, 0] >= array[:, 1])
    if crossed.size:
        joint = int(crossed[0])
        raise InvalidInput(
            f"{name}: {mechanism.joint_names[joint]} is to have at least {array[joint, 0]:g} and "
            f"at most {array[joint, 1]:g} {mechanism.effort_units[joint]}, which contradict",
            value=value,
        )
    return np.array(array)
