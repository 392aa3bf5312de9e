# SPDX-License-Identifier: Apache-2.0

"""Simulation step for joints that stick and slide or are strongly damped.

Each joint with dry friction slides forward, slides backward or sticks. Between changes of these
modes the motion is smooth: the friction of a sliding joint depends on its rate; a sticking joint is
a constraint on the accelerations, L_i V' + L_i' V = 0, whose multiplier is its friction. A step is
cut into pieces at the instants at which a joint's rate reaches zero. There, and at the beginning of
each step, `sticking.solve_stiction` decides which joints stick and which break away. Nothing is
smoothed: the rate of a joint that sticks is zero.

A piece is integrated by Runge-Kutta of order 4, or, if the damping D would make this unstable, by
the two-stage Rosenbrock-W method of order 2, ROS2 (Verwer et al., 1999), with the damping as its
approximate Jacobian:

    (M + g h D) k1 = f(V),    (M + g h D) k2 = f(V + h k1) - 2 M k1,    V + 3/2 h k1 + 1/2 h k2

which is L-stable for g = 1 - 1/sqrt(2) and of order 2 for any D.

Each kind of mechanism provides its `MotionEquations`, see `simulation.Functions`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.dry_friction import dry_friction
from robodyn.dynamics.kernels.integration import (
    DIVERGED,
    NO_COMMAND,
    OK,
    STIFF_CHECK,
    commanded,
)
from robodyn.dynamics.kernels.modes import (
    add_held,
    add_row,
    choose_modes,
    decay,
    factor_with_damping,
    rest_threshold,
    row_times,
)
from robodyn.dynamics.kernels.pieces import (
    between,
    put_between,
    put_implicit,
    put_load,
    stage_time,
)
from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import solve_factored
from robodyn.numerics.runge_kutta import is_within, put_stage, put_step
from robodyn.numerics.vectors import clear, copy

GAMMA: Final = 1.0 - 0.5**0.5
# Damping is implicit if the sum of its decay rates over the step exceeds this; Runge-Kutta of
# order 4 is stable up to 2.785.
STIFF: Final = 2.0
# A joint is at rest when this fraction is left of its rate at the beginning of a piece.
LANDED: Final = 1e-8
# Trials of a step, after which joints are stopped at their current positions.
MOST_TRIALS: Final = 100
# Shortest piece, as a fraction of the step.
SHORTEST: Final = 1e-13


class MotionEquations(NamedTuple):
    """Equations of motion at one state.

    Attributes:
        M: (nv, nv) mass matrix, lower triangle.
        D: (nv, nv) viscous damping, lower triangle; only if it may have to be implicit.
        L: (nf, nv) the rates of the joints with friction are L V.
        force: (nv,) M V' without dry friction, end stops included.
        drift: (nf,) L' V, the joints' accelerations for V' = 0.
    """

    M: Any
    D: Any
    L: Any
    force: Any
    drift: Any


class PieceMemory(NamedTuple):
    """Memory for the piece of a step that is being integrated.

    Attributes:
        start, start_rate: (nq,) and (nv,) state at its beginning.
        ahead: (nv,) velocity by which the configuration changes at a stage.
        row: (k,) row of the plan at a stage.
        load: (6 or 15,) external wrench and motion of the base at a stage.
    """

    start: Any
    start_rate: Any
    ahead: Any
    row: Any
    load: Any


class HybridScratch(NamedTuple):
    """Scratch memory of a step in which joints may stick and slide."""

    stages: Any
    equations: Any
    piece: Any
    joints: Any


class Bracket(NamedTuple):
    """Two ends, as fractions of the step, between which a joint comes to rest.

    At `lower` the joint nearest to rest still slides. At `upper`, if this is at most 1, its rate
    has changed sign. `f_lower` and `f_upper` are its rates there, relative to that at the
    beginning of the piece.
    """

    lower: float
    f_lower: float
    upper: float
    f_upper: float


@inner
def hybrid_step(
    kind: tuple[int, Any, Any, Any, Any], task: Any, step: Any, configuration: Any, velocity: Any
) -> int:
    """Advance the state by one step; leave it unchanged and return a status if the step fails.

    Args:
        kind: its status for a mass matrix that is not positive definite, and its functions command,
            equations, configuration_rate and normalize.
        task, step: `integration.Task`, with `HybridScratch` as its scratch, and `integration.Step`.
        configuration, velocity: (nq,) and (nv,), advanced in place.
    """
    without_inertia, command, equations, configuration_rate, normalize = kind
    plant, friction = task.plant, task.plant.friction
    s, e, p, j = task.scratch
    may_be_stiff = plant.options[STIFF_CHECK] != 0.0
    q, v, nv = s.configuration, s.velocity, velocity.shape[0]
    copy(configuration, p.start)
    copy(velocity, p.start_rate)
    clear(s.accelerations[0])  # read at the first stage, times zero
    done, end = 0.0, 1.0  # of the piece, as fractions of the step
    bracket = Bracket(0.0, 1.0, 2.0, 0.0)
    fresh, implicit = True, False
    trials, rest = 0, 0.0
    if step.at_instant:
        put_state(s, p, 0, 4, False, 0.0)
        status = command_at_instant(command, task, step)
        if status != OK:
            return int(status)
    while done < 1.0:
        piece = (end - done) * step.h
        stage, last = 0, 2 if implicit else 4
        while True:
            put_state(s, p, stage, last, implicit, piece)
            if stage > 0:
                status = normalize(plant, q, v, task.work)
                if status != OK:
                    return int(status)
            if not (is_within(q) and is_within(v)):
                return DIVERGED
            when = done + (end - done) * stage_time(stage, last)
            put_load(step, when, p.load)
            if step.rows.shape[0] > 1 and stage < last:
                row = p.row[: step.rows.shape[1]]
                put_between(step.rows, 1, when, row)
                if not commanded(command, task, q, v, row, p.load, s.wanted, s.effort):
                    return NO_COMMAND
            status = equations(plant, q, v, s.effort, p.load, may_be_stiff, task.work, e)
            if status != OK:
                return int(status)
            for i in range(friction.shape[0]):
                j.speed[i] = row_times(e.L, i, v, 0.0)
            if stage == last:
                break
            if fresh:
                rest = rest_threshold(v)
                if not factor_with_damping(j.factor, e.M, e.D, 0.0, nv):
                    return without_inertia
                implicit = may_be_stiff and step.h * decay(j.factor, e.D, nv, j.x) > STIFF
                last = 2 if implicit else 4
                copy(j.speed, j.first_speed)
                if choose_modes(friction, e, j, rest, v):
                    # all joints stick and do not move until something changes
                    clear(velocity)
                    copy(p.start, configuration)
                    return OK
                fresh, bracket = False, Bracket(done, 1.0, 2.0, 0.0)
            damped = GAMMA * piece if implicit else 0.0
            if not put_accelerations(friction, s, e, j, stage, damped):
                return without_inertia
            for k in range(nv):
                p.ahead[k] = v[k] + (damped * j.x[k] if implicit else 0.0)
            configuration_rate(plant, q, p.ahead, task.work, s.rates[stage])
            if implicit and stage == 1:
                for k in range(s.rates.shape[1]):
                    s.rates[1, k] -= 2.0 * s.rates[0, k]
            stage += 1
        trials += 1
        if trials < MOST_TRIALS:
            if restick_reversed(j, rest):
                end, bracket = 1.0, Bracket(done, 1.0, 2.0, 0.0)
                continue
            least = least_left(j, rest)
            # the first instant at which a sliding joint comes to rest: regula falsi, Illinois
            if least < -LANDED or (
                bracket.upper <= 1.0 and least > LANDED and bracket.upper - bracket.lower > SHORTEST
            ):
                bracket = narrow_bracket(bracket, end, least)
                end = between(bracket, trials)
                continue
        if stick_at_zero_rate(j, rest):
            # their remaining rates vanish as in an inelastic impact, which only dissipates energy
            if not factor_with_damping(j.factor, e.M, e.D, 0.0, nv):
                return without_inertia
            add_held(j.factor, e.L, j.X, j.H, j.mode, j.wanted, v)
        copy(q, p.start)
        copy(v, p.start_rate)
        done, end, fresh = end, 1.0, True
        if 1.0 - done < 1e-12:
            break
    copy(p.start, configuration)
    copy(p.start_rate, velocity)
    return OK


@inner
def command_at_instant(command: Any, task: Any, step: Any) -> int:
    """Compute the commanded efforts at the beginning of a step, before and after their limits."""
    s, p = task.scratch.stages, task.scratch.piece
    if not (is_within(s.configuration) and is_within(s.velocity)):
        return DIVERGED
    put_load(step, 0.0, p.load)
    row = p.row[: step.rows.shape[1]]
    copy(step.rows[0], row)
    if not commanded(command, task, s.configuration, s.velocity, row, p.load, s.wanted, s.effort):
        return NO_COMMAND
    copy(s.wanted, step.wanted)
    copy(s.effort, step.applied)
    return OK


@inner
def put_state(s: Any, p: Any, stage: int, last: int, implicit: bool, piece: float) -> None:
    """Write the state at a stage of a piece of length `piece` [s], or after the last stage."""
    if stage == 0:
        copy(p.start, s.configuration)
        copy(p.start_rate, s.velocity)
    elif implicit:
        put_implicit(p.start, s.rates, stage, piece, s.configuration)
        put_implicit(p.start_rate, s.accelerations, stage, piece, s.velocity)
    elif stage < last:
        put_stage(p.start, s.rates, stage, piece, p.start.shape[0], s.configuration)
        put_stage(p.start_rate, s.accelerations, stage, piece, p.start_rate.shape[0], s.velocity)
    else:
        put_step(p.start, s.rates, piece, p.start.shape[0], s.configuration)
        put_step(p.start_rate, s.accelerations, piece, p.start_rate.shape[0], s.velocity)


@inner
def put_accelerations(friction: Any, s: Any, e: Any, j: Any, stage: int, damped: float) -> bool:
    """Write the accelerations of a stage, also to j.x; return False if M + damped D is indefinite.

    `damped` is gamma h, zero for an explicit step.
    """
    nf, nv = friction.shape[0], j.x.shape[0]
    first = s.accelerations[0]
    for i in range(nf):
        if abs(j.mode[i]) == 1.0:
            add_row(e.L, i, -dry_friction(friction[i], 0, j.mode[i], j.speed[i]), e.force)
    twice = 2.0 if damped > 0.0 and stage == 1 else 0.0
    if twice > 0.0:
        for i in range(nv):
            for k in range(nv):
                e.force[i] -= 2.0 * e.M[max(i, k), min(i, k)] * first[k]
    if not factor_with_damping(j.factor, e.M, e.D, damped, nv):
        return False
    copy(e.force, j.x)
    solve_factored(j.factor, nv, j.x)
    for i in range(nf):
        j.wanted[i] = 0.0
        if j.mode[i] == 0.0:
            j.wanted[i] = -e.drift[i]
            for k in range(nv):
                j.wanted[i] -= e.L[i, k] * (j.x[k] + twice * first[k])
    add_held(j.factor, e.L, j.X, j.H, j.mode, j.wanted, j.x)
    copy(j.x, s.accelerations[stage])
    return True


@inner
def restick_reversed(j: Any, rest: float) -> bool:
    """Let joints stick that broke away but moved backward; return whether there are any."""
    held = False
    for i in range(j.mode.shape[0]):
        broke_away = abs(j.mode[i]) == 1.0 and abs(j.first_speed[i]) <= rest
        if broke_away and j.mode[i] * j.speed[i] < -rest:
            j.mode[i] = 0.0
            held = True
    return held


@inner
def least_left(j: Any, rest: float) -> float:
    """Return the remaining fraction of the rate of the sliding joint nearest to rest, at most 1."""
    least = 1.0
    for i in range(j.mode.shape[0]):
        if abs(j.mode[i]) == 1.0 and abs(j.first_speed[i]) > rest:
            least = min(least, j.mode[i] * j.speed[i] / abs(j.first_speed[i]))
    return least


@inner
def narrow_bracket(bracket: Any, end: float, least: float) -> Any:
    """Return the bracket with one end replaced (Illinois rule for an end that stays again)."""
    lower, f_lower, upper, f_upper = bracket
    if least < 0.0:
        if upper <= 1.0:
            f_lower *= 0.5
        return Bracket(lower, f_lower, end, least)
    return Bracket(end, least, upper, 0.5 * f_upper)


@inner
def stick_at_zero_rate(j: Any, rest: float) -> bool:
    """Let joints stick that came to rest; return whether any of them still has a nonzero rate.

    The changes that bring these rates to zero are written to `j.wanted`.
    """
    leftover = False
    for i in range(j.mode.shape[0]):
        moved = abs(j.first_speed[i])
        if abs(j.mode[i]) == 1.0 and moved > rest and j.mode[i] * j.speed[i] <= LANDED * moved:
            j.mode[i] = 0.0
        j.wanted[i] = 0.0
        if j.mode[i] == 0.0:
            leftover = leftover or j.speed[i] != 0.0
            j.wanted[i] = -j.speed[i]
    return leftover
