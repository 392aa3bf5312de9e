# SPDX-License-Identifier: Apache-2.0

"""The simulation loop of mechanisms with closed loops.

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
from robodyn.mechanisms.common.kernels.integration import Plant
from robodyn.mechanisms.common.kernels.simulation import Functions, simulation_loop
from robodyn.numerics.array_arguments import borrowed_array, borrowed_integers, stack
from robodyn.numerics.compiler import batch_entry, inner, noinline

# Loops are closed to this at every stage [parts of the size]; rounding may keep them from it.
TARGET: Final = 1e-14
CLOSED: Final = 1e-11
MOST_STEPS: Final = 8


@noinline
def command(control: Any, q: Any, rates: Any, row: Any, work: Any, out: Any) -> bool:
    """Efforts (driven,) that a law of `control_laws` asks for; False where Python has to answer.

    The model is (plan, numbers, gravity) of what the control takes the mechanism for, in the
    coordinates of the law, and the same of the plant, whose rates are given.
    """
    law, kp, kv = control.law, control.kp, control.kv
    if law == GIVEN:
        for j in range(out.shape[0]):
            out[j] = row[j]
        return True
    plan, numbers, gravity, own_plan, own_numbers, own_gravity = control.model
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


@noinline
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
    """Rates of configuration and velocity."""
    plan, numbers, gravity = plant.mechanism
    B, W, S, T, M, state = work
    status = start(plan, numbers, gravity, q, rates, wrench, B, W, S, T, M)
    if status != OK:
        return status
    v, held = W[1], state[0]
    add_stops(plan, q, v, effort, plant.table, plant.stops, held)
    tree.configuration_rate(plan, numbers, q, B, v, rate)
    return dynamics.forward_end(plan, S, held, W[5], M, change)


@inner
def to_manifold(plant: Any, q: Any, rates: Any, work: Any) -> int:
    """Close the loops, independent coordinates held."""
    plan, numbers, gravity = plant.mechanism
    return close(plan, numbers, gravity, q, work[0], work[1])


@noinline
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
    plant: Any, q: Any, rates: Any, effort: Any, wrench: Any, watched: bool, work: Any, out: Any
) -> int:
    """As `common.kernels.simulation` says.

    The plant's plan knows of no dry friction; the rows of friction say of which rates of the tree
    they are.
    """
    plan, numbers, gravity = plant.mechanism
    friction = plant.friction
    B, W, S, T, _, state = work
    status = start(plan, numbers, gravity, q, rates, wrench, B, W, S, T, out.M)
    if status != OK:
        return status
    add_stops(plan, q, W[1], effort, plant.table, plant.stops, state[0])
    dynamics.drive(plan, S, state[0], out.force)
    n = plan[FREE]
    for k in range(n):
        out.force[k] -= W[5, k]
    for i in range(friction.shape[0]):
        place, factor = int(friction[i, sticking.RATE]), friction[i, sticking.FACTOR]
        out.drift[i] = factor * W[2, place]
        for k in range(n):
            out.L[i, k] = factor * S[place, k]
    if watched:
        D = out.D
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
    plan, numbers, _ = plant.mechanism
    B, W, _, _, _, _ = work
    dynamics.spread(plan, W[0], rates, W[4], W[1])
    tree.configuration_rate(plan, numbers, q, B, W[1], out)


@inner
def sizes(plant: Any) -> tuple[int, int, int]:
    """Of configuration, independent rates and efforts."""
    plan = plant.mechanism[0]
    return plan[POSITIONS], plan[FREE], plan[DRIVEN]


loop = simulation_loop(
    Functions(command, derivative, to_manifold, equations, configuration_rate, sizes, SINGULAR)
)


@batch_entry
def simulate(plant: Any, model: Any, arrays: Any, law: int, first: int, last: int) -> Any:
    """Run the loop for calls from Python; plans are of whole numbers lent as float64."""
    plan, numbers, gravity, table, friction, options, stops = plant
    plan = borrowed_integers(plan)
    mechanism = plan, borrowed_array(numbers), borrowed_array(gravity)
    own = Plant(
        mechanism, borrowed_array(table), borrowed_array(friction), borrowed_array(options),
        borrowed_array(stops),
    )  # fmt: skip
    plan_1, numbers_1, gravity_1, plan_2, numbers_2, gravity_2 = model
    known = (
        borrowed_integers(plan_1), borrowed_array(numbers_1), borrowed_array(gravity_1),
        borrowed_integers(plan_2), borrowed_array(numbers_2), borrowed_array(gravity_2),
    )  # fmt: skip
    # control and plant may eliminate in different orders, which fill different numbers of places
    wide, bodies, rates = 0, 0, 0
    for one in (plan, known[0], known[3]):
        wide = max(wide, one[WIDEST], one[DRIVEN])
        bodies, rates = max(bodies, one[BODIES] + 1), max(rates, one[RATES])
    n = plan[FREE]
    work = (
        stack(bodies, BODY_SIZE), stack(7, wide), stack(rates, n),
        stack(bodies, max(6 * n, COMPOSITE)), stack(n, n), stack(4, wide),
    )  # fmt: skip
    return loop(own, known, work, borrowed_array(arrays), law, first, last)
