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

"""What a compiled simulation reads and fills, the same for arms and platforms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import types

from robodyn.mechanisms.common.kernels.control_laws import GIVEN
from robodyn.numerics.array_arguments import MATRIX, MATRIX_OUT, VECTOR, GivenType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray


_STACK = GivenType(3)
# Numba's types of what `Rollout.arguments` returns, and of the first and last row.
TYPES = (types.intp, MATRIX, MATRIX, _STACK, VECTOR, VECTOR, _STACK, *(MATRIX_OUT,) * 4)
SPAN = (types.intp, types.intp)
_NO_GAIN = np.zeros((0, 0))


class Outcome(NamedTuple):
    """How far it went: status of the kernel, rows that are right, steps after the last of them."""

    status: int
    row: int
    step: int


@dataclass(frozen=True)
class Rollout:
    """Arrays float64 and contiguous; see `mechanisms.stewart.kernels.integration.run`.

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
    def arguments(self) -> tuple[int | NDArray[np.generic], ...]:
        """What the kernels take from `law` on, in their order."""
        return (
            self.law, self.kp, self.kv, self.plan, self.dt, self.offset, self.loads,
            self.configuration, self.velocity, self.wanted, self.applied,
        )  # fmt: skip


def held(
    configuration: FloatArray,
    velocity: FloatArray,
    effort: FloatArray,
    wrench: FloatArray,
    dt: float,
    steps: int,
    stops: tuple[float, float],
) -> Rollout:
    """One interval of `steps` of dt [s], efforts and wrench held."""
    n = len(effort)
    states = np.empty((2, len(configuration))), np.empty((2, len(velocity)))
    states[0][0], states[1][0] = configuration, velocity
    return Rollout(
        np.array(stops),
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
