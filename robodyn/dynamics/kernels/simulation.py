# SPDX-License-Identifier: Apache-2.0

"""Simulation loop of a kind of mechanism, made from the functions of the kind.

Numba compiles a loop for each set of functions and inlines them, so no call goes through a pointer.
To add a kind, write `Functions` in its `kernels/integration.py`; `simulation_entries.loop_entries`
makes the entries from them. Decorate long functions that several others call with `noinline`, so
that there is one copy of them; the time of a call is negligible next to a step.
`compiled_run.run_entry` makes an entry callable from Python; `compiled_simulation` of the mechanism
offers it to the simulation. A kind with internal states appends them to its configuration.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robodyn.dynamics.kernels import integration
from robodyn.dynamics.kernels.hybrid_step import StepFunctions, hybrid_shapes, hybrid_step
from robodyn.dynamics.kernels.pieces import put_between, put_load
from robodyn.dynamics.kernels.state import state_with_load
from robodyn.numerics.array_arguments import stack_all
from robodyn.numerics.compiler import inner
from robodyn.numerics.runge_kutta import is_within
from robodyn.numerics.vectors import copy


class Functions(NamedTuple):
    """Compiled functions of a kind of mechanism, from which its simulation loops are made.

    Decorate the functions with `inner`, unless there is a reason for another decorator. `plant` is
    an `integration.PackedPlant`, `work` the kind's scratch memory. For batches, all but `command`
    and `sizes` also take lanes.

    Attributes:
        command: command(control, configuration, velocity, row, load, work, out) -> bool. Write the
            efforts (n,) that the control law commands; of `load` the law uses only the motion of
            the base. Return False if there are no such efforts.
        accelerate: accelerate(plant, state, work, rate, acceleration) -> int. Write the time
            derivatives of configuration and velocity of a `State` with efforts as its third, end
            stops included. Return OK or a status of the kind's own, above zero.
        normalize: normalize(plant, configuration, velocity, work, at_stage) -> int. Project a state
            onto its manifold (unit quaternions, closed loops), after every step. At the later
            stages of a step (`at_stage`), project only as far as `equations` and `accelerate`
            require it: a projection after the step preserves the order of the method (Hairer,
            Lubich and Wanner, Geometric Numerical Integration, 2006, section IV.4). The arguments
            may be NaN or arbitrarily large; the result is checked afterwards. Return OK or a
            status.
        equations: equations(plant, state, with_damping, work, out) -> int. Write the
            `hybrid_step.MotionEquations` of a `State` with efforts as its third. Return OK or a
            status.
        configuration_rate: configuration_rate(plant, configuration, velocity, work, out). Write the
            time derivative of the configuration for a velocity, at the configuration of the last
            call to `equations`.
        sizes: sizes(plant) -> nq, nv, n of configuration, velocity and effort; constants let the
            compiler unroll loops.
        without_inertia: status of the kind for a mass matrix that is not positive definite.
        compile_step: decorator of the smooth step.
    """

    command: Any
    accelerate: Any
    normalize: Any
    equations: Any
    configuration_rate: Any
    sizes: Any
    without_inertia: int
    compile_step: Any = inner


@inner
def command_at_instant(
    command: Any, task: Any, step: Any, configuration: Any, velocity: Any
) -> int:
    """Compute the commanded efforts (n,) at the beginning of a step, and record them.

    They are recorded in the `Step`, before and after limits; the latter are also kept in the
    scratch arrays for the step. Returns a status: OK, DIVERGED or NO_COMMAND.
    """
    s, p = task.scratch.stages, task.scratch.piece
    copy(configuration, s.configuration)
    copy(velocity, s.velocity)
    if not (is_within(s.configuration) and is_within(s.velocity)):
        return integration.DIVERGED
    put_load(step, 0.0, p.load)
    row = p.row[: step.rows.shape[1]]
    copy(step.rows[0], row)
    if not integration.evaluate_command(
        command, task, s.configuration, s.velocity, row, p.load, s.required, s.effort
    ):
        return integration.NO_COMMAND
    copy(s.required, step.required)
    copy(s.effort, step.applied)
    return integration.OK


def hybrid_loop(kind: Functions) -> Any:
    """Create the simulation loop for joints with dry friction or strong damping.

    The loop has the same arguments as the loop that `smooth_loop` creates.
    """
    command, normalize, sizes = kind.command, kind.normalize, kind.sizes
    equations, configuration_rate = kind.equations, kind.configuration_rate
    without_inertia = kind.without_inertia

    @inner
    def supply(task: Any, step: Any, when: float, given: bool) -> Any:
        """Return a status and the `State` at an integration stage.

        The state includes the joint efforts and the load at this stage.
        """
        s, p = task.scratch.stages, task.scratch.piece
        status, q, v = integration.OK, s.configuration, s.velocity
        put_load(step, when, p.load)
        if step.rows.shape[0] > 1 and given:
            row = p.row[: step.rows.shape[1]]
            put_between(step.rows, 1, when, row)
            if not integration.evaluate_command(
                command, task, q, v, row, p.load, s.required, s.effort
            ):
                status = integration.NO_COMMAND
        return status, state_with_load(q, v, s.effort, p.load, True)

    @inner
    def renew(step: Any, idle: bool, left: float) -> Any:
        return False, left

    @inner
    def step_once(task: Any, step: Any, configuration: Any, velocity: Any) -> int:
        if step.at_instant:
            status = command_at_instant(command, task, step, configuration, velocity)
            if status != integration.OK:
                return int(status)
        # the number first, as old versions of Numba warn about tuples that begin with a function
        functions = StepFunctions(
            without_inertia, supply, equations, configuration_rate, normalize, renew
        )
        status, _ = hybrid_step(functions, task, step, step.h, 1.0, False, configuration, velocity)
        return int(status)

    @inner
    def loop(
        plant: Any, model: Any, work: Any, arrays: Any, law: int, first: int, last: int
    ) -> tuple[int, int, int]:
        rollout = integration.PackedRollout(*arrays)
        control = integration.Control(model, law, rollout.kp, rollout.kv, rollout.effort_limits)
        row, load = max(rollout.plan.shape[2], 6), rollout.loads.shape[2]
        scratch = stack_all(hybrid_shapes(sizes(plant), plant.friction.shape[0], row, load))
        return integration.run(
            step_once, integration.Task(plant, control, work, scratch), rollout, first, last
        )

    return loop


def smooth_loop(kind: Functions) -> Any:
    """Create the simulation loop for joints with no dry friction and no strong damping.

    The result is a function loop(plant, model, work, arrays, law, first, last) that computes rows
    `first` + 1 to `last`: `plant` is a `PackedPlant`, `arrays` are those of a `PackedRollout`. It
    returns what `integration.run` returns.
    """
    command, accelerate, normalize = kind.command, kind.accelerate, kind.normalize
    sizes = kind.sizes

    @kind.compile_step
    def smooth_step(task: Any, step: Any, configuration: Any, velocity: Any) -> int:
        return integration.classical_step(
            command, accelerate, normalize, task, step, configuration, velocity
        )

    @inner
    def loop(
        plant: Any, model: Any, work: Any, arrays: Any, law: int, first: int, last: int
    ) -> tuple[int, int, int]:
        rollout = integration.PackedRollout(*arrays)
        control = integration.Control(model, law, rollout.kp, rollout.kv, rollout.effort_limits)
        stages = stack_all(integration.stages_shapes(sizes(plant)))
        return integration.run(
            smooth_step, integration.Task(plant, control, work, stages), rollout, first, last
        )

    return loop
