# SPDX-License-Identifier: Apache-2.0

"""State of a mechanism to show on a page, and the interface of sources of such states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation


@dataclass(frozen=True)
class Snapshot:
    """State of a mechanism at one moment, as a page shows it.

    Attributes:
        time: time [s] of the simulation or recording.
        configuration: (nq,) configuration.
        joints: position [rad or m] of every joint, passive ones included, by name.
        body_pose: (7,) pose of the moving body in the base frame.
        floating: poses (7,) of links on floating joints, see `presentation.floating_poses`.
        effort: (n,) [N or N m] efforts of the actuators.
        condition_number: condition number of the Jacobian; infinite if undefined.
        playing: whether the source is running, not paused.
        message: warning for the user; empty if there is none.
        status: activity of the source in one word; if it is empty, the page shows whether the
            source is running or paused.
    """

    time: float
    configuration: FloatArray
    joints: Mapping[str, float]
    body_pose: FloatArray
    floating: Mapping[tuple[str, str], FloatArray]
    effort: FloatArray
    condition_number: float
    playing: bool = True
    message: str = ""
    status: str = ""


def snapshot_of(
    mechanism: Mechanism,
    time: float,
    configuration: FloatArray,
    effort: FloatArray,
    playing: bool,
    message: str = "",
) -> Snapshot:
    """Create a snapshot of a mechanism from its configuration and efforts.

    Args:
        mechanism: mechanism to show.
        time: time [s] of the simulation or recording.
        configuration: (nq,) configuration.
        effort: (n,) [N or N m] efforts of the actuators.
        playing: whether the source is running, not paused.
        message: warning for the user; empty if there is none.

    Returns:
        The snapshot, with joint positions, poses and condition number of this configuration.
    """
    return Snapshot(
        time,
        configuration,
        drawn_joints(mechanism, configuration),
        mechanism.body_pose(configuration),
        presentation.floating_poses(mechanism, configuration),
        effort,
        condition_number(mechanism, configuration),
        playing,
        message,
    )


class Source(Protocol):
    """Interface of a source of states for a page, such as a simulation or a recording.

    Its methods are called from several threads.
    """

    def snapshot(self) -> Snapshot | None:
        """Return the current state of the mechanism, or None if there is none yet."""

    def set_playing(self, playing: bool) -> None:
        """Resume or pause the source."""

    def reset(self) -> None:
        """Return to the start of the motion."""


def drawn_joints(mechanism: Mechanism, configuration: FloatArray) -> dict[str, float]:
    """Return the positions [rad or m] of all joints in a configuration (nq,), by name.

    Passive joints are included.
    """
    states = mechanism.joint_states(configuration)
    return dict(zip(states.names, states.positions.tolist(), strict=True))


def condition_number(mechanism: Mechanism, configuration: ArrayLike) -> float:
    """Compute the condition number of the Jacobian in SI units, as in the papers.

    Args:
        mechanism: mechanism of any kind.
        configuration: (nq,) configuration of the mechanism.

    Returns:
        The condition number; infinite if the kinematics have no solution.
    """
    try:
        return float(mechanism.condition_number(configuration))
    except KinematicsError:
        return float("inf")
