# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A motion that shows what a mechanism of any kind can do, where no path is given."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import KinematicsError
from robodyn.mechanisms.common.motor_limits import effort_limits_at
from robodyn.trajectories.base import Motion
from robodyn.trajectories.joints import plan_joints
from robodyn.trajectories.line import plan_line
from robodyn.trajectories.sampled import SampledTrajectory
from robodyn.trajectories.sequence import Sequence

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories.base import Trajectory

# The name under which it is asked for.
DEMO = "demo"
# Knots per second where only the mechanism can follow its own coordinates.
KNOTS = 100
# Of a way [s], tried from the shortest on, and how much of it, from all of it on.
DURATIONS, SHORTER = (1.0, 2.0, 4.0, 8.0), (1.0, 0.5, 0.25)
# Instants of a way at which it is held against the limits, and the share of them that it may use.
INSTANTS, SHARE = 201, 0.95
# A step [rad or m] between two of these that no joint makes: another assembly was found.
JUMP = 0.3


def demonstration(mechanism: Mechanism) -> Trajectory:
    """A small motion along each coordinate from home and back, within all limits.

    Each way takes a second, or longer where velocity or effort would be beyond a limit; if it
    cannot be slow enough it is shortened, and left out if that is not enough. What has no limits
    in its description is not limited. Where no way is left the mechanism rests at home.
    """
    ways = np.diag(_amplitudes(mechanism))
    pieces: list[Trajectory] = []
    for way in (*ways, *-ways):
        pieces += _there_and_back(mechanism, way)
    if not pieces:
        home = mechanism.home
        pieces = [_move(mechanism, home, home, np.zeros(len(ways)), 1.0)]
    return pieces[0] if len(pieces) == 1 else Sequence(tuple(pieces))


def within_limits(mechanism: Mechanism, configurations: FloatArray) -> bool:
    """Whether all driven joints keep to their limits at configurations (..., nq)."""
    limits = mechanism.position_limits
    try:
        positions = mechanism.joint_positions(configurations)
    except KinematicsError:
        return False
    return bool(((positions >= limits[:, 0]) & (positions <= limits[:, 1])).all())


def _amplitudes(mechanism: Mechanism) -> FloatArray:
    """(nv,) [m or rad] how far to go along each coordinate."""
    coordinates = mechanism.coordinates
    if coordinates.is_pose or coordinates.velocity_names != mechanism.joint_names:
        far = {"m": 0.12 * mechanism.size, "rad": 0.15}
        return np.array([far[unit] for unit in coordinates.units])
    span = np.minimum(np.diff(mechanism.position_limits, axis=1)[:, 0], 6.0)
    return np.asarray(0.1 * span)


def _there_and_back(mechanism: Mechanism, way: FloatArray) -> list[Trajectory]:
    """Two motions within all limits, or none."""
    for part in SHORTER:
        # from some homes a loop cannot go far before it no longer closes
        with suppress(KinematicsError):
            found = _pair(mechanism, part * way)
            if found:
                return found
    return []


def _pair(mechanism: Mechanism, way: FloatArray) -> list[Trajectory]:
    """There and back by a displacement, within all limits; or none."""
    home = mechanism.home
    goal = mechanism.advance(home, way)
    if not within_limits(mechanism, goal):
        return []
    for duration in DURATIONS:
        there = _move(mechanism, home, goal, way, duration)
        back = _move(mechanism, goal, home, -way, duration)
        if _is_easy(mechanism, there) and _is_easy(mechanism, back):
            return [there, back]
    return []


def _is_easy(mechanism: Mechanism, motion: Trajectory) -> bool:
    """Whether positions, velocities and efforts keep to the limits, away from singularities."""
    q, v, a = motion.sample(np.linspace(0.0, motion.duration, INSTANTS))
    if not within_limits(mechanism, q) or np.abs(np.diff(q, axis=0)).max() > JUMP:
        return False
    try:
        velocities = mechanism.joint_velocities(q, v)
        efforts = mechanism.inverse_dynamics(q, v, a)
    except KinematicsError:
        return False
    determinant = mechanism.determinant(q)
    limits = effort_limits_at(mechanism, velocities)
    return bool(
        (np.abs(velocities) <= SHARE * mechanism.velocity_limits).all()
        and (np.abs(efforts) <= SHARE * limits).all()
        and (determinant is None or np.ptp(np.sign(determinant)) == 0.0)
    )


def _move(
    mechanism: Mechanism, start: FloatArray, goal: FloatArray, way: FloatArray, duration: float
) -> Trajectory:
    """From rest to rest."""
    profile = "quintic" if way.any() else "lspb"
    coordinates = mechanism.coordinates
    if coordinates.is_pose:
        return plan_line(start, goal, duration, profile=profile)
    if coordinates.configuration_size == coordinates.velocity_size:
        return plan_joints(start, goal, duration, profile=profile)
    # the quintic in the mechanism's independent coordinates, which only it can apply
    independent = plan_joints(np.zeros(len(way)), way, duration, profile=profile)
    times = np.linspace(0.0, duration, round(KNOTS * duration) + 1)
    displacement, velocity, acceleration = independent.sample(times)
    start = np.broadcast_to(start, (len(times), len(start)))
    motion = Motion(mechanism.advance(start, displacement), velocity, acceleration)
    return SampledTrajectory(mechanism, times, motion)
