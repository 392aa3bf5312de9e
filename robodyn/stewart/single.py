"""Single states through the vector kernels: arrays float64 and contiguous, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import types

from robodyn.batch import row
from robodyn.kernels import rotations_batch
from robodyn.kernels import stewart_single as kernels_of
from robodyn.kernels.compiler import ready
from robodyn.threads import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_LIST, _TABLE = types.float64[::1], types.float64[:, ::1]
NO_WRENCH = np.zeros(6)


class Single(NamedTuple):
    """Compiled kernels; they raise TypeError for arguments of other types."""

    inverse: Any
    inverse_without_wrench: Any
    forward: Any
    forward_without_wrench: Any
    mass: Any
    condition: Any


@once
def kernels() -> Single:
    """All of them, compiled or read from disk on first use."""
    lists = (_LIST,) * 5
    return Single(
        ready(kernels_of.inverse_dynamics, *lists, types.boolean, types.boolean, _LIST),
        ready(kernels_of.inverse_dynamics_without_wrench, *lists),
        ready(kernels_of.forward_dynamics, *lists, types.boolean, types.boolean, _LIST),
        ready(kernels_of.forward_dynamics_without_wrench, *lists),
        ready(kernels_of.mass_matrix, _LIST, _LIST, types.boolean, _TABLE),
        ready(kernels_of.condition_number, _LIST, _LIST, types.float64, types.boolean),
    )


class Unchecked:
    """Dynamics of one state at a time for inner loops, nothing checked.

    Arrays must be contiguous float64 of the stated shapes, finite, the quaternion of unit length
    (it is normalised all the same); shorter ones are read beyond their end. Results are written
    into `out`; what comes back is whether there is one. TypeError for other types.
    """

    def __init__(self, lanes: FloatArray) -> None:
        self._lanes = lanes
        self._kernels = kernels()

    def difference(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Displacement (6,) from start to goal (7,), both of them normalised."""
        out = np.empty((1, 6))
        rotations_batch.pose_differences(row(start), row(goal), out)
        return out.reshape(6)

    def advance(self, pose: FloatArray, displacement: FloatArray) -> FloatArray:
        """Pose (7,) after a displacement (6,)."""
        out = np.empty((1, 7))
        rotations_batch.advanced_poses(row(pose), row(displacement), out)
        return out.reshape(7)

    def inverse_dynamics(
        self,
        pose: FloatArray,
        twist: FloatArray,
        accel: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
    ) -> bool:
        """Forces (6,) of pose (7,), twist, accel and wrench (6,)."""
        contact = wrench is not None
        load = wrench if contact else NO_WRENCH
        done: bool = self._kernels.inverse(
            self._lanes, pose, twist, accel, load, contact, True, out
        )
        return done

    def forward_dynamics(
        self,
        pose: FloatArray,
        twist: FloatArray,
        forces: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
    ) -> bool:
        """Acceleration (6,) of pose (7,), twist, forces and wrench (6,)."""
        contact = wrench is not None
        load = wrench if contact else NO_WRENCH
        done: bool = self._kernels.forward(
            self._lanes, pose, twist, forces, load, contact, True, out
        )
        return done

    def mass_matrix(self, pose: FloatArray, out: FloatArray) -> bool:
        """Mass matrix (6, 6) of pose (7,)."""
        done: bool = self._kernels.mass(self._lanes, pose, True, out)
        return done

    def condition_number(self, pose: FloatArray, characteristic_length: float = 1.0) -> float:
        """Condition number of pose (7,), -1 where there is none."""
        ratio: float = self._kernels.condition(self._lanes, pose, characteristic_length, True)
        return ratio
