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

"""What the motors of any mechanism have at rates of its joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray


class HasMotors(Protocol):
    """An optional addition to `protocol.Mechanism`: limits of efforts that depend on rates.

    `integrate` of a mechanism whose motors tire takes the keyword `limit_motors`: whether efforts
    fall to `effort_limits_at` at the rates of every moment.
    """

    @property
    def motors_tire(self) -> bool:
        """Whether what a motor has depends on its speed; else `effort_limits` say all."""

    def effort_limits_at(self, rates: ArrayLike, /) -> FloatArray:
        """(..., n) [N or N m] at rates (..., n) of the driven joints."""


def motors_tire(mechanism: Any) -> bool:
    """Whether what a motor has depends on its speed."""
    return bool(getattr(mechanism, "motors_tire", False))


def effort_limits_at(mechanism: Any, rates: ArrayLike) -> FloatArray:
    """Largest efforts (..., n) [N or N m] at rates (..., n) of the driven joints."""
    at_rates = getattr(mechanism, "effort_limits_at", None)
    if at_rates is None:
        return np.broadcast_to(mechanism.effort_limits, np.shape(rates))
    return np.asarray(at_rates(rates))
