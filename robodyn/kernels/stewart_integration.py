"""Runge-Kutta of order 4 over the platform's state, forces held, many steps a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.kernels import stewart
from robodyn.kernels.compiler import kernel
from robodyn.kernels.end_stops import end_stop_effort
from robodyn.kernels.rotations import rotation_columns
from robodyn.kernels.stewart_layout import OK
from robodyn.kernels.stewart_leg import leg_geometry
from robodyn.kernels.vectors import add, cross, dot, vector

DIVERGED = 40
# [m, rad, m/s, rad/s]: no mechanism is here, and the arithmetic is still well within its range.
BEYOND = 1e6


@kernel
def held_forces(
    legs: Any, limits: Any, stops: Any, pose: Any, twist: Any, forces: Any, out: Any
) -> None:
    """Actuator forces plus what the end stops add; `stops` is (stiffness, damping)."""
    X, Y, Z = rotation_columns(pose)
    position, v, w = vector(pose, 0), vector(twist, 0), vector(twist, 3)
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        rate = dot(g.s, add(v, cross(w, g.q)))
        out[i] = forces[i] + end_stop_effort(
            g.length, rate, limits[i, 0], limits[i, 1], stops[0], stops[1]
        )


@kernel
def normalize(pose: Any) -> None:
    """Bring the quaternion of pose (7,) back to unit length."""
    length = (pose[3] ** 2 + pose[4] ** 2 + pose[5] ** 2 + pose[6] ** 2) ** 0.5
    for j in range(3, 7):
        pose[j] /= length


@kernel
def pose_rate(pose: Any, twist: Any, out: Any) -> None:
    """Time derivative (7,) of a pose: velocity, and omega times the quaternion over two."""
    x, y, z, w = pose[3], pose[4], pose[5], pose[6]
    a, b, c = twist[3], twist[4], twist[5]
    out[0], out[1], out[2] = twist[0], twist[1], twist[2]
    out[3] = 0.5 * (a * w + b * z - c * y)
    out[4] = 0.5 * (b * w + c * x - a * z)
    out[5] = 0.5 * (c * w + a * y - b * x)
    out[6] = -0.5 * (a * x + b * y + c * z)


@kernel
def hold(
    legs: Any,
    platform: Any,
    limits: Any,
    stops: Any,
    pose: Any,
    twist: Any,
    forces: Any,
    wrench: Any,
    dt: float,
    steps: int,
) -> tuple[int, int]:
    """Advance pose (7,) and twist (6,) in place by `steps` of `dt`, forces and wrench held.

    Returns a status and the number of whole steps taken; after a failure the state is that of
    the last whole step.
    """
    H, M, effective = np.empty((6, 6)), np.empty((6, 6)), np.empty(6)
    pose_rates, accels = np.empty((4, 7)), np.empty((4, 6))
    stage_pose, stage_twist = np.empty(7), np.empty(6)
    for step in range(steps):
        for stage in range(4):
            stage_pose[:] = pose
            stage_twist[:] = twist
            if stage > 0:
                h = dt if stage == 3 else 0.5 * dt
                for j in range(7):
                    stage_pose[j] += h * pose_rates[stage - 1, j]
                for j in range(6):
                    stage_twist[j] += h * accels[stage - 1, j]
                normalize(stage_pose)
            pose_rate(stage_pose, stage_twist, pose_rates[stage])
            held_forces(legs, limits, stops, stage_pose, stage_twist, forces, effective)
            status = stewart.forward_dynamics(
                legs, platform, stage_pose, stage_twist, effective, wrench, H, M, accels[stage]
            )
            if status != OK:
                return status, step
        for j in range(7):
            stage_pose[j] = pose[j] + dt / 6.0 * (
                pose_rates[0, j] + 2.0 * (pose_rates[1, j] + pose_rates[2, j]) + pose_rates[3, j]
            )
        for j in range(6):
            stage_twist[j] = twist[j] + dt / 6.0 * (
                accels[0, j] + 2.0 * (accels[1, j] + accels[2, j]) + accels[3, j]
            )
        normalize(stage_pose)
        # written so that NaN, too, is beyond
        if not (np.abs(stage_pose).max() < BEYOND and np.abs(stage_twist).max() < BEYOND):
            return DIVERGED, step
        pose[:] = stage_pose
        twist[:] = stage_twist
    return OK, steps
