# SPDX-License-Identifier: Apache-2.0
"""Detours around the singularities on a planned motion."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms import conditioning
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.bounds import Bounds
from robodyn.planning.paths.plan_path import plan_path
from robodyn.planning.paths.projected_space import space_of
from robodyn.planning.paths.verification import verify_curve
from robodyn.trajectories.base import Trajectory

MOTION_SAMPLES = 1001
# Factor by which the raised condition limit exceeds the worse end's condition number.
LIMIT_MARGIN = 1.02


def around_singularities(
    mechanism: Mechanism,
    motion: Trajectory,
    condition_limit: float,
) -> Trajectory:
    """Replace a motion that passes near a singularity by a detour between its ends.

    The motion is replaced if the condition number of the Jacobian exceeds `condition_limit` along
    it. If the condition number at an end exceeds the limit, the larger one of both ends becomes the
    limit. The detour respects the joints' limits; if it is longer than the motion's path, it lasts
    proportionally longer.

    Args:
        mechanism: mechanism that moves.
        motion: trajectory from start to end.
        condition_limit: largest permitted condition number.

    Returns:
        The motion itself, or a path from `plan_path` between its ends.

    Raises:
        NoPath, InvalidInput: as for `plan_path`.
    """
    times = np.linspace(0.0, motion.duration, MOTION_SAMPLES)
    along = motion.sample(times).configuration
    start, goal = along[0], along[-1]
    ends = mechanism.condition_number(along[[0, -1]])
    limit = max(condition_limit, LIMIT_MARGIN * float(ends.max()))
    first = conditioning.side(mechanism, start)
    side = 0.0 if first is None else float(np.sign(first))
    bounds = Bounds(mechanism, limit, 0.0, side=side)
    kept = verify_curve(lambda s: motion.sample(s * motion.duration).configuration, bounds)
    if kept.violation is None:
        return motion
    straight = space_of(mechanism, start, goal).length(along)
    path = plan_path(mechanism, start, goal, limit, duration=None)
    return path.with_duration(motion.duration * max(1.0, path.length / max(straight, 1e-9)))
