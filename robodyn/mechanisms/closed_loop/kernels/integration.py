# SPDX-License-Identifier: Apache-2.0

"""What the simulation loop of `common.kernels.integration` asks of a mechanism with closed loops.

Its velocities are those of the plan's independent coordinates, its configurations closed at every
stage. Where these coordinates get poor, the loop stops with a status, and whoever called it goes
on in others.
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.mechanisms.closed_loop.kernels import dynamics, newton, tree
from robodyn.mechanisms.closed_loop.kernels.layout import (
    AT_BODIES,
    AT_DRIVEN,
    AT_FREE,
    AT_FREE_PLACES,
    AT_NUMBERS,
    AT_PLACES,
    AT_STEEP,
    AT_WEIGHTS,
    BODIES,
    BODY_NUMBERS,
    BODY_PLAN,
    BODY_SIZE,
    DAMPING,
    DRIVEN,
    FACTOR,
    FLOATING,
    FREE,
    KIND,
    OK,
    POOR,
    POSITIONS,
    RATE,
    RATES,
    SINGULAR,
    STEEP,
    WIDEST,
)
from robodyn.mechanisms.closed_loop.kernels.projection import COMPOSITE
from robodyn.mechanisms.common.kernels import sticking
from robodyn.mechanisms.common.kernels.control_laws import (
    COMPUTED_TORQUE,
    GIVEN,
    add_planned,
    corrected_acceleration,
)
from robodyn.mechanisms.common.kernels.end_stops import joint_effort
from robodyn.mechanisms.common.kernels.integration import ROUGH, WATCHED, classical_step, run
from robodyn.mechanisms.common.kernels.rough_step import rough_step
from robodyn.numerics.array_arguments import stack, taken, taken_integers
from robodyn.numerics.compiler import apart, batch_entry, inner

# Loops are closed to this at every stage [parts of the size]; rounding may keep them from it.
TARGET: Final = 1e-14
CLOSED: Final = 1e-11
MOST_STEPS: Final = 8


@apart
def command(
    model: Any, law: int, kp: Any, kv: Any, q: Any, rates: Any, row: Any, work: Any, out: Any
) -> bool:
    """Efforts (driven,) that a law of `control_laws` asks for; False where Python has to answer.

    `model` is (plan, numbers, gravity) of what the control takes the mechanism for, in the
    coordinates of the law, and the same of the plant, whose rates are given.
    """
    if law == GIVEN:
        for j in range(out.shape[0]):
            out[j] = row[j]
        return True
    plan, numbers, gravity, own_plan, own_numbers, own_gravity = model
    B, W, S, _, M, state = work
    moving, corrected, error, told = state[0], state[1], state[2], state[3]
    n = plan[FREE]
    for k in range(n):
        moving[k], corrected[k], told[k] = 0.0, 0.0, rates[k]
    if law == COMPUTED_TORQUE:
        first, other = plan[AT_FREE], own_plan[AT_FREE]
        alike = True
        for k in range(n):
            alike = alike and plan[first + k] == own_plan[other + k]
        if not alike:
            if dynamics.prepare(own_plan, own_numbers, own_gravity, q, True, B, W[0], W[4]) != OK:
                return False
            dynamics.spread(own_plan, W[0], rates, W[4], W[1])
            for k in range(n):
                told[k] = W[1][plan[first + k]]
        places = plan[AT_FREE_PLACES]
        for k in range(n):
            place = plan[places + k]
            moving[k] = told[k]
            error[k] = row[place] - q[place]
        wide = plan[POSITIONS]
        corrected_acceleration(
            kp, kv, error[:n], told, row[wide : wide + n], row[wide + n :], corrected[:n]
        )
    status = dynamics.driven_efforts(
        plan, numbers, gravity, q, moving, corrected, row, False, True, B, W, S, M, out
    )
    if status != OK or asks_too_much(plan, numbers, out):
        return False
    if law == COMPUTED_TORQUE:
        add_planned(kp, row, plan[POSITIONS] + 2 * n, error, out)
    return True


@inner
def asks_too_much(plan: Any, numbers: Any, effort: Any) -> bool:
    """Whether redundant motors have to share otherwise, which `redundancy` knows how."""
    limits = plan[AT_WEIGHTS] + plan[DRIVEN]
    for j in range(plan[DRIVEN] if plan[DRIVEN] != plan[FREE] else 0):
        if abs(effort[j]) > numbers[limits + j]:
            return True
    return False


@inner
def is_steep(plan: Any, numbers: Any, S: Any) -> bool:
    """Whether other independent coordinates would do better; NaN counts, too."""
    steepest = numbers[plan[AT_STEEP]]
    for j in range(plan[RATES]):
        for k in range(plan[FREE]):
            if not abs(S[j, k]) <= steepest:
                return True
    return False


@inner
def add_stops(plan: Any, q: Any, v: Any, effort: Any, limits: Any, stops: Any, out: Any) -> None:
    """Efforts out (driven,) of motors and end stops, at rates v of the tree."""
    for i in range(plan[DRIVEN]):
        place, own = plan[plan[AT_PLACES] + i], plan[plan[AT_DRIVEN] + i]
        out[i] = joint_effort(effort[i], q[place], v[own], limits[i], stops)


@apart
def start(
    plan: Any, numbers: Any, gravity: Any, q: Any, rates: Any, wrench: Any, B: Any, W: Any, S: Any,
    T: Any, M: Any,
) -> int:  # fmt: skip
    """All that the efforts are not needed for; STEEP where other coordinates would do better."""
    status = dynamics.forward_start(
        plan, numbers, gravity, q, rates, wrench, True, True, B, W, S, T, M
    )
    if status == OK and is_steep(plan, numbers, S):
        return STEEP
    return int(status)


@inner
def derivative(
    plant: Any, q: Any, rates: Any, effort: Any, wrench: Any, work: Any, rate: Any, change: Any
) -> int:
    """Rates of configuration and velocity.

    `plant` is (plan, numbers, gravity, table of the driven joints, friction, options, end stops).
    """
    plan, numbers, gravity, limits, _, _, stops = plant
    B, W, S, T, M, state = work
    status = start(plan, numbers, gravity, q, rates, wrench, B, W, S, T, M)
    if status != OK:
        return status
    v, held = W[1], state[0]
    add_stops(plan, q, v, effort, limits, stops, held)
    tree.configuration_rate(plan, numbers, q, B, v, rate)
    return dynamics.forward_end(plan, S, held, W[5], M, change)


@inner
def to_manifold(plant: Any, q: Any, rates: Any, work: Any) -> int:
    """Close the loops, independent coordinates held."""
    return close(plant[0], plant[1], plant[2], q, work[0], work[1])


@apart
def close(plan: Any, numbers: Any, gravity: Any, q: Any, B: Any, W: Any) -> int:
    """The same for a configuration, which may not be finite."""
    finite = 0.0
    for j in range(plan[POSITIONS]):
        finite += 0.0 * q[j]
    if finite != 0.0:
        return OK  # the loop sees that itself
    tree.normalize(plan, q)
    left = newton.close(plan, numbers, gravity, q, TARGET, MOST_STEPS, B, W)
    if left < 0.0 or left > CLOSED:
        return POOR
    return OK


@inner
def equations(
    plant: Any,
    q: Any,
    rates: Any,
    effort: Any,
    wrench: Any,
    damped: bool,
    work: Any,
    M: Any,
    D: Any,
    L: Any,
    force: Any,
    drift: Any,
) -> int:
    """As `common.kernels.rough_step` says.

    The plant's plan knows of no dry friction; the rows of friction say of which rates of the tree
    they are.
    """
    plan, numbers, gravity, limits, friction, _, stops = plant
    B, W, S, T, _, state = work
    status = start(plan, numbers, gravity, q, rates, wrench, B, W, S, T, M)
    if status != OK:
        return status
    add_stops(plan, q, W[1], effort, limits, stops, state[0])
    dynamics.drive(plan, S, state[0], force)
    n = plan[FREE]
    for k in range(n):
        force[k] -= W[5, k]
    for i in range(friction.shape[0]):
        place, factor = int(friction[i, sticking.RATE]), friction[i, sticking.FACTOR]
        drift[i] = factor * W[2, place]
        for k in range(n):
            L[i, k] = factor * S[place, k]
    if damped:
        for j in range(n):
            for k in range(j + 1):
                D[j, k] = 0.0
        at, f = plan[AT_BODIES], plan[AT_NUMBERS]
        for _ in range(plan[BODIES]):
            if plan[at + KIND] != FLOATING and numbers[f + DAMPING] > 0.0:
                place = plan[at + RATE]
                strength = numbers[f + DAMPING] * numbers[f + FACTOR] * numbers[f + FACTOR]
                for j in range(n):
                    for k in range(j + 1):
                        D[j, k] += strength * S[place, j] * S[place, k]
            at += BODY_PLAN
            f += BODY_NUMBERS
    return OK


@inner
def configuration_rate(plant: Any, q: Any, rates: Any, work: Any, out: Any) -> None:
    """Time derivative of a configuration whose closures are eliminated already."""
    plan, numbers = plant[0], plant[1]
    B, W, _, _, _, _ = work
    dynamics.spread(plan, W[0], rates, W[4], W[1])
    tree.configuration_rate(plan, numbers, q, B, W[1], out)


@inner
def smooth_step(
    plant: Any, model: Any, control: Any, rows: Any, load: Any, h: float, instant: bool,
    record: Any, work: Any, scratch: Any, here: Any, moving: Any, efforts: Any,
) -> int:  # fmt: skip
    """A step without dry friction."""
    return classical_step(
        command, derivative, to_manifold, plant, model, control, rows, load, h, instant, record,
        work, scratch, here, moving, efforts,
    )  # fmt: skip


@inner
def sticking_step(
    plant: Any, model: Any, control: Any, rows: Any, load: Any, h: float, instant: bool,
    record: Any, work: Any, scratch: Any, here: Any, moving: Any, efforts: Any,
) -> int:  # fmt: skip
    """A step with dry friction at joints, driven or not, or strong damping."""
    return rough_step(
        command, equations, configuration_rate, to_manifold, SINGULAR, plant[4],
        plant[5][WATCHED] != 0.0, plant, model, control, rows, load, h, instant, record, work,
        scratch, here, moving, efforts,
    )  # fmt: skip


@apart
def run_sticking(
    plant: Any, model: Any, work: Any, arrays: Any, law: int, first: int, last: int
) -> tuple[int, int, int]:
    """The loop with joints that stick and slide."""
    plan = plant[0]
    n, nq, nf = plan[FREE], plan[POSITIONS], plant[4].shape[0]
    scratch = (
        stack(4, nq), stack(4, n), stack(2, nq), stack(2, n), stack(n, n), stack(n, n),
        stack(n, n), stack(nf, n), stack(nf, n), stack(nf, nf), stack(nf, nf), stack(3, n),
        stack(10, nf), stack(2, max(arrays[3].shape[2], 6)),
    )  # fmt: skip
    return run(sticking_step, plant, model, work, scratch, plan[DRIVEN], arrays, law, first, last)


@batch_entry
def simulate(
    plant: Any, model: Any, arrays: Any, law: int, first: int, last: int
) -> tuple[int, int, int]:
    """Run the loop for calls from Python; plans are of whole numbers lent as float64."""
    plan, numbers, gravity, limits, friction, options, stops = plant
    plan, options, arrays = taken_integers(plan), taken(options), taken(arrays)
    own = (
        plan, taken(numbers), taken(gravity), taken(limits), taken(friction), options,
        taken(stops),
    )  # fmt: skip
    plan_1, numbers_1, gravity_1, plan_2, numbers_2, gravity_2 = model
    known = (
        taken_integers(plan_1), taken(numbers_1), taken(gravity_1),
        taken_integers(plan_2), taken(numbers_2), taken(gravity_2),
    )  # fmt: skip
    n, nq = plan[FREE], plan[POSITIONS]
    # control and plant may eliminate in different orders, which fill different numbers of places
    wide, bodies, rates = 0, 0, 0
    for one in (plan, known[0], known[3]):
        wide = max(wide, one[WIDEST], one[DRIVEN])
        bodies, rates = max(bodies, one[BODIES] + 1), max(rates, one[RATES])
    work = (
        stack(bodies, BODY_SIZE), stack(7, wide), stack(rates, n),
        stack(bodies, max(6 * n, COMPOSITE)), stack(n, n), stack(4, wide),
    )  # fmt: skip
    if options[ROUGH] != 0.0:
        return run_sticking(own, known, work, arrays, law, first, last)
    scratch = stack(4, nq), stack(4, n), stack(1, nq), stack(1, n)
    return run(smooth_step, own, known, work, scratch, plan[DRIVEN], arrays, law, first, last)
