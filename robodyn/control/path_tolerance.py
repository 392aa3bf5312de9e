# SPDX-License-Identifier: Apache-2.0

"""Whether a mechanism does what it is commanded: its joints stay near where they are wanted.

Commands may be lost on the way: a controller in between was switched off, brakes are closed, an
emergency stop was pressed. Whoever goes on with a motion that nothing follows throws the mechanism
back to it once commands arrive again.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.control.goal_watch import Errors, Tolerances, broken
from robodyn.errors import KinematicsError
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories.base import Motion

# [rad], [m] usual tolerances of a joint that turns, and of one that slides.
TURNING, SLIDING = 0.1, 0.02
USUAL = -1.0  # given as a number: these
# [s] After a motion was abandoned, an error counts with what it will be so much later. Efforts that
# are obeyed let it grow no further; a mechanism that falls is noticed within a fifth of that way.
SOON = 0.2


def path_tolerances(mechanism: Mechanism, given: float) -> FloatArray | None:
    """Largest errors (n,) of the driven joints [m or rad]; None for no limit.

    Args:
        mechanism: whose joints they are.
        given: one number for all joints; 0 for no limit; negative for the usual ones, TURNING and
            SLIDING.
    """
    if given == 0.0:
        return None
    if given > 0.0:
        return np.full(len(mechanism.joint_names), given)
    return np.array([SLIDING if unit == "m" else TURNING for unit in mechanism.joint_units])


def strayed(
    mechanism: Mechanism,
    tolerance: FloatArray,
    wanted: Motion,
    configuration: FloatArray,
    velocity: FloatArray | None = None,
) -> str:
    """Which driven joint is beyond its tolerance (n,), in words; empty if none is.

    Args:
        mechanism: that moves.
        tolerance: [m or rad].
        wanted: the motion it should have.
        configuration: (nq,) measured.
        velocity: (nv,) measured; given, errors are those to be expected SOON.
    """
    try:
        both = np.stack([wanted.configuration, configuration])
        planned, measured = mechanism.joint_positions(both)
        error = mechanism.joint_difference(measured, planned)
        if velocity is not None:
            rates = mechanism.joint_velocities(wanted.configuration, wanted.velocity)
            error += SOON * (rates - mechanism.joint_velocities(configuration, velocity))
    except KinematicsError:
        return ""  # nothing is known of joints there
    if (np.abs(error) <= tolerance).all():
        return ""
    still, unlimited = np.zeros_like(error), np.full_like(error, np.inf)
    return broken(
        mechanism.joint_names, Tolerances(tolerance, unlimited), Errors(error, still), "path"
    )
