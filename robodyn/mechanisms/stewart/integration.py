# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Stepping a Stewart platform through time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.errors import SimulationFailed
from robodyn.mechanisms.common.compiled_run import SPAN, TYPES, Outcome, Rollout, held
from robodyn.mechanisms.stewart.kernels import integration as kernels
from robodyn.mechanisms.stewart.status import error_for
from robodyn.numerics.array_arguments import MATRIX, VECTOR, direct
from robodyn.threads import once

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


_REASONS = {
    kernels.DIVERGED: "the state grew beyond all bounds",
    kernels.NO_COMMAND: "the forces are not finite",
}


@once
def _simulate() -> Any:
    return direct(kernels.simulate, VECTOR, MATRIX, VECTOR, VECTOR, VECTOR, *TYPES, *SPAN)


def roll_out(
    plant: FloatArray,
    limits: FloatArray,
    model: FloatArray,
    rollout: Rollout,
    span: tuple[int, int],
) -> Outcome:
    """Fill rows of a rollout; `plant` and `model` are packed lanes, `limits` (6, 2) [m]."""
    return Outcome(
        *_simulate()(
            plant, limits, rollout.stops, rollout.effort_limits, model, *rollout.arguments, *span
        )
    )


def integrate(
    lanes: FloatArray,
    legs: FloatArray,
    limits: FloatArray,
    stops: tuple[float, float],
    state: tuple[FloatArray, FloatArray],
    forces: FloatArray,
    wrench: FloatArray,
    dt: float,
    steps: int,
) -> tuple[FloatArray, FloatArray]:
    """Pose and twist after `steps` of dt, forces and wrench held.

    Raises:
        SimulationFailed: its `value` is the last good state (pose, twist), its `time` how far
            it got [s].
    """
    rollout = held(*state, forces, wrench, dt, steps, stops)
    status, _, done = roll_out(lanes, limits, lanes, rollout, (0, 1))
    pose, twist = rollout.configuration[1], rollout.velocity[1]
    if status:
        reason = _REASONS.get(status) or str(error_for(status, (), pose, legs))
        raise SimulationFailed(
            f"no state follows after {done} of {steps} steps of {dt:g} s: {reason}",
            time=done * dt,
            value=(pose, twist),
        )
    return pose, twist
