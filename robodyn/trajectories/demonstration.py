# SPDX-License-Identifier: Apache-2.0

"""Demonstration: a motion within the limits of any mechanism."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from robodyn.algorithms import conditioning
from robodyn.algorithms.travel import within_travel
from robodyn.arrays import FloatArray
from robodyn.errors import KinematicsError, NoSolution, UnderActuated
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Motion, Trajectory
from robodyn.trajectories.line import plan_joints
from robodyn.trajectories.profiles import ProfileName
from robodyn.trajectories.sampled import SampledTrajectory
from robodyn.trajectories.sequence import Sequence
from robodyn.trajectories.straight import plan_straight

# Name of the demonstration as a path.
DEMO = "demo"
# Knots per second if only the mechanism can apply its own coordinates.
KNOTS = 100
# Durations [s] of a displacement to try, and fractions of it.
DURATIONS, SHORTER = (1.0, 2.0, 4.0, 8.0), (1.0, 0.5, 0.25)
# Number of instants at which limits are checked, and the fraction of the limits that may be used.
INSTANTS, FRACTION = 201, 0.95
# Larger steps [rad or m] of a joint between two instants mean that the assembly mode changed.
JUMP = 0.3
# Largest distance of configurations in one assembly mode.
SAME = 1e-6
# Largest number of displacements; any others are omitted.
LARGEST = 200

_log = logging.getLogger(__name__)


def demonstration(
    mechanism: Mechanism,
    largest: int = LARGEST,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Plan small motions from home along each coordinate and back, within all limits.

    Each displacement takes a second, or longer if velocity or effort would exceed a limit. If no
    duration suffices, the displacement is shortened, and finally left out. Limits that the model
    does not state do not apply. If no displacement remains, the mechanism rests at home. At most
    `largest` displacements are planned; a log line reports omitted ones. `progress` is called with
    the completed fraction, 0 to 1.

    Returns:
        The motion, which starts and ends at home.
    """
    ways = np.diag(_amplitudes(mechanism))
    pieces: list[Trajectory] = []
    both = (*ways, *-ways)
    count = min(len(both), largest)
    if count < len(both):
        _log.warning(
            "%s: the demonstration contains only %d of %d paths", mechanism.name, count, len(both)
        )
    for number, way in enumerate(both[:count]):
        pieces += _round_trip(mechanism, way)
        if progress is not None:
            progress((number + 1) / count)
    if not pieces:
        pieces = [plan_straight(mechanism, mechanism.home, mechanism.home, duration=1.0)]
    return pieces[0] if len(pieces) == 1 else Sequence(tuple(pieces))


def within_limits(mechanism: Mechanism, configurations: FloatArray) -> bool:
    """Return whether all joint positions are within their limits.

    They must be so at all `configurations` (..., nq); the limits include those of passive joints.
    """
    return bool(within_travel(mechanism, configurations).all())


def _amplitudes(mechanism: Mechanism) -> FloatArray:
    """Return the displacement amplitude (nv,) [m or rad] for each coordinate."""
    coordinates = mechanism.coordinates
    if coordinates.velocity_names != mechanism.joint_names:
        far = {"m": 0.12 * mechanism.size, "rad": 0.15}
        return np.array([far[unit] for unit in coordinates.units])
    span = np.minimum(np.diff(mechanism.position_limits, axis=1)[:, 0], 6.0)
    return np.asarray(0.1 * span)


def _round_trip(mechanism: Mechanism, way: FloatArray) -> list[Trajectory]:
    """Plan motions from home along a displacement and back.

    If the displacement is not feasible, shorter fractions of it are tried. The list is empty if
    all of them fail.
    """
    home = mechanism.home
    for part in SHORTER:
        # from some home positions a loop can move only a little before it no longer closes
        with suppress(KinematicsError):
            step = part * way
            goal = _configurations(mechanism, home, np.linspace(0.0 * step, step, KNOTS + 1))[-1]
            for duration in DURATIONS if within_limits(mechanism, goal) else ():
                there = _motion(mechanism, home, goal, step, duration)
                back = _motion(mechanism, goal, home, -step, duration)
                if _is_feasible(mechanism, there) and _is_feasible(mechanism, back):
                    return [there, back]
    return []


def _is_feasible(mechanism: Mechanism, motion: Trajectory) -> bool:
    """Return whether a motion is within all limits and away from singularities."""
    q, v, a = motion.sample(np.linspace(0.0, motion.duration, INSTANTS))
    if not within_limits(mechanism, q) or np.abs(np.diff(q, axis=0)).max() > JUMP:
        return False
    try:
        velocities = mechanism.joint_velocities(q, v)
        efforts = mechanism.inverse_dynamics(q, v, a)
    except (KinematicsError, UnderActuated):
        return False
    determinant = conditioning.determinant(mechanism, q)
    limits = mechanism.drives.effort_limits_at(velocities)
    return bool(
        (np.abs(velocities) <= FRACTION * mechanism.velocity_limits).all()
        and (np.abs(efforts) <= FRACTION * limits).all()
        and (determinant is None or np.ptp(np.sign(determinant)) == 0.0)
    )


def _motion(
    mechanism: Mechanism, start: FloatArray, goal: FloatArray, way: FloatArray, duration: float
) -> Trajectory:
    """Plan a motion from rest at one configuration to rest at another configuration."""
    profile: ProfileName = "quintic"
    if not mechanism.coordinates.is_constrained:
        return plan_straight(mechanism, start, goal, duration=duration, profile=profile)
    # the quintic in the mechanism's independent coordinates, which only it can apply
    independent = plan_joints(np.zeros(len(way)), way, duration, profile=profile)
    times = np.linspace(0.0, duration, round(KNOTS * duration) + 1)
    displacement, velocity, acceleration = independent.sample(times)
    motion = Motion(_configurations(mechanism, start, displacement), velocity, acceleration)
    if np.abs(motion.configuration[-1] - goal).max() > SAME:
        raise NoSolution("the path ends in another assembly mode", residual=np.inf, value=way)
    return SampledTrajectory(mechanism, times, motion)


def _configurations(
    mechanism: Mechanism, start: FloatArray, displacements: FloatArray
) -> FloatArray:
    """Solve for configurations (K, nq) at displacements (K, nv) from a start.

    The search for each configuration starts at the previous configuration.

    Raises:
        NoSolution: the mechanism cannot follow the displacements from the start.
    """
    if not mechanism.coordinates.is_constrained:
        return mechanism.advance(start, displacements)
    found = [start]
    for step in np.diff(displacements, axis=0):
        there = mechanism.solver.unchecked.try_advance(found[-1], step)
        if there is None:
            raise NoSolution("the loops do not close along this path", residual=np.inf, value=step)
        found.append(there)
    return np.array(found)
