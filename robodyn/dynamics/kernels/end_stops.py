# SPDX-License-Identifier: Apache-2.0

"""End stops of joints: a one-sided spring and damper, for all kinds of mechanisms.

The stop of a joint that is beyond its end by r, with rate r', pushes with k r + c r', and never
pulls. Stiffness k and damping c are given, or follow from the effective inertia m of the joint and
a time constant T: k = m / T^2 and c = 2 m / T, critically damped as in MuJoCo's `solref`. With the
Jacobian L of the driven joints' rates and A = L M^-1 L', 1 / m is the sum of |A_jk| over all joints
k that are beyond their ends, A_jj if there is only one. Then no mode of several coupled stops is
faster than 1 / T, because diag(1 / m) - A is diagonally dominant.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner, kernel, noinline
from robodyn.numerics.linear import LEAST_PIVOT, factor_positive
from robodyn.numerics.simd.lanes import any_of, choose

# Numbers of stops: stiffness, damping, whether torque-speed curves limit motors (1 or 0), and
# stiffness and damping for each unit of effective inertia.
STIFFNESS: Final = 0
DAMPING: Final = 1
LIMITS_MOTORS: Final = 2
BY_INERTIA: Final = 3
STOPS: Final = 5


class JointEnds(NamedTuple):
    """Position limits of joints and parameters of end stops, as fields of a `PackedPlant`.

    Attributes:
        table: (n, 2 or more) lower and upper position limits in the first two columns.
        stops: (5,) parameters of the end stops, see `EndStops.numbers`.
    """

    table: Any
    stops: Any


@inner
def is_beyond(position: Any, joint: Any) -> Any:
    """Return whether a joint is beyond its position limits, for a float or SIMD lanes.

    `joint` begins with the lower and the upper limit.
    """
    return (position < joint[0]) | (position > joint[1])


@inner
def joint_efforts(plant: Any, effort: Any, position: Any, rate: Any, out: Any, slopes: Any) -> bool:
    """Write the efforts of the motors, within their limits, to `out` (n,).

    Args:
        plant: `PackedPlant` or `JointEnds`, of floats or SIMD lanes.
        effort, position, rate: (n,) efforts before limits, positions and rates of the driven
            joints; inputs.
        out: (n,) output: efforts of the motors.
        slopes: (n, 2) output: stiffness and damping of the end stops, set to zero.

    Returns:
        Whether a joint with end stops is beyond a position limit, so that `add_end_stops` must
        follow.
    """
    table, stops = plant.table, plant.stops
    columns, is_pressed = table.shape[1], False
    for i in range(table.shape[0]):
        out[i] = effort[i]
        slopes[i, 0] = slopes[i, 1] = 0.0
        if columns > 2 and stops[LIMITS_MOTORS] > 0.0:
            out[i] = motor_effort(effort[i], rate[i], table[i], columns)
        is_pressed = is_pressed or any_of(is_beyond(position[i], table[i]))
    return bool(is_pressed and (stops[STIFFNESS] + stops[DAMPING] > 0.0 or scales(stops)))


@inner
def scales(stops: Any) -> bool:
    """Return whether the end stops' parameters are per unit of effective inertia."""
    return bool(stops[BY_INERTIA] + stops[BY_INERTIA + 1] > 0.0)


@noinline
def add_end_stops(
    plant: Any, position: Any, rate: Any, M: Any, L: Any, out: Any, slopes: Any
) -> bool:
    """Add the efforts of the end stops to the joint efforts `out` (n,).

    `M` and `L` are used only if the stops' parameters are per unit of effective inertia.

    Args:
        plant: `PackedPlant` or `JointEnds`, of floats or SIMD lanes; input.
        position, rate: (n,) positions and rates of the driven joints; inputs.
        M: (nv, nv) mass matrix, of which the lower triangle is read; input, overwritten.
        L: (n, nv) Jacobian of the driven joints' rates; input, overwritten.
        out: (n,) efforts without the stops as input; the stops' efforts are added in place.
        slopes: (n, 2) output: stiffness and damping of the end stops that push. Rows of joints
            within their limits are not written.

    Returns:
        False if the mass matrix is needed but not positive definite; `out` and `slopes` are then
        unchanged.
    """
    table, stops = plant.table, plant.stops
    n, nv, scaled = table.shape[0], L.shape[1], scales(stops)
    if scaled:
        if not factor_positive(M, nv, LEAST_PIVOT, False):
            return False
        for i in range(n):
            if any_of(is_beyond(position[i], table[i])):
                forward_substitute(M, nv, L[i])
    for i in range(n):
        is_pressed = is_beyond(position[i], table[i])
        if any_of(is_pressed):
            inertia = 0.0 * position[i]
            if scaled:
                for k in range(n):
                    if any_of(is_beyond(position[k], table[k])):
                        product = 0.0 * position[i]
                        for j in range(nv):
                            product = product + L[i, j] * L[k, j]
                        inertia = inertia + choose(
                            is_beyond(position[k], table[k]), abs(product), 0.0
                        )
                inertia = 1.0 / choose(is_pressed, inertia, 1.0)
            stiffness = stops[STIFFNESS] + stops[BY_INERTIA] * inertia
            damping = stops[DAMPING] + stops[BY_INERTIA + 1] * inertia
            push = end_stop_effort(
                position[i], rate[i], table[i, 0], table[i, 1], stiffness, damping
            )
            out[i] = choose(is_pressed, out[i] + push, out[i])
            slopes[i, 0] = choose(push != 0.0, stiffness, 0.0)
            slopes[i, 1] = choose(push != 0.0, damping, 0.0)
    return True


@inner
def forward_substitute(factor: Any, count: int, x: Any) -> None:
    """Solve C y = x (count,) for a lower Cholesky factor C with inverted diagonal.

    The solution y replaces x.
    """
    for i in range(count):
        total = x[i]
        for k in range(i):
            total = total - factor[i, k] * x[k]
        x[i] = total * factor[i, i]


@inner
def end_stop_effort(
    position: Any, rate: Any, lower: Any, upper: Any, stiffness: Any, damping: Any
) -> Any:
    """Compute the effort [N or N m] of a joint's end stops; zero within limits.

    It is positive at the lower and negative at the upper limit: the stops never pull. Arguments are
    floats or SIMD lanes.
    """
    up = stiffness * (lower - position) - damping * rate
    down = stiffness * (upper - position) - damping * rate
    pushed = choose((position < lower) & (up > 0.0), up, 0.0)
    return choose((position > upper) & (down < 0.0), down, pushed)


@inner
def motor_effort(effort: Any, rate: Any, joint: Any, columns: int) -> Any:
    """Clip an effort to a motor's torque-speed curve at a joint rate.

    Arguments are floats or SIMD lanes; `joint` is the joint's row of the `joint_table`, and
    `columns` its length. Returns the effort [N or N m], which is zero above the largest rate of the
    curve.
    """
    speed = abs(rate)
    has = joint[4] + 0.0 * speed
    for k in range(3, columns - 2, 2):
        slow, fast = joint[k], joint[k + 2]
        fraction = (speed - slow) / (fast - slow)
        between = (speed > slow) & (fast > slow)
        here = choose(between, joint[k + 1] + fraction * (joint[k + 3] - joint[k + 1]), has)
        has = choose(fast <= speed, joint[k + 3], here)
    least = choose(effort > -has, effort, -has)
    given = choose(least < has, least, has)
    return choose(speed > joint[2], 0.0, given)


@kernel
def motor_limits(rates: Any, limits: Any, table: Any, out: Any) -> None:
    """Write the largest efforts (N, n) of the motors at joint rates (N, n) to `out`.

    `limits` (n,) are the largest efforts at standstill, and `table` is the `joint_table` with the
    torque-speed curves, if any.
    """
    for k in range(rates.shape[0]):
        for i in range(rates.shape[1]):
            out[k, i] = limits[i]
            if table.shape[1] > 2:
                out[k, i] = motor_effort(limits[i], rates[k, i], table[i], table.shape[1])


@inner
def end_stop_efforts(
    position: Any, rate: Any, limits: Any, stops: Any, M: Any, L: Any, out: Any
) -> bool:
    """Write the efforts (n,) of the end stops at the position limits (n, 2) to `out`.

    Args:
        position, rate: (n,) positions and rates of the driven joints.
        limits: (n, 2) position limits.
        stops: (5,) parameters of the end stops, see `EndStops.numbers`.
        M, L: mass matrix and Jacobian, as for `add_end_stops`; overwritten.
        out: (n,) output: the efforts, zero within limits.

    Returns:
        False if the mass matrix is needed but not positive definite.
    """
    for i in range(out.shape[0]):
        out[i] = 0.0
    slopes = stack(out.shape[0], 2)
    return bool(add_end_stops(JointEnds(limits, stops), position, rate, M, L, out, slopes))
