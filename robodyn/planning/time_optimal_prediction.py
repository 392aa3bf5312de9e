# SPDX-License-Identifier: Apache-2.0

"""Where a mechanism will be a little later, so that a motion planned meanwhile can begin there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.control.path_progress import PathProgress
from robodyn.trajectories.base import Motion

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism
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
