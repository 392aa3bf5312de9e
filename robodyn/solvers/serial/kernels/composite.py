# SPDX-License-Identifier: Apache-2.0

"""Jacobian and mass matrix from the placed frames, in base axes.

The mass matrix is by the composite-rigid-body method: all links beyond joint j move as one body if
only joint j accelerates (Walker and Orin, 1982; Featherstone, 2008, section 6.2).
"""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.matrices import add_outer, add_point_mass, apply, plus
from robodyn.numerics.simd.lanes import any_of
from robodyn.numerics.vectors import add, axpy, cross, dot, scale, sub
from robodyn.solvers.serial.kernels.layout import ARMATURE, PRISMATIC
from robodyn.solvers.serial.kernels.spatial import joint_axis, joint_origin, link_about


@inner
def jacobian(chain: Any, frames: Any, out: Any) -> None:
    """Write the tip's geometric Jacobian to `out` (6, n), linear over angular, base frame."""
    n = chain.shape[0] - 1
    tip = joint_origin(frames, n)
    for i in range(n):
        z = joint_axis(frames, i)
        linear, angular = z, (0.0, 0.0, 0.0)
        if not any_of(chain[i + 1, PRISMATIC] > 0.0):
            linear, angular = cross(z, sub(tip, joint_origin(frames, i))), z
        for k in range(3):
            out[k, i] = linear[k]
            out[3 + k, i] = angular[k]


@inner
def mass_matrix(chain: Any, frames: Any, out: Any) -> None:
    """Write the mass matrix, including reflected motor inertia, to `out` (n, n)."""
    n = chain.shape[0] - 1
    mass = 0.0
    first = (0.0, 0.0, 0.0)
    inertia = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for i in range(n - 1, -1, -1):
        if i < n - 1:
            # about the origin of joint i instead of i + 1: parallel axes, twice
            r = sub(joint_origin(frames, i + 1), joint_origin(frames, i))
            inertia = add_outer(add_outer(inertia, -1.0, first, r), -1.0, r, first)
            twice = 2.0 * dot(first, r)
            inertia = plus(inertia, ((twice, 0.0, 0.0), (0.0, twice, 0.0), (0.0, 0.0, twice)))
            inertia = add_point_mass(inertia, mass, r)
            first = axpy(mass, r, first)
        m, h, moments = link_about(chain, frames, i)
        mass += m
        first = add(first, h)
        inertia = plus(inertia, moments)
        z = joint_axis(frames, i)
        if any_of(chain[i + 1, PRISMATIC] > 0.0):
            force, moment = scale(mass, z), cross(first, z)
        else:
            force, moment = cross(z, first), apply(inertia, z)
        for j in range(i, -1, -1):
            if j < i:
                r = sub(joint_origin(frames, j + 1), joint_origin(frames, j))
                moment = add(moment, cross(r, force))
            sliding = any_of(chain[j + 1, PRISMATIC] > 0.0)
            entry = dot(joint_axis(frames, j), force if sliding else moment)
            out[i, j] = entry
            out[j, i] = entry
        out[i, i] = out[i, i] + chain[i + 1, ARMATURE]
