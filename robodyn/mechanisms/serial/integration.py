# SPDX-License-Identifier: Apache-2.0

"""A serial arm in compiled simulations."""

from __future__ import annotations

from robodyn.mechanisms.common.compiled_run import Kernels
from robodyn.mechanisms.common.kernels.integration import NO_COMMAND
from robodyn.mechanisms.serial.kernels.integration import NO_INERTIA, simulate
from robodyn.numerics.array_arguments import MATRIX, VECTOR

# of a packed chain (n + 1, LINK_SIZE) and gravity (3,)
KERNELS = Kernels(simulate, (MATRIX, VECTOR))
_REASONS = {
    NO_COMMAND: "the efforts are not finite",
    NO_INERTIA: "a joint has no inertia to accelerate; give its link mass or its motor an armature",
}


def reason(status: int, q: object) -> str:
    """Why no acceleration, or no command, could be computed at a configuration."""
    return _REASONS[status]
