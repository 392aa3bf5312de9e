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

"""Batches of a platform's states through the vector kernels.

All functions return None where something is to be explained. `numbers` are the packed legs and
platform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import types

from robodyn.mechanisms.common.batch_calls import CONFIGURATION, STATE, computed, entry
from robodyn.mechanisms.stewart.kernels import lanes as kernels
from robodyn.numerics.broadcasting import states

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray

    Numbers = tuple[FloatArray, FloatArray]


def inverse_dynamics(
    numbers: Numbers,
    pose: ArrayLike,
    twist: ArrayLike,
    accel: ArrayLike,
    wrench: ArrayLike | None,
    with_legs: bool,
) -> FloatArray | None:
    """Actuator forces of motions."""
    kernel = entry(kernels.inverse_dynamics, *STATE, types.boolean)
    motions = states((7, 6, 6, 6), (pose, twist, accel, wrench))
    return computed(kernel, numbers, motions, (6,), with_legs)


def forward_dynamics(
    numbers: Numbers,
    pose: ArrayLike,
    twist: ArrayLike,
    forces: ArrayLike,
    wrench: ArrayLike | None,
) -> FloatArray | None:
    """Accelerations that forces cause."""
    kernel = entry(kernels.forward_dynamics, *STATE)
    return computed(kernel, numbers, states((7, 6, 6, 6), (pose, twist, forces, wrench)), (6,))


def mass_matrix(numbers: Numbers, pose: ArrayLike) -> FloatArray | None:
    """Mass matrices."""
    kernel = entry(kernels.mass_matrix, *CONFIGURATION)
    return computed(kernel, numbers, states((7,), (pose,)), (6, 6))


def bias(numbers: Numbers, pose: ArrayLike, twist: ArrayLike) -> FloatArray | None:
    """Gravity, velocity terms and friction."""
    kernel = entry(kernels.bias, *CONFIGURATION * 2)
    return computed(kernel, numbers, states((7, 6), (pose, twist)), (6,))


def jacobian(numbers: Numbers, pose: ArrayLike) -> FloatArray | None:
    """The force Jacobian H."""
    kernel = entry(kernels.jacobian, *CONFIGURATION)
    return computed(kernel, numbers, states((7,), (pose,)), (6, 6))


def condition_number(
    numbers: Numbers, pose: ArrayLike, characteristic_length: float
) -> FloatArray | None:
    """Condition numbers of H, its moment rows divided by a length."""
    if not isinstance(characteristic_length, (int, float)):
        return None
    length = float(characteristic_length)
    if not 0.0 < length < np.inf:
        return None
    kernel = entry(kernels.condition_number, *CONFIGURATION, types.float64)
    ratios = computed(kernel, numbers, states((7,), (pose,)), (1,), length)
    return None if ratios is None else ratios[..., 0]
