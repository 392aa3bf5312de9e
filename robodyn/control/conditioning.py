# SPDX-License-Identifier: Apache-2.0

"""Monitor of a condition number: levels with hysteresis, rate, speed scale, weakest direction."""

from __future__ import annotations

import numpy as np

from robodyn.algorithms import conditioning
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism

OK, WARN, ERROR = 0, 1, 2
# [m, rad, mixed] displacement for finite differences of a condition number: truncation and
# rounding errors are similar, some 1e-10 of the number.
STEP = 1e-5
_AXES = ("x", "y", "z")


class ConditionLevel:
    """Level OK, WARN or ERROR of a condition number, with hysteresis.

    Args:
        warn, error: thresholds, 1 <= warn < error.
        hysteresis: a level ends below (1 - hysteresis) times its threshold, 0 <= h < 1.

    Attributes:
        level: current level, OK at first.

    Raises:
        InvalidInput: thresholds are out of order or range.
    """

    def __init__(self, warn: float = 100.0, error: float = 1000.0, hysteresis: float = 0.1) -> None:
        self.warn = as_scalar("warn", warn, at_least=1.0)
        self.error = as_scalar("error", error)
        self.hysteresis = as_scalar("hysteresis", hysteresis, at_least=0.0)
        if not self.error > self.warn:
            raise InvalidInput(f"error is {error}, must be above warn, {warn}", value=error)
        if not self.hysteresis < 1.0:
            raise InvalidInput(f"hysteresis is {hysteresis}, must be below 1", value=hysteresis)
        self.level = OK

    def update(self, number: float) -> bool:
        """Update the level for a condition number; return whether the level changed.

        A condition number of NaN is an ERROR.
        """
        before = self.level
        keep = 1.0 - self.hysteresis
        if not number < (self.error * keep if before == ERROR else self.error):
            self.level = ERROR
        elif number >= (self.warn * keep if before >= WARN else self.warn):
            self.level = WARN
        else:
            self.level = OK
        return self.level != before


def weakest_direction(
    mechanism: Mechanism, configuration: FloatArray, characteristic_length: float = 1.0
) -> tuple[FloatArray, str]:
    """Return the direction in which a mechanism resists least, and its name.

    `characteristic_length` [m] is the length by which moments are divided.

    Returns:
        Direction and name. The direction is a unit vector (6,) in the base frame: a translation of
        the body's reference point, then a rotation times the characteristic length. It is the left
        singular vector of the smallest singular value of the Jacobian; a platform yields in this
        direction, and an arm can hardly move in it. For arms with fewer than six joints, it is one
        of the directions in which the arm can move. The name is that of the largest component, such
        as `rotation about x`.
    """
    direction = weakest_directions(mechanism, configuration, characteristic_length)
    return direction, direction_name(direction)


def direction_name(direction: FloatArray) -> str:
    """Return the name of a direction's largest component, such as `rotation about x`.

    `direction` (6,) is a translation, then a rotation, as in a twist.
    """
    largest = int(np.abs(direction).argmax())
    kind = "translation along" if largest < 3 else "rotation about"
    return f"{kind} {_AXES[largest % 3]}"


def weakest_directions(
    mechanism: Mechanism, configuration: ArrayLike, characteristic_length: float = 1.0
) -> FloatArray:
    """Compute the unit vectors (..., 6) in which a mechanism resists least.

    See `weakest_direction`; the largest component of each vector is positive.

    Returns:
        Unit vectors (..., 6), base frame: translation, then rotation times the characteristic
        length.

    Raises:
        InvalidInput: a configuration has the wrong shape or is not finite, or the length is not
            positive.
        KinematicsError: the kinematics have no solution at the configuration.
    """
    J = conditioning.scaled_jacobian(mechanism, configuration, characteristic_length)
    direction = np.linalg.svd(J)[0][..., :, min(J.shape[-2:]) - 1]
    largest = np.abs(direction).argmax(axis=-1)[..., None]
    return np.asarray(direction * np.sign(np.take_along_axis(direction, largest, axis=-1)))


def condition_rate(
    mechanism: Mechanism,
    configuration: FloatArray,
    velocity: FloatArray,
    characteristic_length: float = 1.0,
    number: float | None = None,
) -> float:
    """Compute the rate of change [1/s] of the Jacobian's condition number in a motion.

    The motion is given by the mechanism's configuration (nq,) and velocity (nv,). The rate is
    computed by a central difference of the reciprocal condition number, which has no pole. The rate
    is zero at rest, NaN if the condition number is infinite, and infinite next to such a
    configuration. Pass the condition number as `number` if it is known. `characteristic_length` [m]
    is the length by which moments are divided.

    Raises:
        InvalidInput: shapes are wrong or values not finite.
        KinematicsError: the kinematics have no solution at the configuration.
    """
    speed = float(np.linalg.norm(velocity))
    if number is None:
        number = float(mechanism.condition_number(configuration, characteristic_length))
    if not np.isfinite(number):
        return np.nan
    if speed == 0.0:
        return 0.0
    step = np.asarray(velocity) * (STEP / speed)
    forward, backward = (
        float(
            mechanism.condition_number(
                mechanism.advance(configuration, displacement), characteristic_length
            )
        )
        for displacement in (step, -step)
    )
    # the square of such a large number may overflow
    return -number * (number / forward - number / backward) * speed / (2.0 * STEP)


def speed_scale(number: float, warn: float, error: float, approaching: bool) -> float:
    """Compute a speed factor for a condition number: 1 up to `warn`, 0 from `error`.

    In between, it decreases linearly with the condition number. Motion away from the singularity
    (`approaching` is false) is not slowed. A condition number of NaN gives 0.

    Returns:
        The speed factor, from 0 (stop) to 1 (as planned).

    Raises:
        InvalidInput: thresholds are out of order or range.
    """
    low = as_scalar("warn", warn, at_least=1.0)
    high = as_scalar("error", error, above=low)
    if np.isnan(number):
        return 0.0
    if not approaching:
        return 1.0
    return float(np.clip((high - number) / (high - low), 0.0, 1.0))
