# SPDX-License-Identifier: Apache-2.0

"""The kernels of `kernels.single` for calls from Python, with arrays of type `given`."""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.common.kernels.state import state_of
from robodyn.mechanisms.stewart.kernels import single as stewart_single
from robodyn.numerics import rotations
from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.compiler import entry_kernel


@entry_kernel
def inverse_dynamics(
    model: Any, pose: Any, twist: Any, accel: Any, wrench: Any, base: Any, trusted: bool, out: Any
) -> bool:
    """Actuator forces (6,) of one state."""
    state = state_of(pose, twist, accel, wrench, base)
    return stewart_single.inverse_dynamics(
        borrowed_array(model), state, trusted, borrowed_array(out)
    )


@entry_kernel
def forward_dynamics(
    model: Any, pose: Any, twist: Any, forces: Any, wrench: Any, base: Any, trusted: bool, out: Any
) -> bool:
    """Platform acceleration (6,) of one state."""
    state = state_of(pose, twist, forces, wrench, base)
    return stewart_single.forward_dynamics(
        borrowed_array(model), state, trusted, borrowed_array(out)
    )


@entry_kernel
def mass_matrix(model: Any, pose: Any, trusted: bool, out: Any) -> bool:
    """Mass matrix (6, 6) of one pose."""
    return stewart_single.mass_matrix(
        borrowed_array(model), borrowed_array(pose), trusted, borrowed_array(out)
    )


@entry_kernel
def condition_number(model: Any, pose: Any, length: float, trusted: bool) -> float:
    """Ratio of the extreme singular values of H, moments divided by `length`; -1 if none."""
    return stewart_single.condition_number(
        borrowed_array(model), borrowed_array(pose), length, trusted
    )


@entry_kernel
def pose_difference(start: Any, goal: Any, out: Any) -> None:
    """Displacement (6,) from pose to pose."""
    rotations.pose_difference(borrowed_array(start), borrowed_array(goal), borrowed_array(out))


@entry_kernel
def advanced_pose(pose: Any, displacement: Any, out: Any) -> None:
    """Pose (7,) after a displacement (6,)."""
    rotations.advanced_pose(borrowed_array(pose), borrowed_array(displacement), borrowed_array(out))
