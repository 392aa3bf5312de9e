# SPDX-License-Identifier: Apache-2.0

"""Loops over states around the kinematic kernels; status (N,) holds a code for each state."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.mechanisms.stewart.kernels import forward_kinematics as forward
from robodyn.mechanisms.stewart.kernels import kinematics as inverse
from robodyn.numerics.compiler import kernel


@kernel
def leg_lengths(legs: Any, pose: Any, out: Any, status: Any) -> None:
    """Leg lengths out (N, 6) of pose (N, 7)."""
    for n in range(pose.shape[0]):
        status[n] = inverse.leg_lengths(legs, pose[n], out[n])


@kernel
def jacobian(legs: Any, pose: Any, out: Any, status: Any) -> None:
    """H, out (N, 6, 6), of pose (N, 7)."""
    for n in range(pose.shape[0]):
        status[n] = inverse.jacobian(legs, pose[n], out[n])


@kernel
def leg_motion(
    legs: Any,
    pose: Any,
    twist: Any,
    accel: Any,
    length: Any,
    rate: Any,
    acceleration: Any,
    direction: Any,
    W: Any,
    A: Any,
    universal_rates: Any,
    status: Any,
) -> None:
    """L, L', L'' (N, 6), s, W, A (N, 6, 3) and universal rates (N, 6, 2)."""
    for n in range(pose.shape[0]):
        status[n] = inverse.leg_motion(
            legs,
            pose[n],
            twist[n],
            accel[n],
            length[n],
            rate[n],
            acceleration[n],
            direction[n],
            W[n],
            A[n],
            universal_rates[n],
        )


@kernel
def solve_poses(
    legs: Any, lengths: Any, guess: Any, run: int, out: Any, residual: Any, status: Any
) -> None:
    """Poses out (N, 7) of lengths (N, 6).

    The first of every `run` elements starts from its guess (N, 7), the others from the previous
    solution.
    """
    for n in range(lengths.shape[0]):
        start = guess[n] if n % run == 0 else out[n - 1]
        for j in range(7):
            out[n, j] = start[j]
        status[n], residual[n] = forward.solve_pose(legs, lengths[n], out[n])


@kernel
def platform_motions(
    legs: Any, pose: Any, rates: Any, accelerations: Any, twist: Any, accel: Any, status: Any
) -> None:
    """Twists and accelerations (N, 6) of pose (N, 7) from leg rates and accelerations (N, 6)."""
    G = np.empty((6, 6))
    for n in range(pose.shape[0]):
        status[n] = forward.platform_motion(
            legs, pose[n], rates[n], accelerations[n], G, twist[n], accel[n]
        )
