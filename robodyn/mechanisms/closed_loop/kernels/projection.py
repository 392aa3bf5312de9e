# SPDX-License-Identifier: Apache-2.0

"""From the tree's mass matrix to the mechanism's, with all columns of the tangent at once.

Composite rigid bodies (Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.2), in base
axes about each body's own origin: only pairs of joints of which one carries the other meet in the
tree's mass matrix, so legs that share nothing cost nothing together.
"""

from __future__ import annotations

from typing import Any

from robodyn.mechanisms.closed_loop.kernels.closures import component
from robodyn.mechanisms.closed_loop.kernels.layout import (
    ARM,
    ARMATURE,
    AT_BODIES,
    AT_FREE,
    AT_FREE_ENTRIES,
    AT_NUMBERS,
    AT_PIVOTS,
    BODIES,
    BODY_NUMBERS,
    BODY_PLAN,
    COM,
    EQUATIONS,
    FACTOR,
    FLOATING,
    FREE,
    FREE_ENTRIES,
    HEAVY,
    INERTIA,
    KIND,
    MASS,
    PARENT,
    PIVOT_PLAN,
    PIVOTS,
    PRISMATIC,
    RATE,
    REVOLUTE,
    SPIN,
    X,
    Y,
    Z,
)
from robodyn.numerics.compiler import inner
from robodyn.numerics.vectors import add, axpy, combine, cross, dot, scale, store, vector

# Of each body with all that it carries: mass, its moment, inertia xx xy xz yy yz zz.
MOMENT_OF_MASS = 1
SECOND = 4
COMPOSITE = 10


@inner
def tangent(plan: Any, K: Any, R: Any, S: Any) -> None:
    """S (rates, free): rates of all joints for one of each independent one.

    `R` (rows * free,) is scratch for the right-hand sides, which are solved for together.
    """
    count, first = plan[FREE], plan[AT_FREE]
    zero = 0.0 * K[0]
    for n in range(plan[EQUATIONS] * count):
        R[n] = zero
    at = plan[AT_FREE_ENTRIES]
    for _ in range(plan[FREE_ENTRIES]):
        R[plan[at] * count + plan[at + 1]] = -K[plan[at + 2]]
        at += 3
    for j in range(count):
        for k in range(count):
            S[plan[first + j], k] = zero
        S[plan[first + j], j] = 1.0 + zero
    at, pivots = plan[AT_PIVOTS], plan[PIVOTS]
    for n in range(pivots):
        p = plan[at + n]
        own, right = plan[p + 1] * count, plan[p + 4]
        row = p + PIVOT_PLAN + 2 * right
        for _ in range(plan[p + 3]):
            target, ratio = plan[row] * count, K[plan[row + 1]]
            for k in range(count):
                R[target + k] = R[target + k] - ratio * R[own + k]
            row += 2 + right
    for n in range(pivots - 1, -1, -1):
        p = plan[at + n]
        own, rate, inverse = plan[p + 1] * count, plan[p + 2], K[plan[p]]
        c = p + PIVOT_PLAN
        for _ in range(plan[p + 4]):
            other, factor = plan[c], K[plan[c + 1]]
            for k in range(count):
                R[own + k] = R[own + k] - factor * S[other, k]
            c += 2
        for k in range(count):
            S[rate, k] = R[own + k] * inverse


@inner
def composites(plan: Any, numbers: Any, B: Any, C: Any) -> None:
    """Mass, its moment and inertia C (bodies + 1, COMPOSITE) of each body and all that it carries.

    About each body's origin, in base axes.
    """
    at, f = plan[AT_BODIES], plan[AT_NUMBERS]
    zero = 0.0 * B[1, X]
    for i in range(1, plan[BODIES] + 1):
        body, own = B[i], C[i]
        if plan[at + HEAVY] == 1:
            x, y, z = vector(body, X), vector(body, Y), vector(body, Z)
            mass = numbers[f + MASS] + zero
            com = combine(x, y, z, vector(numbers, f + COM))
            # columns of R I, I about the centre of mass
            a = combine(x, y, z, (numbers[f + INERTIA], numbers[f + INERTIA + 1],
                                  numbers[f + INERTIA + 2]))  # fmt: skip
            b = combine(x, y, z, (numbers[f + INERTIA + 1], numbers[f + INERTIA + 3],
                                  numbers[f + INERTIA + 4]))  # fmt: skip
            c = combine(x, y, z, (numbers[f + INERTIA + 2], numbers[f + INERTIA + 4],
                                  numbers[f + INERTIA + 5]))  # fmt: skip
            own[0] = mass
            store(own, MOMENT_OF_MASS, scale(mass, com))
            square = dot(com, com)
            place = SECOND
            for m in range(3):
                for n in range(m, 3):
                    value = (
                        component(a, m) * component(x, n)
                        + component(b, m) * component(y, n)
                        + component(c, m) * component(z, n)
                        - mass * component(com, m) * component(com, n)
                    )
                    own[place] = value + mass * square if m == n else value
                    place += 1
        else:
            for k in range(COMPOSITE):
                own[k] = zero
        at += BODY_PLAN
        f += BODY_NUMBERS
    for i in range(plan[BODIES], 0, -1):
        at -= BODY_PLAN
        if plan[at + PARENT] != 0:
            _carry(C[i], vector(B[i], ARM), C[plan[at + PARENT]])


@inner
def _carry(own: Any, arm: Any, parent: Any) -> None:
    """Add a composite to that of the body which carries it; its origin is at `arm` from there."""
    mass, moment = own[0], vector(own, MOMENT_OF_MASS)
    shifted = axpy(mass, arm, moment)
    # of a mass m with moment h: m a a' + a h' + h a', less the trace
    diagonal = dot(arm, add(shifted, moment))
    parent[0] = parent[0] + mass
    store(parent, MOMENT_OF_MASS, add(vector(parent, MOMENT_OF_MASS), shifted))
    place = SECOND
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
def project(plan: Any, numbers: Any, S: Any, B: Any, C: Any, R: Any, M: Any) -> None:
    """Write the lower triangle of S'MS into M (free, free), M the tree's mass matrix.

    `C` (bodies + 1, at least COMPOSITE) and `R` (free,) are scratch.
    """
    count = plan[FREE]
    zero = 0.0 * B[1, X]
    for j in range(count):
        for k in range(j + 1):
            M[j, k] = zero
    composites(plan, numbers, B, C)
    at, f = plan[AT_BODIES], plan[AT_NUMBERS]
    for i in range(1, plan[BODIES] + 1):
        own, z, rate, kind = C[i], vector(B[i], Z), plan[at + RATE], plan[at + KIND]
        mass, moment = own[0], vector(own, MOMENT_OF_MASS)
        if kind == FLOATING:
            for part in range(6):
                unit = (1.0 * (part % 3 == 0) + zero, 1.0 * (part % 3 == 1) + zero,
                        1.0 * (part % 3 == 2) + zero)  # fmt: skip
                if part < 3:
                    push, turn = scale(mass, unit), cross(moment, unit)
                else:
                    push, turn = cross(unit, moment), _second(own, unit)
                _meet(plan, numbers, S, B, i, rate + part, part, 1.0 + zero, push, turn, R, M)
        else:
            if kind == PRISMATIC:
                push, turn = scale(mass, z), cross(moment, z)
            else:
                push, turn = cross(z, moment), _second(own, z)
            factor = numbers[f + FACTOR] + zero
            _meet(plan, numbers, S, B, i, rate, 0, factor, push, turn, R, M)
            armature = numbers[f + ARMATURE] * numbers[f + FACTOR] * numbers[f + FACTOR]
            if armature > 0.0:
                for j in range(count):
                    value = armature * S[rate, j]
                    for k in range(j + 1):
                        M[j, k] = M[j, k] + value * S[rate, k]
            if numbers[f + SPIN] != 0.0:
                spin = numbers[f + SPIN] * numbers[f + FACTOR]
                _couple(plan, numbers, S, B, plan[at + PARENT], rate, scale(spin, z), R, M)
        at += BODY_PLAN
        f += BODY_NUMBERS


@inner
def _couple(
    plan: Any, numbers: Any, S: Any, B: Any, carrier: int, rate: int, turn: Any, R: Any, M: Any
) -> None:
    """Add what a rotor's spin has to do with the turning of the body that carries it.

    Where the coordinate changes at a rate of 1, it has the angular momentum `turn` against that.
    """
    count = plan[FREE]
    for k in range(count):
        R[k] = 0.0 * turn[0]
    j = carrier
    while j > 0:
        at = plan[AT_BODIES] + (j - 1) * BODY_PLAN
        own, kind = plan[at + RATE], plan[at + KIND]
        if kind == FLOATING:
            for n in range(3):
                for k in range(count):
                    R[k] = R[k] + component(turn, n) * S[own + 3 + n, k]
        elif kind == REVOLUTE:
            factor = numbers[plan[AT_NUMBERS] + (j - 1) * BODY_NUMBERS + FACTOR]
            value = factor * dot(vector(B[j], Z), turn)
            for k in range(count):
                R[k] = R[k] + value * S[own, k]
        j = plan[at + PARENT]
    for n in range(count):
        for k in range(n + 1):
            M[n, k] = M[n, k] + S[rate, n] * R[k] + R[n] * S[rate, k]


@inner
def _second(own: Any, a: Any) -> Any:
    """A composite's inertia times a vector."""
    return (
        own[SECOND] * a[0] + own[SECOND + 1] * a[1] + own[SECOND + 2] * a[2],
        own[SECOND + 1] * a[0] + own[SECOND + 3] * a[1] + own[SECOND + 4] * a[2],
        own[SECOND + 2] * a[0] + own[SECOND + 4] * a[1] + own[SECOND + 5] * a[2],
    )


@inner
def _meet(
    plan: Any,
    numbers: Any,
    S: Any,
    B: Any,
    i: int,
    rate: int,
    part: int,
    factor: Any,
    push: Any,
    turn: Any,
    R: Any,
    M: Any,
) -> None:
    """Add the entries of the tree's mass matrix for one coordinate of body i and all above it.

    Where it changes at a rate of 1, body i and what it carries have the momentum `push` and, about
    its origin, the angular momentum `turn`.
    """
    count = plan[FREE]
    for k in range(count):
        R[k] = 0.0 * push[0]
    first_at, first_f = plan[AT_BODIES] - BODY_PLAN, plan[AT_NUMBERS] - BODY_NUMBERS
    j = i
    while j > 0:
        at, f = first_at + j * BODY_PLAN, first_f + j * BODY_NUMBERS
        body, own, kind = B[j], plan[at + RATE], plan[at + KIND]
        if kind == FLOATING:
            for n in range(6):
                value = component(push, n) if n < 3 else component(turn, n - 3)
                if j == i:  # half of the diagonal, as it is added twice
                    value = 0.5 * value
                for k in range(count):
                    R[k] = R[k] + value * S[own + n, k]
        else:
            value = dot(vector(body, Z), push if kind == PRISMATIC else turn)
            value = numbers[f + FACTOR] * value
            if j == i:
                value = 0.5 * value
            for k in range(count):
                R[k] = R[k] + value * S[own, k]
        turn = add(turn, cross(vector(body, ARM), push))
        j = plan[at + PARENT]
    for n in range(count):
        mine, other = factor * S[rate, n], factor * R[n]
        for k in range(n + 1):
            M[n, k] = M[n, k] + mine * R[k] + other * S[rate, k]
