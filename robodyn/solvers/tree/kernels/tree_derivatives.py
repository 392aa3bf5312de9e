# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the dynamics of a tree without closures, by recursion.

See `dynamics.kernels.effort_derivatives`. Coordinates are numbered from the base on: those of a
body follow its parent's. A floating joint, on the base only, has six, with rates in base axes that
stay constant under a displacement: its translations do not rotate with it, and after a rotation it
has the same angular velocity. Then Psi' = v x S and Psi'' = a x S + v x Psi' of the body itself for
a rotation, and zero for a translation; a rate adds the mean of Psi' and of the derivative of S
instead of Psi'. Of two rotations of one joint, each counts as beyond the other. The mass matrix has
entries only for coordinates of which one carries the other, and so has its factor L'DL
(Featherstone, 2008, section 6.5).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.derivatives import given_shapes, state_row
from robodyn.dynamics.kernels.dry_friction import dry_friction_slope
from robodyn.dynamics.kernels.effort_derivatives import (
    ARM,
    AXIS,
    COORDINATE_SIZE,
    MOVING,
    TURNED,
    TURNING,
    LinkMotion,
    LinkTerms,
    columns_of,
    link_terms,
    pass_joint,
)
from robodyn.numerics.array_arguments import borrowed_array, stack_all
from robodyn.numerics.compiler import batch_entry, inner, noinline
from robodyn.numerics.linear import LEAST_PIVOT
from robodyn.numerics.matrices import matrix, plus, store_matrix, symmetric_rows
from robodyn.numerics.simd.access import entry, set_entry
from robodyn.numerics.simd.lanes import WIDTH
from robodyn.numerics.simd.tables import new_table
from robodyn.numerics.vectors import (
    add,
    along,
    clear,
    combine,
    cross,
    dot,
    scale,
    store,
    turn_symmetric,
    vector,
)
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.kernels.closures import to_base
from robodyn.solvers.tree.kernels.tree import move_base, place, place_base

# Largest number of scratch values on the stack.
MOST: Final = 200_000
# Data of each coordinate after those of `effort_derivatives`: half of its rate's contribution.
HALF, ROW = COORDINATE_SIZE, COORDINATE_SIZE + 6
# Data of each coordinate: the one before it, the first of those that rotate with it, its rate in
# the tree, and its index among the independent ones.
BEFORE, FIRST, RATE, NUMBER, PLACES = 0, 1, 2, 3, 4
# Data of each body: motion, and carried mass properties.
MOTION, MASS, FIRST_MOMENT, INERTIA, SPREAD, MOMENTUM, MOMENT, FORCE, BODY = (
    0, 12, 13, 16, 25, 34, 37, 40, 43,
)  # fmt: skip


class Scratch(NamedTuple):
    """Preallocated scratch arrays for derivatives of a tree's dynamics.

    Attributes:
        B: (bodies + 1, BODY_SIZE) frame and motion of each body.
        C: (bodies + 1, BODY) motion of each body, and mass properties of the body and all bodies it
            carries.
        rows: (n, ROW) data of each coordinate.
        at: (n, PLACES) indices of each coordinate.
        last: (bodies + 1,) last coordinate of each body.
        of_rate: (n,) coordinate of each rate of the tree.
        v, a: (n,) rates of the tree and their derivatives.
        H: (n, n) mass matrix: diagonal and lower triangle.
    """

    B: Any
    C: Any
    rows: Any
    at: Any
    last: Any
    of_rate: Any
    v: Any
    a: Any
    H: Any


@inner
def shapes_of_tree(bodies: int, n: int) -> Any:
    """Return the shapes of the arrays of `Scratch` for n coordinates."""
    rows = bodies + 1
    return Scratch(
        (rows, layout.BODY_SIZE), (rows, BODY), (n, ROW), (n, PLACES), rows, n, n, n, (n, n)
    )


@inner
def count_coordinates(m: Any, s: Any) -> None:
    """Number the coordinates from the base outwards, and fill the index arrays of `s`.

    These are `s.at`, `s.last` and `s.of_rate`.
    """
    s.last[0], count = -1.0, 0
    for i in range(1, m.bodies + 1):
        link = layout.body_of(m, i)
        before, width = s.last[link.parent], 6 if link.kind == layout.FLOATING else 1
        for k in range(width):
            s.at[count, BEFORE] = before
            s.at[count, FIRST] = float(count - max(k - 3, 0))
            s.at[count, RATE] = float(link.rate + k)
            s.of_rate[link.rate + k] = float(count)
            before = float(count)
            count += 1
        s.last[i] = before
    for k in range(m.free):
        s.at[int(s.of_rate[m.integers[m.at_free + k]]), NUMBER] = float(k)


@inner
def move_floating(B: Any, i: int, v: Any, a: Any, j: int, above: Any, rows: Any, c: int) -> Any:
    """Return the motion of a floating body on the base, as `LinkMotion`.

    `i` is the body, `j` its first rate in `v` and `a`, `above` the motion of the base. The data of
    its six coordinates are written to `rows`, from row `c` on.
    """
    p, slide, w = vector(B[i], layout.ORIGIN), vector(v, j), vector(v, j + 3)
    velocity = add(slide, cross(p, w))
    alpha = vector(a, j + 3)
    accel = add(add(above.accel, vector(a, j)), add(cross(slide, w), cross(p, alpha)))
    motion = LinkMotion(w, velocity, alpha, accel)
    for k in range(3):
        clear(rows[c + k])
        rows[c + k, ARM + k] = 1.0
        axis = along(k, 1.0)
        arm, row = cross(p, axis), rows[c + 3 + k]
        pass_joint(axis, arm, 0.0, 0.0, motion, row)
        store(row, HALF, scale(0.5, vector(row, TURNING)))
        store(row, HALF + 3, scale(0.5, add(vector(row, MOVING), cross(slide, axis))))
    return motion


@inner
def outward(m: Any, v: Any, a: Any, s: Any) -> None:
    """Compute the motion of the bodies and the data of the coordinates, base outwards.

    They are written to `s.C` and `s.rows`, together with the mass properties of the bodies alone.
    `v` and `a` (n,) are the rates and accelerations of all joints.
    """
    none = (0.0, 0.0, 0.0)
    base = s.B[0]
    store_motion(
        LinkMotion(
            vector(base, layout.OMEGA), none, vector(base, layout.ALPHA), vector(base, layout.ACCEL)
        ),
        s.C[0],
    )
    for i in range(1, m.bodies + 1):
        link, body = layout.body_of(m, i), s.B[i]
        j, above = link.rate, motion_of(s.C[link.parent])
        c = int(s.of_rate[j])
        if link.kind == layout.FLOATING:
            motion = move_floating(s.B, i, v, a, j, above, s.rows, c)
        else:
            z = scale(link.factor, vector(body, layout.Z))
            axis, arm = z, cross(vector(body, layout.ORIGIN), z)
            if link.kind == layout.PRISMATIC:
                axis, arm = none, z
            row = s.rows[c]
            motion = pass_joint(axis, arm, v[j], a[j], above, row)
            store(row, HALF, vector(row, TURNING))
            store(row, HALF + 3, vector(row, MOVING))
        store_motion(motion, s.C[i])
        x, y, z = vector(body, layout.X), vector(body, layout.Y), vector(body, layout.Z)
        com = add(vector(body, layout.ORIGIN), combine(x, y, z, link.com))
        xx, xy, xz, yy, yz, zz = link.inertia
        first, second = turn_symmetric(x, y, z, (xx, xy, xz), (yy, yz, zz))
        inertia = symmetric_rows(first, second)
        store_terms(link_terms(link.mass, com, inertia, motion), s.C[i])


@inner
def motion_of(row: Any) -> Any:
    """Return the motion of a body, read from its row of `Scratch.C`."""
    return LinkMotion(vector(row, 0), vector(row, 3), vector(row, 6), vector(row, 9))


@inner
def store_motion(motion: Any, row: Any) -> None:
    """Store the motion of a body in its row of `Scratch.C`."""
    store(row, 0, motion.omega)
    store(row, 3, motion.velocity)
    store(row, 6, motion.alpha)
    store(row, 9, motion.accel)


@inner
def load_terms(row: Any) -> Any:
    """Return the `LinkTerms` of a body, read from its row of `Scratch.C`.

    Once the terms of the bodies that it carries have been added to the row, they are those of the
    composite body.
    """
    return LinkTerms(
        row[MASS], vector(row, FIRST_MOMENT), matrix(row, INERTIA), matrix(row, SPREAD),
        vector(row, MOMENTUM), vector(row, MOMENT), vector(row, FORCE),
    )  # fmt: skip


@inner
def store_terms(terms: Any, row: Any) -> None:
    """Store the `LinkTerms` of a body in its row of `Scratch.C`."""
    row[MASS] = terms.mass
    store(row, FIRST_MOMENT, terms.first)
    store_matrix(row, INERTIA, terms.inertia)
    store_matrix(row, SPREAD, terms.D)
    store(row, MOMENTUM, terms.p)
    store(row, MOMENT, terms.moment)
    store(row, FORCE, terms.force)


@inner
def project_wrench(row: Any, at: int, pair: Any) -> float:
    """Return the scalar product of a wrench and six entries of a row.

    The entries begin at index `at`. The wrench `pair` consists of a moment and a force.
    """
    return dot(vector(row, at), pair[0]) + dot(vector(row, at + 3), pair[1])


@inner
def set_element(R: Any, row: int, column: int, value: float) -> None:
    """Write a float into a table (n, width) whose rows consist of SIMD vectors.

    `row` and `column` are its indices in the table of floats.
    """
    set_entry(R[row], column // WIDTH, column % WIDTH, value)


@inner
def effort_derivatives(m: Any, s: Any, R: Any) -> None:
    """Write the derivatives of efforts to `R`, and the mass matrix to `s.H`.

    `R` (n, ...) has a row of SIMD vectors for the effort at each coordinate. Its columns are the
    derivatives with respect to the displacements, then the velocities, of the independent
    coordinates. Call it after `outward`.
    """
    n = m.free
    for i in range(m.bodies, 0, -1):
        link, terms = layout.body_of(m, i), load_terms(s.C[i])
        first = int(s.of_rate[link.rate])
        for c in range(first, int(s.last[i]) + 1):
            row, number = s.rows[c], int(s.at[c, NUMBER])
            half = vector(row, HALF), vector(row, HALF + 3)
            columns = columns_of(row, half, terms)
            # entries of the same joint
            for k in range(first, int(s.last[i]) + 1):
                other = s.rows[k]
                if k <= c:
                    s.H[c, k] = project_wrench(other, AXIS, columns.change)
                set_element(R, k, n + number, project_wrench(other, AXIS, columns.rate))
                if c >= int(s.at[k, FIRST]):
                    set_element(R, k, number, project_wrench(other, AXIS, columns.place))
            k = int(s.at[first, BEFORE])
            while k >= 0:
                other, column = s.rows[k], int(s.at[k, NUMBER])
                s.H[c, k] = project_wrench(other, AXIS, columns.change)
                set_element(R, k, number, project_wrench(other, AXIS, columns.place))
                set_element(R, k, n + number, project_wrench(other, AXIS, columns.rate))
                mixed = dot(columns.factor, vector(other, TURNING))
                set_element(R, c, column, mixed + project_wrench(other, TURNED, columns.change))
                mixed = dot(columns.factor, vector(other, AXIS))
                mixed = mixed + 2.0 * project_wrench(other, HALF, columns.change)
                set_element(R, c, n + column, mixed)
                k = int(s.at[k, BEFORE])
        if link.kind != layout.FLOATING:
            number, square = int(s.at[first, NUMBER]), link.factor * link.factor
            value = entry(R[first], (n + number) // WIDTH, (n + number) % WIDTH)
            set_element(R, first, n + number, value + link.damping * square)
            value = entry(R[first], number // WIDTH, number % WIDTH)
            set_element(R, first, number, value + link.stiffness * square)
            s.H[first, first] += link.armature * square
        if link.parent > 0:
            above = load_terms(s.C[link.parent])
            store_terms(
                LinkTerms(
                    above.mass + terms.mass,
                    add(above.first, terms.first),
                    plus(above.inertia, terms.inertia),
                    plus(above.D, terms.D),
                    add(above.p, terms.p),
                    add(above.moment, terms.moment),
                    add(above.force, terms.force),
                ),
                s.C[link.parent],
            )


@inner
def add_wrench_derivatives(m: Any, wrench: Any, s: Any, R: Any) -> None:
    """Add the contribution of a tip wrench to the effort derivatives in `R`.

    It changes the derivatives w.r.t. displacement. The wrench (6,), exerted on the tip by the
    environment, is constant in the base frame.
    """
    body = s.B[m.tip]
    tip = add(vector(body, layout.ORIGIN), to_base(body, vector(m.numbers, m.at_tip)))
    force = vector(wrench, 0)
    moment = add(vector(wrench, 3), cross(tip, force))
    j = int(s.last[m.tip])
    while j >= 0:
        z, arm_of = vector(s.rows[j], AXIS), vector(s.rows[j], ARM)
        moved = cross(add(cross(z, tip), arm_of), force)
        column = int(s.at[j, NUMBER])
        i = int(s.last[m.tip])
        while i >= 0:
            axis, arm = vector(s.rows[i], AXIS), vector(s.rows[i], ARM)
            total = dot(axis, moved)
            if j < int(s.at[i, FIRST]):
                arm = add(cross(z, arm), cross(arm_of, axis))
                total = total + dot(cross(z, axis), moment) + dot(arm, force)
            value = entry(R[i], column // WIDTH, column % WIDTH)
            set_element(R, i, column, value - total)
            i = int(s.at[i, BEFORE])
        j = int(s.at[j, BEFORE])


@inner
def factor(n: int, s: Any) -> bool:
    """Factor the mass matrix `s.H` as L'DL in place, with inverted diagonal.

    Return False if a pivot is not sufficiently positive.
    """
    for c in range(n):
        # a pivot is compared with its own diagonal
        s.at[c, RATE] = s.H[c, c]
    for c in range(n - 1, -1, -1):
        if not s.H[c, c] > LEAST_PIVOT * s.at[c, RATE]:
            return False
        inverse = 1.0 / s.H[c, c]
        s.H[c, c] = inverse
        k = int(s.at[c, BEFORE])
        while k >= 0:
            ratio = s.H[c, k] * inverse
            j = k
            while j >= 0:
                s.H[k, j] -= ratio * s.H[c, j]
                j = int(s.at[j, BEFORE])
            s.H[c, k] = ratio
            k = int(s.at[k, BEFORE])
    return True


@noinline
def solve_rows(n: int, s: Any, R: Any, groups: int) -> None:
    """Multiply `R` (n, groups) in place by the inverse of the mass matrix.

    Each row consists of `groups` SIMD vectors. Call it after `factor`.
    """
    for c in range(n - 1, -1, -1):
        own, inverse = R[c], s.H[c, c]
        k = int(s.at[c, BEFORE])
        while k >= 0:
            subtract(R[k], s.H[c, k], own, groups)
            k = int(s.at[k, BEFORE])
        for g in range(groups):
            own[g] = inverse * own[g]
    for c in range(n):
        own = R[c]
        k = int(s.at[c, BEFORE])
        while k >= 0:
            subtract(own, s.H[c, k], R[k], groups)
            k = int(s.at[k, BEFORE])


@inner
def subtract(row: Any, ratio: float, other: Any, groups: int) -> None:
    """Subtract `ratio` times another row from a row, both of SIMD vectors."""
    for g in range(groups):
        row[g] = row[g] - ratio * other[g]


@inner
def write_derivatives(
    m: Any, given: Any, friction: Any, forward: bool, s: Any, R: Any, out: Any
) -> bool:
    """Write the derivatives of one state to `out`; return whether they exist.

    `given` contains the state, `R` is scratch. The result contains three matrices in row-major
    order: if `forward`, the derivatives of the accelerations with respect to displacement, velocity
    and efforts, else those of the efforts with respect to displacement, velocity and acceleration.
    """
    n, groups = m.free, (2 * m.free + m.driven + WIDTH - 1) // WIDTH
    place_base(m, s.B)
    if given.base.shape[0] > 0:
        move_base(given.base, s.B)
    place(m, given.q, s.B)
    count_coordinates(m, s)
    # rates of the tree, in the order of their numbers
    for k in range(n):
        rate = m.integers[m.at_free + k]
        s.v[rate], s.a[rate] = given.v[k], given.a[k]
    outward(m, s.v, s.a, s)
    for c in range(n):
        for g in range(groups):
            R[c, g] = 0.0
    effort_derivatives(m, s, R)
    if given.wrench.shape[0] > 0:
        add_wrench_derivatives(m, given.wrench, s, R)
    for j in range(min(m.driven, friction.shape[0])):
        rate = m.integers[m.at_driven + j]
        c = int(s.of_rate[rate])
        column = n + int(s.at[c, NUMBER])
        value = entry(R[c], column // WIDTH, column % WIDTH)
        set_element(R, c, column, value + dry_friction_slope(friction[j], 0, s.v[rate]))
    if forward:
        return write_forward(m, s, R, groups, out)
    return write_inverse(m, s, R, out)


@inner
def write_forward(m: Any, s: Any, R: Any, groups: int, out: Any) -> bool:
    """Write derivatives of accelerations to `out`; return whether they exist.

    They are computed from the derivatives of efforts in `R` and the mass matrix `s.H`, both
    overwritten, and are with respect to displacement, velocity and efforts.
    """
    n, driven = m.free, m.driven
    for c in range(n):
        for g in range(groups):
            R[c, g] = -R[c, g]
    for j in range(driven):
        set_element(R, int(s.of_rate[m.integers[m.at_driven + j]]), 2 * n + j, 1.0)
    if not factor(n, s):
        return False
    solve_rows(n, s, R, groups)
    for c in range(n):
        number = int(s.at[c, NUMBER])
        for j in range(n):
            out[number * n + j] = entry(R[c], j // WIDTH, j % WIDTH)
            out[(n + number) * n + j] = entry(R[c], (n + j) // WIDTH, (n + j) % WIDTH)
        for j in range(driven):
            at = 2 * n + j
            out[2 * n * n + number * driven + j] = entry(R[c], at // WIDTH, at % WIDTH)
    return True


@inner
def write_inverse(m: Any, s: Any, R: Any, out: Any) -> bool:
    """Write derivatives of efforts to `out`; return whether they exist.

    They are read from `R` and the mass matrix `s.H`, and are with respect to displacement, velocity
    and acceleration. They do not exist unless every coordinate is driven.
    """
    n = m.free
    if m.driven != n:
        return False
    for k in range(n * n):
        out[2 * n * n + k] = 0.0
    for i in range(n):
        c = int(s.of_rate[m.integers[m.at_driven + i]])
        s.at[c, RATE] = float(i)
        for j in range(n):
            out[i * n + j] = entry(R[c], j // WIDTH, j % WIDTH)
            out[(n + i) * n + j] = entry(R[c], (n + j) // WIDTH, (n + j) % WIDTH)
    for c in range(n):
        i, own = int(s.at[c, RATE]), int(s.at[c, NUMBER])
        k = c
        while k >= 0:
            other, number = int(s.at[k, RATE]), int(s.at[k, NUMBER])
            out[2 * n * n + i * n + number] = s.H[c, k]
            out[2 * n * n + other * n + own] = s.H[c, k]
            k = int(s.at[k, BEFORE])
    return True


@batch_entry
def derivatives_of_tree(
    plan: Any, numbers: Any, limits: Any, friction: Any, q: Any, rates: Any, change: Any,
    efforts: Any, wrench: Any, base: Any, forward: bool, out: Any,
) -> int:  # fmt: skip
    """Write the derivatives of N states of a tree without closures to `out` (N, ...).

    If `forward`, they are those of the accelerations with respect to displacement, velocity and
    efforts, else those of the efforts with respect to displacement, velocity and acceleration; each
    is a matrix in row-major order. The tree has no mimic joints, spinning rotors or springs between
    points. A floating joint must be on the base, which then does not move. Return the number of
    states, counted from the first, for which the derivatives exist.
    """
    m, states = (
        layout.mechanism(plan, numbers),
        borrowed_array((q, rates, change, efforts, wrench, base)),
    )
    friction, out = borrowed_array(friction), borrowed_array(out)
    n, groups = m.free, (2 * m.free + m.driven + WIDTH - 1) // WIDTH
    if m.springs > 0:
        return 0  # does not support springs between points
    if (m.bodies + 1) * (layout.BODY_SIZE + BODY) + n * (n + ROW + 10 + WIDTH * groups) > MOST:
        return 0
    for i in range(1, m.bodies + 1):
        if layout.body_of(m, i).kind == layout.FLOATING and states[5].shape[1] > 0:
            return 0
    s, R = stack_all(shapes_of_tree(m.bodies, n)), new_table(n, groups)
    memory = stack_all(given_shapes(m.positions, m.free, m.driven))
    for k in range(out.shape[0]):
        given, finite = state_row(states, k, memory)
        if not finite or not write_derivatives(m, given, friction, forward, s, R, out[k]):
            return k
    return int(out.shape[0])
