# SPDX-License-Identifier: Apache-2.0

"""Columns of a regressor for the ten parameters of one body in the effort of one coordinate.

Atkeson, An and Hollerbach (1986). A body has angular velocity w and acceleration al, its origin the
acceleration a. For a coordinate whose unit rate rotates the body about z and moves its origin along
h, the effort is

    m h.a + m c.(h x al + w x (w x h) + a x z) + z.(I al) + (z x w).(I w),

in the body's frame, I about its origin.
"""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import inner
from robodyn.numerics.vectors import add, cross, dot, store


@inner
def write_body_columns(h: Any, z: Any, a: Any, w: Any, alpha: Any, row: Any, at: int) -> None:
    """Write one body's ten regressor entries for the effort of one coordinate.

    The entries for the mass m, the first moments m c and the inertia are row[at] to row[at + 9].
    All vectors are in the body's frame.

    Args:
        h, z: velocity of the origin, and angular velocity of the body, per unit rate of the
            coordinate.
        a: acceleration of the origin, minus gravity.
        w, alpha: angular velocity and acceleration of the body.
        row: regressor entries of the coordinate.
        at: index of the body's first entry.
    """
    g = cross(z, w)
    row[at] = dot(h, a)
    store(row, at + 1, add(cross(h, alpha), add(cross(w, cross(w, h)), cross(a, z))))
    row[at + 4] = alpha[0] * z[0] + w[0] * g[0]
    row[at + 5] = alpha[1] * z[0] + alpha[0] * z[1] + (w[1] * g[0] + w[0] * g[1])
    row[at + 6] = alpha[2] * z[0] + alpha[0] * z[2] + (w[2] * g[0] + w[0] * g[2])
    row[at + 7] = alpha[1] * z[1] + w[1] * g[1]
    row[at + 8] = alpha[2] * z[1] + alpha[1] * z[2] + (w[2] * g[1] + w[1] * g[2])
    row[at + 9] = alpha[2] * z[2] + w[2] * g[2]
