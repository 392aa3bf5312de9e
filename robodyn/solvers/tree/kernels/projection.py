# SPDX-License-Identifier: Apache-2.0

"""Mass matrix of a mechanism from that of its tree, with all columns of the tangent at once.

Composite rigid bodies (Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.2) are in base
axes, about each body's own origin. The tree's mass matrix couples only joints of which one carries
the other, so independent legs have no common terms.
"""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.vectors import (
    add,
    along,
    axpy,
    combine,
    cross,
    dot,
    scale,
    store,
    symmetric,
    vector,
)
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.kernels.closures import component

LISTS = layout.PIVOT_PLAN.size


@inner
def tangent(m: Any, K: Any, R: Any, S: Any) -> None:
    """Write the tangent matrix (rates, free) to `S`: joint rates per independent rate.

    `R` (rows * free,) is scratch for the right-hand sides, which are solved together.
    """
    count, plan = m.free, m.integers
    zero = 0.0 * K[0]
    for n in range(m.equations * count):
        R[n] = zero
    at = m.at_free_entries
    for _ in range(m.free_entries):
        R[plan[at] * count + plan[at + 1]] = -K[plan[at + 2]]
        at += 3
    for j in range(count):
        for k in range(count):
            S[plan[m.at_free + j], k] = zero
        S[plan[m.at_free + j], j] = 1.0 + zero
    for n in range(m.pivots):
        pivot = layout.pivot_of(m, n)
        own, right, lists = pivot.row * count, pivot.right, pivot.integers
        row = LISTS + 2 * right
        for _ in range(pivot.below):
            target, ratio = lists[row] * count, K[lists[row + 1]]
            for k in range(count):
                R[target + k] = R[target + k] - ratio * R[own + k]
            row += 2 + right
    for n in range(m.pivots - 1, -1, -1):
        pivot = layout.pivot_of(m, n)
        own, inverse, lists = pivot.row * count, K[pivot.entry], pivot.integers
        for k in range(0, count, 2):
            # two columns at once, as finding the factors takes longer than the products
            j = min(k + 1, count - 1)
            one, two = R[own + k], R[own + j]
            for c in range(pivot.right):
                other, factor = lists[LISTS + 2 * c], K[lists[LISTS + 2 * c + 1]]
                one, two = one - factor * S[other, k], two - factor * S[other, j]
            S[pivot.rate, k], S[pivot.rate, j] = one * inverse, two * inverse


@inner
def composites(m: Any, B: Any, C: Any) -> None:
    """Write the composite inertia of each subtree to `C` (bodies + 1, COMPOSITE).

    It consists of mass, first moment and inertia about the body's origin, in base axes.
    """
    zero = 0.0 * B[1, layout.X]
    for i in range(1, m.bodies + 1):
        link, body, own = layout.body_of(m, i), B[i], C[i]
        if link.has_inertia == 1:
            x, y, z = vector(body, layout.X), vector(body, layout.Y), vector(body, layout.Z)
            mass = link.mass + zero
            com = combine(x, y, z, link.com)
            # columns of R I, I about the center of mass
            xx, xy, xz, yy, yz, zz = link.inertia
            a = combine(x, y, z, (xx, xy, xz))
            b = combine(x, y, z, (xy, yy, yz))
            c = combine(x, y, z, (xz, yz, zz))
            own[0] = mass
            store(own, layout.MOMENT_OF_MASS, scale(mass, com))
            square = dot(com, com)
            place = layout.SECOND
            for k in range(3):
                for n in range(k, 3):
                    value = (
                        component(a, k) * component(x, n)
                        + component(b, k) * component(y, n)
                        + component(c, k) * component(z, n)
                        - mass * component(com, k) * component(com, n)
                    )
                    own[place] = value + mass * square if k == n else value
                    place += 1
        else:
            for k in range(layout.COMPOSITE):
                own[k] = zero
    for i in range(m.bodies, 0, -1):
        link = layout.body_of(m, i)
        if link.parent != 0:
            _carry(C[i], vector(B[i], layout.ARM), C[link.parent])


@inner
def _carry(own: Any, arm: Any, parent: Any) -> None:
    """Add a body's composite inertia to that of its parent.

    `arm` is the vector from the parent's origin to the body's origin.
    """
    mass, moment = own[0], vector(own, layout.MOMENT_OF_MASS)
    shifted = axpy(mass, arm, moment)
    # for a mass m with moment h: m a a' + a h' + h a', minus the trace
    diagonal = dot(arm, add(shifted, moment))
    parent[0] = parent[0] + mass
    store(parent, layout.MOMENT_OF_MASS, add(vector(parent, layout.MOMENT_OF_MASS), shifted))
    place = layout.SECOND
    for m in range(3):
        for n in range(m, 3):
            value = (
                own[place]
                - component(arm, m) * component(shifted, n)
                - component(moment, m) * component(arm, n)
            )
            parent[place] = parent[place] + (value + diagonal if m == n else value)
            place += 1


@inner
def project(m: Any, S: Any, B: Any, C: Any, R: Any, M: Any) -> None:
    """Write the lower triangle of the mechanism's mass matrix S'MS to `M` (free, free).

    S is the tangent, and the M in S'MS is the tree's mass matrix. `C` (bodies + 1, at least
    COMPOSITE) and `R` (rates * free,), which becomes MS, are scratch.
    """
    zero = 0.0 * B[1, layout.X]
    for n in range(m.rates * m.free):
        R[n] = zero
    composites(m, B, C)
    for i in range(1, m.bodies + 1):
        link, own, z = layout.body_of(m, i), C[i], vector(B[i], layout.Z)
        mass, moment, rate = own[0], vector(own, layout.MOMENT_OF_MASS), link.rate
        if link.kind == layout.FLOATING:
            for part in range(6):
                momentum = momentum_of(mass, moment, own, along(part % 3, 1.0 + zero), part < 3)
                add_mass_row(m, S, B, i, rate + part, 1.0 + zero, momentum, R)
        else:
            momentum = momentum_of(mass, moment, own, z, link.kind == layout.PRISMATIC)
            add_mass_row(m, S, B, i, rate, link.factor + zero, momentum, R)
            armature = link.armature * link.factor * link.factor
            if any_of(armature > 0.0):
                add_row(m, S, rate, armature, rate, R)
            if any_of(abs(link.spin) > 0.0):
                turn = scale(link.spin * link.factor, z)
                add_rotor_coupling(m, S, B, link.parent, rate, turn, R)
    for j in range(m.free):
        for k in range(j + 1):
            total = zero
            for n in range(m.rates):
                total = total + S[n, j] * R[n * m.free + k]
            M[j, k] = total


@inner
def momentum_of(mass: Any, moment: Any, own: Any, axis: Any, slides: bool) -> Any:
    """Return the momentum of a composite body at unit rate along or about an axis.

    It is the linear momentum, and the angular momentum about the body's origin, base axes. The body
    translates if `slides`, else it rotates; `mass`, `moment` (of mass) and `own` are its composite
    inertia.
    """
    if slides:
        return scale(mass, axis), cross(moment, axis)
    return cross(axis, moment), symmetric(own, layout.SECOND, axis)


@inner
def add_mass_row(
    m: Any, S: Any, B: Any, i: int, rate: int, factor: Any, momentum: Any, R: Any
) -> None:
    """Add the mass matrix terms of a coordinate, and their transposes, to `R`.

    `R` is the tree's mass matrix times the tangent `S`. The coordinate, with the index `rate`, is
    that of body `i`. `momentum` times `factor` is the momentum, about the body's origin, of the
    body and all bodies that it carries, at a rate of 1.
    """
    push, turn = momentum
    j = i
    while j > 0:
        link, body = layout.body_of(m, j), B[j]
        if link.kind == layout.FLOATING:
            for n in range(6):
                value = component(push, n) if n < 3 else component(turn, n - 3)
                add_pair(m, S, rate, link.rate + n, factor * value, j == i, R)
        else:
            value = dot(vector(body, layout.Z), push if link.kind == layout.PRISMATIC else turn)
            add_pair(m, S, rate, link.rate, factor * (link.factor * value), j == i, R)
        turn = add(turn, cross(vector(body, layout.ARM), push))
        j = link.parent


@inner
def add_rotor_coupling(m: Any, S: Any, B: Any, carrier: int, rate: int, turn: Any, R: Any) -> None:
    """Add the inertial coupling of a rotor's spin with its carrier's rotation to `R`.

    `R` is the tree's mass matrix times the tangent `S`. At unit rate of the coordinate with the
    index `rate`, the rotor has the angular momentum `turn` (3,) relative to body `carrier`, base
    frame.
    """
    j = carrier
    while j > 0:
        link = layout.body_of(m, j)
        if link.kind == layout.FLOATING:
            for n in range(3):
                add_pair(m, S, rate, link.rate + 3 + n, component(turn, n), False, R)
        elif link.kind == layout.REVOLUTE:
            value = link.factor * dot(vector(B[j], layout.Z), turn)
            add_pair(m, S, rate, link.rate, value, False, R)
        j = link.parent


@inner
def add_pair(m: Any, S: Any, rate: int, other: int, value: Any, is_own: bool, R: Any) -> None:
    """Add an entry of the tree's mass matrix, times the tangent `S`, to `R`.

    `R` is the tree's mass matrix times `S`. The entry, `value`, is that of the coordinates `rate`
    and `other`. The transposed entry is added too, unless `is_own`.
    """
    add_row(m, S, other, value, rate, R)
    if not is_own:
        add_row(m, S, rate, value, other, R)


@inner
def add_row(m: Any, S: Any, rate: int, factor: Any, row: int, R: Any) -> None:
    """Add row `rate` of the tangent `S`, times a factor, to row `row` of `R`.

    `R` (rates * free,) is the tree's mass matrix times `S`, stored row by row.
    """
    own = row * m.free
    for k in range(m.free):
        R[own + k] = R[own + k] + factor * S[rate, k]
