# SPDX-License-Identifier: Apache-2.0

"""From where a mechanism is to where a plan starts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories.base import Motion, Trajectory
from robodyn.trajectories.sampled import SampledTrajectory
from robodyn.trajectories.sequence import Sequence
from robodyn.trajectories.straight import plan_straight

# Of a driven joint [m or rad]: what is nearer than this counts as there.
THERE = 1e-4
# How long the mechanism rests between the approach and the plan [s].
REST = 0.2


class Distance(NamedTuple):
    """How far a mechanism is from where a plan starts.

    Attributes:
        joint: [m or rad] the largest difference of a driven joint.
        text: of a body in space the distance and the angle, else that joint and its difference.
    """

    joint: float
    text: str

    @property
    def is_there(self) -> bool:
        """Whether the mechanism is at the start, as far as measurements can tell."""
        return self.joint <= THERE


def distance_to_start(mechanism: Mechanism, here: FloatArray, plan: Trajectory) -> Distance:
    """From a configuration (nq,) to the beginning of a plan."""
    start = plan.sample(0.0).configuration
    first, last = mechanism.joint_positions(np.stack([here, start]))
    difference = np.abs(last - first)
    worst = int(difference.argmax())
    if mechanism.tracking.by_coordinate:
        unit, name = mechanism.joint_units[worst], mechanism.joint_names[worst]
        return Distance(float(difference[worst]), f"{difference[worst]:.3g} {unit} ({name})")
    way = mechanism.difference(here, start)
    shift, turn = float(np.linalg.norm(way[:3])), float(np.linalg.norm(way[3:]))
    parts = [f"{shift:.3g} m"] if shift > THERE else []
    parts += [f"{turn:.3g} rad"] if turn > THERE or not parts else []
    return Distance(float(difference[worst]), " and ".join(parts))


def plan_approach(
    mechanism: Mechanism,
    here: FloatArray,
    plan: Trajectory,
    v_max: float,
    w_max: float,
    profile: str = "lspb",
) -> Trajectory:
    """The straight motion from a configuration (nq,), at rest, to the beginning of a plan.

    Args:
        mechanism: what is to move.
        here: where it is.
        plan: what it is to follow afterwards.
        v_max, w_max, profile: as for `plan_straight`.

    Raises:
        InfeasibleTrajectory: as `plan_straight`.
        NoSolution: a closed loop cannot be assembled on the way.
    """
    goal = plan.sample(0.0).configuration
    return plan_straight(mechanism, here, goal, v_max=v_max, w_max=w_max, profile=profile)


def joined_motion(mechanism: Mechanism, approach: Trajectory, plan: Trajectory) -> Sequence:
    """An approach, a rest where it ends, and the plan."""
    there = plan.sample(0.0).configuration
    still = np.zeros((1, mechanism.coordinates.velocity_size))
    rest = SampledTrajectory(mechanism, [REST], Motion(there[None], still, still))
    return Sequence((approach, rest, plan))
