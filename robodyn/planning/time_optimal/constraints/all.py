# SPDX-License-Identifier: Apache-2.0

"""All limits of a motion, as they are asked for; those of the mechanism where none are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.planning.time_optimal.constraints.accelerations import Accelerations
from robodyn.planning.time_optimal.constraints.base import (
    FirstOrder,
    SecondOrder,
    ThirdOrder,
    positive,
)
from robodyn.planning.time_optimal.constraints.effort_rates import EffortRates
from robodyn.planning.time_optimal.constraints.efforts import Efforts, both_ways
from robodyn.planning.time_optimal.constraints.jerk import Jerk
from robodyn.planning.time_optimal.constraints.motor_curves import MotorCurves
from robodyn.planning.time_optimal.constraints.rates import Rates
from robodyn.planning.time_optimal.constraints.redundant_efforts import RedundantEfforts
from robodyn.planning.time_optimal.constraints.tip_speed import TipSpeed
from robodyn.planning.time_optimal.settings import TimeOptimalSettings


class Constraints(NamedTuple):
    """The limits of a motion.

    Attributes:
        mechanism: what moves.
        efforts: the limits of its efforts, the first of those of the second order.
        first, second, third: all limits by their order; see `constraints.base`.
        tip: whether one is of the tip.
        condition: number that the path may not exceed.
        characteristic_length: [m] of that number.
    """

    mechanism: Mechanism
    efforts: Efforts
    first: tuple[FirstOrder, ...]
    second: tuple[SecondOrder, ...]
    third: tuple[ThirdOrder, ...]
    tip: bool
    condition: float
    characteristic_length: float


def constraints_of(mechanism: Mechanism, settings: TimeOptimalSettings) -> Constraints:
    """The limits that settings ask for.

    Raises:
        InvalidInput: numbers that are no limits, or that contradict each other.
    """
    reserve = settings.reserve
    share = 1.0 - as_scalar("reserve", reserve, at_least=0.0)
    if not share > 0.0:
        raise InvalidInput(f"reserve is {reserve:g}, expected a number below 1", value=reserve)
    count = len(mechanism.joint_names)

    def limit(name: str, default: ArrayLike = np.inf, size: int = count) -> FloatArray:
        given = getattr(settings, name)
        return positive(name, default if given is None else given, size)

    wanted = settings.effort_limits
    effort = mechanism.effort_ranges if wanted is None else wanted
    curves = MotorCurves.of(mechanism)
    curves = curves._replace(efforts=share * curves.efforts)
    wrench = settings.wrench
    load = None if wrench is None else as_exact("wrench", wrench, (6,), "N, N m")
    bounds = share * both_ways("effort_limits", effort, mechanism)
    redundant = count > mechanism.coordinates.velocity_size
    efforts = (RedundantEfforts if redundant else Efforts)(mechanism, bounds, curves, load)
    rates = Rates(mechanism, limit("velocity_limits", mechanism.velocity_limits))
    accelerations = Accelerations(mechanism, limit("acceleration_limits"))
    speed = float(limit("tip_speed", size=1)[0])
    tip = bool(np.isfinite(speed))
    condition = float(limit("condition_limit", size=1)[0])
    changing = limit("effort_rate_limits")
    if redundant and np.isfinite(changing).any():
        raise InvalidInput(
            "effort_rate_limits of more drives than freedoms are not planned with, as the efforts "
            "are not told by the motion; leave them out",
            value=settings.effort_rate_limits,
        )
    length = as_scalar("characteristic_length", settings.characteristic_length, "m", above=0.0)
    changes = (
        Jerk(mechanism, limit("jerk_limits")),
        EffortRates(mechanism, changing, load),
    )
    return Constraints(
        mechanism,
        efforts,
        (rates, TipSpeed(speed)) if tip else (rates,),
        (efforts, accelerations) if accelerations.names else (efforts,),
        tuple(each for each in changes if each.most.size),
        tip,
        condition,
        length,
    )
