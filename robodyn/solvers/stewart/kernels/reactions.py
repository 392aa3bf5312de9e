# SPDX-License-Identifier: Apache-2.0

"""Forces and moments in the joints of a 6-UPS Stewart platform, for many states.

Dasgupta and Mruthyunjaya (1998), eq. 21 and 26 to 29, with the universal joint's moment along c.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.dynamics.kernels.base_motion import base_of
from robodyn.dynamics.kernels.state import State
from robodyn.numerics.compiler import kernel
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.vectors import (
    Vector,
    add,
    axpy,
    cross,
    scale,
    store,
    sub,
    turn_inertia,
    vector,
)
from robodyn.solvers.stewart.kernels import layout
from robodyn.solvers.stewart.kernels.dynamics import inverse_dynamics
from robodyn.solvers.stewart.kernels.leg import (
    center_forces,
    centers,
    leg_acceleration,
    leg_geometry,
    leg_load,
    leg_velocity,
)


@kernel
def leg_reactions(
    leg: Any, g: Any, m: Any, n: Any, w: Vector, base: Any, force: float
) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """Compute the forces and moments in the joints of one leg, base frame.

    Returns:
        Spherical force, prismatic force, prismatic moment (about the base point), universal force
        and universal moment, with the signs of `Reactions`.
    """
    load = leg_load(leg, g, m, n, w, base)
    _, ru = places = centers(leg, g)
    lower, upper = center_forces(leg, g, m, n, places, base)
    spherical = axpy(-force, g.s, load.tip_force)
    prismatic = axpy(load.drive - force, g.s, sub(upper, spherical))
    universal = sub(add(lower, upper), spherical)
    moment = add(cross(ru, upper), turn_inertia(g.s, g.y, g.z, leg, layout.UPPER_INERTIA, n.A))
    moment = add(moment, cross(m.W, turn_inertia(g.s, g.y, g.z, leg, layout.UPPER_INERTIA, m.W)))
    moment = add(axpy(-g.length, cross(g.s, spherical), moment), load.friction)
    return spherical, prismatic, moment, universal, scale(load.moment, g.c)


@kernel
def reactions(
    legs: Any, platform: Any, pose: Any, twist: Any, accel: Any, wrench: Any, base: Any,
    moves: bool, out: Any, status: Any,
) -> None:  # fmt: skip
    """Write forces and moments in the leg joints for N states to `out` (5, N, 6, 3).

    Order, signs and the base frame are those of `Reactions`. `base` (N, 9) is the motion of the
    base, used if `moves` is true. Status codes are written to `status` (N,).
    """
    H, forces = np.empty((6, 6)), np.empty(6)
    for k in range(pose.shape[0]):
        state = State(pose[k], twist[k], accel[k], wrench[k], True, base[k], moves)
        motion = base_of(state.base, moves, vector(platform, layout.GRAVITY), 0.0)
        status[k] = inverse_dynamics(legs, platform, state, motion, H, forces)
        if status[k] != layout.OK:
            continue
        position, v, w = vector(pose[k], 0), vector(twist[k], 0), vector(twist[k], 3)
        X, Y, Z = rotation_columns(pose[k])
        for i in range(6):
            g = leg_geometry(legs[i], position, X, Y, Z)
            m = leg_velocity(g, v, w)
            n = leg_acceleration(g, m, vector(accel[k], 0), vector(accel[k], 3), w)
            found = leg_reactions(legs[i], g, m, n, w, motion, forces[i])
            for part in range(5):
                store(out[part, k, i], 0, found[part])
