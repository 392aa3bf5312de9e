# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the efforts of a tree of joints by recursion.

After Singh, Russell and Wensing (2022), "Efficient analytical derivatives of rigid-body dynamics
using spatial vector algebra". Spatial vectors are pairs of an angular and a linear part, of forces
moment and force, about the base's origin and in its axes. With Psi' = v x S and Psi'' = a x S +
v x Psi' of the link before a joint, and I, B, f of all links beyond it, the derivatives of the
effort S_i f_i are, for j at or beyond i,

    by q_j: S_i (2 B_j Psi'_j + I_j Psi''_j + S_j x* f_j),   by q'_j: S_i 2 (B_j S_j + I_j Psi'_j)

and, for j before i, the same with I_i and B_i and without f. Of B m only the angular part of m
counts: with D = sum of dm u r' of the particles at r with velocity u, and their momentum p,
B m = (tr(D) w - D w, w x p).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robodyn.numerics.compiler import inner
from robodyn.numerics.matrices import Matrix, add_outer, add_point_mass, apply, apply_transposed
from robodyn.numerics.vectors import Vector, add, axpy, cross, scale, store, vector

# Data of each coordinate, a row.
AXIS, ARM = 0, 3  # S
TURNING, MOVING = 6, 9  # Psi'
TURNED, MOVED = 12, 15  # Psi''
COORDINATE_SIZE = 18


class LinkMotion(NamedTuple):
    """Spatial velocity and acceleration of a link, in base axes.

    The linear components belong to the link's point that coincides with the base's origin. The
    acceleration includes the acceleration of the base, minus gravity.
    """

    omega: Any
    velocity: Any
    alpha: Any
    accel: Any


class LinkTerms(NamedTuple):
    """Mass properties and momentum terms of a link, and the moment and force on it.

    All are in base axes, about the base's origin. The momentum terms are the momentum p, and D, the
    integral of dm u r' over the particles at r with velocity u. The moment and force are those that
    the link's motion requires.
    """

    mass: Any
    first: Any
    inertia: Any
    D: Any
    p: Any
    moment: Any
    force: Any


class Columns(NamedTuple):
    """Moments and forces on the carried bodies, per unit of a coordinate's motion.

    They are in base axes, with moments about the base's origin.

    Attributes:
        change, rate, place: per unit of its acceleration, velocity and displacement.
        factor: velocity coupling (2 B S in the module's notation), by which the angular components
            of preceding coordinates are multiplied.
    """

    change: Any
    rate: Any
    place: Any
    factor: Any


@inner
def pass_joint(axis: Any, arm: Any, rate: Any, change: Any, motion: Any, row: Any) -> Any:
    """Write a joint's axis with its time derivatives; return the next link's motion.

    Args:
        axis, arm: angular velocity of the child link, and velocity of its point at the base's
            origin, per unit rate of the joint.
        rate, change: rate of the joint, and its time derivative.
        motion: `LinkMotion` of the link before the joint.
        row: axis and its derivatives, as input of `columns_of`.

    Returns:
        `LinkMotion` of the child link.
    """
    omega, velocity, alpha, accel = motion
    turning = cross(omega, axis)
    moving = add(cross(omega, arm), cross(velocity, axis))
    turned = add(cross(alpha, axis), cross(omega, turning))
    moved = add(cross(alpha, arm), cross(accel, axis))
    moved = add(moved, add(cross(omega, moving), cross(velocity, turning)))
    omega, velocity = axpy(rate, axis, omega), axpy(rate, arm, velocity)
    alpha = add(axpy(change, axis, alpha), scale(rate, turning))
    accel = add(axpy(change, arm, accel), scale(rate, moving))
    store(row, AXIS, axis)
    store(row, ARM, arm)
    store(row, TURNING, turning)
    store(row, MOVING, moving)
    store(row, TURNED, turned)
    store(row, MOVED, moved)
    return LinkMotion(omega, velocity, alpha, accel)


@inner
def momentum(mass: Any, first: Vector, inertia: Matrix, w: Vector, v: Vector) -> Any:
    """Return a body's angular and linear momentum.

    The angular momentum is about the base's origin. Arguments and results are in base axes.

    Args:
        mass, first, inertia: mass, first moments and inertia about the base's origin.
        w, v: angular velocity, and velocity of the body's point at the base's origin.
    """
    return add(apply(inertia, w), cross(first, v)), axpy(mass, v, cross(w, first))


@inner
def link_terms(mass: Any, com: Vector, inertia: Matrix, motion: Any) -> Any:
    """Compute a link's mass properties, momentum and forces from its motion.

    Args:
        mass: [kg].
        com: center of mass [m] in the base frame.
        inertia: inertia about the center of mass [kg m^2], in base axes.
        motion: `LinkMotion` of the link.

    Returns:
        `LinkTerms` about the base's origin, as input of `columns_of`.
    """
    first, inertia = scale(mass, com), add_point_mass(inertia, mass, com)
    w, v, alpha, accel = motion
    # integral of r r' dm
    half = 0.5 * (inertia[0][0] + inertia[1][1] + inertia[2][2])
    x, y, z = inertia
    spread = (
        (half - x[0], -x[1], -x[2]), (-y[0], half - y[1], -y[2]), (-z[0], -z[1], half - z[2]),
    )  # fmt: skip
    # columns of the symmetric `spread` are its rows
    a, b, c = cross(w, spread[0]), cross(w, spread[1]), cross(w, spread[2])
    D = add_outer(((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])), 1.0, v, first)
    turn, p = momentum(mass, first, inertia, w, v)
    moment, force = momentum(mass, first, inertia, alpha, accel)
    moment = add(moment, add(cross(w, turn), cross(v, p)))
    return LinkTerms(mass, first, inertia, D, p, moment, add(force, cross(w, p)))


@inner
def twice_coupling(D: Matrix, p: Vector, w: Vector) -> tuple[Vector, Vector]:
    """Return twice the velocity coupling of bodies with an angular velocity w.

    It is the moment 2 (tr(D) w - D w) about the base's origin and the force 2 w x p, in base axes.
    D is the integral of dm u r' over the bodies' particles at r with velocity u, and p is the
    momentum of the bodies.
    """
    trace = 2.0 * (D[0][0] + D[1][1] + D[2][2])
    return axpy(trace, w, scale(-2.0, apply(D, w))), scale(2.0, cross(w, p))


@inner
def columns_of(row: Any, half: Any, terms: Any) -> Any:
    """Compute moments and forces on the carried bodies per unit of a coordinate's motion.

    Args:
        row: joint axis and its time derivatives, from `pass_joint`.
        half: half of the contribution of the coordinate's rate to the accelerations of the carried
            links.
        terms: `LinkTerms` of the carried bodies.

    Returns:
        `Columns`: a moment and a force for acceleration, rate and displacement, and a factor.
    """
    mass, first, inertia, D, p, moment, force = terms
    axis, arm = vector(row, AXIS), vector(row, ARM)
    change = momentum(mass, first, inertia, axis, arm)
    coupled, inert = twice_coupling(D, p, axis), momentum(mass, first, inertia, half[0], half[1])
    rate = axpy(2.0, inert[0], coupled[0]), axpy(2.0, inert[1], coupled[1])
    coupled = twice_coupling(D, p, vector(row, TURNING))
    inert = momentum(mass, first, inertia, vector(row, TURNED), vector(row, MOVED))
    place = add(coupled[0], inert[0]), add(coupled[1], inert[1])
    place = (
        add(place[0], add(cross(axis, moment), cross(arm, force))),
        add(place[1], cross(axis, force)),
    )
    trace = 2.0 * (D[0][0] + D[1][1] + D[2][2])
    factor = axpy(trace, axis, scale(-2.0, apply_transposed(D, axis)))
    return Columns(change, rate, place, axpy(2.0, cross(p, arm), factor))
