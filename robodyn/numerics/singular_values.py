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

"""The condition number from the singular values of a Jacobian."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


def extreme_ratio(values: FloatArray) -> FloatArray:
    """Ratio (...) of the first of (..., k) singular values to the last; infinite where that is 0.

    A zero matrix is singular, too: it occurs at poses so far away that the leg lengths overflow and
    the legs' forces have no direction.
    """
    smallest = values[..., -1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(np.where(smallest > 0.0, values[..., 0] / smallest, np.inf))
