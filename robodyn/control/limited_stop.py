# SPDX-License-Identifier: Apache-2.0

"""Stops that keep to the limits of the joints' rates, efforts and positions, where any can.

The velocity fades as v0 (1 - 3 x^2 + 2 x^3), x = t/T: it never turns round, and the acceleration
begins and ends at zero. The mechanism rests T v0/2 further on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.control.demands import WITHIN_LIMITS, BrokenLimit, Demand, demand, row, worst_broken
from robodyn.errors import KinematicsError
from robodyn.trajectories.base import Motion
from robodyn.trajectories.handover import Handover
from robodyn.trajectories.sampled import SampledTrajectory

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism

# The times tried, as multiples of the one asked for: longer ones for rates and efforts, then
# shorter ones, which stop before the end of a joint.
MULTIPLES = (1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 0.7, 0.5, 0.25)
# Equal intervals of a stop at whose ends it is examined.
SAMPLES = 40


def limited_stop(
    mechanism: Mechanism, motion: Motion, duration: float
) -> tuple[Handover | None, str]:
    """Bring a mechanism to rest in `duration` [s], or in another time that keeps to the limits.

    A stop is never refused: where no time tried keeps to all limits, it is the one that breaks
    them least.

    Args:
        mechanism: that moves.
        motion: the single motion to begin with; its acceleration only says what efforts there are.
        duration: [s] above 0.

    Returns:
        The motion to rest, and in a line which limit it breaks, if it does. None where the
        mechanism cannot be in any configuration further on.
    """
    best: Handover | None = None
    least = BrokenLimit(np.inf, f"{mechanism.name} cannot go on the way it moves: it stops at once")
    with np.errstate(all="ignore"):
        before = demand(mechanism, row(motion))
        for multiple in MULTIPLES:
            try:
                stop = _stop(mechanism, motion, multiple * duration)
                broken = _broken(mechanism, stop, before)
            except KinematicsError:
                continue
            if broken.share < least.share:
                best, least = stop, broken
            if not broken.text:
                break
    return best, least.text and f"the stop is not within the limits: {least.text}"


def _stop(mechanism: Mechanism, motion: Motion, duration: float) -> Handover:
    further = mechanism.advance(motion.configuration, 0.5 * duration * motion.velocity)
    still = np.zeros((1, len(motion.velocity)))
    end = SampledTrajectory(mechanism, [0.0], Motion(further[None], still, still))
    return Handover(mechanism, motion._replace(acceleration=still[0]), end, duration)


def _broken(mechanism: Mechanism, stop: Handover, before: Demand | None) -> BrokenLimit:
    motion = stop.sample(np.linspace(0.0, stop.blend, SAMPLES + 1))
    asked = worst_broken(mechanism, demand(mechanism, motion), before)
    left = _left(mechanism, mechanism.joint_positions(motion.configuration))
    return max(asked, left, key=lambda broken: broken.share)


def _left(mechanism: Mechanism, positions: FloatArray) -> BrokenLimit:
    """By how much positions (K, n) leave their range, further than the first of them does."""
    lower, upper = mechanism.position_limits.T
    outside = np.maximum(np.maximum(lower - positions, positions - upper), 0.0)
    more = outside - outside[0]
    if not (more > 0.0).any():
        return WITHIN_LIMITS
    instant, joint = np.unravel_index(int(np.argmax(more)), more.shape)
    unit = mechanism.joint_units[joint]
    return BrokenLimit(
        1.0 + float(more[instant, joint] / (upper[joint] - lower[joint])),
        f"{mechanism.joint_names[joint]} reaches {positions[instant, joint]:.4g} {unit}, its range "
        f"is {lower[joint]:.4g} to {upper[joint]:.4g} {unit}",
    )
