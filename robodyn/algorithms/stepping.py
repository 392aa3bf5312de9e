# SPDX-License-Identifier: Apache-2.0

"""Integration steps with constant efforts, for mechanisms of any kind."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from robodyn.algorithms.elasticity import refuse_elastic_drives
from robodyn.arrays import FloatArray
from robodyn.checks import as_array
from robodyn.dynamics import compiled_run
from robodyn.dynamics.compiled_run import StepSettings

# Sizes of a step's load: a wrench, or a wrench followed by the motion of the base.
LOADS = 6, 15
DEFAULT = StepSettings()


def compiled_step(
    mechanism: Any,
    configuration: FloatArray,
    velocity: FloatArray,
    effort: FloatArray,
    load: FloatArray,
    dt: float,
    steps: int,
    settings: StepSettings = DEFAULT,
    motors: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Advance a state by a number of compiled integration steps, without checks.

    Args:
        mechanism: mechanism to move.
        configuration: (nq,).
        velocity: (nv,).
        effort: (n,) [N or N m], constant.
        load: wrench (6,) [N, N m], base frame; or (15,) with the motion of the base (9,) after it;
            or (3, 15) at the start, midpoint and end of the step.
        dt: length [s] of a step.
        steps: number of steps.
        settings: end stops, limits and method.
        motors: (2, n) positions and velocities of the motors of elastic drives, advanced in
            place.

    Returns:
        Configuration (nq,) and velocity (nv,).

    Raises:
        InvalidInput: the load has another size, or `motors` of elastic drives are missing.
        SimulationFailed: the next state is not finite; its `value` is the last good state.
    """
    if load.shape[-1] not in LOADS:
        as_array("load", load, (LOADS[0],), "N, N m")
    state, loads = (configuration, velocity), (effort, load)
    if motors is not None:
        rows = zip(state, motors, strict=True)
        state = tuple(np.concatenate(pair) for pair in rows)  # type: ignore[assignment]
    elif mechanism.drives.elasticity is not None:
        refuse_elastic_drives(mechanism)
    rollout = compiled_run.constant_effort_rollout(*state, *loads, dt, steps, settings)
    outcome = mechanism.solver.own_run.advance(rollout, 0, 1)
    q, v = compiled_run.final_state(rollout, outcome, mechanism.solver.failure_reason)
    if motors is None:
        return q, v
    nq, nv = len(configuration), len(velocity)
    motors[0], motors[1] = q[nq:], v[nv:]
    return q[:nq], v[:nv]


step = singledispatch(compiled_step)
