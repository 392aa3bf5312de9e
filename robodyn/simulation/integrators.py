# SPDX-License-Identifier: Apache-2.0

"""Integrators in Python: classical Runge-Kutta steps, and an adaptive reference method.

The reference is the method of order 8 by Dormand and Prince (DOP853) of SciPy. It is slower than
fixed steps, with an error that is some orders of magnitude smaller for smooth motion. It restarts
at every switching time, so that no step contains a jump.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import KinematicsError, SimulationFailed
from robodyn.mechanism.mechanism import Mechanism
from robodyn.numerics.runge_kutta import BEYOND

State = tuple[FloatArray, FloatArray]
# Acceleration as a function of time, configuration and velocity.
Acceleration = Callable[[float, FloatArray, FloatArray], FloatArray]

# Relative and absolute tolerances of the state's components.
TOLERANCE = 1e-12
# Largest number of evaluations: discontinuous friction makes the steps ever smaller, while smooth
# motions need some thousands.
MOST_CALLS = 200_000


def inner_ends(start: ArrayLike, end: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return both ends of steps (...) [s], each moved inward to the next float.

    If the acceleration jumps at an end of a step, it is then evaluated on the side within the step.
    """
    return np.nextafter(start, end), np.nextafter(end, start)


def dormand_prince_853(
    mechanism: Mechanism, acceleration: Acceleration, times: FloatArray, state: State
) -> list[State]:
    """Integrate a smooth motion by SciPy's adaptive method DOP853.

    Args:
        mechanism: mechanism that moves.
        acceleration: function of time [s], configuration (nq,) and velocity (nv,), which returns
            the generalized acceleration (nv,).
        times: (N,) [s] times of the states, increasing.
        state: configuration and velocity at the first time.

    Returns:
        The N - 1 states (configuration, velocity) at all times after the first.

    Raises:
        SimulationFailed: a state is not finite, or the integrator finds no step that is small
            enough; `time` is relative to the first time.
    """
    # slow to import and rarely needed
    from scipy.integrate import solve_ivp

    start, end, size = float(times[0]), float(times[-1]), len(state[0])
    inside = inner_ends(start, end)
    calls = 0

    def split(y: FloatArray) -> State:
        return motions.project_onto_manifold(mechanism, y[:size]), np.array(y[size:])

    def rate(t: float, y: FloatArray) -> FloatArray:
        nonlocal calls
        calls += 1
        if calls > MOST_CALLS:
            raise SimulationFailed(
                f"the integration did not finish within {MOST_CALLS} evaluations; check that "
                "the motion is smooth",
                time=0.0,
                value=state,
            )
        now = float(np.clip(t, *inside))
        return np.concatenate(_rates(mechanism, acceleration, now, split(y), state))

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
            f"the integrator found no step small enough: {solution.message}",
            time=float(solution.t[-1]) - start,
            value=split(solution.y[:, -1]),
        )
    return [split(solution.sol(t)) for t in times[1:]]


def runge_kutta_4(
    mechanism: Mechanism, acceleration: Acceleration, times: tuple[float, float], state: State
) -> State:
    """Integrate the motion over one Runge-Kutta step of order 4.

    Args:
        mechanism: mechanism that moves.
        acceleration: function of time [s], configuration (nq,) and velocity (nv,), which returns
            the generalized acceleration (nv,).
        times: start and end [s] of the step.
        state: configuration and velocity at the start.

    Returns:
        Configuration (nq,) and velocity (nv,) at the end.

    Raises:
        SimulationFailed: an acceleration is not finite or does not exist.
    """
    start, end = times
    h = end - start
    (first, last), (q0, v0) = inner_ends(start, end), state
    rates: list[State] = []
    for t, fraction in ((first, 0.0), (start + 0.5 * h, 0.5), (start + 0.5 * h, 0.5), (last, 1.0)):
        q, v = q0, v0
        if rates:
            q = motions.project_onto_manifold(mechanism, q0 + fraction * h * rates[-1][0])
            v = v0 + fraction * h * rates[-1][1]
        rates.append(_rates(mechanism, acceleration, float(t), (q, v), state))
    dq, dv = (h / 6.0 * (a + 2.0 * (b + c) + d) for a, b, c, d in zip(*rates, strict=True))
    _refuse_beyond(q0 + dq, v0 + dv, state)
    return motions.project_onto_manifold(mechanism, q0 + dq), v0 + dv


def _rates(
    mechanism: Mechanism, acceleration: Acceleration, time: float, at: State, before: State
) -> State:
    """Return the time derivatives of configuration and velocity at a state.

    If they cannot be computed, the error contains the last valid state, `before`.
    """
    _refuse_beyond(*at, before)
    try:
        return motions.configuration_rate(mechanism, *at), acceleration(time, *at)
    except KinematicsError as error:
        raise SimulationFailed(str(error), time=0.0, value=before) from error


def _refuse_beyond(q: FloatArray, v: FloatArray, before: State) -> None:
    # written so that NaN is rejected, too
    if not (np.abs(q).max() < BEYOND and np.abs(v).max() < BEYOND):
        raise SimulationFailed("the state diverged", time=0.0, value=before)
