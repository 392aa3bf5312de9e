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

"""Handovers that keep to the limits of the joints' rates and efforts, by taking longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.errors import InfeasibleTrajectory, KinematicsError
from robodyn.trajectories.handover import Handover

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories.base import Motion, Trajectory

# Each handover tried takes so much longer than the one before; none takes longer than LONGEST [s].
LONGER = 1.4
LONGEST = 30.0
# Equal intervals of a handover at whose ends it is examined.
SAMPLES = 100
# Beyond a limit by less than this share of it is rounding.
ROUNDING = 1e-6


class _Demand(NamedTuple):
    """Absolute rates and efforts (K, n) of the driven joints along a motion."""

    rates: FloatArray
    efforts: FloatArray


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
    if not any(np.isfinite(limit).any() for limit in limits):
        return handover
    with np.errstate(all="ignore"):
        before = _demand(mechanism, _row(old))
        while True:
            broken = _broken(mechanism, handover, before, limits)
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


def _broken(
    mechanism: Mechanism,
    handover: Handover,
    before: _Demand | None,
    limits: tuple[FloatArray, FloatArray],
) -> str:
    """What is worst broken during a handover, in words; empty where all limits are kept to."""
    times = handover.start + np.linspace(0.0, handover.blend, SAMPLES + 1)
    found = _demand(mechanism, handover.sample(times))
    if found is None:
        return f"{mechanism.name} cannot be in the configurations on the way"
    own = _demand(mechanism, handover.new.sample(times))
    units = (
        tuple(f"{unit}/s" for unit in mechanism.joint_units),
        mechanism.effort_units,
    )
    for index, (values, limit) in enumerate(zip(found, limits, strict=True)):
        allowed = np.broadcast_to(limit, values.shape)
        for other in (own, before):
            if other is not None:
                # fmax: what has no answer allows nothing
                allowed = np.fmax(allowed, other[index])
        over = ~(values <= allowed * (1.0 + ROUNDING))
        if over.any():
            share = np.where(over, values / limit, 0.0)
            row, joint = np.unravel_index(int(np.argmax(share)), share.shape)
            unit = units[index][joint]
            return (
                f"{mechanism.joint_names[joint]} reaches {values[row, joint]:.4g} {unit}, its "
                f"limit is {limit[joint]:.4g} {unit}"
            )
    return ""


def _demand(mechanism: Mechanism, motion: Motion) -> _Demand | None:
    """What a motion (K, ...) asks of the joints; None where the mechanism cannot be there."""
    configuration, velocity, _ = motion
    try:
        return _Demand(
            np.abs(mechanism.joint_velocities(configuration, velocity)),
            np.abs(mechanism.inverse_dynamics(*motion)),
        )
    except KinematicsError:
        return None


def _row(motion: Motion) -> Motion:
    return type(motion)(*(np.asarray(values)[None] for values in motion))
