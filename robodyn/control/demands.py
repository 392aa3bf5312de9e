# SPDX-License-Identifier: Apache-2.0

"""What a short motion asks of the driven joints, held against their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.errors import KinematicsError

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism
    from robodyn.trajectories.base import Motion

# Beyond a limit by less than this share of it is rounding.
ROUNDING = 1e-6


class Demand(NamedTuple):
    """Absolute rates and efforts (K, n) of the driven joints along a motion."""

    rates: FloatArray
    efforts: FloatArray


class BrokenLimit(NamedTuple):
    """The limit that is broken worst.

    Attributes:
        share: what is reached, as a share of the limit; infinite where there is no motion.
        text: which joint reaches what, in words; empty where all limits are kept to.
    """

    share: float
    text: str


WITHIN_LIMITS = BrokenLimit(0.0, "")


def demand(mechanism: Mechanism, motion: Motion) -> Demand | None:
    """What a motion (K, ...) asks of the joints; None where the mechanism cannot be there."""
    configuration, velocity, _ = motion
    try:
        return Demand(
            np.abs(mechanism.joint_velocities(configuration, velocity)),
            np.abs(mechanism.inverse_dynamics(*motion)),
        )
    except KinematicsError:
        return None


def worst_broken(mechanism: Mechanism, found: Demand | None, *others: Demand | None) -> BrokenLimit:
    """Which limit of rate or effort is broken worst, rates before efforts.

    Args:
        mechanism: whose limits they are.
        found: what is asked for.
        others: each allows, besides the limits, what it asks for by itself.
    """
    if found is None:
        text = f"{mechanism.name} cannot be in the configurations on the way"
        return BrokenLimit(np.inf, text)
    # a motor's torque falls with its speed
    efforts = mechanism.effort_limits_at(np.nan_to_num(found.rates))
    limits = np.broadcast_to(mechanism.velocity_limits, found.rates.shape), efforts
    units = tuple(f"{unit}/s" for unit in mechanism.joint_units), mechanism.effort_units
    for index, (values, limit) in enumerate(zip(found, limits, strict=True)):
        allowed = limit
        for other in others:
            if other is not None:
                # fmax: what has no answer allows nothing
                allowed = np.fmax(allowed, other[index])
        over = ~(values <= allowed * (1.0 + ROUNDING))
        if over.any():
            share = np.where(over, values / limit, 0.0)
            row, joint = np.unravel_index(int(np.argmax(share)), share.shape)
            unit = units[index][joint]
            return BrokenLimit(
                float(share[row, joint]),
                f"{mechanism.joint_names[joint]} reaches {values[row, joint]:.4g} {unit}, its "
                f"limit is {limit[row, joint]:.4g} {unit}",
            )
    return WITHIN_LIMITS


def row(motion: Motion) -> Motion:
    """A single motion as one of one row."""
    return type(motion)(*(np.asarray(values)[None] for values in motion))
