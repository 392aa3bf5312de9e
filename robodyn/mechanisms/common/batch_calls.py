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

"""Batches of states through compiled kernels, on several threads: what arms and platforms share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.numerics.array_arguments import (
    MATRIX,
    MATRIX_OUT,
    ROWS_OF_ANY_STRIDE,
    ROWS_OR_NONE,
    VECTOR,
    direct,
)
from robodyn.threads import once, share

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray
    from robodyn.numerics.broadcasting import States


# Types of a configuration, and of a whole state: three arrays and a wrench.
CONFIGURATION = (ROWS_OF_ANY_STRIDE,)
STATE = (*CONFIGURATION * 3, ROWS_OR_NONE)


@once
def entry(kernel: Any, *inputs: Any) -> Callable[..., bool]:
    """Entry point of a kernel of two arrays of a mechanism's numbers, inputs and results."""
    return direct(kernel, MATRIX, VECTOR, *inputs, MATRIX_OUT)


def computed(
    kernel: Callable[..., bool],
    numbers: tuple[FloatArray, ...],
    states: States | None,
    core: tuple[int, ...],
    *settings: Any,
) -> FloatArray | None:
    """What a kernel makes of each state, (..., *core); None where something is to be explained.

    Args:
        kernel: entry point; takes the mechanism's numbers, arrays (n, k) of states, the settings
            and an array (n, prod(core)) for the results; returns whether all states have one.
        numbers: the mechanism's.
        states: None passes through.
        core: shape of one result.
        settings: the same for all states.
    """
    if states is None:
        return None
    out = np.empty((states.count, math.prod(core)))

    def work(first: int, last: int) -> bool:
        return kernel(*numbers, *states.part(first, last), *settings, out[first:last])

    try:
        done = share(work, states.count)
    except TypeError:
        return None  # not float64 as the kernels know it
    return out.reshape(*states.shape, *core) if done else None
