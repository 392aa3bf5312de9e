# SPDX-License-Identifier: Apache-2.0

"""Functions that close a loop or move the state: computed torque, and steps of the simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.exporting.answers import (
    FINE,
    INVALID,
    LIMITED,
    NO_RESULT,
    Answers,
    are_finite,
    copied,
)
from robodyn.exporting.checked_calls import reason_of
from robodyn.exporting.lending import address, constant, is_null, null, rows, vector, vector_out
from robodyn.exporting.signatures import Setting
from robodyn.mechanisms.common.end_stops import EndStops
from robodyn.mechanisms.common.joint_friction import WATCHED
from robodyn.mechanisms.common.kernels.control_laws import corrected_acceleration, cut
from robodyn.mechanisms.common.kernels.end_stops import end_stop_efforts, motor_limits
from robodyn.numerics.array_arguments import borrowed_array, stack


def computed_torque_of(answers: Answers, setting: Setting) -> Any:
    """Efforts under computed torque, within what the actuators have."""
    whole, rest, rates_of = answers.inverse, setting.rest.inverse, answers.rates
    difference, why = answers.difference, reason_of(answers, setting)
    is_configuration = answers.is_configuration
    planned, damped = setting.rest is not answers, bool(setting.damping.any())
    at_gain = constant(setting.damping)
    _, nv, n = setting.sizes
    m = setting.mechanism
    table = m.motor_table
    columns, curves = table.shape[1], m.has_torque_speed_curve
    at_table, at_limits = constant(table), constant(m.effort_limits)
    at_ends = constant(m.effort_ends)

    def computed_torque(
        q: Any, v: Any, goal: Any, rate: Any, change: Any, kp: Any, kv: Any, wrench: Any,
        base: Any, out: Any,
    ) -> int:  # fmt: skip
        valid = is_configuration(q) and is_configuration(goal) and are_finite(v, nv)
        valid = valid and are_finite(rate, nv) and are_finite(change, nv)
        if not (valid and are_finite(kp, nv) and are_finite(kv, nv)):
            return INVALID
        work, P, V = stack(5, nv), stack(nv, nv), stack(nv, nv)
        error, here, wanted, ahead, corrected = work[0], work[1], work[2], work[3], work[4]
        for i in range(nv):
            for j in range(nv):
                P[i, j] = kp[i] if i == j else 0.0
                V[i, j] = kv[i] if i == j else 0.0
        difference(q, goal, error)
        copied(v, nv, here)
        copied(rate, nv, wanted)
        copied(change, nv, ahead)
        corrected_acceleration(P, V, error, here, wanted, ahead, corrected)
        efforts, more = stack(2, n), stack(2, n)
        if not rest(q, v, address(corrected), wrench, base, address(efforts[0])):
            reason: int = why(q, v, change, nv, wrench, base)
            return reason
        if planned:
            if not (
                whole(goal, rate, change, null(), null(), address(more[0]))
                and rest(goal, rate, change, null(), null(), address(more[1]))
            ):
                return NO_RESULT
            for i in range(n):
                total = more[0, i] - more[1, i]
                if damped:
                    for j in range(nv):
                        total += at_gain()[i * nv + j] * (kp[j] / kv[j]) * error[j]
                efforts[0, i] += total
        limits, speeds, ends = stack(1, n), stack(1, n), stack(1, 2 * n)
        copied(at_limits(), n, limits[0])
        if curves:
            if not rates_of(q, v, address(speeds)):
                return NO_RESULT
            motor_limits(
                speeds, borrowed_array(vector(at_limits(), (n,))),
                borrowed_array(rows(at_table(), (n, columns))), limits,
            )  # fmt: skip
        for i in range(n):
            ends[0, i] = max(-limits[0, i], at_ends()[i])
            ends[0, n + i] = min(limits[0, i], at_ends()[n + i])
        if not cut(efforts[0], ends[0], efforts[1]):
            return NO_RESULT
        status = FINE
        for i in range(n):
            out[i] = efforts[1, i]
            if efforts[1, i] != efforts[0, i]:
                status = LIMITED
        return status

    return computed_torque


def end_stop_efforts_of(answers: Answers, setting: Setting) -> Any:
    """Efforts of the end stops at joints' positions and rates."""
    n, stops = setting.sizes[2], EndStops()
    stiffness, damping = stops.stiffness, stops.damping
    at_limits = constant(setting.mechanism.position_limits)

    def end_stop_efforts_checked(positions: Any, rates: Any, out: Any) -> int:
        if not (are_finite(positions, n) and are_finite(rates, n)):
            return INVALID
        end_stop_efforts(
            borrowed_array(vector(positions, (n,))), borrowed_array(vector(rates, (n,))),
            borrowed_array(rows(at_limits(), (n, 2))), stiffness, damping,
            borrowed_array(vector_out(out, (n,))),
        )  # fmt: skip
        return FINE

    return end_stop_efforts_checked


def checked_step_of(answers: Answers, setting: Setting) -> Any:
    """Steps of the simulation, efforts held."""
    call, is_configuration, (_, nv, n) = answers.step, answers.is_configuration, setting.sizes
    friction = setting.mechanism.friction
    dry, decay = friction.is_dry, friction.decay
    at_ends, at_rest = constant(setting.mechanism.effort_ends), constant(np.zeros(6))

    def step(q: Any, v: Any, efforts: Any, wrench: Any, base: Any, dt: float, steps: int) -> int:
        valid = is_configuration(q) and are_finite(v, nv) and are_finite(efforts, n)
        if not (valid and 0.0 < dt < np.inf and steps > 0):
            return INVALID
        load = at_rest() if is_null(wrench) else wrench
        if not (are_finite(load, 6) and (is_null(base) or are_finite(base, 9))):
            return INVALID
        options, held = stack(1, 2), stack(1, n)
        watched = decay * dt > WATCHED
        options[0, 0] = 1.0 if dry or watched else 0.0
        options[0, 1] = 1.0 if watched else 0.0
        for i in range(n):
            held[0, i] = min(max(efforts[i], at_ends()[i]), at_ends()[n + i])
        status: int = call(q, v, address(held), load, base, address(options), dt, steps)
        return status

    return step
