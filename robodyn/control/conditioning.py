# SPDX-License-Identifier: Apache-2.0

"""Monitor a condition number: levels with hysteresis, rate, speed scale, weakest direction."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanisms.mechanism import Mechanism

OK, WARN, ERROR = 0, 1, 2
# [m, rad, mixed] length of the displacement over which a condition number is differentiated: the
# error of a central difference and that of rounding are alike, some 1e-10 of the number.
STEP = 1e-5
_AXES = ("x", "y", "z")


class ConditionLevel:
    """OK, WARN or ERROR for a condition number; it falls only well below where it rose.

    Args:
        warn, error: thresholds, 1 <= warn < error.
        hysteresis: a level is left below (1 - hysteresis) times its threshold, 0 <= h < 1.

    Raises:
        InvalidInput: thresholds out of order or range.
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
        """Take the next condition number; return whether the level changed. NaN is an ERROR."""
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
    """The direction a mechanism resists least, and what it is called.

    Returns:
        (6,) unit vector [translation; rotation times the characteristic length] along which a
        platform yields, or along which an arm can hardly move (the left singular vector of the
        smallest singular value of the Jacobian; of fewer than six joints, of those that can move
        the arm at all), and a text that names its largest component, such as `rotation about x`.
    """
    direction = weakest_directions(mechanism, configuration, characteristic_length)
    return direction, direction_name(direction)


def direction_name(direction: FloatArray) -> str:
    """The largest component of a twist (6,), such as `rotation about x`."""
    largest = int(np.abs(direction).argmax())
    kind = "translation along" if largest < 3 else "rotation about"
    return f"{kind} {_AXES[largest % 3]}"


def weakest_directions(
    mechanism: Mechanism, configuration: ArrayLike, characteristic_length: float = 1.0
) -> FloatArray:
    """The unit vectors (..., 6) of `weakest_direction`, their largest component positive.

    Raises:
        InvalidInput: wrong shape, not finite, or a length that is not positive.
        KinematicsError: the configuration has no geometry.
    """
    J = mechanism.scaled_jacobian(configuration, characteristic_length)
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
    """How fast the condition number changes [1/s] at a single configuration and velocity.

    `number` is the condition number there, where it is known already.

    A central difference of its inverse, which has no pole. Zero at rest, NaN where the condition
    number is infinite, infinite next to there.

    Raises:
        InvalidInput: wrong shapes or not finite.
        KinematicsError: the configuration has no geometry.
    """
    speed = float(np.linalg.norm(velocity))
    if number is None:
        number = float(mechanism.condition_number(configuration, characteristic_length))
    if not np.isfinite(number):
        return np.nan
    if speed == 0.0:
        return 0.0
    step = np.asarray(velocity) * (STEP / speed)
    ahead, behind = (
        float(
            mechanism.condition_number(
                mechanism.advance(configuration, displacement), characteristic_length
            )
        )
        for displacement in (step, -step)
    )
    # the square of a number this large may be too large for any
    return -number * (number / ahead - number / behind) * speed / (2.0 * STEP)


def speed_scale(number: float, warn: float, error: float, approaching: bool) -> float:
    """Factor for the speed near a singularity: 1 up to `warn`, down to 0 at `error`, linearly.

    Motion away from the singularity is not slowed. A condition number of NaN gives 0.

    Raises:
        InvalidInput: thresholds out of order or range.
    """
    low = as_scalar("warn", warn, at_least=1.0)
    high = as_scalar("error", error, above=low)
    if np.isnan(number):
        return 0.0
    if not approaching:
        return 1.0
    return float(np.clip((high - number) / (high - low), 0.0, 1.0))
