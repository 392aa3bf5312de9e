# SPDX-License-Identifier: Apache-2.0

"""Simulation step for joints that stick and slide or are strongly damped.

Each joint with dry friction slides forward, slides backward or sticks. Between changes of these
modes the motion is smooth: the friction of a sliding joint depends on its rate; a sticking joint is
a constraint on the accelerations, L_i V' + L_i' V = 0, whose multiplier is its friction. A step is
cut into pieces at the instants at which a joint's rate reaches zero. There, and at the beginning of
each step, `sticking.solve_stiction` decides which joints stick and which break away. Nothing is
smoothed: the rate of a joint that sticks is zero to rounding.

A piece is integrated by Runge-Kutta of order 4, or, if the damping D would make this unstable, by
the two-stage Rosenbrock-W method of order 2, ROS2 (Verwer et al., 1999), with the damping as its
approximate Jacobian:

    (M + g h D) k1 = f(V),    (M + g h D) k2 = f(V + h k1) - 2 M k1,    V + 3/2 h k1 + 1/2 h k2

which is L-stable for g = 1 - 1/sqrt(2) and of order 2 for any D.

A step may also be semi-implicit, see `semi_implicit.put_velocity`.

The step is for one mechanism, or for eight in SIMD lanes, which have pieces of their own and do not
depend on each other. Each kind of mechanism provides its `MotionEquations`, see
`simulation.Functions`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels import modes
from robodyn.dynamics.kernels.dry_friction import dry_friction
from robodyn.dynamics.kernels.integration import (
    DIVERGED,
    OK,
    SEMI_IMPLICIT,
    STIFF_CHECK,
    stages_shapes,
)
from robodyn.dynamics.kernels.pieces import next_trial, put_implicit, stage_time
from robodyn.dynamics.kernels.semi_implicit import put_velocity
from robodyn.numerics.compiler import inner
from robodyn.numerics.linear import solve_factored
from robodyn.numerics.runge_kutta import are_within, put_stage, put_step
from robodyn.numerics.simd.lanes import all_of, any_of, choose
from robodyn.numerics.vectors import copy

GAMMA: Final = 1.0 - 0.5**0.5
# Damping is implicit if the sum of its decay rates over the step exceeds this; Runge-Kutta of
# order 4 is stable up to 2.785.
STIFF: Final = 2.0
# A joint counts as at rest if its rate has fallen below this fraction of its value at the start of
# the piece.
REST_RATIO: Final = 1e-8
# Rates of sticking joints above this fraction of the threshold of rest are brought to zero.
LEFT: Final = 0.1
# Number of trials of a step after which joints are stopped at their current positions.
MOST_TRIALS: Final = 100.0
# Bracket, as a fraction of the step, behind which a rate that jumps counts as zero.
SHORTEST: Final = 1e-6


class MotionEquations(NamedTuple):
    """Arrays of the equations of motion at one state.

    Attributes:
        M: (nv, nv) mass matrix, lower triangle.
        D: (nv, nv) viscous damping, lower triangle; written only if damping may be so strong that
            it is integrated implicitly.
        L: (nf, nv) Jacobian: the rates of the joints with friction are L V for a velocity V.
        force: (nv,) M V' without dry friction, end stops included.
        drift: (nf,) L' V, the joints' accelerations for V' = 0.
        stops: (n, 2) stiffness and damping of the end stops that push driven joints, zero for the
            others; written only together with D. Driven joints have the first rows of L.
    """

    M: Any
    D: Any
    L: Any
    force: Any
    drift: Any
    stops: Any


class PieceMemory(NamedTuple):
    """Scratch arrays for the piece of a step that is being integrated.

    Attributes:
        start, start_rate: (nq,) and (nv,) state at the beginning of the piece.
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
    """Scratch arrays of a simulation step in which joints may stick and slide.

    Attributes:
        stages: `integration.Stages`, with the state at the current stage.
        equations: `MotionEquations` at that state.
        piece: `PieceMemory`.
        joints: `modes.FrictionMemory`.
    """

    stages: Any
    equations: Any
    piece: Any
    joints: Any


@inner
def equations_shapes(nv: int, n: int, nf: int) -> Any:
    """Return the shapes of `MotionEquations`.

    They are those for nv velocities, n driven joints and nf joints with friction.
    """
    return MotionEquations((nv, nv), (nv, nv), (nf, nv), nv, nf, (n, 2))


@inner
def hybrid_shapes(sizes: tuple[int, int, int], nf: int, row: int, load: int) -> Any:
    """Return the shapes of `HybridScratch` for nf joints with friction.

    `sizes` are those of configuration, velocity and efforts. The row of the plan and the load have
    `row` and `load` numbers.
    """
    nq, nv, n = sizes
    return HybridScratch(
        stages_shapes(sizes),
        equations_shapes(nv, n, nf),
        PieceMemory(nq, nv, nv, row, load),
        modes.joints_shapes(nv, nf),
    )


class StepFunctions(NamedTuple):
    """Functions of a kind of mechanism for steps with stiction.

    Attributes:
        without_inertia: status for a mass matrix that is not positive definite.
        supply: supply(task, step, when, given) -> (status, State): the state at a stage, with the
            efforts and loads at this fraction of the step; `given` is whether the stage has efforts
            of its own.
        equations, configuration_rate, normalize: as in `simulation.Functions`.
        renew: renew(step, idle, left) -> (mask, left): replace mechanisms in idle lanes by others
            that wait.
    """

    without_inertia: int
    supply: Any
    equations: Any
    configuration_rate: Any
    normalize: Any
    renew: Any


class Bracket(NamedTuple):
    """Search interval, in fractions of the step, for the instant at which a joint stops.

    At `lower` the joint nearest to rest still slides. At `upper`, if this is at most 1, its rate
    has changed sign. `f_lower` and `f_upper` are its rates there, relative to that at the
    beginning of the piece. `side` is -1 if the lower end was replaced last, 1 if the upper, and
    the search `bisects` if this hardly changed the rate, as where an end stop is hit.
    """

    lower: Any
    f_lower: Any
    upper: Any
    f_upper: Any
    side: Any
    bisects: Any


class Progress(NamedTuple):
    """Progress of each SIMD lane through its steps.

    Attributes:
        going: mask of the lanes that are integrated.
        waits: mask of those that need another integration method than the rest of the group.
        fresh: mask of those that begin a piece.
        kept: mask of those that repeat a piece with another length, from its second stage on.
        left: number of remaining steps.
        done, end: beginning and end of the piece, as fractions of the step.
        trials: number of lengths tried in this step.
        rest: rate up to which a joint counts as at rest.
        bracket: interval that contains the end of the piece.
    """

    going: Any
    waits: Any
    fresh: Any
    kept: Any
    left: Any
    done: Any
    end: Any
    trials: Any
    rest: Any
    bracket: Bracket


class Verdict(NamedTuple):
    """Masks of the SIMD lanes by what becomes of their piece of a step.

    Attributes:
        accepted: those that accept the piece.
        again: those that repeat it in other joint modes.
        leftover: those in which sticking joints still have a rate, to be brought to zero.
    """

    accepted: Any
    again: Any
    leftover: Any


@inner
def hybrid_step(
    kind: StepFunctions, task: Any, step: Any, h: float, left: Any, is_constant: bool,
    configuration: Any, velocity: Any,
) -> Any:  # fmt: skip
    """Advance one state, or eight in SIMD lanes, by steps with stiction or stiff damping.

    Each lane takes as many of the steps, all of equal length, as it can. A lane begins its next
    step without waiting for the others, so that lanes in which joints stop, whose steps have
    several pieces, do not delay the rest.

    Args:
        kind: functions of the kind of mechanism.
        task: `integration.Task`, with `HybridScratch` as its scratch.
        step: argument of `kind.supply`.
        h: length of a step [s].
        left: number of steps, one for each lane.
        is_constant: whether efforts and loads do not change; otherwise, the number of steps is 1.
        configuration, velocity: (nq,) and (nv,), advanced in place by whole steps.

    Returns:
        A status, and the number of remaining steps in each lane. Steps remain in lanes whose state
        leaves the bounds or that need another integration method than the rest, and in all lanes if
        there is no solution for one.
    """
    p = task.scratch.piece
    copy(configuration, p.start)
    copy(velocity, p.start_rate)
    zero, going = 0.0 * left, left > 0.0
    none = going & ~going
    bracket = Bracket(zero, zero + 1.0, zero + 2.0, zero, zero, none)
    lanes = Progress(going, none, going, none, left, zero, zero + 1.0, zero, zero, bracket)
    implicit, is_evaluated = False, False  # the latter: the equations are known where pieces begin
    while any_of(lanes.going):
        status, lanes, still, implicit = integrate_piece(
            kind, task, step, h, lanes, implicit, is_evaluated
        )
        if status != OK:
            return status, lanes.left
        status, lanes, verdict = judge_piece(kind, task, h, lanes, still)
        if status != OK:
            return status, lanes.left
        lanes, ended, accepted = complete_piece(
            kind, task, step, lanes, still, verdict, configuration, velocity
        )
        lanes = begin_next_piece(lanes, ended, accepted, verdict.again, implicit)
        repeats = lanes.going & ~lanes.kept & (verdict.leftover | ~accepted)
        is_evaluated = is_constant and not is_semi_implicit(task) and not any_of(repeats)
    return OK if any_of(lanes.left <= 0.0) else DIVERGED, lanes.left


@inner
def is_semi_implicit(task: Any) -> bool:
    """Return whether the steps of a task are semi-implicit."""
    return bool(task.plant.options[SEMI_IMPLICIT] != 0.0)


@inner
def integrate_piece(
    kind: StepFunctions, task: Any, step: Any, h: float, lanes: Progress, implicit: bool,
    is_evaluated: bool,
) -> Any:  # fmt: skip
    """Integrate the piece of the step in each lane by the stages of the method.

    The state at the end of the piece, the equations of motion and the rates of the joints there are
    written to the scratch arrays of the task. Lanes whose state leaves the bounds stop.

    Args:
        kind, task, step, h: as for `hybrid_step`.
        lanes: progress of each lane.
        implicit: whether the damping was implicit in the last piece.
        is_evaluated: whether the scratch arrays already contain the equations at the piece's
            beginning.

    Returns:
        A status, the progress, the mask of lanes in which nothing moves until something changes,
        and whether the damping is implicit.
    """
    plant, (s, _, p, j) = task.plant, task.scratch
    q, v, nq, nv = s.configuration, s.velocity, s.rates.shape[1], s.accelerations.shape[1]
    piece = choose(lanes.going, (lanes.end - lanes.done) * h, 0.0)
    stage, last = 0 if any_of(lanes.going & ~lanes.kept) else 1, 2 if implicit else 4
    still = lanes.going & ~lanes.going
    while True:
        put_state(s, p, stage, last, implicit, piece)
        if stage > 0:
            status = kind.normalize(plant, q, v, task.work, stage < last)
            if status != OK:
                return status, lanes, still, implicit
        within = are_within(q, nq) & are_within(v, nv)
        if not all_of(within):
            lanes = with_masks(lanes, lanes.going & within, lanes.waits, lanes.fresh)
            if not any_of(lanes.going):
                break
            choose_all(~within, p.start, q)
            choose_all(~within, p.start_rate, v)
        when = lanes.done + (lanes.end - lanes.done) * stage_time(stage, last)
        if stage > 0 or not is_evaluated:
            status = evaluate_equations(kind, task, step, when, stage < last)
            if status != OK:
                return status, lanes, still, implicit
        if stage == last:
            break
        is_factored = False
        if stage == 0 and any_of(lanes.fresh):
            if is_semi_implicit(task):
                if not put_velocity(plant, task.scratch.equations, j, h, v, p.ahead):
                    return kind.without_inertia, lanes, still, implicit
                kind.configuration_rate(plant, q, p.ahead, task.work, s.rates[0])
                break
            has_inertia, lanes, still, implicit = begin_piece(task, h, lanes, implicit)
            if not has_inertia:
                return kind.without_inertia, lanes, still, implicit
            if not any_of(lanes.going & ~still):
                break
            is_factored = not any_of(lanes.going & ~lanes.fresh & ~lanes.kept)
            last = 2 if implicit else 4
        if not put_rates(kind, task, lanes.kept, stage, piece, implicit, is_factored):
            return kind.without_inertia, lanes, still, implicit
        stage += 1
    return OK, lanes, still, implicit


@inner
def with_masks(lanes: Progress, going: Any, waits: Any, fresh: Any) -> Progress:
    """Return the progress with other masks `going`, `waits` and `fresh`."""
    _, _, _, kept, left, done, end, trials, rest, bracket = lanes
    return Progress(going, waits, fresh, kept, left, done, end, trials, rest, bracket)


@inner
def evaluate_equations(kind: StepFunctions, task: Any, step: Any, when: Any, given: bool) -> int:
    """Write the equations of motion at a stage, and the rates of the joints with friction.

    They are written to the task's scratch arrays, `equations` and `joints.speed`. `when` and
    `given` are those of `StepFunctions.supply`.

    Returns:
        A status code: OK, or the reason for the failure.
    """
    plant, e, j = task.plant, task.scratch.equations, task.scratch.joints
    status, state = kind.supply(task, step, when, given)
    if status != OK:
        return int(status)
    with_damping = plant.options[STIFF_CHECK] != 0.0 or plant.options[SEMI_IMPLICIT] != 0.0
    status = kind.equations(plant, state, with_damping, task.work, e)
    if status != OK:
        return int(status)
    for i in range(plant.friction.shape[0]):
        j.speed[i] = modes.row_times(e.L, i, task.scratch.stages.velocity, 0.0)
    return OK


@inner
def begin_piece(task: Any, h: float, lanes: Progress, implicit: bool) -> Any:
    """Choose the integration method, and the joints that stick, in lanes that begin a piece.

    The modes of the joints are written to the task's scratch arrays. `h` [s] is the length of a
    step, `lanes` the progress, and `implicit` whether the damping was implicit in the last piece.

    Returns:
        Whether the mass matrix is positive definite, the progress, the mask of lanes in which all
        joints stick and nothing moves until something changes, and whether the damping is implicit.
    """
    plant, friction = task.plant, task.plant.friction
    s, e, _, j = task.scratch
    going, waits, fresh, kept, left, done, end, trials, rest, bracket = lanes
    v, nv = s.velocity, s.accelerations.shape[1]
    if not modes.factor_with_damping(j.factor, e.M, e.D, 0.0 * done, False, nv):
        return False, lanes, going & ~going, implicit
    rest = choose(fresh, modes.rest_threshold(v, nv), rest)
    if plant.options[STIFF_CHECK] != 0.0:
        # lanes that need the other method than the rest of the group leave it
        stiff = h * modes.decay(j.factor, e.D, nv, j.x) > STIFF
        if not any_of(going & ~fresh):
            implicit = all_of(stiff | ~going)
        wrong = fresh & (~stiff if implicit else stiff)
        going, fresh, waits = going & ~wrong, fresh & ~wrong, waits | wrong
    for i in range(friction.shape[0]):
        j.first_speed[i] = choose(fresh, j.speed[i], j.first_speed[i])
    still = modes.choose_modes(friction, e, j, rest, v, fresh)
    bracket = begin_bracket(bracket, fresh, done)
    lanes = Progress(going, waits, fresh, kept, left, done, end, trials, rest, bracket)
    return True, lanes, still, implicit


@inner
def put_rates(
    kind: StepFunctions, task: Any, kept: Any, stage: int, piece: Any, implicit: bool,
    is_factored: bool,
) -> bool:  # fmt: skip
    """Write the derivatives of configuration and velocity at a stage to scratch arrays.

    Args:
        kind, task: as for `hybrid_step`.
        kept: mask of the lanes that keep their derivatives at the first stage.
        stage: index of the stage, from 0.
        piece: length [s] of each lane's piece.
        implicit: whether the damping is implicit.
        is_factored: whether the scratch arrays contain the factorized mass matrix.

    Returns:
        False if the mass matrix, with implicit damping if any, is not positive definite.
    """
    plant, (s, e, p, j) = task.plant, task.scratch
    q, v = s.configuration, s.velocity
    damped = GAMMA * piece if implicit else 0.0 * piece
    # the first stage by way of the last row, as some lanes keep theirs
    row = stage if stage > 0 else 3
    if not put_accelerations(plant.friction, s, e, j, stage, row, implicit, damped, is_factored):
        return False
    for k in range(v.shape[0]):
        p.ahead[k] = v[k] + damped * j.x[k] if implicit else v[k]
    kind.configuration_rate(plant, q, p.ahead, task.work, s.rates[row])
    if stage == 0:
        choose_all(~kept, s.rates[3], s.rates[0])
        choose_all(~kept, s.accelerations[3], s.accelerations[0])
    if implicit and stage == 1:
        for k in range(q.shape[0]):
            s.rates[1, k] = s.rates[1, k] - 2.0 * s.rates[0, k]
    return True


@inner
def judge_piece(kind: StepFunctions, task: Any, h: float, lanes: Progress, still: Any) -> Any:
    """Decide in which lanes to accept the piece, and bring sticking joints to rest.

    The velocity at the end of the piece is corrected in the scratch arrays.

    Returns:
        A status, the progress, with the next length of the piece in lanes that do not accept it,
        and the `Verdict`.
    """
    plant, (s, e, p, j) = task.plant, task.scratch
    going, waits, fresh, kept, left, done, end, trials, rest, bracket = lanes
    q, v, nq, nv = s.configuration, s.velocity, s.rates.shape[1], s.accelerations.shape[1]
    moved = going & ~still
    accepted, again, leftover = moved, going & ~going, going & ~going
    if is_semi_implicit(task):
        for k in range(nq):
            q[k] = q[k] + h * s.rates[0, k]
        copy(p.ahead, v)
        status = kind.normalize(plant, q, v, task.work, False)
        if status != OK:
            return status, lanes, Verdict(accepted, again, leftover)
        accepted = moved & are_within(q, nq) & are_within(v, nv)
        going = accepted
    elif any_of(moved):
        trials = choose(moved, trials + 1.0, trials)
        judged = moved & (trials < MOST_TRIALS)
        accepted, again, bracket, end = judge_trial(j, rest, judged, bracket, done, end)
        accepted = accepted | (moved & ~judged)
        leftover = stick_at_zero_rate(j, rest, accepted)
    verdict = Verdict(accepted, again, leftover)
    lanes = Progress(going, waits, fresh, kept, left, done, end, trials, rest, bracket)
    if any_of(leftover):
        # their remaining rates vanish as in an inelastic impact, which only dissipates energy
        if not modes.factor_with_damping(j.factor, e.M, e.D, 0.0 * done, False, nv):
            return kind.without_inertia, lanes, verdict
        copy(v, p.ahead)
        modes.constrain_sticking_joints(e.L, j, False, p.ahead)
        choose_all(leftover, p.ahead, v)
    return OK, lanes, verdict


@inner
def complete_piece(
    kind: StepFunctions, task: Any, step: Any, lanes: Progress, still: Any, verdict: Verdict,
    configuration: Any, velocity: Any,
) -> Any:  # fmt: skip
    """Store the states at the ends of accepted pieces and of steps; refill idle lanes.

    Args:
        kind, task, step: as for `hybrid_step`.
        lanes: progress of each lane.
        still: mask of the lanes in which nothing moves until something changes.
        verdict: `Verdict` of the piece.
        configuration, velocity: (nq,) and (nv,), overwritten in lanes that end a step.

    Returns:
        The progress, the mask of lanes that end a step or are refilled, and the mask of those that
        accepted their piece.
    """
    s, p, accepted = task.scratch.stages, task.scratch.piece, verdict.accepted
    going, waits, fresh, kept, left, done, end, trials, rest, bracket = lanes
    choose_all(accepted, s.configuration, p.start)
    choose_all(accepted, s.velocity, p.start_rate)
    rests = still
    for k in range(p.start_rate.shape[0]):
        rests = rests & (p.start_rate[k] == 0.0)
        p.start_rate[k] = choose(still, 0.0, p.start_rate[k])
    done = choose(accepted, end, done)
    ended = still | (accepted & (1.0 - done < 1e-12))
    choose_all(ended, p.start, configuration)
    choose_all(ended, p.start_rate, velocity)
    # a mechanism at rest that sticks does so in all further steps
    left = choose(rests, 0.0, choose(ended, left - 1.0, left))
    going = going & (left > 0.0)
    began, left = kind.renew(step, ~(going | waits), left)
    choose_all(began, configuration, p.start)
    choose_all(began, velocity, p.start_rate)
    going, accepted, ended = going | began, accepted & ~began, ended | began
    lanes = Progress(going, waits, fresh, kept, left, done, end, trials, rest, bracket)
    return lanes, ended, accepted


@inner
def begin_next_piece(
    lanes: Progress, ended: Any, accepted: Any, again: Any, implicit: bool
) -> Progress:
    """Return the progress at the beginning of each lane's next piece, or of a shorter one.

    `ended` and `accepted` are the masks from `complete_piece`, and `again` is that of the
    `Verdict`. `implicit` is whether the damping is implicit.
    """
    going, waits, _, _, left, done, end, trials, rest, bracket = lanes
    fresh = going & (accepted | ended)
    kept = going & ~going if implicit else going & ~fresh & ~again
    done, trials = choose(ended, 0.0, done), choose(ended, 0.0, trials)
    end = choose(accepted | ended, 1.0, end)
    return Progress(going, waits, fresh, kept, left, done, end, trials, rest, bracket)


@inner
def choose_all(where: Any, source: Any, out: Any) -> None:
    """Copy the array `source` (k,) to `out` in the SIMD lanes of the mask `where`."""
    for k in range(out.shape[0]):
        out[k] = choose(where, source[k], out[k])


@inner
def judge_trial(j: Any, rest: Any, going: Any, bracket: Any, done: Any, end: Any) -> Any:
    """Decide in which lanes the trial length of a piece of the step is accepted.

    A piece ends at the first instant at which a sliding joint comes to rest, which regula falsi
    finds. If the rate jumps to the other sign, the piece ends behind the jump.

    Args:
        j: `FrictionMemory` with the rates at the end of the piece.
        rest: rate up to which a joint counts as at rest.
        going: mask of the lanes to examine.
        bracket: `Bracket` of each lane.
        done, end: beginning and trial end of the piece, as fractions of the step.

    Returns:
        Masks of the SIMD lanes that accept the trial and of those that repeat it in other joint
        modes, the new bracket, and the next trial end.
    """
    again = restick_reversed(j, rest, going)
    least = remaining_rate_fraction(j, rest)
    is_behind = bracket.bisects & (bracket.upper - bracket.lower <= SHORTEST)
    crosses = going & ~again & ~is_behind
    crosses = crosses & ((least < -REST_RATIO) | ((bracket.upper <= 1.0) & (least > REST_RATIO)))
    bracket = narrow_bracket(begin_bracket(bracket, again, done), crosses, end, least)
    ahead = choose(again, 1.0, next_trial(bracket, SHORTEST))
    accepted = going & ~again & ~crosses
    return accepted, again, bracket, choose(again | crosses, ahead, end)


@inner
def put_state(s: Any, p: Any, stage: int, last: int, implicit: bool, piece: Any) -> None:
    """Write the state at a stage of a step's piece, or at its end, to scratch arrays.

    It is written to the configuration and velocity of `s`, from the state at the beginning of the
    piece in `p` and the derivatives in `s`.

    Args:
        s, p: `Stages` and `PieceMemory`.
        stage, last: index of the stage, and number of stages, which is the index of the end.
        implicit: whether the damping is implicit (Rosenbrock method instead of Runge-Kutta).
        piece: length [s] of each lane's piece.
    """
    nq, nv = s.rates.shape[1], s.accelerations.shape[1]
    if stage == 0:
        copy(p.start, s.configuration)
        copy(p.start_rate, s.velocity)
    elif implicit:
        put_implicit(p.start, s.rates, stage, piece, nq, s.configuration)
        put_implicit(p.start_rate, s.accelerations, stage, piece, nv, s.velocity)
    elif stage < last:
        put_stage(p.start, s.rates, stage, piece, nq, s.configuration)
        put_stage(p.start_rate, s.accelerations, stage, piece, nv, s.velocity)
    else:
        put_step(p.start, s.rates, piece, nq, s.configuration)
        put_step(p.start_rate, s.accelerations, piece, nv, s.velocity)


@inner
def put_accelerations(
    friction: Any, s: Any, e: Any, j: Any, stage: int, row: int, implicit: bool, damped: Any,
    is_factored: bool,
) -> bool:  # fmt: skip
    """Write accelerations (nv,) at an integration stage to a row of `s.accelerations`.

    They are those for the joint modes of `j`, and also written to `j.x`. The force in `e` is
    overwritten.

    Args:
        friction: (nf, sticking.ROW) dry friction of the joints.
        s, e, j: `Stages`, `MotionEquations` at the stage, and `FrictionMemory`.
        stage, row: index of the stage, and row of `s.accelerations` for the result.
        implicit: whether the damping is implicit.
        damped: gamma h for implicit damping, with the length h [s] of the piece.
        is_factored: whether `j` contains the factorized mass matrix.

    Returns:
        False if M, or M + damped D for implicit damping, is not positive definite.
    """
    nf, nv = friction.shape[0], s.accelerations.shape[1]
    first = s.accelerations[0]
    for i in range(nf):
        slides = abs(j.mode[i]) == 1.0
        if any_of(slides):
            modes.add_row(
                e.L, i, -dry_friction(friction[i], 0, j.mode[i], j.speed[i]), slides, e.force
            )
    twice = 2.0 if implicit and stage == 1 else 0.0
    if twice > 0.0:
        for i in range(nv):
            for k in range(nv):
                e.force[i] = e.force[i] - 2.0 * e.M[max(i, k), min(i, k)] * first[k]
    factors = implicit or not is_factored
    if factors and not modes.factor_with_damping(j.factor, e.M, e.D, damped, implicit, nv):
        return False
    copy(e.force, j.x)
    solve_factored(j.factor, nv, j.x)
    for i in range(nf):
        sticks = j.mode[i] == 0.0
        j.required[i] = 0.0
        if any_of(sticks):
            required = -e.drift[i]
            for k in range(nv):
                rate = j.x[k] + twice * first[k] if twice > 0.0 else j.x[k]
                required = required - e.L[i, k] * rate
            j.required[i] = choose(sticks, required, 0.0)
    modes.constrain_sticking_joints(e.L, j, not factors, j.x)
    for k in range(nv):
        s.accelerations[row, k] = j.x[k]
    return True


@inner
def restick_reversed(j: Any, rest: Any, going: Any) -> Any:
    """Make joints that broke away and reversed stick again.

    Args:
        j: `FrictionMemory`, of which the modes are changed.
        rest: rate up to which a joint counts as at rest.
        going: mask of the lanes to examine.

    Returns:
        The mask of the lanes with such a joint.
    """
    held = going & ~going
    for i in range(j.mode.shape[0]):
        broke_away = going & (abs(j.mode[i]) == 1.0) & (abs(j.first_speed[i]) <= rest)
        returned = broke_away & (j.mode[i] * j.speed[i] < -rest)
        j.mode[i] = choose(returned, 0.0, j.mode[i])
        held = held | returned
    return held


@inner
def remaining_rate_fraction(j: Any, rest: Any) -> Any:
    """Return the smallest ratio of a sliding joint's rate to its initial rate, at most 1.

    It is negative if a joint's rate has changed its sign since the beginning of the piece. `j` is
    the `FrictionMemory`; joints whose initial rates are at most `rest` do not count.
    """
    least = 0.0 * rest + 1.0
    for i in range(j.mode.shape[0]):
        moved = abs(j.first_speed[i])
        slid = (abs(j.mode[i]) == 1.0) & (moved > rest)
        left = j.mode[i] * j.speed[i] / choose(slid, moved, 1.0)
        least = choose(slid & (left < least), left, least)
    return least


@inner
def begin_bracket(bracket: Any, where: Any, done: Any) -> Any:
    """Return the bracket, restarted in the SIMD lanes of a mask.

    The pieces there begin at the fraction `done` of the step.
    """
    lower, f_lower, upper, f_upper, side, bisects = bracket
    return Bracket(
        choose(where, done, lower),
        choose(where, 1.0, f_lower),
        choose(where, 2.0, upper),
        choose(where, 0.0, f_upper),
        choose(where, 0.0, side),
        bisects & ~where,
    )


@inner
def narrow_bracket(bracket: Any, where: Any, end: Any, least: Any) -> Any:
    """Return the bracket with one end replaced by the trial point (regula falsi).

    If the same end remains twice, its function value is reduced (Anderson and Bjorck, 1973).

    Args:
        bracket: `Bracket` of each lane.
        where: mask of the lanes to change.
        end: trial point.
        least: function value at the trial point, see `remaining_rate_fraction`.
    """
    lower, f_lower, upper, f_upper, side, bisects = bracket
    falls, rises = where & (least < 0.0), where & ~(least < 0.0)
    replaced = choose(falls, f_upper, f_lower)
    factor = 1.0 - least / choose(replaced != 0.0, replaced, 1.0)
    slow, factor = factor < 0.5, choose(factor > 0.0, factor, 0.5)
    return Bracket(
        choose(rises, end, lower),
        choose(rises, least, choose(falls & (side > 0.0), factor * f_lower, f_lower)),
        choose(falls, end, upper),
        choose(falls, least, choose(rises & (side < 0.0), factor * f_upper, f_upper)),
        choose(falls, 1.0, choose(rises, -1.0, side)),
        (bisects & ~where) | (where & slow),
    )


@inner
def stick_at_zero_rate(j: Any, rest: Any, accepted: Any) -> Any:
    """Make joints that came to rest stick; return the lanes with a remaining rate.

    The changes that bring these rates to zero are written to `j.required`. Only lanes in the mask
    `accepted` are changed. The result is a mask.
    """
    leftover = accepted & ~accepted
    for i in range(j.mode.shape[0]):
        moved = abs(j.first_speed[i])
        came = accepted & (abs(j.mode[i]) == 1.0) & (moved > rest)
        came = came & (j.mode[i] * j.speed[i] <= REST_RATIO * moved)
        j.mode[i] = choose(came, 0.0, j.mode[i])
        sticks = accepted & (j.mode[i] == 0.0)
        leftover = leftover | (sticks & (abs(j.speed[i]) > LEFT * rest))
        j.required[i] = choose(sticks, -j.speed[i], 0.0)
    return leftover
