# SPDX-License-Identifier: Apache-2.0
"""A planned motion led round the singularities on its way."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms import conditioning
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.bounds import Bounds
from robodyn.planning.paths.plan_path import plan_path
from robodyn.planning.paths.projected_space import space_of
from robodyn.planning.paths.verification import verified
from robodyn.trajectories.base import Trajectory

MOTION_SAMPLES = 1001
# The ends of a motion may be this much worse conditioned than the bound that is raised to them.
ROOM = 1.02


def around_singularities(
    mechanism: Mechanism,
    motion: Trajectory,
    condition_limit: float,
) -> Trajectory:
    """The motion itself where it keeps to a condition number, else a path between its ends.

    Where an end is worse conditioned than that, the bound is raised to the worse end's. A path in
    place of the motion takes as much longer as it is longer; it keeps to the limits of the joints.

    Args:
        mechanism: that moves.
        motion: from its beginning to its end.
        condition_limit: largest condition number.

    Raises:
        NoPath, InvalidInput: as `plan_path`.
    """
    times = np.linspace(0.0, motion.duration, MOTION_SAMPLES)
    along = motion.sample(times).configuration
    start, goal = along[0], along[-1]
    ends = mechanism.condition_number(along[[0, -1]])
    limit = max(condition_limit, ROOM * float(ends.max()))
    first = conditioning.side(mechanism, start)
    side = 0.0 if first is None else float(np.sign(first))
    bounds = Bounds(mechanism, limit, 0.0, side=side)
    kept = verified(lambda s: motion.sample(s * motion.duration).configuration, bounds)
    if kept.broken is None:
        return motion
    straight = space_of(mechanism, start, goal).length(along)
    path = plan_path(mechanism, start, goal, limit, duration=None)
    return path.lasting(motion.duration * max(1.0, path.length / max(straight, 1e-9)))
