# SPDX-License-Identifier: Apache-2.0

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
