# SPDX-License-Identifier: Apache-2.0

"""Batched simulation of mechanisms of one structure, eight at a time in SIMD lanes.

Each row has its own parameters. The steps equal those of `integration.classical_step` with constant
efforts, to the bit. A row whose step fails stays in its state, and the caller advances it alone. No
lane depends on another, except that all of a group stay if the equations of one have no solution.

A kind derives its entry from `batch_loop`, with its own scratch memory:

    loop = batch_loop(LaneFunctions(unpack, accelerate, normalize))

    @batch_entry
    def advance(structure, numbers, settings, efforts, loads, q, v, left, first, last):
        work = new_tables(...)
        arrays = borrowed_array((numbers, settings, efforts, loads, q, v, left))
        return loop(borrowed_array(structure), arrays, work, first, last)
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.base_motion import BASE, WRENCH
from robodyn.dynamics.kernels.integration import OK, PackedPlant, Stages
from robodyn.dynamics.kernels.state import State
from robodyn.dynamics.kernels.sticking import ROW
from robodyn.numerics.compiler import inner
from robodyn.numerics.runge_kutta import are_within, put_stage, put_step
from robodyn.numerics.simd.access import rows_of
from robodyn.numerics.simd.lanes import WIDTH, any_of, choose
from robodyn.numerics.simd.states import read, write
from robodyn.numerics.simd.tables import new_tables, table_of

# Settings of all rows: length of a step [s], `PackedPlant.stops`, the number of columns of a
# `joint_table`, whether bases move, and the number of rows of friction.
DT: Final = 0
STOPS: Final = 1
COLUMNS: Final = 6
MOVES: Final = 7
FRICTION: Final = 8
SETTINGS: Final = 9


class LaneFunctions(NamedTuple):
    """Functions of a kind, in lanes; `plant` is an `integration.PackedPlant`.

    Attributes:
        unpack: unpack(structure, rows) -> the plant's mechanism, from its numbers in rows of lanes.
        accelerate: accelerate(plant, state, work, rate, acceleration) -> status. Write the time
            derivatives of configuration and velocity of a `State` with efforts as its third.
        normalize: normalize(plant, configuration, velocity, work) -> status. Project states onto
            their manifold.
    """

    unpack: Any
    accelerate: Any
    normalize: Any


class Rows(NamedTuple):
    """Eight rows of a batch.

    Attributes:
        q, v: (nq,) and (nv,) states.
        efforts, wrench, base: (n,), (6,) and (9,), constant.
        left: (1,) steps left.
    """

    q: Any
    v: Any
    efforts: Any
    wrench: Any
    base: Any
    left: Any


def batch_loop(kind: LaneFunctions) -> Any:
    """Return the loop of a kind: loop(structure, arrays, work, first, last).

    It advances groups of eight rows from `first` to before `last`. `structure` is for `unpack`, the
    arrays are:

        numbers: (groups, k * 8) parameters in lanes: of the mechanism, rows of its friction, rows
            of its `joint_table`.
        settings: (SETTINGS,).
        efforts, loads: (N, n) and (N, 15), constant.
        q, v: (N, nq) and (N, nv) states, advanced in place.
        left: (N, 1) number of steps to take, zero to stay; then the remaining ones.
    """
    unpack, accelerate, normalize = kind

    @inner
    def smooth_step(plant: Any, work: Any, h: float, moves: bool, r: Any, s: Any) -> Any:
        """Write the states after a step; return the mask of lanes with a valid step."""
        good = r.left[0] > 0.0
        none = good & ~good
        nq, nv = s.rates.shape[1], s.accelerations.shape[1]
        for k in range(4):
            put_stage(r.q, s.rates, k, h, nq, s.configuration)
            put_stage(r.v, s.accelerations, k, h, nv, s.velocity)
            if k > 0 and normalize(plant, s.configuration, s.velocity, work) != OK:
                return none
            good = good & are_within(s.configuration, nq) & are_within(s.velocity, nv)
            state = State(s.configuration, s.velocity, r.efforts, r.wrench, True, r.base, moves)
            if accelerate(plant, state, work, s.rates[k], s.accelerations[k]) != OK:
                return none
        put_step(r.q, s.rates, h, nq, s.configuration)
        put_step(r.v, s.accelerations, h, nv, s.velocity)
        if normalize(plant, s.configuration, s.velocity, work) != OK:
            return none
        return good & are_within(s.configuration, nq) & are_within(s.velocity, nv)

    @inner
    def loop(structure: Any, arrays: Any, work: Any, first: int, last: int) -> int:
        numbers, settings, efforts, loads, q, v, left = arrays
        nq, nv, n = q.shape[1], v.shape[1], efforts.shape[1]
        columns, nf = int(settings[COLUMNS]), int(settings[FRICTION])
        stops, moves = settings[STOPS:COLUMNS], settings[MOVES] != 0.0
        r = new_tables(Rows(nq, nv, n, WRENCH, BASE, 1))
        s = new_tables(Stages((4, nq), (4, nv), nq, nv, n, n))
        for group in range(first, last):
            start, end = group * WIDTH, min((group + 1) * WIDTH, q.shape[0])
            table_at = (group + 1) * numbers.shape[1] - WIDTH * n * columns
            friction_at = table_at - WIDTH * nf * ROW
            plant = PackedPlant(
                unpack(structure, rows_of(numbers, group * numbers.shape[1])),
                table_of(rows_of(numbers, table_at), n, columns),
                table_of(rows_of(numbers, friction_at), nf, ROW),
                settings,
                stops,
            )
            read(q, start, end, r.q)
            read(v, start, end, r.v)
            read(efforts, start, end, r.efforts)
            read(loads[:, :WRENCH], start, end, r.wrench)
            read(loads[:, WRENCH:], start, end, r.base)
            read(left, start, end, r.left)
            while True:
                moved = smooth_step(plant, work, settings[DT], moves, r, s)
                if not any_of(moved):
                    break
                for j in range(nq):
                    r.q[j] = choose(moved, s.configuration[j], r.q[j])
                for j in range(nv):
                    r.v[j] = choose(moved, s.velocity[j], r.v[j])
                r.left[0] = choose(moved, r.left[0] - 1.0, r.left[0])
            write(r.q, start, end, q)
            write(r.v, start, end, v)
            write(r.left, start, end, left)
        return int(last)

    return loop
