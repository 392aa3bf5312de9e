# SPDX-License-Identifier: Apache-2.0

"""Forces and moments in the joints of a 6-UPS Stewart platform, and its energy; one state a call.

Dasgupta and Mruthyunjaya (1998), eq. 21 and 26 to 29, with the universal joint's moment along c.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.mechanisms.common.kernels.base_motion import base_of
from robodyn.mechanisms.stewart.kernels.dynamics import inverse_dynamics, mass_matrix
from robodyn.mechanisms.stewart.kernels.layout import (
    BASE,
    COM,
    GRAVITY,
    LOWER_COM,
    LOWER_MASS,
    MASS,
    OK,
    UPPER_COM,
    UPPER_INERTIA,
    UPPER_MASS,
)
from robodyn.mechanisms.stewart.kernels.leg import (
    centre_forces,
    leg_acceleration,
    leg_geometry,
    leg_load,
    leg_velocity,
)
from robodyn.numerics.compiler import kernel
from robodyn.numerics.rotations import rotation_columns
from robodyn.numerics.vectors import (
    Vector,
    add,
    axpy,
    combine,
    cross,
    dot,
    scale,
    store,
    sub,
    turn_inertia,
    vector,
)


@kernel
def leg_reactions(
    leg: Any, g: Any, m: Any, n: Any, w: Vector, base: Any, force: float
) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """Fs, Fc, Mp about the base point, Fu and Mu c of a leg under its actuator's `force`."""
    load = leg_load(leg, g, m, n, w, base)
    lower, upper = centre_forces(leg, g, m, n, base)
    spherical = axpy(-force, g.s, load.tip_force)
    prismatic = axpy(load.drive - force, g.s, sub(upper, spherical))
    universal = sub(add(lower, upper), spherical)
    ru = axpy(g.length, g.s, combine(g.s, g.y, g.z, vector(leg, UPPER_COM)))
    moment = add(cross(ru, upper), turn_inertia(g.s, g.y, g.z, leg, UPPER_INERTIA, n.A))
    moment = add(moment, cross(m.W, turn_inertia(g.s, g.y, g.z, leg, UPPER_INERTIA, m.W)))
    moment = add(axpy(-g.length, cross(g.s, spherical), moment), load.friction)
    return spherical, prismatic, moment, universal, scale(load.moment, g.c)


@kernel
def reactions(
    legs: Any,
    platform: Any,
    state: Any,
    spherical_force: Any,
    prismatic_force: Any,
    prismatic_moment: Any,
    universal_force: Any,
    universal_moment: Any,
) -> int:
    """All joint reactions, (6, 3) each, of a `State`; signs as in `StewartPlatform.reactions`."""
    pose, twist, accel = state.q, state.rates, state.third
    base = base_of(state.base, state.moves, vector(platform, GRAVITY), 0.0)
    H, forces = np.empty((6, 6)), np.empty(6)
    status = inverse_dynamics(legs, platform, state, base, H, forces)
    if status != OK:
        return status
    position, v, w = vector(pose, 0), vector(twist, 0), vector(twist, 3)
    X, Y, Z = rotation_columns(pose)
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        m = leg_velocity(g, v, w)
        n = leg_acceleration(g, m, vector(accel, 0), vector(accel, 3), w)
        Fs, Fc, Mp, Fu, Mu = leg_reactions(legs[i], g, m, n, w, base, forces[i])
        store(spherical_force[i], 0, Fs)
        store(prismatic_force[i], 0, Fc)
        store(prismatic_moment[i], 0, Mp)
        store(universal_force[i], 0, Fu)
        store(universal_moment[i], 0, Mu)
    return OK


@kernel
def energy(legs: Any, platform: Any, pose: Any, twist: Any, M: Any, out: Any) -> int:
    """Kinetic energy v'Mv/2 and potential energy (2,); M (6, 6) is work space."""
    status = mass_matrix(legs, platform, pose, M)
    if status != OK:
        return status
    out[0] = 0.0
    for row in range(6):
        for column in range(6):
            out[0] += 0.5 * twist[row] * M[row, column] * twist[column]
    position = vector(pose, 0)
    X, Y, Z = rotation_columns(pose)
    first_moment = scale(platform[MASS], add(position, combine(X, Y, Z, vector(platform, COM))))
    for i in range(6):
        g = leg_geometry(legs[i], position, X, Y, Z)
        leg = legs[i]
        base = vector(leg, BASE)
        lower = add(base, combine(g.s, g.y, g.z, vector(leg, LOWER_COM)))
        upper = add(position, add(g.q, combine(g.s, g.y, g.z, vector(leg, UPPER_COM))))
        first_moment = axpy(leg[LOWER_MASS], lower, axpy(leg[UPPER_MASS], upper, first_moment))
    out[1] = -dot(first_moment, vector(platform, GRAVITY))
    return OK
