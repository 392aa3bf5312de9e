# SPDX-License-Identifier: Apache-2.0

"""Loops over states for functions without a vector kernel; status (N,) has a code per state."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.mechanisms.common.kernels.state import State
from robodyn.mechanisms.stewart.kernels import published as stewart_published
from robodyn.mechanisms.stewart.kernels import reactions as stewart_reactions
from robodyn.numerics.compiler import kernel


@kernel
def inverse_dynamics_as_printed(
    legs: Any,
    platform: Any,
    pose: Any,
    twist: Any,
    accel: Any,
    wrench: Any,
    spin: int,
    moment_axis: int,
    shift: int,
    out: Any,
    status: Any,
) -> None:
    """Actuator forces out (N, 6) under the departures named in `kernels.published`."""
    H = np.empty((6, 6))
    for n in range(pose.shape[0]):
        status[n] = stewart_published.inverse_dynamics_as_printed(
            legs,
            platform,
            pose[n],
            twist[n],
            accel[n],
            wrench[n],
            spin,
            moment_axis,
            shift,
            H,
            out[n],
        )


@kernel
def reactions(
    legs: Any,
    platform: Any,
    pose: Any,
    twist: Any,
    accel: Any,
    wrench: Any,
    base: Any,
    moves: bool,
    spherical_force: Any,
    prismatic_force: Any,
    prismatic_moment: Any,
    universal_force: Any,
    universal_moment: Any,
    status: Any,
) -> None:
    """Joint reactions, (N, 6, 3) each; of a base that `moves`, if it does."""
    for n in range(pose.shape[0]):
        state = State(pose[n], twist[n], accel[n], wrench[n], True, base[n], moves)
        status[n] = stewart_reactions.reactions(
            legs,
            platform,
            state,
            spherical_force[n],
            prismatic_force[n],
            prismatic_moment[n],
            universal_force[n],
            universal_moment[n],
        )


@kernel
def energy(legs: Any, platform: Any, pose: Any, twist: Any, out: Any, status: Any) -> None:
    """Kinetic and potential energy, out (N, 2)."""
    M = np.empty((6, 6))
    for n in range(pose.shape[0]):
        status[n] = stewart_reactions.energy(legs, platform, pose[n], twist[n], M, out[n])
