# SPDX-License-Identifier: Apache-2.0

"""A Stewart platform in compiled simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.mechanisms.common.compiled_run import Kernels
from robodyn.mechanisms.common.kernels.integration import NO_COMMAND
from robodyn.mechanisms.stewart.kernels.integration import simulate
from robodyn.mechanisms.stewart.status import error_for
from robodyn.numerics.array_arguments import VECTOR

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray

# of packed lanes
KERNELS = Kernels(simulate, (VECTOR,))


def reason(legs: FloatArray, status: int, pose: FloatArray) -> str:
    """Why no acceleration, or no command, could be computed at a pose."""
    if status == NO_COMMAND:
        return "the forces are not finite"
    return str(error_for(status, (), pose, legs))
