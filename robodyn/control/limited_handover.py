# SPDX-License-Identifier: Apache-2.0

"""Handovers that keep to the limits of the joints' rates and efforts, by taking longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.control.demands import Demand, demand, row, worst_broken
from robodyn.errors import InfeasibleTrajectory
from robodyn.trajectories.handover import Handover

if TYPE_CHECKING:
    from robodyn.mechanisms.mechanism import Mechanism
    from robodyn.trajectories.base import Motion, Trajectory

# Each handover tried takes so much longer than the one before; none takes longer than LONGEST [s].
LONGER = 1.4
LONGEST = 30.0
# Equal intervals of a handover at whose ends it is examined.
SAMPLES = 100


def limited_handover(
    mechanism: Mechanism, old: Motion, new: Trajectory, blend: float, *, start: float = 0.0
) -> Handover:
    """A handover in `blend` [s], or in as much longer as the joints' limits ask for.

    Each joint's rate and effort stay within its limit, or within what the old motion asks for at
    the beginning or the new one at that moment, where that is beyond the limit by itself.

    Args:
        mechanism, old, new, blend, start: as for `Handover`.

    Raises:
        InvalidInput: as `Handover`.
        InfeasibleTrajectory: no handover of up to 30 s keeps to the limits; it says which one is
            broken by the last one tried, by which joint, and by how much.
    """
    handover = Handover(mechanism, old, new, blend, start=start)
    limits = mechanism.velocity_limits, mechanism.effort_limits
    if (
        not any(np.isfinite(limit).any() for limit in limits)
        and not mechanism.has_torque_speed_curve
    ):
        return handover
    with np.errstate(all="ignore"):
        before = demand(mechanism, row(old))
        while True:
            broken = _broken(mechanism, handover, before)
            if not broken:
                return handover
            longer = handover.blend * LONGER
            if longer > LONGEST:
                raise InfeasibleTrajectory(
                    f"the motion cannot be taken up within the limits, not even in "
                    f"{handover.blend:.3g} s: {broken}; move nearer to its start first",
                    value=handover.blend,
                )
            handover = Handover(mechanism, old, new, longer, start=start)


def _broken(mechanism: Mechanism, handover: Handover, before: Demand | None) -> str:
    """What is worst broken during a handover, in words; empty where all limits are kept to."""
    times = handover.start + np.linspace(0.0, handover.blend, SAMPLES + 1)
    found = demand(mechanism, handover.sample(times))
    own = demand(mechanism, handover.new.sample(times))
    return worst_broken(mechanism, found, own, before).text
