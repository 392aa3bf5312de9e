# SPDX-License-Identifier: Apache-2.0

"""Forward dynamics of a tree without closures, for floats or SIMD lanes.

The articulated-body algorithm (Featherstone, 2008, table 7.1) takes time proportional to the number
of joints. The recursions of `tree` first subtract the efforts at constant rates, so no velocities
remain here. The articulated inertia of a body about its origin, in base axes, is stored as blocks
[A, B; B', M]. The six coordinates of a floating joint are consecutive.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.base_motion import BASE
from robodyn.dynamics.kernels.lanes import evaluate_lanes
from robodyn.dynamics.kernels.state import are_numbers, is_motion, state_of
from robodyn.numerics.array_arguments import borrowed_array, stack_all
from robodyn.numerics.compiler import batch_entry, entry_kernel, inner
from robodyn.numerics.matrices import (
    add_outer,
    apply,
    apply_transposed,
    matrix,
    plus,
    shift_reference_point,
    skew,
    store_matrix,
    symmetric_rows,
)
from robodyn.numerics.simd.lanes import all_of
from robodyn.numerics.simd.tables import new_tables
from robodyn.numerics.vectors import (
    about_origin,
    add,
    along,
    axpy,
    combine,
    cross,
    dot,
    scale,
    store,
    turn_symmetric,
    vector,
)
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.kernels.dynamics import tree_efforts
from robodyn.solvers.tree.kernels.tree import place, place_base, velocity_pass

# Largest number of scratch values on the stack, each for eight lanes.
MOST: Final = 30_000
# For each body: blocks of the articulated inertia, moment and force.
A, B, M, MOMENT, FORCE, ARTICULATED = 0, 9, 18, 27, 30, 33
# For each rate: U = articulated inertia times the axis, remaining effort, inertia.
HANDLE, EFFORT, INERTIA, COORDINATE = 0, 6, 7, 8


class Scratch(NamedTuple):
    """Preallocated scratch arrays for the articulated-body algorithm on a tree.

    Attributes:
        B: (bodies + 1, BODY_SIZE) motion of each body.
        v, a, tau: (rates,) rates, accelerations and efforts.
        P: (bodies + 1, ARTICULATED) articulated inertia and force of each body.
        H: (rates, COORDINATE) data of the elimination of each rate.
    """

    B: Any
    v: Any
    a: Any
    tau: Any
    P: Any
    H: Any


@inner
def shapes_of(m: Any) -> Any:
    """Return the shapes of the arrays of `Scratch` for mechanism `m`."""
    rows = m.bodies + 1
    return Scratch(
        (rows, layout.BODY_SIZE),
        m.rates,
        m.rates,
        m.rates,
        (rows, ARTICULATED),
        (m.rates, COORDINATE),
    )


@inner
def fits(m: Any) -> bool:
    """Return whether the scratch arrays for this mechanism fit on the stack."""
    return bool((m.bodies + 1) * (layout.BODY_SIZE + ARTICULATED) + 11 * m.rates < MOST)


@inner
def forward_dynamics(m: Any, state: Any, settings: Any, s: Any, out: Any) -> int:
    """Write the accelerations of the independent coordinates to `out` (free,).

    The efforts (driven,), wrench and base motion are those of `state`; floats and SIMD lanes are
    supported. Return OK, or SINGULAR if a coordinate has no inertia.
    """
    place_base(m, s.B)
    place(m, state.q, s.B)
    for k in range(m.free):
        rate = m.integers[m.at_free + k]
        s.v[rate] = state.rates[k]
        s.a[rate] = 0.0 * state.rates[k]
    velocity_pass(m, s.v, m.slides == 1, s.B)
    tree_efforts(m, s.v, s.a, state, s.B, s.tau)
    for j in range(m.rates):
        s.tau[j] = -s.tau[j]
    for j in range(m.driven):
        rate = m.integers[m.at_driven + j]
        s.tau[rate] = s.tau[rate] + state.acceleration_or_effort[j]
    if not inward(m, s):
        return layout.SINGULAR
    outward(m, s)
    for k in range(m.free):
        out[k] = s.a[m.integers[m.at_free + k]]
    return layout.OK


@inner
def inward(m: Any, s: Any) -> bool:
    """Compute articulated inertias and bias forces, from the leaves to the base.

    They are written to `s.P`, the data for the outward pass to `s.H`. Return False if a coordinate
    has no inertia.
    """
    zero = 0.0 * s.tau[0]
    for i in range(1, m.bodies + 1):
        own_inertia(m, i, zero, s.B[i], s.P[i])
    for i in range(m.bodies, 0, -1):
        link, body, row = layout.body_of(m, i), s.B[i], s.P[i]
        j = link.rate
        if link.kind == layout.FLOATING:
            for part in range(5, -1, -1):
                axis = along(part % 3, 1.0 + zero)
                if not free_coordinate(axis, part < 3, zero, s.tau[j + part], row, s.H[j + part]):
                    return False
        else:
            axis = scale(link.factor, vector(body, layout.Z))
            armature = link.armature * link.factor * link.factor + zero
            if not free_coordinate(
                axis, link.kind == layout.PRISMATIC, armature, s.tau[j], row, s.H[j]
            ):
                return False
        if link.parent > 0:
            add_to_parent(row, vector(body, layout.ARM), s.P[link.parent])
    return True


@inner
def own_inertia(m: Any, i: int, zero: Any, body: Any, row: Any) -> None:
    """Set the articulated inertia in `row` to the rigid-body inertia of body `i`.

    It is about the body's origin, in base axes; the articulated force becomes zero.
    """
    link = layout.body_of(m, i)
    x, y, z = vector(body, layout.X), vector(body, layout.Y), vector(body, layout.Z)
    mass, com = link.mass + zero, combine(x, y, z, link.com)
    xx, xy, xz, yy, yz, zz = link.inertia
    inertia = turn_symmetric(x, y, z, (xx, xy, xz), (yy, yz, zz))
    inertia = about_origin(mass, com, inertia[0], inertia[1])
    none = (zero, zero, zero)
    store_matrix(row, A, symmetric_rows(inertia[0], inertia[1]))
    store_matrix(row, B, skew(scale(mass, com)))
    store_matrix(row, M, ((mass, zero, zero), (zero, mass, zero), (zero, zero, mass)))
    store(row, MOMENT, none)
    store(row, FORCE, none)


@inner
def free_coordinate(
    axis: Any, slides: bool, armature: Any, tau: Any, row: Any, handle: Any
) -> bool:
    """Remove a coordinate's direction of motion from a body's articulated inertia.

    The inertia, in `row`, is changed in place. The terms from which the outward pass computes the
    coordinate's acceleration are written to `handle`. `tau` is the effort at the coordinate. Return
    False if the body has no inertia in this direction.
    """
    inertia, coupling, mass = matrix(row, A), matrix(row, B), matrix(row, M)
    moment, force = vector(row, MOMENT), vector(row, FORCE)
    if slides:
        angular, linear = apply(coupling, axis), apply(mass, axis)
        inert, load = dot(axis, linear), dot(axis, force)
    else:
        angular, linear = apply(inertia, axis), apply_transposed(coupling, axis)
        inert, load = dot(axis, angular), dot(axis, moment)
    inert = inert + armature
    if not all_of(inert > 0.0):
        return False
    effort, inverse = tau - load, 1.0 / inert
    store(handle, HANDLE, angular)
    store(handle, HANDLE + 3, linear)
    handle[EFFORT], handle[INERTIA] = effort, inverse
    store_matrix(row, A, add_outer(inertia, -inverse, angular, angular))
    store_matrix(row, B, add_outer(coupling, -inverse, angular, linear))
    store_matrix(row, M, add_outer(mass, -inverse, linear, linear))
    store(row, MOMENT, axpy(effort * inverse, angular, moment))
    store(row, FORCE, axpy(effort * inverse, linear, force))
    return True


@inner
def add_to_parent(row: Any, arm: Any, parent: Any) -> None:
    """Add a body's articulated inertia and force, in `row`, to those of its parent.

    `arm` is the vector from the parent's origin to the body's origin.
    """
    mass, force = matrix(row, M), vector(row, FORCE)
    inertia, coupling = shift_reference_point(matrix(row, A), matrix(row, B), mass, arm)
    store_matrix(parent, A, plus(matrix(parent, A), inertia))
    store_matrix(parent, B, plus(matrix(parent, B), coupling))
    store_matrix(parent, M, plus(matrix(parent, M), mass))
    moment = add(vector(row, MOMENT), cross(arm, force))
    store(parent, MOMENT, add(vector(parent, MOMENT), moment))
    store(parent, FORCE, add(vector(parent, FORCE), force))


@inner
def outward(m: Any, s: Any) -> None:
    """Write the accelerations of all coordinates to `s.a`, from the base to the leaves.

    Call it after `inward`.
    """
    zero = 0.0 * s.tau[0]
    store(s.B[0], layout.CHANGE, (zero, zero, zero))
    store(s.B[0], layout.CHANGE + 3, (zero, zero, zero))
    for i in range(1, m.bodies + 1):
        link, body, parent = layout.body_of(m, i), s.B[i], s.B[layout.body_of(m, i).parent]
        alpha, j = vector(parent, layout.CHANGE), link.rate
        accel = add(vector(parent, layout.CHANGE + 3), cross(alpha, vector(body, layout.ARM)))
        if link.kind == layout.FLOATING:
            for part in range(6):
                change = acceleration(s.H[j + part], alpha, accel)
                s.a[j + part] = change
                axis = along(part % 3, change)
                if part < 3:
                    accel = add(accel, axis)
                else:
                    alpha = add(alpha, axis)
        else:
            change = acceleration(s.H[j], alpha, accel)
            s.a[j] = change
            if link.kind == layout.PRISMATIC:
                accel = axpy(link.factor * change, vector(body, layout.Z), accel)
            else:
                alpha = axpy(link.factor * change, vector(body, layout.Z), alpha)
        store(body, layout.CHANGE, alpha)
        store(body, layout.CHANGE + 3, accel)


@inner
def acceleration(handle: Any, alpha: Any, accel: Any) -> Any:
    """Return the acceleration of a coordinate, given that of the body that carries it.

    `alpha` and `accel` are the carrying body's angular and linear acceleration, `handle` the
    coordinate's data from `free_coordinate`.
    """
    resisted = dot(vector(handle, HANDLE), alpha) + dot(vector(handle, HANDLE + 3), accel)
    return (handle[EFFORT] - resisted) * handle[INERTIA]


@entry_kernel
def forward_dynamics_of_tree(
    plan: Any, numbers: Any, q: Any, rates: Any, effort: Any, wrench: Any, base: Any, trusted: bool,
    out: Any,
) -> bool:  # fmt: skip
    """Write the accelerations (free,) of one state to `out`; return whether they exist.

    They are those of the independent coordinates, due to the drives' efforts (driven,), the tip
    wrench and the motion of the base.
    """
    m, state = layout.mechanism(plan, numbers), state_of(q, rates, effort, wrench, base)
    if not fits(m):
        return False
    if not (trusted or (are_numbers(state.q, m.positions) and is_motion(state, m.free, m.driven))):
        return False
    s = stack_all(shapes_of(m))
    return bool(forward_dynamics(m, state, False, s, borrowed_array(out)) == layout.OK)


@batch_entry
def forward_dynamics_of_trees(
    plan: Any, numbers: Any, q: Any, rates: Any, efforts: Any, wrench: Any, base: Any, out: Any
) -> int:
    """Write the accelerations of N states to `out` (N, free), eight at a time.

    A state without a result is NaN. Return the number of states, counted from the first, whose
    arguments are finite; 0 if the mechanism is too large for the stack.
    """
    m, given = layout.mechanism(plan, numbers), borrowed_array((q, rates, efforts, wrench, base))
    if not fits(m):
        return 0
    s, width = new_tables(shapes_of(m)), max(m.widest, m.positions, BASE)
    return evaluate_lanes(forward_dynamics, m, given, width, False, True, s, borrowed_array(out))
