# SPDX-License-Identifier: Apache-2.0

"""Batched simulation of mechanisms of one structure, eight at a time in SIMD lanes.

Each row of the batch is a mechanism with its own parameters. The steps equal those of
`integration.classical_step`, or of `hybrid_step.hybrid_step`, with constant efforts, bit for bit. A
row whose step fails keeps its state, and the caller advances it separately. Lanes are independent
of each other, except that all rows of a group keep their states if the equations of one have no
solution.

A kind derives its two entries from its `Functions` by `simulation_entries.lane_entries`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.base_motion import BASE, WRENCH
from robodyn.dynamics.kernels.hybrid_step import (
    HybridScratch,
    MotionEquations,
    PieceMemory,
    hybrid_step,
)
from robodyn.dynamics.kernels.integration import OK, OPTIONS, PackedPlant, Stages, Task
from robodyn.dynamics.kernels.modes import joints_shapes
from robodyn.dynamics.kernels.simulation import Functions
from robodyn.dynamics.kernels.state import State
from robodyn.dynamics.kernels.sticking import ROW
from robodyn.numerics.compiler import inner
from robodyn.numerics.runge_kutta import are_within, put_stage, put_step
from robodyn.numerics.simd.access import rows_of
from robodyn.numerics.simd.lanes import WIDTH, any_of, choose
from robodyn.numerics.simd.states import read, write
from robodyn.numerics.simd.tables import new_tables, table_of

# Settings of all rows: length of a step [s], `PackedPlant.stops`, the number of columns of a
# `joint_table`, whether bases move, the number of rows of friction, and `PackedPlant.options`.
DT: Final = 0
STOPS: Final = 1
COLUMNS: Final = 6
MOVES: Final = 7
FRICTION: Final = 8
PLANT_OPTIONS: Final = 9
SETTINGS: Final = PLANT_OPTIONS + OPTIONS


class Rows(NamedTuple):
    """States, efforts and loads of eight simulated mechanisms, one per SIMD lane.

    Attributes:
        q, v: (nq,) configurations and (nv,) velocities.
        efforts, wrench, base: (n,), (6,) and (9,), constant.
        left: (1,) number of steps left.
    """

    q: Any
    v: Any
    efforts: Any
    wrench: Any
    base: Any
    left: Any


class LaneStep(NamedTuple):
    """Context of a simulation step of eight mechanisms, one per SIMD lane.

    Attributes:
        rows: the `Rows` that take the step.
        moves: whether bases move.
    """

    rows: Any
    moves: bool


def batch_loops(kind: Functions, unpack: Any) -> tuple[Any, Any]:
    """Create the batched simulation loops for a kind of mechanism.

    There are two, for smooth steps and for steps with stiction. A loop is loop(structure, arrays,
    work, first, last). It advances groups of eight rows from `first` to before `last`.
    `unpack(structure, rows)` returns the plant's mechanism from its numbers in rows of lanes. The
    arrays are:

        numbers: (groups, k * 8) parameters in lanes: of the mechanism, rows of its friction, rows
            of its `joint_table`.
        settings: (SETTINGS,).
        efforts, loads: (N, n) and (N, 15), constant.
        q, v: (N, nq) and (N, nv) states, advanced in place.
        left: (N, 1) number of steps to take, which may be zero; on return, the number of remaining
            steps.
    """
    accelerate, normalize, equations = kind.accelerate, kind.normalize, kind.equations
    configuration_rate, without_inertia = kind.configuration_rate, kind.without_inertia

    @inner
    def smooth_step(task: Any, h: float, moves: bool, r: Any) -> Any:
        """Advance eight mechanisms by a Runge-Kutta step; return which moved, as 1 or 0."""
        plant, work, s = task.plant, task.work, task.scratch
        good = r.left[0] > 0.0
        none = 0.0 * r.left[0]
        nq, nv = s.rates.shape[1], s.accelerations.shape[1]
        for k in range(4):
            put_stage(r.q, s.rates, k, h, nq, s.configuration)
            put_stage(r.v, s.accelerations, k, h, nv, s.velocity)
            if k > 0 and normalize(plant, s.configuration, s.velocity, work, True) != OK:
                return none
            good = good & are_within(s.configuration, nq) & are_within(s.velocity, nv)
            state = State(s.configuration, s.velocity, r.efforts, r.wrench, True, r.base, moves)
            if accelerate(plant, state, work, s.rates[k], s.accelerations[k]) != OK:
                return none
        put_step(r.q, s.rates, h, nq, s.configuration)
        put_step(r.v, s.accelerations, h, nv, s.velocity)
        if normalize(plant, s.configuration, s.velocity, work, False) != OK:
            return none
        good = good & are_within(s.configuration, nq) & are_within(s.velocity, nv)
        for j in range(nq):
            r.q[j] = choose(good, s.configuration[j], r.q[j])
        for j in range(nv):
            r.v[j] = choose(good, s.velocity[j], r.v[j])
        return choose(good, 1.0, none)

    @inner
    def supply(task: Any, step: Any, when: Any, given: bool) -> Any:
        s, r = task.scratch.stages, step.rows
        under = r.wrench, True, r.base, step.moves
        return OK, State(s.configuration, s.velocity, r.efforts, *under)

    @inner
    def hybrid_steps(task: Any, h: float, moves: bool, r: Any) -> Any:
        """Advance eight mechanisms with dry friction or stiff damping; return numbers of steps."""
        functions = without_inertia, supply, equations, configuration_rate, normalize
        step = LaneStep(r, moves)
        _, taken = hybrid_step(functions, task, step, h, r.left[0], True, r.q, r.v)
        return taken

    @inner
    def loop_of(
        step: Any, structure: Any, arrays: Any, work: Any, s: Any, first: int, last: int
    ) -> int:
        numbers, settings, efforts, loads, q, v, left = arrays
        nq, nv, n = q.shape[1], v.shape[1], efforts.shape[1]
        columns, nf = int(settings[COLUMNS]), int(settings[FRICTION])
        stops, moves = settings[STOPS:COLUMNS], settings[MOVES] != 0.0
        r = new_tables(Rows(nq, nv, n, WRENCH, BASE, 1))
        for group in range(first, last):
            start, end = group * WIDTH, min((group + 1) * WIDTH, q.shape[0])
            table_at = (group + 1) * numbers.shape[1] - WIDTH * n * columns
            friction_at = table_at - WIDTH * nf * ROW
            plant = PackedPlant(
                unpack(structure, rows_of(numbers, group * numbers.shape[1])),
                table_of(rows_of(numbers, table_at), n, columns),
                table_of(rows_of(numbers, friction_at), nf, ROW),
                settings[PLANT_OPTIONS:],
                stops,
            )
            read(q, start, end, r.q)
            read(v, start, end, r.v)
            read(efforts, start, end, r.efforts)
            read(loads[:, :WRENCH], start, end, r.wrench)
            read(loads[:, WRENCH:], start, end, r.base)
            read(left, start, end, r.left)
            task = Task(plant, plant, work, s)
            while any_of(r.left[0] > 0.0):
                taken = step(task, settings[DT], moves, r)
                if not any_of(taken > 0.0):
                    break
                r.left[0] = r.left[0] - taken
            write(r.q, start, end, q)
            write(r.v, start, end, v)
            write(r.left, start, end, left)
        return int(last)

    @inner
    def smooth(structure: Any, arrays: Any, work: Any, first: int, last: int) -> int:
        n, nq, nv = arrays[2].shape[1], arrays[4].shape[1], arrays[5].shape[1]
        s = new_tables(Stages((4, nq), (4, nv), nq, nv, n, n))
        return int(loop_of(smooth_step, structure, arrays, work, s, first, last))

    @inner
    def hybrid(structure: Any, arrays: Any, work: Any, first: int, last: int) -> int:
        n, nq, nv = arrays[2].shape[1], arrays[4].shape[1], arrays[5].shape[1]
        nf = int(arrays[1][FRICTION])
        s = HybridScratch(
            new_tables(Stages((4, nq), (4, nv), nq, nv, n, n)),
            new_tables(MotionEquations((nv, nv), (nv, nv), (nf, nv), nv, nf, (n, 2))),
            new_tables(PieceMemory(nq, nv, nv, 1, 1)),
            new_tables(joints_shapes(nv, nf)),
        )
        return int(loop_of(hybrid_steps, structure, arrays, work, s, first, last))

    return smooth, hybrid
