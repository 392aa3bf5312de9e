# SPDX-License-Identifier: Apache-2.0

"""Detection of commands without effect, by the errors of the driven joints.

Commands may be lost: a controller in between was switched off, brakes are closed, an emergency stop
was pressed. If the planned motion continued during that time, the mechanism would jump to it when
commands take effect again.
"""

from __future__ import annotations

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import FloatArray
from robodyn.control.goal_watch import Errors, Tolerances, describe_violation
from robodyn.errors import KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Motion

# [rad], [m] Default tolerances of revolute and prismatic joints.
TURNING, SLIDING = 0.1, 0.02
DEFAULT_TOLERANCE = -1.0  # number that selects the defaults
# [s] After a motion was abandoned, errors are predicted this far ahead. Effective efforts keep the
# error from growing; a falling mechanism is detected within a fifth of the tolerance.
PREDICTION_TIME = 0.2


def path_tolerances(mechanism: Mechanism, given: float) -> FloatArray | None:
    """Return the largest permitted errors (n,) [m or rad] of the driven joints.

    Args:
        mechanism: mechanism with these joints.
        given: one tolerance for all joints; 0 for no limit; negative for the defaults TURNING and
            SLIDING.

    Returns:
        The largest permitted errors (n,); None for no limit.
    """
    if given == 0.0:
        return None
    if given > 0.0:
        return np.full(len(mechanism.joint_names), given)
    return np.array([SLIDING if unit == "m" else TURNING for unit in mechanism.drives.units])


def describe_deviation(
    mechanism: Mechanism,
    tolerance: FloatArray,
    motion: Motion,
    configuration: FloatArray,
    velocity: FloatArray | None = None,
) -> str:
    """Describe a joint whose error exceeds its tolerance.

    Args:
        mechanism: moving mechanism.
        tolerance: (n,) [m or rad] largest permitted errors.
        motion: planned motion.
        configuration: (nq,) measured configuration.
        velocity: (nv,) measured velocity; if given, errors are predicted PREDICTION_TIME ahead.

    Returns:
        The description; empty if all errors are within the tolerances.
    """
    try:
        both = np.stack([motion.configuration, configuration])
        planned, measured = mechanism.joint_positions(both)
        error = motions.joint_difference(mechanism, measured, planned)
        if velocity is not None:
            rates = mechanism.joint_velocities(motion.configuration, motion.velocity)
            error += PREDICTION_TIME * (rates - mechanism.joint_velocities(configuration, velocity))
    except KinematicsError:
        return ""  # joint positions are unknown there
    if (np.abs(error) <= tolerance).all():
        return ""
    still, unlimited = np.zeros_like(error), np.full_like(error, np.inf)
    return describe_violation(
        mechanism.joint_names, Tolerances(tolerance, unlimited), Errors(error, still), "path"
    )
