# SPDX-License-Identifier: Apache-2.0

"""Handovers and stops within the limits of velocities, efforts and positions of the joints.

A handover takes longer if the limits require it. In a stop the velocity decreases as
v0 (1 - 3 x^2 + 2 x^3), x = t/T: it never reverses, and the acceleration begins and ends at zero.
The mechanism comes to rest after a further T v0/2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.algorithms import travel
from robodyn.algorithms.travel import travel_limits, travel_positions
from robodyn.arrays import FloatArray
from robodyn.errors import InfeasibleTrajectory, KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories import Handover, Motion, SampledTrajectory, Trajectory

# Relative excess over a limit that counts as rounding.
EXCESS_TOLERANCE = 1e-6
# Factor between the durations of successive trials of a handover; none exceeds LONGEST [s].
LONGER = 1.4
LONGEST = 30.0
# Number of equal intervals of a handover, and of a stop, at whose ends limits are checked.
HANDOVER_INTERVALS, STOP_INTERVALS = 100, 40
# Durations of stops to try, as multiples of the requested one: longer ones for rates and
# efforts, then shorter ones, which stop before the end of a joint.
MULTIPLES = (1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 0.7, 0.5, 0.25)


def limited_handover(
    mechanism: Mechanism, old: Motion, new: Trajectory, blend: float, *, start: float = 0.0
) -> Handover:
    """Plan a handover in `blend` [s], or in the shortest longer time within limits.

    The velocity and the effort of each joint stay within their limits. If the old motion at the
    beginning, or the new motion at the same time, exceeds a limit already, that value replaces the
    limit.

    Args:
        mechanism, old, new, blend, start: as for `Handover`.

    Returns:
        The trajectory of the handover, followed by `new`.

    Raises:
        InvalidInput: as for `Handover`.
        InfeasibleTrajectory: no handover of up to 30 s satisfies the limits; the message states
            limit, joint and excess of the last one.
    """
    handover = Handover(mechanism, old, new, blend, start=start)
    limits = mechanism.velocity_limits, mechanism.effort_limits
    if (
        not any(np.isfinite(limit).any() for limit in limits)
        and not mechanism.drives.has_torque_speed_curve
    ):
        return handover
    with np.errstate(all="ignore"):
        before = drive_demand(mechanism, row(old))
        while True:
            times = handover.start + np.linspace(0.0, handover.blend, HANDOVER_INTERVALS + 1)
            found, own = (drive_demand(mechanism, path.sample(times)) for path in (handover, new))
            broken = worst_violation(mechanism, found, own, before).text
            if not broken:
                return handover
            longer = handover.blend * LONGER
            if longer > LONGEST:
                raise InfeasibleTrajectory(
                    f"no transition of at most {handover.blend:.3g} s to the motion stays within "
                    f"the limits: {broken}; move closer to its start first",
                    value=handover.blend,
                )
            handover = Handover(mechanism, old, new, longer, start=start)


def limited_stop(
    mechanism: Mechanism, motion: Motion, duration: float
) -> tuple[Handover | None, str]:
    """Plan a stop in `duration` [s], or in another time within the limits.

    A stop is always possible: if no duration satisfies all limits, the result exceeds them least.

    Args:
        mechanism: moving mechanism.
        motion: single motion at the beginning; its acceleration determines the initial efforts.
        duration: [s] requested duration of the stop, above 0.

    Returns:
        The motion to rest, and a description of the limit that it exceeds, if any. The motion is
        None if the mechanism has no configuration further along it.
    """
    best: Handover | None = None
    least = LimitViolation(
        np.inf, f"{mechanism.name} cannot continue its motion and stops immediately"
    )
    with np.errstate(all="ignore"):
        before = drive_demand(mechanism, row(motion))
        for multiple in MULTIPLES:
            try:
                stop = _stop(mechanism, motion, multiple * duration)
                way = stop.sample(np.linspace(0.0, stop.blend, STOP_INTERVALS + 1))
                left = _travel_excess(mechanism, travel_positions(mechanism, way.configuration))
            except KinematicsError:
                continue
            by_demand = worst_violation(mechanism, drive_demand(mechanism, way), before)
            broken = max(by_demand, left, key=lambda broken: broken.ratio)
            if broken.ratio < least.ratio:
                best, least = stop, broken
            if not broken.text:
                break
    return best, least.text and f"the stop exceeds a limit: {least.text}"


def _stop(mechanism: Mechanism, motion: Motion, duration: float) -> Handover:
    further = mechanism.advance(motion.configuration, 0.5 * duration * motion.velocity)
    still = np.zeros((1, len(motion.velocity)))
    end = SampledTrajectory(mechanism, [0.0], Motion(further[None], still, still))
    return Handover(mechanism, motion._replace(acceleration=still[0]), end, duration)


def _travel_excess(mechanism: Mechanism, positions: FloatArray) -> LimitViolation:
    """Find the position limit whose violation grows most from the start of a motion."""
    lower, upper = travel.travel_bounds(mechanism).T
    outside = np.maximum(np.maximum(lower - positions, positions - upper), 0.0)
    more = outside - outside[0]
    if not (more > 0.0).any():
        return WITHIN_LIMITS
    instant, joint = np.unravel_index(int(np.argmax(more)), more.shape)
    name, unit = travel_limits(mechanism)[joint][:2]
    span = float(upper[joint] - lower[joint])
    return LimitViolation(
        1.0 + float(more[instant, joint]) / (span if np.isfinite(span) else 1.0),
        f"{name} reaches {positions[instant, joint]:.4g} {unit}, its range "
        f"is {lower[joint]:.4g} to {upper[joint]:.4g} {unit}",
    )


class DriveDemand(NamedTuple):
    """Velocities and efforts of the driven joints at K instants of a motion.

    Attributes:
        rates: (K, n) [m/s or rad/s] magnitudes of the velocities.
        efforts: (K, n) [N or N m] magnitudes of the efforts.
    """

    rates: FloatArray
    efforts: FloatArray


class LimitViolation(NamedTuple):
    """Result of a limit check: the limit that a motion exceeds most.

    Attributes:
        ratio: value relative to the limit; infinite if there is no motion.
        text: description of joint, value and limit; empty if all limits hold.
    """

    ratio: float
    text: str


WITHIN_LIMITS = LimitViolation(0.0, "")


def drive_demand(mechanism: Mechanism, motion: Motion) -> DriveDemand | None:
    """Compute the velocities and efforts that a motion requires of the driven joints.

    Args:
        mechanism: mechanism that moves.
        motion: configurations (K, nq), velocities and accelerations (K, nv).

    Returns:
        Magnitudes (K, n) of the velocities and efforts; None if the kinematics have no solution.
    """
    configuration, velocity, _ = motion
    try:
        return DriveDemand(
            np.abs(mechanism.joint_velocities(configuration, velocity)),
            np.abs(mechanism.inverse_dynamics(*motion)),
        )
    except KinematicsError:
        return None


def worst_violation(
    mechanism: Mechanism, found: DriveDemand | None, *others: DriveDemand | None
) -> LimitViolation:
    """Find the velocity limit or, if all hold, the effort limit that is exceeded most.

    Args:
        mechanism: mechanism with the limits.
        found: velocities and efforts of the motion.
        others: motions whose own values beyond the limits are permitted.

    Returns:
        The violation, with joint, value and limit as text; the text is empty if all limits hold.
    """
    if found is None:
        text = f"{mechanism.name} cannot reach all configurations of this motion"
        return LimitViolation(np.inf, text)
    # a motor's torque falls with its speed
    efforts = mechanism.drives.effort_limits_at(np.nan_to_num(found.rates))
    limits = np.broadcast_to(mechanism.velocity_limits, found.rates.shape), efforts
    units = tuple(f"{unit}/s" for unit in mechanism.drives.units), mechanism.drives.effort_units
    for index, (values, limit) in enumerate(zip(found, limits, strict=True)):
        allowed = limit
        for other in others:
            if other is not None:
                # fmax ignores NaN: motions without efforts
                allowed = np.fmax(allowed, other[index])
        over = ~(values <= allowed * (1.0 + EXCESS_TOLERANCE))
        if over.any():
            fraction = np.where(over, values / limit, 0.0)
            row, joint = np.unravel_index(int(np.argmax(fraction)), fraction.shape)
            unit = units[index][joint]
            return LimitViolation(
                float(fraction[row, joint]),
                f"{mechanism.joint_names[joint]} reaches {values[row, joint]:.4g} {unit}, its "
                f"limit is {limit[row, joint]:.4g} {unit}",
            )
    return WITHIN_LIMITS


def row(motion: Motion) -> Motion:
    """Convert a single motion to a batch of one motion, with arrays (1, k)."""
    return type(motion)(*(np.asarray(values)[None] for values in motion))
