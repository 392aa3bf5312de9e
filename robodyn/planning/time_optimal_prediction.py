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

"""Where a mechanism will be a little later, so that a motion planned meanwhile can begin there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.control.path_progress import PathProgress
from robodyn.trajectories.base import Motion

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories.base import Trajectory


def state_after(
    mechanism: Mechanism,
    stamp: int,
    configuration: FloatArray,
    velocity: FloatArray,
    lead: float,
    followed: tuple[Trajectory, int] | None,
) -> Motion:
    """The motion expected `lead` [s] after a state.

    Args:
        mechanism: what moves.
        stamp: [ns] of the state.
        configuration, velocity: (nq,) and (nv,) of the state.
        lead: [s].
        followed: the trajectory that it follows, and its start [ns]; None if none is known.
    """
    if followed is not None:
        trajectory, start = followed
        reached = PathProgress(mechanism, trajectory, start).at(stamp, configuration)
        if reached is not None:
            return trajectory.sample(reached + lead)
    ahead = mechanism.advance(configuration, lead * velocity)
    return Motion(ahead, velocity, 0.0 * velocity)
