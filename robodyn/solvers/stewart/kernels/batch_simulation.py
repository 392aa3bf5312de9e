# SPDX-License-Identifier: Apache-2.0

"""Simulation of many platforms, each with its own parameters, eight at a time in SIMD lanes.

The steps equal those of `dynamics.kernels.integration.classical_step` with constant efforts to the
bit; with dry friction they equal those of `modes` to rounding while every leg with friction
slides.

A platform whose step is of another kind, because a leg sticks or comes to rest or the state is not
finite, stays in its state for the caller to continue. No lane depends on another, except that all
of a group stay if one of eight has no accelerations.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.base_motion import BASE, WRENCH
from robodyn.dynamics.kernels.batch_simulation import COLUMNS, DT, MOVES, STOPS
from robodyn.dynamics.kernels.batch_simulation import FRICTION as ROWS_OF_FRICTION
from robodyn.dynamics.kernels.dry_friction import dry_friction
from robodyn.dynamics.kernels.end_stops import JointEnds, add_end_stops, joint_efforts
from robodyn.dynamics.kernels.hybrid_step import LANDED
from robodyn.dynamics.kernels.modes import REST
from robodyn.dynamics.kernels.state import State
from robodyn.dynamics.kernels.sticking import RATE, STATIC, STATIC_BACKWARD
from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.runge_kutta import BEYOND, put_stage, put_step
from robodyn.numerics.simd.access import rows_of
from robodyn.numerics.simd.lanes import WIDTH, any_of, choose
from robodyn.numerics.simd.states import read, write
from robodyn.numerics.simd.tables import as_table, new_tables, table_of
from robodyn.numerics.vectors import vector
from robodyn.solvers.stewart.kernels import integration
from robodyn.solvers.stewart.kernels.dynamics import MotionEquations
from robodyn.solvers.stewart.kernels.lanes import accelerated, equations_in_lanes, normalize
from robodyn.solvers.stewart.kernels.layout import LEG_SIZE, OK, SINGULAR
from robodyn.solvers.stewart.kernels.leg import leg_geometry, leg_velocity

# Packed numbers of a platform: rows of its legs, then the first RATE of every leg's friction, then
# the rows of its `joint_table`, then the platform with its springs.
FRICTION: Final = 6 * LEG_SIZE
TABLE: Final = FRICTION + 6 * RATE


class Settings(NamedTuple):
    """Step size and contents of a batch.

    Attributes:
        dt: [s].
        stops: numbers of the end stops, see `PackedPlant`.
        rough: whether legs may stick.
        moves: whether bases move.
    """

    dt: float
    stops: Any
    rough: bool
    moves: bool


class Platforms(NamedTuple):
    """Eight platforms: legs (6, LEG_SIZE), body, friction (6, RATE) and table (6, columns)."""

    legs: Any
    body: Any
    friction: Any
    table: Any


class Memory(NamedTuple):
    """Memory for eight platforms.

    Attributes:
        q, v: (7,) and (6,) present state.
        efforts, wrench, base: (6,), (6,) and (9,), constant.
        left: (1,) number of remaining steps.
        pose, twist: (7,) and (6,) at a stage.
        unit: (7,) that pose, exactly normalized.
        rates, accelerations: (4, 7) and (4, 6) of the stages.
        held: (6,) efforts with end stops and friction.
        M, L: (6, 6) for `end_stops.add_end_stops`.
        mode, first: (6,) 1 or -1, as a leg extends or retracts, and its rate at the start of a
            step.
    """

    q: Any
    v: Any
    efforts: Any
    wrench: Any
    base: Any
    left: Any
    pose: Any
    twist: Any
    unit: Any
    rates: Any
    accelerations: Any
    held: Any
    M: Any
    L: Any
    mode: Any
    first: Any


@inner
def is_bounded(s: Any) -> Any:
    """Return the mask of lanes with pose and twist within bounds."""
    fine = abs(s.pose[0]) < BEYOND
    for j in range(1, 7):
        fine = fine & (abs(s.pose[j]) < BEYOND)
    for j in range(6):
        fine = fine & (abs(s.twist[j]) < BEYOND)
    return fine


@inner
def slides(platforms: Any, rates: Any, s: Any) -> Any:
    """Return the mask of lanes in which all legs with dry friction slide; record directions."""
    largest = choose(abs(s.twist[0]) > 1.0, abs(s.twist[0]), 1.0)
    for j in range(1, 6):
        largest = choose(abs(s.twist[j]) > largest, abs(s.twist[j]), largest)
    fine = largest > 0.0
    for i in range(6):
        row = platforms.friction[i]
        s.first[i] = rates[i]
        s.mode[i] = choose(rates[i] > 0.0, 1.0, -1.0 + 0.0 * rates[i])
        smooth = row[STATIC] + row[STATIC_BACKWARD] <= 0.0
        fine = fine & (smooth | (abs(rates[i]) > REST * largest))
    return fine


@inner
def keeps_sliding(platforms: Any, s: Any) -> Any:
    """Return the mask of lanes in which none of these legs has come to rest in the step."""
    X, Y, Z = rotation_columns(s.pose)
    fine = s.left[0] > 0.0
    for i in range(6):
        row = platforms.friction[i]
        g = leg_geometry(platforms.legs[i], vector(s.pose, 0), X, Y, Z)
        rate = leg_velocity(g, vector(s.twist, 0), vector(s.twist, 3)).rate
        smooth = row[STATIC] + row[STATIC_BACKWARD] <= 0.0
        fine = fine & (smooth | (s.mode[i] * rate > LANDED * abs(s.first[i])))
    return fine


@inner
def write_held(platforms: Any, settings: Any, e: Any, s: Any) -> bool:
    """Write the effort on each leg: motor plus end stop, less dry friction; False if none."""
    ends = JointEnds(platforms.table, settings.stops)
    if joint_efforts(ends, s.efforts, e.lengths, e.rates, s.held):
        for i in range(6):
            for j in range(6):
                s.M[i, j], s.L[i, j] = e.M[i, j], e.H[j, i]
        if not add_end_stops(ends, e.lengths, e.rates, s.M, s.L, s.held):
            return False
    if settings.rough:
        for i in range(6):
            s.held[i] = s.held[i] - dry_friction(platforms.friction[i], 0, s.mode[i], e.rates[i])
    return True


@inner
def one_step(platforms: Any, settings: Any, s: Any, e: Any) -> Any:
    """Write pose and twist after a step; return the mask of lanes in which it is valid."""
    dt = settings.dt
    good = s.left[0] > 0.0
    for k in range(4):
        put_stage(s.q, s.rates, k, dt, 7, s.pose)
        put_stage(s.v, s.accelerations, k, dt, 6, s.twist)
        if k > 0:
            integration.normalize(s.pose)
        good = good & is_bounded(s)
        for j in range(7):
            s.unit[j] = s.pose[j]
        state = State(s.unit, s.twist, s.held, s.wrench, True, s.base, settings.moves)
        status = OK if normalize(s.unit) else -1
        if status == OK:
            status = equations_in_lanes((platforms.legs, platforms.body), state, e)
        if status == OK:
            if settings.rough and k == 0:
                good = good & slides(platforms, e.rates, s)
            status = SINGULAR
            if write_held(platforms, settings, e, s):
                status = accelerated(state, e, s.accelerations[k])
        if status != OK:
            return good & ~good
        integration.pose_rate(s.pose, s.twist, s.rates[k])
    put_step(s.q, s.rates, dt, 7, s.pose)
    put_step(s.v, s.accelerations, dt, 6, s.twist)
    integration.normalize(s.pose)
    good = good & is_bounded(s)
    if settings.rough:
        good = good & keeps_sliding(platforms, s)
    return good


@batch_entry
def advance(
    structure: Any, numbers: Any, settings: Any, efforts: Any, loads: Any, q: Any, v: Any,
    left: Any, first: int, last: int,
) -> int:  # fmt: skip
    """Advance platforms, in groups of eight from `first` to `last`, until steps are not smooth.

    Args:
        structure: not read.
        numbers: (groups, (TABLE + 6 columns + PLATFORM_SIZE + ...) * 8).
        settings: see `dynamics.kernels.batch_simulation`; friction if legs may stick.
        efforts, loads: (N, 6) and (N, 15), constant.
        q, v: (N, 7) and (N, 6) states, in place.
        left: (N, 1) number of steps to take, zero to stay; then the remaining ones.
        first, last: range of rows.
    """
    numbers, given = borrowed_array(numbers), borrowed_array(settings)
    efforts, loads, left = borrowed_array(efforts), borrowed_array(loads), borrowed_array(left)
    q, v = borrowed_array(q), borrowed_array(v)
    columns = int(given[COLUMNS])
    rough, moves = given[ROWS_OF_FRICTION] != 0.0, given[MOVES] != 0.0
    how = Settings(given[DT], given[STOPS:COLUMNS], rough, moves)
    s = new_tables(
        Memory(7, 6, 6, WRENCH, BASE, 1, 7, 6, 7, (4, 7), (4, 6), 6, (6, 6), (6, 6), 6, 6)
    )
    e = new_tables(MotionEquations((6, 6), (6, 6), 6, 6, 6))
    for group in range(first, last):
        start, end = group * WIDTH, min((group + 1) * WIDTH, q.shape[0])
        place = group * numbers.shape[1]
        platforms = Platforms(
            as_table(rows_of(numbers, place), LEG_SIZE),
            rows_of(numbers, place + (TABLE + 6 * columns) * WIDTH),
            as_table(rows_of(numbers, place + FRICTION * WIDTH), RATE),
            table_of(rows_of(numbers, place + TABLE * WIDTH), 6, columns),
        )
        read(q, start, end, s.q)
        read(v, start, end, s.v)
        read(efforts, start, end, s.efforts)
        read(loads[:, :WRENCH], start, end, s.wrench)
        read(loads[:, WRENCH:], start, end, s.base)
        read(left, start, end, s.left)
        while True:
            moved = one_step(platforms, how, s, e)
            if not any_of(moved):
                break
            for j in range(7):
                s.q[j] = choose(moved, s.pose[j], s.q[j])
            for j in range(6):
                s.v[j] = choose(moved, s.twist[j], s.v[j])
            s.left[0] = choose(moved, s.left[0] - 1.0, s.left[0])
        write(s.q, start, end, q)
        write(s.v, start, end, v)
        write(s.left, start, end, left)
    return int(last)
