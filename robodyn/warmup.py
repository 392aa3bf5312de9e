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

"""Bring the kernels of a mechanism to life before time matters."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis.conditioning import condition_rate, weakest_direction
from robodyn.analysis.lookahead import look_ahead
from robodyn.analysis.slowing import SpeedScale
from robodyn.control.follower import TrajectoryFollower
from robodyn.control.joint_space import joint_motion
from robodyn.errors import RobodynError
from robodyn.mechanisms.stewart.estimation import PlatformEstimator, twist_covariance_in_body
from robodyn.poses import twist_in_base, twist_in_body
from robodyn.simulation.plant import Plant
from robodyn.trajectories.base import Motion
from robodyn.trajectories.sampled import SampledTrajectory

if TYPE_CHECKING:
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.mechanisms.stewart.platform import StewartPlatform

SECOND = 1_000_000_000  # [ns]
STEP = 1e-4  # [m, rad] aside of home


def warm_up(mechanism: Mechanism) -> None:
    """Call once, about home, what control and simulation call: compiled or loaded, it is fast then.

    The first call of a kernel costs some 0.1 s where its machine code is cached on disk and
    seconds where it is not.
    """
    home = mechanism.home
    rest = mechanism.difference(home, home)
    if mechanism.kind == "stewart":
        twist_in_base(home, twist_in_body(home, rest))
    mechanism.joint_velocities(home, rest)
    effort = mechanism.inverse_dynamics(home, rest, rest)
    Plant(mechanism).hold(np.asarray(effort), 1)
    # that its home is no place to fly about is not ours to tell
    with suppress(RobodynError):
        path = _aside(mechanism)
        _fly(mechanism, path)
        joint_motion(mechanism, path, path.times)


def warm_up_watching(mechanism: Mechanism) -> None:
    """The same for what looks at configurations and paths for singularities."""
    home, rest = mechanism.home, np.zeros(len(mechanism.joint_names))
    with suppress(RobodynError):
        path = _aside(mechanism)
        mechanism.condition_number(home)
        weakest_direction(mechanism, home)
        condition_rate(mechanism, home, rest)
        scale = SpeedScale(mechanism, 1.0, 1e300)
        scale.follow(path)
        scale.at(0, home, rest)
        look_ahead(mechanism, path)


def warm_up_estimating(platform: StewartPlatform) -> None:
    """The same for what finds a platform by its legs' readings."""
    rest = np.zeros(6)
    with suppress(RobodynError):
        estimate = PlatformEstimator(platform).update(
            0, platform.joint_positions(platform.home), rest
        )
        if estimate is not None:
            twist_covariance_in_body(estimate.pose, estimate.twist_covariance)
            platform.leg_joint_states(estimate.pose, rest)


def _aside(mechanism: Mechanism) -> SampledTrajectory:
    """From home to a place beside it in a second."""
    still = np.zeros((2, len(mechanism.joint_names)))
    aside = mechanism.advance(mechanism.home, np.full(still.shape[1], STEP))
    motion = Motion(np.array([mechanism.home, aside]), still, still)
    return SampledTrajectory(mechanism, [0.0, 1.0], motion)


def _fly(mechanism: Mechanism, path: SampledTrajectory) -> None:
    """Follow a path, and another one in its midst."""
    follower = TrajectoryFollower(mechanism, predicts=True)
    follower.follow(path)
    rest = np.zeros(len(mechanism.joint_names))
    for time in (0, SECOND // 4, SECOND // 2, SECOND):
        if time == SECOND // 2:
            follower.follow(path, time)
        follower.command(time, mechanism.home, rest, np.zeros(6))
