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
    StepFunctions,
    choose_all,
    hybrid_shapes,
    hybrid_step,
)
from robodyn.dynamics.kernels.integration import (
    OK,
    OPTIONS,
    SEMI_IMPLICIT,
    PackedPlant,
    Task,
    stages_shapes,
)
from robodyn.dynamics.kernels.simulation import Functions
from robodyn.dynamics.kernels.state import State
from robodyn.dynamics.kernels.sticking import ROW
from robodyn.numerics.array_arguments import stack
from robodyn.numerics.compiler import inner
from robodyn.numerics.runge_kutta import are_within, put_stage, put_step
from robodyn.numerics.simd.access import entry, rows_of, set_entry
from robodyn.numerics.simd.lanes import WIDTH, any_of, choose
from robodyn.numerics.simd.states import read_one, write_one
from robodyn.numerics.simd.tables import as_table, new_tables, table_of

# Settings of all rows: length of a step [s], `PackedPlant.stops`, the number of columns of a
# `joint_table`, whether bases move, the number of rows of friction, and `PackedPlant.options`.
DT: Final = 0
STOPS: Final = 1
COLUMNS: Final = 6
MOVES: Final = 7
FRICTION: Final = 8
PLANT_OPTIONS: Final = 9
SETTINGS: Final = PLANT_OPTIONS + OPTIONS
# Number of Runge-Kutta steps from which a lane takes the next row as soon as its own is done. To
# copy the parameters of a row takes up to half the time of a step.
REFILLED: Final = 8.0


class Rows(NamedTuple):
    """States, efforts and loads of eight simulated mechanisms, one per SIMD lane.

    Attributes:
        q, v: (nq,) configurations and (nv,) velocities.
        efforts, wrench, base: (n,) efforts of the driven joints, (6,) external wrench and (9,)
            motion of the base, constant.
        left: (1,) number of remaining steps.
        place: (1,) index of the row in the batch; -1 for none.
        idle: (1,) scratch.
        numbers: (k,) parameters if lanes are refilled, else (0,).
    """

    q: Any
    v: Any
    efforts: Any
    wrench: Any
    base: Any
    left: Any
    place: Any
    idle: Any
    numbers: Any


class LaneStep(NamedTuple):
    """Context of a simulation step of eight mechanisms, one per SIMD lane.

    Attributes:
        rows: the `Rows` that take the step.
        moves: whether bases move.
        arrays: arrays of the loop, see `batch_loops`.
        queue: (2,) index of the next row that waits, and of the end of the batch.
    """

    rows: Any
    moves: bool
    arrays: Any
    queue: Any


@inner
def take_next(step: Any, lane: int) -> None:
    """Copy the next waiting row of the batch to a SIMD lane.

    Its state, efforts, loads, number of remaining steps and, if lanes are refilled, parameters are
    copied to `step.rows`. If no row waits, the lane gets a copy of the batch's last row, with zero
    remaining steps.
    """
    numbers, _, efforts, loads, q, v, left = step.arrays
    r, queue = step.rows, step.queue
    waits, n = queue[0] < queue[1], int(min(queue[0], queue[1] - 1))
    for k in range(r.numbers.shape[0]):
        set_entry(r.numbers, k, lane, numbers[n // WIDTH, WIDTH * k + n % WIDTH])
    read_one(q, n, lane, r.q)
    read_one(v, n, lane, r.v)
    read_one(efforts, n, lane, r.efforts)
    read_one(loads[:, :WRENCH], n, lane, r.wrench)
    read_one(loads[:, WRENCH:], n, lane, r.base)
    set_entry(r.left, 0, lane, left[n, 0] if waits else 0.0)
    set_entry(r.place, 0, lane, float(n) if waits else -1.0)
    queue[0] += 1.0


@inner
def put_away(step: Any, lane: int) -> None:
    """Copy the row in a SIMD lane back to the batch.

    Its state and its number of remaining steps are copied. Nothing is copied if the lane contains
    no row of the batch.
    """
    _, _, _, _, q, v, left = step.arrays
    r, n = step.rows, int(entry(step.rows.place, 0, lane))
    if n >= 0:
        write_one(r.q, lane, n, q)
        write_one(r.v, lane, n, v)
        write_one(r.left, lane, n, left)


@inner
def constant_state(task: Any, step: Any, when: Any, given: bool) -> Any:
    """Return the status OK and the `State` of eight rows at an integration stage.

    The state is that in the scratch arrays of the stages; efforts and loads are the constant ones
    of the rows.
    """
    s, r = task.scratch.stages, step.rows
    under = r.wrench, True, r.base, step.moves
    return OK, State(s.configuration, s.velocity, r.efforts, *under)


@inner
def refill(step: Any, idle: Any, left: Any) -> Any:
    """Return finished rows to the batch, and fill their SIMD lanes with waiting rows.

    `idle` is the mask of the lanes to refill, `left` the number of remaining steps in each lane.
    Nothing changes if no row waits or the loop does not refill lanes.

    Returns:
        The mask of the lanes with a new row that has remaining steps, and the number of remaining
        steps in each lane.
    """
    r, queue = step.rows, step.queue
    if r.numbers.shape[0] == 0 or queue[0] >= queue[1] or not any_of(idle):
        return idle & ~idle, left
    r.left[0], r.idle[0] = left, choose(idle, 1.0, 0.0)
    for lane in range(WIDTH):
        if entry(r.idle, 0, lane) > 0.0:
            put_away(step, lane)
            take_next(step, lane)
    return idle & (r.left[0] > 0.0), r.left[0]


def smooth_step_of(kind: Functions) -> Any:
    """Create the function that takes a Runge-Kutta step in all SIMD lanes.

    Returns:
        Function smooth_step(task, h, step) that advances the rows of a `LaneStep` in place by a
        step of order 4 and length h [s], and returns the number of remaining steps in each lane. A
        lane whose step fails keeps its state and its number.
    """
    accelerate, normalize = kind.accelerate, kind.normalize

    @inner
    def smooth_step(task: Any, h: float, step: Any) -> Any:
        """Advance eight states by a step; return how many steps remain for each lane.

        The number of a lane that fails is unchanged.
        """
        plant, work, s, r = task.plant, task.work, task.scratch, step.rows
        left = r.left[0]
        good = left > 0.0
        nq, nv = s.rates.shape[1], s.accelerations.shape[1]
        for k in range(4):
            put_stage(r.q, s.rates, k, h, nq, s.configuration)
            put_stage(r.v, s.accelerations, k, h, nv, s.velocity)
            if k > 0 and normalize(plant, s.configuration, s.velocity, work, True) != OK:
                return left
            good = good & are_within(s.configuration, nq) & are_within(s.velocity, nv)
            under = r.wrench, True, r.base, step.moves
            state = State(s.configuration, s.velocity, r.efforts, *under)
            if accelerate(plant, state, work, s.rates[k], s.accelerations[k]) != OK:
                return left
        put_step(r.q, s.rates, h, nq, s.configuration)
        put_step(r.v, s.accelerations, h, nv, s.velocity)
        if normalize(plant, s.configuration, s.velocity, work, False) != OK:
            return left
        good = good & are_within(s.configuration, nq) & are_within(s.velocity, nv)
        choose_all(good, s.configuration, r.q)
        choose_all(good, s.velocity, r.v)
        return choose(good, left - 1.0, left)

    return smooth_step


def hybrid_steps_of(kind: Functions) -> Any:
    """Create the function that takes as many steps with stiction as each lane can.

    Returns:
        Function hybrid_steps(task, h, step) that advances the rows of a `LaneStep` in place by
        steps of h [s], and returns the number of remaining steps in each lane.
    """
    equations, normalize = kind.equations, kind.normalize
    configuration_rate, without_inertia = kind.configuration_rate, kind.without_inertia

    @inner
    def hybrid_steps(task: Any, h: float, step: Any) -> Any:
        """Advance eight states, with stiction; return how many steps remain for each lane."""
        functions = StepFunctions(
            without_inertia, constant_state, equations, configuration_rate, normalize, refill
        )
        r = step.rows
        return hybrid_step(functions, task, step, h, r.left[0], True, r.q, r.v)[1]

    return hybrid_steps


def group_loop(unpack: Any) -> Any:
    """Create the loop over groups of eight rows that `batch_loops` uses.

    Args:
        unpack: as for `batch_loops`.

    Returns:
        Function run(advance, structure, arrays, work, s, first, last, refills), with a function
        `advance` from `smooth_step_of` or `hybrid_steps_of`, its scratch arrays `s`, and whether a
        lane takes another row when its own is finished.
    """

    @inner
    def plant_of(structure: Any, own: Any, settings: Any, count: int, n: int) -> PackedPlant:
        """Return eight plants, one per lane, from `count` packed values for each."""
        columns, nf = int(settings[COLUMNS]), int(settings[FRICTION])
        table_at = count - n * columns
        return PackedPlant(
            unpack(structure, own),
            table_of(as_table(own, table_at)[1], n, columns),
            table_of(as_table(own, table_at - nf * ROW)[1], nf, ROW),
            settings[PLANT_OPTIONS:],
            settings[STOPS:COLUMNS],
        )

    @inner
    def run(
        advance: Any, structure: Any, arrays: Any, work: Any, s: Any, first: int, last: int,
        refills: bool,
    ) -> int:  # fmt: skip
        numbers, settings, efforts, _, q, v, _ = arrays
        n, k = efforts.shape[1], numbers.shape[1] // WIDTH
        shapes = Rows(q.shape[1], v.shape[1], n, WRENCH, BASE, 1, 1, 1, k if refills else 0)
        r, queue = new_tables(shapes), stack(1, 2)[0]
        queue[0], queue[1] = first * WIDTH, min(last * WIDTH, q.shape[0])
        step = LaneStep(r, settings[MOVES] != 0.0, arrays, queue)
        while queue[0] < queue[1]:
            own = r.numbers
            if not refills:
                own = rows_of(numbers, int(queue[0]) // WIDTH * numbers.shape[1])
            plant = plant_of(structure, own, settings, k, n)
            for lane in range(WIDTH):
                take_next(step, lane)
            task = Task(plant, plant, work, s)
            while any_of(r.left[0] > 0.0):
                place, left = queue[0], r.left[0]
                r.left[0] = advance(task, settings[DT], step)
                if queue[0] == place and not any_of(r.left[0] < left):
                    break
            for lane in range(WIDTH):
                put_away(step, lane)
        return int(last)

    return run


def batch_loops(kind: Functions, unpack: Any) -> tuple[Any, Any]:
    """Create the batched simulation loops for a kind of mechanism.

    There are two, for smooth steps and for steps with stiction. A loop is loop(structure, arrays,
    work, first, last). It advances groups of eight rows from group `first` to before group `last`.
    `unpack(structure, rows)` returns the plant's mechanism from its numbers in rows of lanes. The
    arrays are:

        numbers: (groups, k * 8) parameters in lanes: of the mechanism, rows of its friction, rows
            of its `joint_table`.
        settings: (SETTINGS,) length of a step, end stops and options, equal for all rows.
        efforts, loads: (N, n) and (N, 15), constant.
        q, v: (N, nq) and (N, nv) states, advanced in place.
        left: (N, 1) number of steps to take, which may be zero; on return, the number of remaining
            steps.
    """
    smooth_step, hybrid_steps, run = smooth_step_of(kind), hybrid_steps_of(kind), group_loop(unpack)

    @inner
    def smooth(structure: Any, arrays: Any, work: Any, first: int, last: int) -> int:
        sizes = arrays[4].shape[1], arrays[5].shape[1], arrays[2].shape[1]
        s = new_tables(stages_shapes(sizes))
        return int(run(smooth_step, structure, arrays, work, s, first, last, False))

    @inner
    def hybrid(structure: Any, arrays: Any, work: Any, first: int, last: int) -> int:
        sizes = arrays[4].shape[1], arrays[5].shape[1], arrays[2].shape[1]
        most, left = 0.0, arrays[6]
        for row in range(first * WIDTH, min(last * WIDTH, left.shape[0])):
            most = max(most, left[row, 0])
        s = new_tables(hybrid_shapes(sizes, int(arrays[1][FRICTION]), 1, 1))
        refills = most >= REFILLED and arrays[1][PLANT_OPTIONS + SEMI_IMPLICIT] == 0.0
        return int(run(hybrid_steps, structure, arrays, work, s, first, last, refills))

    return smooth, hybrid
