# SPDX-License-Identifier: Apache-2.0

"""Integrators in Python: steps of the classical Runge-Kutta method, and an adaptive reference.

The reference is Dormand and Prince's method of order 8 (DOP853) through SciPy: slower than the
fixed steps, with an error some orders below theirs, on smooth motion. It restarts at every
switching time, so that no step contains a jump.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import KinematicsError, SimulationFailed
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.numerics.runge_kutta import BEYOND

State = tuple[FloatArray, FloatArray]

# Relative to, and in units of, the state's components.
TOLERANCE = 1e-12
# Friction that jumps, and the like, make steps ever smaller; on smooth motion some thousands do.
MOST_CALLS = 200_000


def inner_ends(start: ArrayLike, end: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both ends of steps as their own stages see them, from those of the steps (...) [s].

    At a switching time the acceleration jumps: both ends of a step must see this step's side.
    """
    return np.nextafter(start, end), np.nextafter(end, start)


class DormandPrince853:
    """The motion between marks, each stretch integrated when it is first asked for.

    Args:
        mechanism: what moves.
        acceleration: of (time, configuration, velocity), smooth between marks.
        marks: [s] in increasing order; the last is the end.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        acceleration: Callable[[float, FloatArray, FloatArray], FloatArray],
        marks: FloatArray,
    ) -> None:
        self._mechanism = mechanism
        self._acceleration = acceleration
        self._marks = marks
        self._until = -np.inf
        self._dense: Callable[[float], FloatArray] = lambda _: np.empty(0)

    def __call__(self, times: tuple[float, float], state: State) -> State:
        """The state at times[1], from that at times[0]; both on one side of every mark.

        Raises:
            SimulationFailed: no state follows; its `time` counts from times[0].
        """
        now, then = times
        if then > self._until:
            self._integrate(now, float(self._marks[self._marks >= then][0]), state)
        return self._split(self._dense(then), len(state[0]))

    def _integrate(self, start: float, end: float, state: State) -> None:
        # slow to import and rarely needed
        from scipy.integrate import solve_ivp

        size = len(state[0])
        inside = inner_ends(start, end)
        calls = 0

        def rate(t: float, y: FloatArray) -> FloatArray:
            nonlocal calls
            calls += 1
            if calls > MOST_CALLS:
                raise SimulationFailed(
                    f"no end in sight after {MOST_CALLS} evaluations: is the motion smooth?",
                    time=0.0,
                    value=state,
                )
            if not np.abs(y).max() < BEYOND:  # written so that NaN counts as too large
                raise SimulationFailed("the state grew beyond all bounds", time=0.0, value=state)
            q, v = self._split(y, size)
            try:
                accel = self._acceleration(float(np.clip(t, *inside)), q, v)
            except KinematicsError as error:
                raise SimulationFailed(str(error), time=0.0, value=state) from error
            return np.concatenate([self._mechanism.configuration_rate(q, v), accel])

        solution = solve_ivp(
            rate,
            (start, end),
            np.concatenate(state),
            method="DOP853",
            dense_output=True,
            rtol=TOLERANCE,
            atol=TOLERANCE,
        )
        if not solution.success:
            raise SimulationFailed(
                f"no step is small enough: {solution.message}",
                time=float(solution.t[-1]) - start,
                value=self._split(solution.y[:, -1], size),
            )
        self._dense, self._until = solution.sol, end

    def _split(self, y: FloatArray, size: int) -> State:
        return self._mechanism.normalized(y[:size]), np.array(y[size:])


def runge_kutta_4(
    mechanism: Mechanism,
    acceleration: Callable[[float, FloatArray, FloatArray], FloatArray],
    times: tuple[float, float],
    state: State,
) -> State:
    """Configuration and velocity at times[1], from those at times[0], in one step of order 4.

    Raises:
        SimulationFailed: an acceleration that is not finite or does not exist.
    """
    start, end = times
    h = end - start
    inside = inner_ends(start, end)
    q0, v0 = state
    rates: list[State] = []
    for t, fraction in ((inside[0], 0.0), (start + 0.5 * h, 0.5), (start + 0.5 * h, 0.5),
                        (inside[1], 1.0)):  # fmt: skip
        q, v = q0, v0
        if rates:
            q = mechanism.normalized(q0 + fraction * h * rates[-1][0])
            v = v0 + fraction * h * rates[-1][1]
        if _is_beyond(q, v):
            raise SimulationFailed("the state grew beyond all bounds", time=0.0, value=state)
        try:
            rates.append((mechanism.configuration_rate(q, v), acceleration(float(t), q, v)))
        except KinematicsError as error:
            raise SimulationFailed(str(error), time=0.0, value=state) from error
    dq, dv = (h / 6.0 * (a + 2.0 * (b + c) + d) for a, b, c, d in zip(*rates, strict=True))
    q, v = q0 + dq, v0 + dv
    if _is_beyond(q, v):
        raise SimulationFailed("the state grew beyond all bounds", time=0.0, value=state)
    return mechanism.normalized(q), v


def _is_beyond(q: FloatArray, v: FloatArray) -> bool:
    # written so that NaN, too, is beyond
    return not (np.abs(q).max() < BEYOND and np.abs(v).max() < BEYOND)
