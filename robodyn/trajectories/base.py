"""What every trajectory answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]


class Motion(NamedTuple):
    """Configuration, velocity and acceleration at one or many times.

    For a platform: pose (..., 7) [m, -], twist (..., 6) [m/s, rad/s], accel (..., 6) [m/s^2,
    rad/s^2]. For an arm: q, qd, qdd (..., n).
    """

    configuration: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


class Trajectory(Protocol):
    """A motion over time, at rest before 0 and after `duration` [s]."""

    @property
    def duration(self) -> float:
        """[s]."""

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s], strictly inside, at which the acceleration jumps."""

    def sample(self, t: ArrayLike) -> Motion:
        """The motion at times t (...) [s].

        Raises:
            InvalidInput: t is not finite.
        """
