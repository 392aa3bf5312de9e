# SPDX-License-Identifier: Apache-2.0

"""A step of the simulation where joints stick and slide, or are strongly damped.

Each joint with dry friction slides forward, slides backward or sticks. While none of them changes,
the motion is smooth: sliding joints feel a friction that depends on their rates, sticking ones are
constraints on the accelerations, L_i V' + L_i' V = 0, whose multipliers are the friction that holds
them. A step is cut into pieces where a joint's rate comes to zero; there, and at the beginning of
each step, `sticking.hold` decides which joints stay and which break away. Nothing is smoothed: the
rate of a joint that sticks is zero.

A piece is integrated by Runge-Kutta of order 4, or, where damping D is so strong that this would be
unstable, by the two-stage Rosenbrock-W method of order 2, ROS2 (Verwer et al., 1999), with the
damping as its approximate Jacobian:

    (M + g h D) k1 = f(V),    (M + g h D) k2 = f(V + h k1) - 2 M k1,    V + 3/2 h k1 + 1/2 h k2

which is L-stable for g = 1 - 1/sqrt(2) and of order 2 for any D.

A kind of mechanism provides, beside `command` and `normalize` of `integration`:

`equations(plant, configuration, velocity, effort, load, damped, work, M, D, L, force, drift)`
    M (nv, nv), lower triangle; L (nf, nv), rates of the joints with friction are L V; force (nv,)
    = M V' without dry friction, end stops included; drift (nf,) = L' V, the joints' accelerations
    for V' = 0; and, if `damped`, the viscous damping D (nv, nv), lower triangle. Returns OK or a
    status of the kind's own.
`configuration_rate(plant, configuration, velocity, work, out)`
    The time derivative of a configuration, of which the equations were the last asked for.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.common.kernels.control_laws import cut
from robodyn.mechanisms.common.kernels.integration import DIVERGED, NO_COMMAND, OK
from robodyn.mechanisms.common.kernels.modes import add_held, at_rest, choose_modes, decay, into
from robodyn.mechanisms.common.kernels.pieces import between, put_between, put_implicit, stage_time
from robodyn.mechanisms.common.kernels.sticking import friction_effort
from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import solve_factored
from robodyn.numerics.runge_kutta import is_within, put_stage, put_step
from robodyn.numerics.vectors import clear, copy

GAMMA: Final = 1.0 - 0.5**0.5
# Damping is implicit where the sum of its decay rates over the step exceeds this; Runge-Kutta of
# order 4 is stable up to 2.785.
STIFF: Final = 2.0
# A joint has come to rest when this much is left of its rate at the beginning of a piece.
LANDED: Final = 1e-8
# Trials of a step, after which joints are stopped where they are.
MOST_TRIALS: Final = 100


@inner
def rough_step(
    command: Any,
    equations: Any,
    configuration_rate: Any,
    normalize: Any,
    without_inertia: int,
    friction: Any,
    watched: bool,
    plant: Any,
    model: Any,
    control: Any,
    rows: Any,
    load: Any,
    h: float,
    instant: bool,
    record: Any,
    work: Any,
    scratch: Any,
    here: Any,
    moving: Any,
    efforts: Any,
) -> int:
    """One step; the state is left as it was if it fails.

    Args:
        command, equations, configuration_rate, normalize: of the kind.
        without_inertia: the kind's status where M is not positive definite.
        friction: (nf, sticking.ROW) of the joints that have any.
        watched: whether damping may be too strong for explicit steps.
        plant, model, control, rows, load, h, instant, record, work, here, moving, efforts: as for
            `integration.classical_step`.
        scratch: rates (4, nc), accelerations (4, nv), (2, nc), (2, nv), three of (nv, nv), two of
            (nf, nv), two of (nf, nf), (3, nv), (10, nf), and (2, width) for rows of a plan or
            wrenches.
    """
    law, kp, kv, effort_limits = control
    (
        rates, accelerations, positions, velocities, M, A, D, L, X, G, H, wide, joints, rowlike,
    ) = scratch  # fmt: skip
    position, start = positions[0], positions[1]
    rate, start_rate = velocities[0], velocities[1]
    asked, effort = efforts[0], efforts[1]
    force, x = wide[0], wide[1]
    drift, speed, mode, first_speed = joints[0], joints[1], joints[2], joints[3]
    nv, nf = moving.shape[0], friction.shape[0]
    copy(here, start)
    copy(moving, start_rate)
    clear(accelerations[0])  # read at the first stage, times zero
    done, end = 0.0, 1.0
    behind, beyond, sign_behind, sign_beyond = 0.0, 2.0, 1.0, 0.0
    fresh, implicit = True, False
    trials, rest = 0, 0.0
    while done < 1.0:
        piece = (end - done) * h
        stage = -1 if instant else 0
        last = 2 if implicit else 4
        while True:
            if stage <= 0:
                copy(start, position)
                copy(start_rate, rate)
            elif implicit:
                put_implicit(start, rates, stage, piece, position)
                put_implicit(start_rate, accelerations, stage, piece, rate)
            elif stage < last:
                put_stage(start, rates, stage, piece, position)
                put_stage(start_rate, accelerations, stage, piece, rate)
            else:
                put_step(start, rates, piece, position)
                put_step(start_rate, accelerations, piece, rate)
            if stage > 0:
                status = normalize(plant, position, rate, work)
                if status != OK:
                    return int(status)
            if not (is_within(position) and is_within(rate)):
                return DIVERGED
            part = stage_time(stage, last)
            when = done + (end - done) * part
            if stage == -1 or (rows.shape[0] > 1 and stage < last):
                told = rowlike[0, : rows.shape[1]]
                if stage == -1:
                    copy(rows[0], told)
                else:
                    put_between(rows, 1, when, told)
                if not (
                    command(model, law, kp, kv, position, rate, told, work, asked)
                    and cut(asked, effort_limits, effort)
                ):
                    return NO_COMMAND
                if stage == -1:
                    copy(asked, record[0])
                    copy(effort, record[1])
                    instant = False
                    stage = 0
                    continue
            wrench = rowlike[1, :6]
            if load.shape[0] > 1:
                put_between(load, 0, when, wrench)
            else:
                copy(load[0], wrench)
            status = equations(
                plant, position, rate, effort, wrench, watched, work, M, D, L, force, drift
            )
            if status != OK:
                return int(status)
            for i in range(nf):
                speed[i] = 0.0
                for j in range(nv):
                    speed[i] += L[i, j] * rate[j]
            if stage == last:
                break
            if fresh:
                rest = at_rest(rate)
                if not into(A, M, D, 0.0, nv):
                    return without_inertia
                implicit = watched and h * decay(A, D, nv, x) > STIFF
                last = 2 if implicit else 4
                copy(speed, first_speed)
                if choose_modes(friction, A, L, X, G, H, force, drift, rest, joints, wide, rate):
                    # all of it sticks, and stays where it is until something changes
                    for j in range(nv):
                        moving[j] = 0.0
                    copy(start, here)
                    return OK
                fresh, behind, beyond, sign_behind = False, done, 2.0, 1.0
            for i in range(nf):
                if abs(mode[i]) == 1.0:
                    push = friction_effort(friction[i], mode[i], speed[i])
                    for j in range(nv):
                        force[j] += L[i, j] * push
            twice = 0.0
            if implicit and stage == 1:
                twice = 2.0
                for j in range(nv):
                    for k in range(nv):
                        force[j] -= 2.0 * M[max(j, k), min(j, k)] * accelerations[0, k]
            if not into(A, M, D, GAMMA * piece if implicit else 0.0, nv):
                return without_inertia
            copy(force, x)
            solve_factored(A, nv, x)
            for i in range(nf):
                joints[4, i] = 0.0
                if mode[i] == 0.0:
                    joints[4, i] = -drift[i]
                    for j in range(nv):
                        joints[4, i] -= L[i, j] * (x[j] + twice * accelerations[0, j])
            add_held(A, L, X, H, mode, joints[4], x)
            copy(x, accelerations[stage])
            ahead = wide[2]
            for j in range(nv):
                ahead[j] = rate[j] + (GAMMA * piece * x[j] if implicit else 0.0)
            configuration_rate(plant, position, ahead, work, rates[stage])
            if twice > 0.0:
                for j in range(rates.shape[1]):
                    rates[1, j] -= 2.0 * rates[0, j]
            stage += 1
        trials += 1
        # a joint that broke away and ends up behind where it was does not break away
        held = False
        least = 1.0
        for i in range(nf):
            if abs(mode[i]) == 1.0:
                along = mode[i] * speed[i]
                if abs(first_speed[i]) <= rest:
                    if along < -rest and trials < MOST_TRIALS:
                        mode[i] = 0.0
                        held = True
                else:
                    least = min(least, along / abs(first_speed[i]))
        if held:
            end, behind, beyond, sign_behind = 1.0, done, 2.0, 1.0
            continue
        if trials < MOST_TRIALS:
            # the first instant at which a sliding joint comes to rest: regula falsi, Illinois
            if least < -LANDED:
                if beyond <= 1.0:
                    sign_behind *= 0.5
                beyond, sign_beyond = end, least
                end = between(behind, sign_behind, beyond, sign_beyond, trials)
                continue
            if beyond <= 1.0 and least > LANDED and beyond - behind > 1e-13:
                sign_beyond *= 0.5
                behind, sign_behind = end, least
                end = between(behind, sign_behind, beyond, sign_beyond, trials)
                continue
        landed = False
        for i in range(nf):
            moved = abs(first_speed[i])
            if abs(mode[i]) == 1.0 and moved > rest and mode[i] * speed[i] <= LANDED * moved:
                mode[i] = 0.0
            joints[4, i] = 0.0
            if mode[i] == 0.0:
                landed = landed or speed[i] != 0.0
                joints[4, i] = -speed[i]
        if landed:
            # what is left of their rates goes as in an inelastic impact, which costs energy only
            if not into(A, M, D, 0.0, nv):
                return without_inertia
            add_held(A, L, X, H, mode, joints[4], rate)
        copy(position, start)
        copy(rate, start_rate)
        done, end, fresh = end, 1.0, True
        if 1.0 - done < 1e-12:
            break
    copy(start, here)
    copy(start_rate, moving)
    return OK
