# SPDX-License-Identifier: Apache-2.0

"""Law of dry friction for all joints: Coulomb friction with Stribeck's increase at low rates.

Compiled form of `Actuator.dry_friction`. Its parameters are consecutive numbers in the layout of
every kind, as from `Actuator.friction_numbers`.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import any_of, choose

COULOMB: Final = 0  # [N or N m], positive or zero, for rates above zero
COULOMB_BACKWARD: Final = 1  # level for negative rates, also positive
EXCESS: Final = 2  # [N or N m] static minus Coulomb friction, which falls with the rate
EXCESS_BACKWARD: Final = 3
STRIBECK: Final = 4  # 1 / Stribeck velocity^2; 0 without excess
DRY_FRICTION: Final = 5  # number of parameters

# Rate [m/s, rad/s] below which a planned motion is at rest, and the corresponding acceleration.
AT_REST: Final = 1e-12
STEADY: Final = 1e-9


@inner
def friction_rate(rate: Any, acceleration: Any) -> Any:
    """Return a joint's rate or, at rest, a tiny value with the sign of its acceleration.

    The sign of the result is the direction of motion, which friction opposes. It is zero for a
    joint at rest without acceleration. Arguments are floats or SIMD lanes.
    """
    soon = choose(abs(acceleration) > STEADY, 1e-150 * acceleration, 0.0 * rate)
    return choose(abs(rate) > AT_REST, rate, soon)


@inner
def has_dry_friction(numbers: Any, start: int) -> Any:
    """Return whether a joint, or any of the eight in SIMD lanes, has dry friction.

    The joint's parameters are numbers[start : start + DRY_FRICTION].
    """
    levels = numbers[start + COULOMB] + numbers[start + COULOMB_BACKWARD]
    return any_of(levels + numbers[start + STRIBECK] > 0.0)


@inner
def dry_friction(numbers: Any, start: int, side: Any, rate: Any) -> Any:
    """Compute a joint's dry friction effort at a rate and direction of motion.

    Args:
        numbers, start: the parameters are numbers[start : start + DRY_FRICTION].
        side: value whose sign is the direction of motion, float or SIMD lanes; zero for no
            friction.
        rate: [m/s or rad/s].

    Returns:
        The effort [N or N m] that a drive needs to overcome friction, with the sign of `side`.
    """
    forward, backward = numbers[start + COULOMB], numbers[start + COULOMB_BACKWARD]
    if any_of(numbers[start + STRIBECK] > 0.0):
        left = 1.0 / (1.0 + numbers[start + STRIBECK] * rate * rate)
        forward = forward + numbers[start + EXCESS] * left
        backward = backward + numbers[start + EXCESS_BACKWARD] * left
    return choose(side > 0.0, forward, choose(side < 0.0, -backward, 0.0))


@inner
def dry_friction_slope(numbers: Any, start: int, rate: Any) -> Any:
    """Compute the derivative of `dry_friction` with respect to the rate; zero at rest."""
    fall = numbers[start + STRIBECK]
    left = 1.0 / (1.0 + fall * rate * rate)
    excess = choose(rate > 0.0, numbers[start + EXCESS], -numbers[start + EXCESS_BACKWARD])
    slope = -2.0 * fall * rate * left * left * excess
    return choose(abs(rate) > AT_REST, slope, 0.0)
