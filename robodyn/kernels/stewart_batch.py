"""Loops over states around the kernels of `stewart`; status (N,) holds a code for each state."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.kernels import stewart
from robodyn.kernels.compiler import kernel


@kernel
def leg_lengths(legs: Any, pose: Any, out: Any, status: Any) -> None:
    """Leg lengths out (N, 6) of pose (N, 7)."""
    for n in range(pose.shape[0]):
        status[n] = stewart.leg_lengths(legs, pose[n], out[n])


@kernel
def jacobian(legs: Any, pose: Any, out: Any, status: Any) -> None:
    """H, out (N, 6, 6), of pose (N, 7)."""
    for n in range(pose.shape[0]):
        status[n] = stewart.jacobian(legs, pose[n], out[n])


@kernel
def inverse_dynamics(
    legs: Any,
    platform: Any,
    pose: Any,
    twist: Any,
    accel: Any,
    wrench: Any,
    with_legs: bool,
    out: Any,
    status: Any,
) -> None:
    """Actuator forces out (N, 6)."""
    H = np.empty((6, 6))
    for n in range(pose.shape[0]):
        status[n] = stewart.inverse_dynamics(
            legs, platform, pose[n], twist[n], accel[n], wrench[n], with_legs, H, out[n]
        )


@kernel
def bias(legs: Any, platform: Any, pose: Any, twist: Any, out: Any, status: Any) -> None:
    """Gravity, velocity terms and friction, out (N, 6)."""
    H = np.empty((6, 6))
    rest = np.zeros(6)
    for n in range(pose.shape[0]):
        status[n] = stewart.required_wrench(
            legs, platform, pose[n], twist[n], rest, True, H, out[n]
        )


@kernel
def mass_matrix(legs: Any, platform: Any, pose: Any, out: Any, status: Any) -> None:
    """Mass matrices out (N, 6, 6)."""
    for n in range(pose.shape[0]):
        status[n] = stewart.mass_matrix(legs, platform, pose[n], out[n])


@kernel
def forward_dynamics(
    legs: Any,
    platform: Any,
    pose: Any,
    twist: Any,
    forces: Any,
    wrench: Any,
    out: Any,
    status: Any,
) -> None:
    """Platform accelerations out (N, 6)."""
    H = np.empty((6, 6))
    M = np.empty((6, 6))
    for n in range(pose.shape[0]):
        status[n] = stewart.forward_dynamics(
            legs, platform, pose[n], twist[n], forces[n], wrench[n], H, M, out[n]
        )
