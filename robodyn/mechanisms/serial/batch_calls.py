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

"""Batches of an arm's states through the vector kernels; None where something is to be explained.

`numbers` are the packed chain and gravity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.mechanisms.common.batch_calls import CONFIGURATION, STATE, computed, entry
from robodyn.mechanisms.serial.kernels import lanes as kernels
from robodyn.numerics.broadcasting import states

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray

    Numbers = tuple[FloatArray, FloatArray]


def inverse_dynamics(
    numbers: Numbers,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrench: ArrayLike | None,
) -> FloatArray | None:
    """Efforts of motions."""
    return _dynamics(kernels.inverse_dynamics, numbers, q, qd, qdd, wrench)


def forward_dynamics(
    numbers: Numbers,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    wrench: ArrayLike | None,
) -> FloatArray | None:
    """Accelerations that efforts cause."""
    return _dynamics(kernels.forward_dynamics, numbers, q, qd, tau, wrench)


def mass_matrix(numbers: Numbers, q: ArrayLike) -> FloatArray | None:
    """Mass matrices."""
    n = len(numbers[0]) - 1
    kernel = entry(kernels.mass_matrix, *CONFIGURATION)
    return computed(kernel, numbers, states((n,), (q,)), (n, n))


def jacobian(numbers: Numbers, q: ArrayLike) -> FloatArray | None:
    """Jacobians of the tip."""
    n = len(numbers[0]) - 1
    kernel = entry(kernels.jacobian, *CONFIGURATION)
    return computed(kernel, numbers, states((n,), (q,)), (6, n))


def _dynamics(kernel: Any, numbers: Numbers, *given: ArrayLike | None) -> FloatArray | None:
    n = len(numbers[0]) - 1
    return computed(entry(kernel, *STATE), numbers, states((n, n, n, 6), given), (n,))
