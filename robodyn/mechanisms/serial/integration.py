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

"""Stepping an arm through time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from robodyn.errors import SimulationFailed
from robodyn.mechanisms.common.compiled_run import SPAN, TYPES, Outcome, Rollout, held
from robodyn.mechanisms.serial.kernels import integration as kernels
from robodyn.numerics.array_arguments import MATRIX, VECTOR, direct
from robodyn.threads import once

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


_REASONS = {
    kernels.DIVERGED: "the state grew beyond all bounds",
    kernels.NO_COMMAND: "the efforts are not finite",
    kernels.NO_INERTIA: "a joint has no inertia to accelerate; give its link mass or its motor "
    "an armature",
}


class Chain(NamedTuple):
    """A packed chain (n + 1, LINK_SIZE) and gravity (3,)."""

    links: FloatArray
    gravity: FloatArray


@once
def _simulate() -> Any:
    arm = MATRIX, VECTOR
    return direct(kernels.simulate, *arm, MATRIX, VECTOR, VECTOR, *arm, *TYPES, *SPAN)


def roll_out(
    plant: Chain, limits: FloatArray, model: Chain, rollout: Rollout, span: tuple[int, int]
) -> Outcome:
    """Fill rows of a rollout; `limits` (n, 2) end the joints' travel."""
    return Outcome(
        *_simulate()(
            *plant,
            limits,
            rollout.stops,
            rollout.effort_limits,
            *model,
            *rollout.arguments,
            *span,
        )
    )


def integrate(
    chain: Chain,
    limits: FloatArray,
    stops: tuple[float, float],
    state: tuple[FloatArray, FloatArray],
    effort: FloatArray,
    wrench: FloatArray,
    dt: float,
    steps: int,
) -> tuple[FloatArray, FloatArray]:
    """Q and qd after `steps` of dt, efforts and wrench held.

    Raises:
        SimulationFailed: its `value` is the last good state (q, qd), its `time` how far it got [s].
    """
    rollout = held(*state, effort, wrench, dt, steps, stops)
    status, _, done = roll_out(chain, limits, chain, rollout, (0, 1))
    q, qd = rollout.configuration[1], rollout.velocity[1]
    if status:
        raise SimulationFailed(
            f"no state follows after {done} of {steps} steps of {dt:g} s: {_REASONS[status]}",
            time=done * dt,
            value=(q, qd),
        )
    return q, qd
