# SPDX-License-Identifier: Apache-2.0

"""Denavit-Hartenberg rows converted to joints of the general form.

Standard: T = Rz(theta) Tz(d) Tx(a) Rx(alpha), frame i at the far end of link i, the joint about z
of frame i-1. Modified (Craig): T = Tx(a) Rx(alpha) Rz(theta) Tz(d), frame i at joint i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


CONVENTIONS = ("standard_dh", "modified_dh")


@dataclass(frozen=True)
class DHRow:
    """One row: theta, alpha [rad], d, a [m]; the joint variable's own entry is its offset."""

    prismatic: bool
    theta: float
    d: float
    a: float
    alpha: float


class Placement(NamedTuple):
    """A joint's frame in the previous moving frame, and the link's frame in its own."""

    joint: FloatArray
    link: FloatArray


def placements(rows: list[DHRow], convention: str) -> tuple[list[Placement], FloatArray]:
    """(4, 4) transforms of each joint and link, and of the tip in the last moving frame.

    The link's frame is the one in which a DH table states centre of mass and inertia.
    """
    out = []
    before = np.eye(4)
    for row in rows:
        turn = rotation_z(row.theta) if row.prismatic else np.eye(4)
        start = translation(z=row.d) if row.prismatic else rotation_z(row.theta)
        along = np.eye(4) if row.prismatic else translation(z=row.d)
        across = translation(x=row.a) @ rotation_x(row.alpha)
        if convention == "modified_dh":
            # a slide along z and a turn about it commute, so both may come before the motion
            out.append(Placement(before @ across @ turn @ start @ along, np.eye(4)))
            before = np.eye(4)
        else:
            link = along @ across
            out.append(Placement(before @ turn @ start, link))
            before = link
    return out, before


def rotation_z(angle: float) -> FloatArray:
    """Homogeneous (4, 4) rotation about z."""
    out = np.eye(4)
    out[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return out


def rotation_x(angle: float) -> FloatArray:
    """Homogeneous (4, 4) rotation about x."""
    out = np.eye(4)
    out[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return out


def translation(x: float = 0.0, z: float = 0.0) -> FloatArray:
    """Homogeneous (4, 4) translation [m]."""
    out = np.eye(4)
    out[0, 3], out[2, 3] = x, z
    return out
