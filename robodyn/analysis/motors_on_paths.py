# SPDX-License-Identifier: Apache-2.0

"""Peak torques of the motors along the paths of the papers, or along the demonstration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.actuators import Actuator
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.trajectories.default_path import default_path, is_reachable
from robodyn.trajectories.demonstration import DEMO
from robodyn.trajectories.paper_paths import ARM_PATHS, PAPER_PATHS
from robodyn.trajectories.waypoints import load_path

if TYPE_CHECKING:
    from robodyn.mechanisms.mechanism import Mechanism

INSTANTS = 1001


def motors_on_paths(mechanism: Mechanism) -> list[dict[str, Any]]:
    """A row for each path: the motor of the largest torque, and the one nearest to its limit.

    Paths are those of the papers for the mechanism of a paper, the demonstration for any other.
    Empty where no actuator is described, or where torques of motors are not known. `used` is the
    share of what a motor has at its speed then, None without a limit.
    """
    if all(actuator == Actuator() for actuator in mechanism.actuators):
        return []
    rows = []
    for path in _paths(mechanism):
        try:
            rows.append(_row(mechanism, path))
        except (KinematicsError, InvalidInput):  # singular on the way, or no torque is known
            continue
    return rows


def _paths(mechanism: Mechanism) -> list[str]:
    name = default_path(mechanism)
    if name == DEMO:
        return [DEMO]
    family = PAPER_PATHS if name in PAPER_PATHS else ARM_PATHS
    return [path for path in family if is_reachable(path, mechanism)]


def _row(mechanism: Mechanism, path: str) -> dict[str, Any]:
    trajectory = load_path(path, mechanism)
    times = np.linspace(0.0, trajectory.duration, INSTANTS)
    motion = trajectory.sample(times)
    rates = mechanism.joint_velocities(motion.configuration, motion.velocity)
    torques = np.abs(mechanism.motor_torques(mechanism.inverse_dynamics(*motion), rates))
    has = np.stack(
        [
            actuator.torque_at(actuator.ratio * rates[:, i])
            for i, actuator in enumerate(mechanism.actuators)
        ],
        axis=-1,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.where(np.isfinite(has), torques / has, 0.0)
    when, joint = np.unravel_index(int(torques.argmax()), torques.shape)
    _, nearest = np.unravel_index(int(used.argmax()), used.shape)
    limited = bool(np.isfinite(has).any())
    return {
        "path": path,
        "joint": mechanism.joint_names[joint],
        "torque": float(torques[when, joint]),
        "time": float(times[when]),
        "nearest": mechanism.joint_names[nearest] if limited else None,
        "used": float(used.max()) if limited and np.isfinite(used.max()) else None,
        "peak_torques": torques.max(axis=0).tolist(),
    }
