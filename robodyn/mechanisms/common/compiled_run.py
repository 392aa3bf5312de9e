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

"""Compiled simulation: what it reads and fills, and how a mechanism offers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types

from robodyn.errors import SimulationFailed
from robodyn.mechanisms.common.kernels.control_laws import GIVEN
from robodyn.mechanisms.common.kernels.integration import DIVERGED
from robodyn.numerics.array_arguments import MATRIX, MATRIX_OUT, VECTOR, GivenType, direct
from robodyn.threads import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.end_stops import EndStops


_STACK = GivenType(3)
# Numba's type of `Rollout.arrays`.
_ARRAYS = types.Tuple([VECTOR, MATRIX, MATRIX, _STACK, VECTOR, VECTOR, _STACK, *(MATRIX_OUT,) * 4])
_NO_GAIN = np.zeros((0, 0))


class Outcome(NamedTuple):
    """How far it went: status of the kernel, rows that are right, steps after the last of them."""

    status: int
    row: int
    step: int


@dataclass(frozen=True)
class Rollout:
    """Arrays float64 and contiguous; see `mechanisms.common.kernels.integration.run`.

    Attributes:
        stops: (2,) stiffness and damping at the ends of the joints' travel.
        effort_limits: (n,) [N or N m].
        law: of `mechanisms.common.kernels.control_laws`.
        kp, kv: (n, n) gains, if the law has any.
        plan: (N - 1, 1 or 4, k) rows for the law.
        dt: (N - 1,) [s].
        offset: (N,) whole numbers.
        loads: (steps or 1, 1 or 3, 6) [N, N m].
        configuration, velocity: (N, ...) histories, the first row given.
        wanted, applied: (N - 1, n) histories of efforts.
    """

    stops: FloatArray
    effort_limits: FloatArray
    law: int
    kp: FloatArray
    kv: FloatArray
    plan: FloatArray
    dt: FloatArray
    offset: FloatArray
    loads: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    wanted: FloatArray
    applied: FloatArray

    @property
    def arrays(self) -> tuple[FloatArray, ...]:
        """What the loop takes in one tuple, in its order."""
        return (
            self.effort_limits, self.kp, self.kv, self.plan, self.dt, self.offset, self.loads,
            self.configuration, self.velocity, self.wanted, self.applied,
        )  # fmt: skip


@once
def entry(simulate: Any, *numbers: Any) -> Callable[..., tuple[int, int, int]]:
    """Entry point of a kind's `simulate`.

    `numbers` are the types of the arrays that describe a mechanism; the plant's are followed by
    the limits (n, 2) of its joints and the end stops.
    """
    plant, model = types.Tuple([*numbers, MATRIX, VECTOR]), types.Tuple(numbers)
    return direct(simulate, plant, model, _ARRAYS, types.intp, types.intp, types.intp)


def advance(
    simulate: Callable[..., tuple[int, int, int]],
    plant: tuple[FloatArray, ...],
    limits: FloatArray,
    model: tuple[FloatArray, ...],
    rollout: Rollout,
    first: int,
    last: int,
) -> Outcome:
    """Fill rows `first` + 1 to `last` of a rollout; unchecked.

    Args:
        simulate: an `entry`.
        plant, model: numbers of what moves, and of what the control takes it for.
        limits: (n, 2) of the plant's joints.
        rollout: to be filled.
        first, last: rows.
    """
    moved = (*plant, limits, rollout.stops)
    return Outcome(*simulate(moved, model, rollout.arrays, rollout.law, first, last))


def integrate(
    advance: Callable[[Rollout, int, int], Outcome],
    reason: Callable[[int, FloatArray], str],
    state: tuple[FloatArray, FloatArray],
    effort: FloatArray,
    wrench: FloatArray,
    dt: float,
    steps: int,
    stops: EndStops | None,
) -> tuple[FloatArray, FloatArray]:
    """Configuration and velocity after `steps` of dt [s], effort and wrench held.

    Args:
        advance: of the mechanism.
        reason: what a status of the kind's own, or NO_COMMAND, means at a configuration.
        state: configuration and velocity.
        effort, wrench: (n,) and (6,).
        dt: [s].
        steps: how many.
        stops: at the ends of the joints' travel; None for none.

    Raises:
        SimulationFailed: its `value` is the last good state, its `time` how far it got [s].
    """
    rollout = held(*state, effort, wrench, dt, steps, stops)
    status, _, done = advance(rollout, 0, 1)
    configuration, velocity = rollout.configuration[1], rollout.velocity[1]
    if status:
        why = (
            "the state grew beyond all bounds"
            if status == DIVERGED
            else reason(status, configuration)
        )
        raise SimulationFailed(
            f"no state follows after {done} of {steps} steps of {dt:g} s: {why}",
            time=done * dt,
            value=(configuration, velocity),
        )
    return configuration, velocity


def spring_and_damper(stops: EndStops | None) -> tuple[float, float]:
    """Stiffness and damping of end stops, zero where there are none."""
    return (0.0, 0.0) if stops is None else (stops.stiffness, stops.damping)


def held(
    configuration: FloatArray,
    velocity: FloatArray,
    effort: FloatArray,
    wrench: FloatArray,
    dt: float,
    steps: int,
    stops: EndStops | None,
) -> Rollout:
    """One interval of `steps` of dt [s], efforts and wrench held."""
    n = len(effort)
    states = np.empty((2, len(configuration))), np.empty((2, len(velocity)))
    states[0][0], states[1][0] = configuration, velocity
    return Rollout(
        np.array(spring_and_damper(stops)),
        np.full(n, np.inf),
        GIVEN,
        _NO_GAIN,
        _NO_GAIN,
        np.array(effort, dtype=np.float64).reshape(1, 1, n),
        np.array([dt]),
        np.array([0.0, steps]),
        np.array(wrench, dtype=np.float64).reshape(1, 1, 6),
        *states,
        *np.empty((2, 1, n)),
    )
