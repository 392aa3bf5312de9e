# SPDX-License-Identifier: Apache-2.0

"""Time scalings: s grows from 0 to 1 while t grows from 0 to the duration.

`sample(t)` of a profile returns s and its first two time derivatives, arrays with the shape of t.
Before the start and after the end the motion rests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import check_choice
from robodyn.errors import InfeasibleTrajectory, InvalidInput

Progress = tuple[FloatArray, FloatArray, FloatArray]

# The papers' paths state rounded speeds; a speed that is infeasible by this relative excess is
# rounding.
DURATION_TOLERANCE = 1e-9


class Profile:
    """Time scaling s(t) of a motion, from 0 to 1.

    Attributes:
        duration: [s] duration of the motion.
    """

    duration: float

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s] inside the motion at which the acceleration jumps."""
        return ()

    def sample(self, t: FloatArray) -> Progress:
        """Return s, ds/dt [1/s] and d2s/dt2 [1/s^2] at times t (...) [s]."""
        s, ds, dds = self._inside(np.clip(t, 0.0, self.duration))
        moving = (t >= 0.0) & (t <= self.duration)
        return s, np.where(moving, ds, 0.0), np.where(moving, dds, 0.0)

    def _inside(self, t: FloatArray) -> Progress:
        """Return s and its first two derivatives at times between 0 and the duration."""
        raise NotImplementedError


@dataclass(frozen=True)
class ParabolicBlend(Profile):
    """Profile with constant acceleration, constant speed, and constant deceleration.

    Dasgupta and Mruthyunjaya (1998), eq. 39, 40. `blend` [s] is the time of each blend, from 0
    (constant speed, which starts and stops with a jump) to half of `duration`.
    """

    duration: float
    blend: float

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s] of the end of the first and the start of the second blend."""
        return (self.blend, self.duration - self.blend)

    def _inside(self, t: FloatArray) -> Progress:
        T, tb = self.duration, self.blend
        speed = 1.0 / (T - tb)
        rate = speed / tb if tb > 0.0 else 0.0
        to_go = T - t
        s = np.where(t < tb, 0.5 * rate * t * t, speed * (t - 0.5 * tb))
        s = np.where(to_go <= tb, 1.0 - 0.5 * rate * to_go * to_go, s)
        ds = np.where(t < tb, rate * t, np.where(to_go < tb, rate * to_go, speed))
        dds = np.where(t < tb, rate, np.where(to_go < tb, -rate, 0.0))
        return s, ds, dds


@dataclass(frozen=True)
class Polynomial(Profile):
    """Polynomial profile in t/duration, from rest to rest.

    `coefficients` are in order of increasing powers, from degree 0.
    """

    duration: float
    coefficients: tuple[float, ...]

    def _inside(self, t: FloatArray) -> Progress:
        x = t / self.duration
        s, ds, half = np.zeros((3, *np.shape(x)))
        # Horner's scheme, applied again to its own steps for the derivatives
        for c in reversed(self.coefficients):
            half = half * x + ds
            ds = ds * x + s
            s = s * x + c
        return s, ds / self.duration, 2.0 * half / self.duration**2


@dataclass(frozen=True)
class Cycloidal(Profile):
    """Cycloidal profile s = x - sin(2 pi x)/(2 pi) with x = t/duration.

    Its acceleration is continuous, and zero at both ends.
    """

    duration: float

    def _inside(self, t: FloatArray) -> Progress:
        angle = 2.0 * np.pi * (t / self.duration)
        s = (angle - np.sin(angle)) / (2.0 * np.pi)
        ds = (1.0 - np.cos(angle)) / self.duration
        dds = 2.0 * np.pi * np.sin(angle) / self.duration**2
        return s, ds, dds


def cubic(duration: float) -> Polynomial:
    """Create the profile 3 x^2 - 2 x^3, whose acceleration jumps at both ends.

    x is t/duration, with the duration in [s].
    """
    return Polynomial(duration, (0.0, 0.0, 3.0, -2.0))


def quintic(duration: float) -> Polynomial:
    """Create the profile 10 x^3 - 15 x^4 + 6 x^5, with zero acceleration at both ends.

    x is t/duration, with the duration in [s].
    """
    return Polynomial(duration, (0.0, 0.0, 0.0, 10.0, -15.0, 6.0))


ProfileName = Literal["lspb", "cubic", "quintic", "cycloidal"]
# Largest ds/dt times the duration; for `lspb` with blends of a third of the duration each.
PEAK_SPEED = {"lspb": 1.5, "cubic": 1.5, "quintic": 1.875, "cycloidal": 2.0}
# All profiles by name, including the time-optimal one within a mechanism's limits.
TIME_OPTIMAL = "time_optimal"
PROFILES = (*PEAK_SPEED, TIME_OPTIMAL)
_SMOOTH: dict[str, Callable[[float], Profile]] = {
    "cubic": cubic,
    "quintic": quintic,
    "cycloidal": Cycloidal,
}


def check_profile(name: str, known: Collection[str] = tuple(PEAK_SPEED)) -> None:
    """Raise an error if no profile has this name.

    Raises:
        InvalidInput: the profile is unknown; the error lists the known ones.
    """
    check_choice("profile", name, known)


def shortest_duration(distance: float, speed: float | None, profile: str) -> float:
    """Return the shortest time [s] in which a profile covers a distance.

    The peak speed of the profile is then `speed`; without this limit, the time is 0.
    """
    return PEAK_SPEED[profile] * distance / speed if speed is not None else 0.0


def make_profiles(
    name: str,
    duration: float | None,
    ways: Sequence[tuple[float, float | None, str]],
    limits: str,
    ends: str,
) -> list[Profile]:
    """Create profiles of one type and equal duration for several coordinates.

    Args:
        name: name of the profile.
        duration: [s]; by default the shortest within the speed limits.
        ways: for each coordinate, its distance [m or rad], speed limit [m/s or rad/s] or None, and
            description for messages.
        limits: names of the speed limits, for messages.
        ends: description of start and goal, for the error if they are equal.

    Returns:
        A profile for each coordinate.

    Raises:
        InvalidInput: neither a duration nor speeds are given.
        InfeasibleTrajectory: the distances cannot be covered, or are zero without a duration.
    """
    if duration is None:
        if any(speed is None and distance > 0.0 for distance, speed, _ in ways):
            raise InvalidInput(f"give a duration, or {limits} from which to compute it", value=None)
        duration = max(shortest_duration(distance, speed, name) for distance, speed, _ in ways)
        if duration == 0.0:
            raise InfeasibleTrajectory(
                f"start and goal are {ends}: give a duration to rest there", value=duration
            )
        # faster coordinates use the common duration instead of waiting at its end
        ways = [(distance, None, what) for distance, _, what in ways]
    return [make_profile(name, duration, *way) for way in ways]


def make_profile(
    name: str, duration: float, distance: float, speed: float | None, what: str
) -> Profile:
    """Create a profile that covers a distance in a duration within a speed limit.

    A parabolic blend cruises at exactly `speed` if the duration permits (eq. 39). If the limit
    exceeds the peak speed of any blend, the profile consists of two blends of half the duration.

    Args:
        name: type of the profile.
        duration: [s] duration of the motion.
        distance: [m or rad] distance to cover.
        speed: [m/s or rad/s] speed limit; None for no limit.
        what: description of the coordinate, for messages.

    Returns:
        The profile, from 0 to 1, by which the caller scales the distance.

    Raises:
        InfeasibleTrajectory: the distance cannot be covered; the error states the least speed and
            duration.
    """
    if not np.isfinite(duration):
        raise InfeasibleTrajectory(
            f"{what}: a distance of {distance:.6g} takes infinitely long at the permitted speed",
            value=duration,
        )
    if distance == 0.0 or speed is None:
        return (
            ParabolicBlend(duration, duration / 3.0) if name == "lspb" else _SMOOTH[name](duration)
        )
    least_factor = 1.0 if name == "lspb" else PEAK_SPEED[name]
    if speed * duration < least_factor * distance * (1.0 - DURATION_TOLERANCE):
        raise InfeasibleTrajectory(
            f"{what}: a distance of {distance:.6g} cannot be covered in {duration:.6g} s at "
            f"{speed:.6g} per second; it requires more than "
            f"{least_factor * distance / duration:.6g} per second, or "
            f"more than {least_factor * distance / speed:.6g} s",
            value=speed,
        )
    if name != "lspb":
        return _SMOOTH[name](duration)
    blend = min(duration - distance / speed, 0.5 * duration)
    # A blend time of the order of rounding errors would lead to an enormous acceleration.
    return ParabolicBlend(duration, blend if blend > DURATION_TOLERANCE * duration else 0.0)
