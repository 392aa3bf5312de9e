# SPDX-License-Identifier: Apache-2.0

"""Functions of an exported library for control and simulation: computed torque, time steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.dynamics.joint_friction import STIFF_DECAY
from robodyn.dynamics.kernels.control_laws import corrected_acceleration
from robodyn.dynamics.kernels.effort_reduction import reduce_efforts
from robodyn.dynamics.kernels.end_stops import STOPS, end_stop_efforts, motor_limits
from robodyn.dynamics.kernels.integration import OPTIONS, STIFF_CHECK
from robodyn.exporting.kind_functions import (
    FINE,
    INVALID,
    LIMITED,
    NO_RESULT,
    KindFunctions,
    copy_numbers,
    write_stops,
)
from robodyn.exporting.marshaling import (
    address,
    address_of,
    constant,
    is_null,
    marshal,
    null,
    row,
    rows_out,
    vector,
    vector_out,
)
from robodyn.exporting.signatures import Setting
from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner, noinline
from robodyn.numerics.vectors import clear


def _inertia_of(mass: Any, rates: Any, setting: Setting) -> Any:
    """Compile a function that writes the mass matrix and the driven-joint Jacobian."""
    _, nv, n = setting.sizes

    @inner
    def inertia(q: Any, M: Any, L: Any) -> bool:
        unit, column = stack(1, nv), stack(1, n)
        if not mass(q, address(M)):
            return False
        for j in range(nv):
            for k in range(nv):
                unit[0, k] = 1.0 if k == j else 0.0
            if not rates(q, address(unit), address(column)):
                return False
            for i in range(n):
                L[i, j] = column[0, i]
        return True

    return inertia


def _reduce_of(kind: KindFunctions, setting: Setting) -> Any:
    """Compile a function that calls `reduce_efforts` with the mass matrix at q.

    The function returns whether the configuration is valid and the reduced efforts are finite.
    """
    _, nv, n = setting.sizes
    inertia = _inertia_of(kind.mass, kind.rates, setting)

    @noinline
    def reduce(q: Any, resting: Any, required: Any, limits: Any, out: Any) -> bool:
        M, L = stack(nv, nv), stack(n, nv)
        return bool(inertia(q, M, L) and reduce_efforts(resting, required, limits, M, L, out))

    return reduce


def reduce_efforts_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function that reduces efforts to the limits of the drives.

    If possible, it does not clip efforts one by one, but reduces the acceleration that they cause,
    see `effort_reduction.reduce_efforts`. The limits are those of the actuators at rest.

    Returns:
        Function (configuration, resting efforts, efforts) of memory addresses, not yet compiled,
        that reduces the efforts in place. The resting efforts are those at which the acceleration
        is zero. Its status is FINE, LIMITED if it changed an effort, or NO_RESULT if the mass
        matrix or the Jacobian of the driven joints cannot be computed or an effort is not finite;
        the efforts are then unchanged.
    """
    n, reduce = setting.sizes[2], _reduce_of(kind, setting)
    at_ends = address_of(setting.mechanism.drives.effort_ends)

    def reduce_to_limits(q: Any, resting: Any, efforts: Any) -> int:
        work, ends = stack(3, n), stack(1, 2 * n)
        copy_numbers(resting, n, work[0])
        copy_numbers(efforts, n, work[1])
        copy_numbers(at_ends(), 2 * n, ends[0])
        if not reduce(q, work[0], work[1], ends[0], work[2]):
            return NO_RESULT
        status = FINE
        for i in range(n):
            if work[2, i] != work[1, i]:
                status = LIMITED
            efforts[i] = work[2, i]
        return status

    return reduce_to_limits


def computed_torque_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function for computed torque within the effort limits.

    Returns:
        Function (configuration, velocity, target configuration, target velocity, target
        acceleration, kp, kv, wrench, base, out) of memory addresses, not yet compiled. It writes
        the efforts (n,) to `out`. Its status is FINE, LIMITED if it reduced the efforts to the
        limits, or NO_RESULT if there are no efforts.
    """
    torque = inner(computed_torque_less_of(kind, setting))

    def computed_torque(*given: Any) -> int:
        return int(torque(*given[:7], null(), *given[7:]))

    return computed_torque


def _planned_efforts_of(kind: KindFunctions, setting: Setting) -> Any:
    """Compile a function that writes a planned motion's friction efforts (n,).

    Computed torque adds them to the efforts of a model without dry friction. The function returns
    whether they could be computed.
    """
    inverse, inverse_at_rest = kind.inverse, setting.rest.inverse
    compensates, damped = setting.rest is not kind, bool(setting.damping.any())
    at_damping, (_, nv, n) = address_of(setting.damping), setting.sizes

    @inner
    def planned_efforts(
        goal: Any, rate: Any, change: Any, kp: Any, kv: Any, error: Any, out: Any
    ) -> bool:
        clear(out)
        if not compensates:
            return True
        without = stack(1, n)
        if not (
            inverse(goal, rate, change, null(), null(), address(out))
            and inverse_at_rest(goal, rate, change, null(), null(), address(without))
        ):
            return False
        for i in range(n):
            total = out[i] - without[0, i]
            if damped:
                for j in range(nv):
                    total += at_damping()[i * nv + j] * (kp[j] / kv[j]) * error[j]
            out[i] = total
        return True

    return planned_efforts


def _effort_ends_of(kind: KindFunctions, setting: Setting) -> Any:
    """Compile a function that writes the drives' effort limits in a state to `ends`.

    `ends` (2 n,) contains the n lower, then the n upper limits. The function returns False if the
    limits depend on the rates of the driven joints and these cannot be computed.
    """
    n, m, rates_of = setting.sizes[2], setting.mechanism, kind.rates
    curves, at_limits, at_ends = (
        m.drives.has_torque_speed_curve, address_of(m.effort_limits),
        address_of(m.drives.effort_ends),
    )  # fmt: skip
    limits_at = marshal(
        motor_limits, row(n), constant(m.effort_limits), constant(m.drives.motor_table),
        rows_out(1, n), borrowed=True,
    )  # fmt: skip

    @inner
    def effort_ends(q: Any, v: Any, ends: Any) -> bool:
        limits, speeds = stack(1, n), stack(1, n)
        copy_numbers(at_limits(), n, limits[0])
        if curves:
            if not rates_of(q, v, address(speeds)):
                return False
            limits_at(speeds, limits)
        for i in range(n):
            ends[i] = max(-limits[0, i], at_ends()[i])
            ends[n + i] = min(limits[0, i], at_ends()[n + i])
        return True

    return effort_ends


@inner
def put_feedback_acceleration(
    kp: Any, kv: Any, error: Any, v: Any, rate: Any, change: Any, out: Any
) -> None:
    """Write the acceleration that computed torque commands to `out` (nv,).

    It is change + kv (rate - v) + kp error.

    Args:
        kp, kv: addresses of the gains (nv,) of the displacement and of the velocity error.
        error: (nv,) displacement from the measured to the target configuration.
        v: address of the measured velocity (nv,).
        rate, change: addresses of the velocity and the acceleration (nv,) of the target.
        out: (nv,) result.
    """
    nv = out.shape[0]
    work, P, V = stack(3, nv), stack(nv, nv), stack(nv, nv)
    for i in range(nv):
        for j in range(nv):
            P[i, j] = kp[i] if i == j else 0.0
            V[i, j] = kv[i] if i == j else 0.0
    copy_numbers(v, nv, work[0])
    copy_numbers(rate, nv, work[1])
    copy_numbers(change, nv, work[2])
    corrected_acceleration(P, V, error, work[0], work[1], work[2], out)


def computed_torque_less_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function for computed torque minus the drives' own efforts.

    Returns:
        Function (configuration, velocity, target configuration, target velocity, target
        acceleration, kp, kv, own, wrench, base, out) of memory addresses, not yet compiled. It
        writes the efforts (n,) of computed torque, minus the efforts `own` (n,) that the drives add
        by themselves, to `out`. Its status is FINE, LIMITED if it reduced the efforts to the
        limits, or NO_RESULT if there are no efforts.
    """
    inverse_at_rest, difference, (_, nv, n) = setting.rest.inverse, kind.difference, setting.sizes
    reduce, find_ends = _reduce_of(kind, setting), _effort_ends_of(kind, setting)
    find_planned = _planned_efforts_of(kind, setting)

    def computed_torque_less(
        q: Any, v: Any, goal: Any, rate: Any, change: Any, kp: Any, kv: Any, own: Any,
        wrench: Any, base: Any, out: Any,
    ) -> int:  # fmt: skip
        work, efforts, ends = stack(2, nv), stack(4, n), stack(1, 2 * n)[0]
        error, accel = work[0], work[1]
        required, resting, reduced, planned = efforts[0], efforts[1], efforts[2], efforts[3]
        difference(q, goal, error)
        put_feedback_acceleration(kp, kv, error, v, rate, change, accel)
        if not (
            inverse_at_rest(q, v, address(accel), wrench, base, address(required))
            and find_planned(goal, rate, change, kp, kv, error, planned)
            and find_ends(q, v, ends)
        ):
            return NO_RESULT
        is_limited = False
        for i in range(n):
            if not is_null(own):
                planned[i] -= own[i]
            required[i] += planned[i]
            out[i] = required[i]
            is_limited = is_limited or not ends[i] <= out[i] <= ends[n + i]
        if not is_limited:
            return FINE
        clear(accel)
        if not inverse_at_rest(q, v, address(accel), wrench, base, address(resting)):
            return NO_RESULT
        for i in range(n):
            resting[i] += planned[i]
        if not reduce(q, resting, required, ends, reduced):
            return NO_RESULT
        copy_numbers(reduced, n, out)
        return LIMITED

    return computed_torque_less


def end_stop_efforts_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function for the efforts that end stops exert on the joints.

    Returns:
        Function (configuration q, velocity v, dt, out), not yet compiled. It writes the efforts
        (n,) of the stops in a simulation with steps of `dt` [s] to `out`. q, v and `out` are memory
        addresses. Its status is FINE, INVALID if `dt` is not positive and finite, or NO_RESULT if
        the kinematics have no solution.
    """
    _, nv, n = setting.sizes
    own = kind if setting.links is None else setting.links.rest
    positions, rates = kind.positions, kind.rates
    inertia = _inertia_of(own.mass, rates, setting)
    find = marshal(
        end_stop_efforts, vector(n), vector(n), constant(setting.mechanism.position_limits),
        vector(STOPS), rows_out(nv, nv), rows_out(n, nv), vector_out(n), borrowed=True,
    )  # fmt: skip

    def end_stop_efforts_checked(q: Any, v: Any, dt: float, out: Any) -> int:
        if not 0.0 < dt < np.inf:
            return INVALID
        at, numbers, M, L = stack(2, n), stack(1, STOPS), stack(nv, nv), stack(n, nv)
        write_stops(dt, 0.0, numbers[0])
        found = positions(q, address(at[0])) and rates(q, v, address(at[1]))
        if not (found and inertia(q, M, L) and find(at[0], at[1], numbers[0], M, L, out)):
            return NO_RESULT
        return FINE

    return end_stop_efforts_checked


def checked_step_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function that simulates time steps with constant efforts.

    Returns:
        Function (configuration, velocity, efforts, wrench, base, dt, steps), not yet compiled. It
        advances configuration and velocity in place, by a number of steps of `dt` [s], and returns
        a status code. All arguments but the last two are memory addresses.
    """
    step = inner(checked_elastic_step_of(kind, setting))

    def checked_step(q: Any, v: Any, *given: Any) -> int:
        return int(step(q, v, null(), null(), *given))

    return checked_step


def checked_elastic_step_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function that simulates time steps with elastic drives.

    Returns:
        Function (configuration, velocity, motor positions, motor velocities, efforts, wrench, base,
        dt, steps), not yet compiled. It advances the first four arguments in place, by a number of
        steps of `dt` [s] with constant efforts, and returns a status code. All arguments but the
        last two are memory addresses; those of the motors are NULL for rigid drives.
    """
    step, n, friction = kind.step, setting.sizes[2], setting.mechanism.solver.friction
    decay, elastic = friction.decay, setting.links is not None
    at_ends, unloaded = address_of(setting.mechanism.drives.effort_ends), address_of(np.zeros(6))

    def checked_step(
        q: Any, v: Any, motors: Any, motor_rates: Any, efforts: Any, wrench: Any, base: Any,
        dt: float, steps: int,
    ) -> int:  # fmt: skip
        if not (0.0 < dt < np.inf and steps > 0):
            return INVALID
        options, held = stack(1, OPTIONS + 1), stack(1, n)
        clear(options[0])
        options[0, STIFF_CHECK] = 1.0 if elastic or decay * dt > STIFF_DECAY else 0.0
        for i in range(n):
            held[0, i] = min(max(efforts[i], at_ends()[i]), at_ends()[n + i])
        applied = unloaded() if is_null(wrench) else wrench
        status: int = step(
            q, v, motors, motor_rates, address(held), applied, base, address(options), dt, steps
        )
        return status

    return checked_step
