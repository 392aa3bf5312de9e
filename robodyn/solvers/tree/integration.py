# SPDX-License-Identifier: Apache-2.0

"""Compiled simulation of a mechanism with closed loops, also through singularities of type 2.

The kernels integrate in some independent coordinates. If these become ill-conditioned, the kernels
stop, the state is converted to the best coordinates there, and the simulation continues. The
controller's model keeps its coordinates; if its elimination order fails, another is used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.dynamics.compiled_run import CompiledRun, Kernels, Outcome, Rollout
from robodyn.dynamics.kernels.control_laws import GIVEN
from robodyn.dynamics.kernels.integration import NO_COMMAND, OK
from robodyn.errors import SingularConfiguration
from robodyn.numerics.array_arguments import VECTOR
from robodyn.solvers.tree import calls
from robodyn.solvers.tree.calls import entry
from robodyn.solvers.tree.closing.pivots import full_rates
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.kernels.integration import (
    advance,
    advance_hybrid,
    simulate,
    simulate_elastic,
    simulate_hybrid,
)
from robodyn.solvers.tree.packing import PackedMechanism

# Largest number of changes of coordinates in a row without a step between them.
MOST_CHANGES = 3
LOST = (
    "the loops no longer close, because the mechanism moves fast through a singular configuration "
    "or through gimbal lock of the three hinges that model a ball joint; try shorter steps"
)
NO_STEP = {
    NO_COMMAND: "the efforts are not finite, or do not exist at a singularity",
    layout.BAD_PIVOTS: LOST,
    layout.BAD_COORDINATES: LOST,
    layout.SINGULAR: "the mechanism can move without moving any mass, so its acceleration is "
    "undefined; give its links mass",
}


# of a plan and numbers
KERNELS = Kernels(
    simulate, simulate_hybrid, (VECTOR,) * 2, advance, advance_hybrid, simulate_elastic
)


def _is_final(status: int, rollout: Rollout) -> bool:
    """Return whether a status is final: other independent coordinates would not help."""
    if status == NO_COMMAND:
        return rollout.law == GIVEN
    return status <= OK or status == layout.SINGULAR


class Simulation:
    """Compiled simulation of a mechanism with closed loops under a controller.

    Args:
        mechanism: the `ClosedLoop` that is simulated.
        model: mechanism that the controller uses as its model.
    """

    def __init__(self, mechanism: Any, model: Any) -> None:
        self._drives, self._model = mechanism.drives, model
        self._friction = mechanism.solver.friction
        self._elasticity = mechanism.drives.elasticity
        self._mechanism = mechanism if self._elasticity is None else mechanism._rotorless
        self._own: PackedMechanism = self._mechanism.structure.packed
        self._nq, self._nv = len(mechanism.home), len(mechanism.structure.free)

    def advance(self, rollout: Rollout, first: int, last: int) -> Outcome:
        """Simulate the sampling intervals between samples `first` and `last` of a rollout.

        The states are written to the samples after `first`; the arguments are not checked.

        Returns:
            Status code, index of the last sample reached, and number of time steps after it.
        """
        control = self._model.structure.packed
        outcome = self._run(rollout, self._own, control, first, last)
        # a custom controller receives the velocity in these coordinates only
        if _is_final(outcome.status, rollout) or rollout.driver is not None:
            return outcome
        return self._continue(rollout, outcome, last)

    def _run(
        self,
        rollout: Rollout,
        packed: PackedMechanism,
        control: PackedMechanism,
        first: int,
        last: int,
    ) -> Outcome:
        run = CompiledRun(
            KERNELS,
            packed.given,
            lambda: packed.without_dry_friction.given,
            self._drives.motor_table,
            self._friction,
            (*control.given, *packed.given),
            self._elasticity,
        )
        return run.advance(rollout, first, last)

    def _continue(self, rollout: Rollout, outcome: Outcome, last: int) -> Outcome:
        """Continue to sample `last`, switching independent coordinates when they fail."""
        row, step = outcome.row, outcome.step
        at = row + 1 if step else row
        nq, nv = self._nq, self._nv
        q, motors = np.split(rollout.configuration[at].copy(), [nq])
        v, motor_rates = np.split(rollout.velocity[at].copy(), [nv])
        v = self._tree_rates(self._own, q, v)
        changes, status, own_free = 0, outcome.status, list(self._mechanism.structure.free)
        control = self._model.structure.packed
        while row < last:
            packed = self._chosen(self._mechanism, q, self._mechanism.solver.pivots.best_free(q))
            if packed is None:
                return Outcome(layout.BAD_PIVOTS, row, step)
            if status == NO_COMMAND:
                control = self._chosen(self._model, q)
                if control is None:
                    return Outcome(status, row, step)
            # the rest of a row with constant efforts, or all following rows
            alike = replace(rollout, velocity=np.empty_like(rollout.velocity))
            part = self._rest(rollout, row, step) if step else alike
            begin, end = (0, 1) if step else (row, last)
            part.configuration[begin] = np.concatenate([q, motors])
            part.velocity[begin] = np.concatenate([v[list(self._free(packed))], motor_rates])
            done = self._run(part, packed, control, begin, end)
            for n in range(begin + 1, done.row + 1 + bool(done.step)):
                q, motors = np.split(part.configuration[n].copy(), [nq])
                v, motor_rates = np.split(part.velocity[n].copy(), [nv])
                v = self._tree_rates(packed, q, v)
                at = row + n - begin
                rollout.configuration[at] = part.configuration[n]
                rollout.velocity[at] = np.concatenate([v[own_free], motor_rates])
            moved = done.row > begin or done.step > 0
            if done.row > begin:
                row, step = row + done.row - begin, done.step
            else:
                step += done.step
            changes, status = 0 if moved else changes + 1, done.status
            if changes > MOST_CHANGES or (status and _is_final(status, rollout)):
                return Outcome(status, row, step)
        return Outcome(OK, last, 0)

    def _chosen(
        self, mechanism: Any, q: FloatArray, free: tuple[int, ...] | None = None
    ) -> PackedMechanism | None:
        try:
            packed: PackedMechanism = mechanism.solver.pivots.at(q, free)
        except SingularConfiguration:
            return None
        return packed

    def _free(self, packed: PackedMechanism) -> tuple[int, ...]:
        first, count = packed.head["at_free"], packed.head["free"]
        return tuple(packed.plan.view(np.int64)[first : first + count].tolist())

    def _tree_rates(self, packed: PackedMechanism, q: FloatArray, rates: FloatArray) -> FloatArray:
        """Compute the rates (rates,) of all joints from those of independent coordinates."""
        tree = self._mechanism.structure.tree
        rates, motion = np.array(rates), np.empty(2 * tree.rates + 6)
        if entry(calls.MOTION, packed)(q, rates, np.zeros_like(rates), motion):
            return motion[: tree.rates]
        return full_rates(self._mechanism.structure, q, rates)

    def _rest(self, rollout: Rollout, row: int, step: int) -> Rollout:
        """Return a rollout of the time steps that remain in sampling interval `row`.

        The first `step` time steps of the interval are done.
        """
        effort = rollout.applied[row]
        start = int(rollout.offset[row]) + step
        left = int(rollout.offset[row + 1]) - start
        loads = rollout.loads if len(rollout.loads) == 1 else rollout.loads[start : start + left]
        return replace(
            rollout,
            law=GIVEN,
            plan=effort.reshape(1, 1, -1).copy(),
            dt=rollout.dt[row : row + 1].copy(),
            offset=np.array([0.0, left]),
            loads=np.ascontiguousarray(loads),
            configuration=np.empty((2, rollout.configuration.shape[1])),
            velocity=np.empty((2, rollout.velocity.shape[1])),
            required=np.empty((1, len(effort))),
            applied=np.empty((1, len(effort))),
        )
