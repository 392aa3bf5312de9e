# SPDX-License-Identifier: Apache-2.0
"""Straight motions of any mechanism, for example to the start of a plan."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.tracking import tracking_of
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.trajectories.base import Motion, Trajectory
from robodyn.trajectories.line import plan_joints, plan_line
from robodyn.trajectories.profiles import ProfileName
from robodyn.trajectories.sampled import SampledTrajectory, knot_times
from robodyn.trajectories.sequence import Sequence

# Time [s] between knots of a motion whose configurations are solved from independent joints.
PERIOD = 0.01
# Tolerance of driven joints [m or rad] within which a position is reached.
POSITION_TOLERANCE = 1e-4
# Time [s] at rest between the approach and the plan.
REST = 0.2


def plan_straight(
    mechanism: Mechanism,
    start: ArrayLike,
    goal: ArrayLike,
    *,
    duration: float | None = None,
    v_max: float | None = None,
    w_max: float | None = None,
    profile: ProfileName = "lspb",
) -> Trajectory:
    """Plan a straight motion between two configurations of any mechanism.

    Poses are connected by `plan_line`, joints by `plan_joints`. The independent joints of a closed
    loop move along a straight line, and the others follow.

    Args:
        mechanism: mechanism to move.
        start, goal: configurations (nq,).
        duration: [s]; computed from the limits if None.
        v_max: largest speed [m/s] of a body, [rad/s or m/s] of joints.
        w_max: largest rate [rad/s] of a body's roll, pitch and yaw; not used for joints.
        profile: `lspb`, `cubic`, `quintic` or `cycloidal`.

    Returns:
        The motion, from rest to rest.

    Raises:
        InvalidInput: arrays are invalid, or neither duration nor limits are given.
        InfeasibleTrajectory: the limits do not permit the duration.
        NoSolution: a closed loop cannot be assembled along the motion.
    """
    start, goal = np.asarray(start, dtype=np.float64), np.asarray(goal, dtype=np.float64)
    goal = mechanism.coordinates.wrap_near(goal, start)
    if mechanism.coordinates.is_pose:
        return plan_line(start, goal, duration, v_max, w_max, profile=profile)
    if len(mechanism.independent_joints) == mechanism.coordinates.configuration_size:
        return plan_joints(start, goal, duration, v_max, profile)
    first, last = presentation.values_of(mechanism, np.array([start, goal]))
    line = plan_joints(first, last, duration, v_max, profile)
    times = knot_times(line.duration, line.switching_times, PERIOD)
    motion = motions.motion_of_independent(mechanism, *line.sample(times), guess=start)
    return SampledTrajectory(mechanism, times, motion)


class Distance(NamedTuple):
    """Distance between a mechanism and the start of a plan.

    Attributes:
        joint: largest difference [m or rad] of a driven joint.
        text: description for messages: for a body in space the distance and the angle, otherwise
            that joint and its difference.
    """

    joint: float
    text: str

    @property
    def is_there(self) -> bool:
        """Whether the mechanism is at the start of the plan, within measurement accuracy."""
        return self.joint <= POSITION_TOLERANCE


def distance_to_start(mechanism: Mechanism, here: FloatArray, plan: Trajectory) -> Distance:
    """Compute the distance from a configuration (nq,) to the start of a plan."""
    start = plan.sample(0.0).configuration
    first, last = mechanism.joint_positions(np.stack([here, start]))
    difference = np.abs(motions.joint_difference(mechanism, first, last))
    worst = int(difference.argmax())
    if tracking_of(mechanism).by_coordinate:
        unit, name = mechanism.drives.units[worst], mechanism.joint_names[worst]
        return Distance(float(difference[worst]), f"{difference[worst]:.3g} {unit} ({name})")
    way = mechanism.difference(here, start)
    shift, turn = float(np.linalg.norm(way[:3])), float(np.linalg.norm(way[3:]))
    parts = [f"{shift:.3g} m"] if shift > POSITION_TOLERANCE else []
    parts += [f"{turn:.3g} rad"] if turn > POSITION_TOLERANCE or not parts else []
    return Distance(float(difference[worst]), " and ".join(parts))


def join_motions(mechanism: Mechanism, approach: Trajectory, plan: Trajectory) -> Sequence:
    """Create a sequence of an approach, a rest at its end, and a planned motion."""
    there = plan.sample(0.0).configuration
    still = np.zeros((1, mechanism.coordinates.velocity_size))
    rest = SampledTrajectory(mechanism, [REST], Motion(there[None], still, still))
    return Sequence((approach, rest, plan))
