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

"""A straight line of the body that a mechanism moves, in the mechanism's own coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.checks import as_exact
from robodyn.trajectories.base import Motion
from robodyn.trajectories.line import plan_line
from robodyn.trajectories.sampled import SampledTrajectory, knot_times

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.mechanisms.serial.arm import SerialArm


def plan_tip_line(
    arm: SerialArm, start: ArrayLike, goal: ArrayLike, *, period: float = 0.005, **profile: Any
) -> SampledTrajectory:
    """The joints' motion that takes the tip to a pose along a straight line.

    Position and roll, pitch and yaw of the tip run with parabolic blends, as a platform's do
    (Dasgupta and Mruthyunjaya, 1998, section 6); the joints follow by inverse kinematics at knots
    and by the cubic through configurations and rates between them.

    Args:
        arm: whose tip it is.
        start: (n,) configuration [rad or m] to start from.
        goal: (7,) pose [m, -] of the tip, base frame.
        period: [s] between knots.
        profile: `duration`, `v_max`, `w_max`, `profile`, as for `plan_line`.

    Raises:
        InvalidInput: shapes that do not match, or not finite.
        InfeasibleTrajectory: as `plan_line`.
        NoSolution: a pose on the way that the arm cannot reach from the one before.
    """
    q = as_exact("start", start, (arm.n,), "rad or m")
    line = plan_line(arm.body_pose(q), goal, **profile)
    times = knot_times(line.duration, line.switching_times, period)
    tip = line.sample(times)
    return SampledTrajectory(arm, times, Motion(*arm.follow_tip(times, *tip, q)))
