"""Watching a condition number: levels with hysteresis, and the weakest direction in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robodyn.mechanism import Mechanism

    FloatArray = NDArray[np.float64]

OK, WARN, ERROR = 0, 1, 2
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
        platform gives way, or along which an arm cannot move (the left singular vector of the
        smallest singular value of the Jacobian), and a text that names its largest component,
        such as `rotation about x`.
    """
    J = np.array(mechanism.jacobian(configuration))
    # A platform's Jacobian maps forces to a wrench, an arm's joint rates to a twist.
    J[3:] *= characteristic_length if mechanism.kind == "serial" else 1.0 / characteristic_length
    direction = np.linalg.svd(J)[0][:, -1]
    largest = int(np.abs(direction).argmax())
    kind = "translation along" if largest < 3 else "rotation about"
    return direction, f"{kind} {_AXES[largest % 3]}"
