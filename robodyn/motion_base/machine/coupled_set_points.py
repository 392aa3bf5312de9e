# SPDX-License-Identifier: Apache-2.0

"""Set-points of redundant drives, which must satisfy the loop closures together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.motion import Motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.machine.braking import FRACTIONS, FRACTIONS_OF_BRAKE, NODES, braking
from robodyn.motion_base.machine.limits import DriveLimits
from robodyn.motion_base.machine.set_points import SetPoints

# Fractions of the limits of rate, acceleration and jerk that targets use, and that a braking motion
# uses; the rest is for deviations between its nodes. If the slope of a value is linear between two
# nodes, the value changes up to its extreme by half the slope times the time; the third factor is
# this half with a reserve.
USED, BRAKED, TURNED = 0.99, 0.995, 0.6
# Bandwidth [rad/s] of the approach if the fastest one is blocked; durations of braking motions,
# relative to the shortest.
RETURN, FACTORS = 6.0, (1.0, 2.0, 4.0, 8.0, 16.0)
# Tolerance [m, rad] of position limits for rounding.
ROUNDING = 1e-10


class _Brake(NamedTuple):
    """Braking motion of all joints to rest, and its progress.

    Attributes:
        state: (3, n) current positions, rates and accelerations of the drives.
        configuration: (nq,) current configuration.
        start: (3, m) state of the independent joints at the start of the motion.
        ramp: [s] in which the accelerations first decrease to zero; 0 if braking begins at once.
        duration: [s] of the motion after the ramp.
        elapsed: [s] since the start of the motion.
    """

    state: FloatArray
    configuration: FloatArray
    start: FloatArray
    ramp: float
    duration: float
    elapsed: float

    def after(self, dt: float) -> FloatArray:
        """Return the state (3, m) of the independent joints after another `dt` seconds."""
        time = self.elapsed + dt
        start = self.start
        if self.ramp > 0.0:
            start = _ramp(start, self.ramp, min(time, self.ramp))
        if time <= self.ramp:
            return start
        fraction = np.array([min((time - self.ramp) / self.duration, 1.0)])
        return braking(start[None], np.array([self.duration]), fraction)[:, 0]


def _ramp(start: FloatArray, duration: Any, time: Any) -> FloatArray:
    """Return states of a motion whose accelerations decrease linearly to zero.

    Returns:
        States (..., 3, m) of the independent joints `time` [s] after the start.
    """
    p, v, a = (start[..., k, :] for k in range(3))
    left = 1.0 - time / duration
    moved = p + time * (v + time * a * (2.0 + left) / 6.0)
    return np.stack([moved, v + 0.5 * time * a * (1.0 + left), a * left], axis=-2)


class CoupledSetPoints(SetPoints):
    """Set-points of redundant drives, which always close the loops of their mechanism.

    The independent drives follow their targets as in `SetPoints` and determine the positions of the
    dependent drives. A step is accepted only if all drives can come to rest after it within their
    limits, by a braking motion in which all rates decrease proportionally. Otherwise the step is
    shortened, or the braking motion of the previous step continues. If a braking motion would
    exceed a limit of jerk, a ramp of the accelerations to zero precedes it.

    Args:
        mechanism: mechanism whose independent joints are all driven.
        limits, dt: see `SetPoints`.
        positions: (n,) initial positions, at rest; the nearest ones that close the loops are used.

    Attributes:
        ahead: (k, nq) configurations from the current one to the configuration at rest, along the
            braking motion that the last `next_state` found.
    """

    def __init__(
        self, mechanism: Mechanism, limits: DriveLimits, dt: float, positions: ArrayLike
    ) -> None:
        self._mechanism = mechanism
        self._free = [mechanism.joint_names.index(each) for each in mechanism.independent_joints]
        # at full rate, the shortest brake has the limits of acceleration and jerk
        rates, changes, jerks = limits.rows
        least = max(np.max(1.5 * rates / changes), np.max(np.sqrt(6.0 * rates / jerks)), 2.0 * dt)
        self._durations = [float(least) * factor for factor in FACTORS]
        super().__init__(limits, dt, positions)
        self._rows *= USED

    def reset(self, positions: ArrayLike) -> None:
        """Set the state to rest at positions (n,) [m or rad].

        If these positions do not close the loops, the nearest ones that do are used.
        """
        super().reset(positions)
        m = self._mechanism
        near = motions.assemble_near(m, self.state[0], m.home)
        self.state[0] = self.rest[:] = m.joint_positions(near)
        start, duration = self.state[:, self._free], self._durations[0]
        self._found = _Brake(self.state, near, start, 0.0, duration, 0.0)
        self._last, self.ahead = self._found, near[None]

    @property
    def _brake(self) -> _Brake:
        """Braking motion of the current state or, if restored, of the previous state."""
        return self._last if self._last.state is self.state else self._found

    @property
    def motion(self) -> Motion:
        """Current configuration, velocity and acceleration of the mechanism."""
        now = self._brake
        return Motion(now.configuration, *now.after(0.0)[1:])

    def next_state(self, target: FloatArray, pace: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """Compute the joints' state one step later, as close to the target as allowed.

        Args:
            target: (3, n) positions, rates and accelerations one step later; the independent drives
                follow theirs.
            pace: fraction of the limits that may be used, above 0 and at most 1.

        Returns:
            Positions, rates and accelerations (3, n) one step later, and the positions (n,) at
            which the joints come to rest if they brake from there.
        """
        now, braked = self._brake, self._brake.after(self.dt)
        self._fraction = 1.0
        later = super().next_state(target, pace)[0][:, self._free]
        self._fraction = self._jerk_fraction(later[2] - self.state[2, self._free])
        if self._fraction < 1.0:
            later = super().next_state(target, pace)[0][:, self._free]
        way = later - braked
        found = self._first_brake(braked + way[None], [now.duration], now.configuration)
        if found is None:
            slow = self._approach(target, RETURN * pace) - braked
            longer, shorter = 2.0 * now.duration, 0.5 * now.duration
            near = [d for d in (longer, shorter) if d in self._durations]
            slower = [fraction * slow for fraction in (1.0, *FRACTIONS)]
            steps, durations = [way] * len(near) + slower, near + [now.duration] * len(slower)
            found = self._first_brake(braked + np.array(steps), durations, now.configuration)
        if found is None:
            found = self._advance_brake(now), self.rest
            self.ahead = np.array([now.configuration, found[0].configuration])
        self._next = found[0]
        return found[0].state, found[1]

    def _approach(self, target: FloatArray, bandwidth: float) -> FloatArray:
        """Return the independent joints' state (3, m) after a step toward the target.

        All position errors decay like a critically damped oscillator with the natural frequency
        `bandwidth` [rad/s], as far as the jerk limits permit.
        """
        p, v, a = self.state[:, self._free]
        to, rate, change = np.where(np.isfinite(target), target, self.state)[:, self._free]
        by = change + bandwidth * (2.0 * (rate - v) + bandwidth * (to - p)) - a
        a = a + by * self._jerk_fraction(by)
        return np.array([p + self.dt * (v + 0.5 * self.dt * a), v + self.dt * a, a])

    def _jerk_fraction(self, change: FloatArray) -> float:
        """Return the fraction of an acceleration change that jerk limits allow per step.

        `change` (m,) is the change of the independent joints' accelerations.
        """
        moved = np.abs(self._mechanism.joint_velocities(self._brake.configuration, change))
        most = self.dt * self._rows[2]
        return float((most / np.maximum(moved, most)).min())

    def _limit_fractions(self, target: FloatArray) -> FloatArray:
        """Return the fractions (3, n) of the limits at which dependent joints can follow.

        The rows are for rates, accelerations and jerks.
        """
        fractions: FloatArray = super()._limit_fractions(target).copy()
        fractions[2] *= self._fraction
        return fractions

    def take(self, later: FloatArray, rest: FloatArray) -> None:
        """Adopt a state (3, n) and the stopping positions (n,) computed by `next_state`."""
        self._last, self._found = self._brake, self._next
        super().take(later, rest)

    def brake(self) -> None:
        """Follow the current braking motion, or a shorter one if possible, for one step."""
        now = self._brake
        if now.elapsed == 0.0:  # a shorter one may have become possible
            shorter = self._durations[: self._durations.index(now.duration)]
            starts = np.tile(now.start, (len(shorter), 1, 1))
            found = self._first_brake(starts, shorter, now.configuration)
            now = now if found is None else found[0]
        self._last, self._found = self._brake, self._advance_brake(now)
        self.state, self._goal = self._found.state, None

    def _advance_brake(self, brake: _Brake) -> _Brake:
        """Return the braking motion one step later."""
        m, later = self._mechanism, brake.after(self.dt)
        by = later[0] - brake.state[0, self._free]
        q = motions.advance_near(m, brake.configuration, by)
        state = np.array(motions.driven_motion(m, q, *later[1:]))
        return brake._replace(state=state, configuration=q, elapsed=brake.elapsed + self.dt)

    def _ramps(self, starts: FloatArray, durations: FloatArray, near: FloatArray) -> FloatArray:
        """Compute the durations (C,) [s] of the ramps that precede C braking motions.

        In a ramp the accelerations decrease to zero. A duration is 0 if the jerk limits require no
        ramp.
        """
        jerks = BRAKED / USED * self._rows[2]
        moved = self._mechanism.joint_velocities(near, starts[:, 1:])
        v, a, times = moved[:, 0], moved[:, 1], durations[:, None]
        by_rate, by_change = 6.0 * v / times**2, 2.0 * a / times
        first, last = np.abs(by_rate + 2.0 * by_change), np.abs(by_rate + by_change)
        exceeds = (np.maximum(first, last) > jerks).any(axis=1)
        return np.where(exceeds, (np.abs(a) / jerks).max(axis=1), 0.0)

    def _first_brake(
        self, starts: FloatArray, durations: list[float], near: FloatArray
    ) -> tuple[_Brake, FloatArray] | None:
        """Return the first of several candidate braking motions that respects all limits.

        Returns:
            The motion and the positions (n,) at its end, or None if no motion respects the limits.
        """
        m, free, count = self._mechanism, self._free, len(durations)
        rates, changes, jerks = BRAKED / USED * self._rows
        times = np.array(durations)
        ramps = self._ramps(starts, times, near)
        ends = starts.copy()
        late = ramps > 0.0
        if late.any():
            after = ramps[late, None]
            ends[late] = _ramp(starts[late], after, after)
        places = braking(ends, times, FRACTIONS_OF_BRAKE)
        places = places.reshape(3, count, NODES, len(free)).swapaxes(0, 1)
        places = np.concatenate([starts[:, :, None], places], axis=2)
        least, largest = self._bounds[0] - ROUNDING, self._bounds[1] + ROUNDING
        for start, ramp, duration, place in zip(starts, ramps, durations, places, strict=True):
            spacing = np.full((NODES, 1), duration / (NODES - 1))
            spacing[0] = ramp
            # most brakes fail here
            if not _stays_within(place[0], place[1], spacing, least[free], largest[free]):
                continue
            q = motions.advance_along(m, near, place[0] - m.joint_positions(near)[free])
            if len(q) <= NODES:
                continue
            try:
                p, v, a = state = np.array(motions.driven_motion(m, q, *place[1:]))
            except KinematicsError:
                continue
            inside = (np.abs(a) <= changes).all() and _stays_within(p, v, spacing, least, largest)
            inside = inside and (np.abs(a[0] - self.state[2]) <= self.dt * jerks).all()
            if inside and _stays_within(v, a, spacing, -rates, rates):
                self.ahead = np.vstack([near, q])
                return _Brake(state[:, 0], q[0], start, float(ramp), duration, 0.0), p[-1]
        return None


def _stays_within(
    values: FloatArray,
    slopes: FloatArray,
    spacing: FloatArray,
    least: FloatArray,
    largest: FloatArray,
) -> bool:
    """Return whether samples, and the extrema between them, are within limits (n,).

    `values` (N, n) are samples at nodes and `slopes` (N, n) their time derivatives; `spacing`
    (N - 1, 1) contains the intervals [s] between the nodes.
    """
    before, after = slopes[:-1], slopes[1:]
    turns = before * after < 0.0
    change = np.where(turns, before**2 / np.where(turns, before - after, 1.0), 0.0)
    turned = values[:-1] + TURNED * spacing * change
    all_values = np.concatenate([values, turned])
    return bool(((all_values >= least) & (all_values <= largest)).all())
