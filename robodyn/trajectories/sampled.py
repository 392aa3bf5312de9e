# SPDX-License-Identifier: Apache-2.0

"""A motion through knots, for example from a message.

At a knot the motion is the knot itself. Between two knots it is the cubic through their
configurations and velocities, in the tangent space of the earlier knot, so there are no
singularities of angles. Accelerations between knots follow from the cubic: the accelerations of the
knots jump at the ends of a parabolic blend, and a spline through them would smear the jump. For
linear motion with parabolic blends and a knot at every switching time, the cubic is exact.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, Indices
from robodyn.checks import all_finite, as_array, as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.numerics.cubics import cubic_motions
from robodyn.numerics.rotations_batch import rotation_vector_motions, rotation_vector_rates
from robodyn.trajectories.base import Motion, RowTrajectory

# A quarter of an hour at 200 Hz; longer messages take many seconds to write and to read.
MAX_KNOTS = 200_000
# Fraction of the time between two knots within which a time counts as at the knot.
KNOT_TOLERANCE = 1e-5


class _Cubics(NamedTuple):
    """N cubic polynomials, each from one knot of the trajectory to the next.

    Attributes:
        begin, end: times (N,) [s] of the knots.
        start, rate: configurations and velocities at the beginning of each cubic.
        c2, c3: (N, nv) coefficients of the displacement in powers of (t - begin)/(end - begin).
    """

    begin: FloatArray
    end: FloatArray
    start: FloatArray
    rate: FloatArray
    c2: FloatArray
    c3: FloatArray

    def select(self, rows: Indices) -> _Cubics:
        """Return the cubics at the given indices."""
        return _Cubics(*(values[rows] for values in self))


class SampledTrajectory(RowTrajectory):
    """Trajectory through knots: configurations, velocities and accelerations at given times.

    Args:
        mechanism: mechanism that moves.
        times: (K,) [s] strictly increasing, from 0 or later; the motion rests before the first and
            after the last knot.
        motion: configurations (K, nq), velocities and accelerations (K, nv).
        of_body: whether the motion was planned for the mechanism's body, see `is_body_motion`.

    Raises:
        InvalidInput: shapes do not match, values are not finite, or times do not increase.
    """

    def __init__(
        self, mechanism: Mechanism, times: ArrayLike, motion: Motion, *, of_body: bool = False
    ) -> None:
        self.of_body = of_body
        self.times = as_array("times", times, (), "s")
        if self.times.ndim != 1 or not self.times.size:
            raise InvalidInput(
                f"times has shape {self.times.shape}, expected (K,) with at least one knot",
                value=times,
            )
        if (np.diff(self.times) <= 0.0).any():
            knot = int(np.flatnonzero(np.diff(self.times) <= 0.0)[0]) + 1
            raise InvalidInput(
                f"times[{knot}] is {self.times[knot]}, but the previous time is "
                f"{self.times[knot - 1]}; the times of a trajectory must be strictly "
                "increasing [s]",
                value=times,
            )
        if self.times[0] < 0.0:
            raise InvalidInput(
                f"the first time of a trajectory is {self.times[0]}, must not be negative [s]",
                value=times,
            )
        self.knots = Motion(
            *(
                as_array(name, values, ())
                for name, values in zip(Motion._fields, motion, strict=True)
            )
        )
        steps = self._expected_steps() if self.times.size > 1 else None
        if steps is not None:
            unwrapped = mechanism.coordinates.unwrapped(self.knots.configuration, steps)
            self.knots = self.knots._replace(configuration=unwrapped)
        # the mechanism checks its configurations and velocities
        rest = mechanism.difference(self.knots.configuration, self.knots.configuration)
        for name, values in zip(Motion._fields, self.knots, strict=True):
            core = rest.shape[1:] if name != "configuration" else values.shape[-1:]
            if values.shape != (len(self.times), *core):
                raise InvalidInput(
                    f"{name} has shape {values.shape}, expected {(len(self.times), *core)}, one "
                    "row for each time",
                    value=values,
                )
        self._mechanism = mechanism
        coordinates = mechanism.coordinates
        self._rotations = coordinates.rotations
        self._advances = coordinates.is_constrained
        self._list: list[float] = self.times.tolist()
        # interval and cubic of the latest evaluation at a single time
        self._cursor: tuple[float, float, _Cubics] | None = None

    def _expected_steps(self) -> FloatArray | None:
        """Predict displacements (K - 1, nv) between knots from velocities at the knots.

        Returns None if there is no velocity for each of the K knots.
        """
        rates = self.knots.velocity
        if rates.ndim != 2 or len(rates) != len(self.times):
            return None
        return np.asarray(0.5 * np.diff(self.times)[:, None] * (rates[1:] + rates[:-1]))

    @property
    def duration(self) -> float:
        """Time of the last knot [s]."""
        return float(self.times[-1])

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s] of all inner knots."""
        return tuple(float(t) for t in self.times[1:-1])

    def sample(self, t: ArrayLike) -> Motion:
        """Return configuration, velocity and acceleration at times t (...) [s].

        Returns:
            Configurations (..., nq), velocities and accelerations (..., nv).

        Raises:
            InvalidInput: t is not finite.
        """
        if isinstance(t, float) and (single := self._sample_single(float(t))) is not None:
            return single
        return super().sample(t)

    def _rows(self, t: FloatArray) -> Motion:
        after = np.searchsorted(self.times, t, side="right") - 1
        knot = np.clip(after, 0, len(self.times) - 1)
        result = Motion(*(values[knot].copy() for values in self.knots))
        resting = (t < self.times[0]) | (t > self.times[-1])
        result.velocity[resting] = 0.0
        result.acceleration[resting] = 0.0
        between = np.flatnonzero(~resting & (t != self.times[knot]))
        if between.size:
            few = len(between) < len(self.times)
            rows = knot[between]
            cubics = self._cubics(rows) if few else self._all_cubics.select(rows)
            cubic = self._evaluate(cubics, t[between])
            for values, found in zip(result, cubic, strict=True):
                values[between] = found
        return result

    def between_knots(self, fractions: ArrayLike) -> Motion:
        """Return the motion at fractions (M,) between 0 and 1 of each interval.

        If a configuration must be solved for, as for closed loops, the solution near the knot is
        used.

        Returns:
            Motion (K - 1, M, ...): M instants in each interval between two knots.

        Raises:
            InvalidInput: the fractions are not numbers between 0 and 1.
        """
        fractions = as_array("fractions", fractions, ())
        if fractions.ndim != 1 or ((fractions < 0.0) | (fractions > 1.0)).any():
            raise InvalidInput("fractions must be (M,) numbers between 0 and 1", value=fractions)
        count, places = len(self.times) - 1, len(fractions)
        every = self._all_cubics.select(np.repeat(np.arange(count), places))
        begin, end = self.times[:-1, None], self.times[1:, None]
        t = begin + (end - begin) * fractions
        known = None
        if self._advances:
            beside = np.full((count, places, self.knots.configuration.shape[1]), np.nan)
            beside[:, fractions < KNOT_TOLERANCE] = self.knots.configuration[:-1, None]
            beside[:, fractions > 1.0 - KNOT_TOLERANCE] = self.knots.configuration[1:, None]
            known = beside.reshape(count * places, beside.shape[-1])
        motion = self._evaluate(every, t.reshape(-1), known)
        return Motion(*(values.reshape(count, places, values.shape[-1]) for values in motion))

    def _sample_single(self, t: float) -> Motion | None:
        """Return the motion at one time; None if `t` is not finite.

        The result is the same as in a batch. Times mostly increase, so the most recently used cubic
        is tried first.
        """
        cursor = self._cursor
        if cursor is None or not cursor[0] < t < cursor[1]:
            times = self._list
            knot = bisect_right(times, t) - 1
            if not times[0] <= t <= times[-1]:
                return self._rest_motion(t)
            if t == times[knot]:
                return Motion(*(values[knot].copy() for values in self.knots))
            cubics = self._cubics(np.array([knot]))
            cursor = self._cursor = times[knot], times[knot + 1], cubics
        configuration, velocity, acceleration = self._evaluate(cursor[2], np.array([t]))
        return Motion(configuration[0], velocity[0], acceleration[0])

    def _rest_motion(self, t: float) -> Motion | None:
        if not math.isfinite(t):
            return None
        knot = 0 if t < self._list[0] else -1
        rest = np.zeros((2, self.knots.velocity.shape[-1]))
        return Motion(self.knots.configuration[knot].copy(), rest[0], rest[1])

    @cached_property
    def _all_cubics(self) -> _Cubics:
        return self._cubics(np.arange(len(self.times) - 1))

    def _cubics(self, knot: Indices) -> _Cubics:
        begin, end = self.times[knot], self.times[knot + 1]
        h = (end - begin)[:, None]
        (start, goal), (rate, last) = (
            (values[knot], values[knot + 1]) for values in self.knots[:2]
        )
        coordinates = self._mechanism.coordinates
        # a continuous joint may turn further than half a turn between two knots
        expected = 0.5 * h * (rate + last)
        whole = coordinates.shortest(self._mechanism.difference(start, goal), expected)
        end_rate = last.copy()
        for own in self._rotations:
            rotation_vector_rates(whole[:, own], last[:, own], end_rate[:, own])
        # Hermite: displacement from the first knot, with rates v0 there and v1 at the end.
        c2 = 3.0 * whole - h * (2.0 * rate + end_rate)
        c3 = -2.0 * whole + h * (rate + end_rate)
        return _Cubics(begin, end, start, rate, c2, c3)

    def _evaluate(self, cubics: _Cubics, t: FloatArray, known: FloatArray | None = None) -> Motion:
        """Return the motion at times t (N,); pass configurations as `known` to reuse them."""
        begin, end, start, rate, c2, c3 = cubics
        motion = Motion(np.empty(start.shape), np.empty(rate.shape), np.empty(rate.shape))
        if self._advances:
            # the cubic of the displacement alone, from zero; only the mechanism can apply it
            displacement = np.empty(rate.shape)
            origin = np.zeros(rate.shape)
            cubic_motions(t, begin, end, origin, rate, c2, c3, False, displacement, *motion[1:])
            for own in self._rotations:
                turn = displacement[:, own], motion.velocity[:, own], motion.acceleration[:, own]
                rotation_vector_motions(*turn)
            if known is None:
                motion.configuration[:] = self._mechanism.advance(start, displacement)
            else:
                missing = np.isnan(known[:, 0])
                motion.configuration[:] = known
                motion.configuration[missing] = self._mechanism.advance(
                    start[missing], displacement[missing]
                )
        else:
            turns = bool(self._rotations)
            cubic_motions(t, begin, end, start, rate, c2, c3, turns, *motion)
        if not all_finite(motion.configuration.reshape(-1)):
            raise InvalidInput(
                "the displacement between two knots is too large for a floating-point number",
                value=t,
            )
        return motion


def knot_times(duration: float, switching_times: tuple[float, ...], period: float) -> FloatArray:
    """Return increasing times (K,) [s] at which to sample a trajectory for a message.

    These are the multiples of `period`, the switching times and the end. All are whole nanoseconds,
    the resolution of ROS time, so a grid point is the same instant on both sides of a message. A
    grid point within a microsecond of a switch is left out: rounding of positions in such a small
    interval would become an acceleration.

    Raises:
        InvalidInput: the period is shorter than a nanosecond, or there would be more than
            MAX_KNOTS.
    """
    as_scalar("period", period, "s", at_least=1e-9)
    if not duration / period < MAX_KNOTS:
        raise InvalidInput(
            f"a motion of {duration:.6g} s would have {duration / period:.3g} points at intervals "
            f"of {period:g} s, more than {MAX_KNOTS}; lengthen the intervals",
            value=duration,
        )
    switches = np.unique(np.rint(np.array([0.0, *switching_times, duration]) * 1e9))
    step = round(period * 1e9)
    grid = np.arange(0, round(duration * 1e9) + 1, step, dtype=np.float64)
    after = np.searchsorted(switches, grid).clip(max=len(switches) - 1)
    nearest = np.minimum(switches[after] - grid, grid - switches[np.maximum(after - 1, 0)])
    is_far = np.abs(nearest) >= min(1000, step // 2)
    return np.union1d(switches, grid[is_far]) * 1e-9
