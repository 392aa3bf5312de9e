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

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import KinematicsError
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


def demonstration(mechanism: Mechanism) -> Trajectory:
    """A small motion along each coordinate from home and back, as far as the limits allow it."""
    home = mechanism.home
    ways = np.diag(_amplitudes(mechanism))
    pieces: list[Trajectory] = []
    for way in (*ways, *-ways):
        if within_limits(mechanism, mechanism.advance(home, way)):
            pieces += [_there(mechanism, way), _back(mechanism, way)]
    if not pieces:
        pieces = [_there(mechanism, np.zeros(len(ways)))]
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


def _there(mechanism: Mechanism, way: FloatArray) -> Trajectory:
    home = mechanism.home
    return _move(mechanism, home, mechanism.advance(home, way), way)


def _back(mechanism: Mechanism, way: FloatArray) -> Trajectory:
    home = mechanism.home
    return _move(mechanism, mechanism.advance(home, way), home, -way)


def _move(mechanism: Mechanism, start: FloatArray, goal: FloatArray, way: FloatArray) -> Trajectory:
    """From rest to rest in a second."""
    profile = "quintic" if way.any() else "lspb"
    coordinates = mechanism.coordinates
    if coordinates.is_pose:
        return plan_line(start, goal, 1.0, profile=profile)
    if coordinates.configuration_size == coordinates.velocity_size:
        return plan_joints(start, goal, 1.0, profile=profile)
    # the quintic in the mechanism's independent coordinates, which only it can apply
    independent = plan_joints(np.zeros(len(way)), way, 1.0, profile=profile)
    times = np.linspace(0.0, 1.0, KNOTS + 1)
    displacement, velocity, acceleration = independent.sample(times)
    start = np.broadcast_to(start, (len(times), len(start)))
    motion = Motion(mechanism.advance(start, displacement), velocity, acceleration)
    return SampledTrajectory(mechanism, times, motion)
