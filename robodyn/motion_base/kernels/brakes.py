# SPDX-License-Identifier: Apache-2.0

"""Motions of a head and the platform under it, braking motions, and margins to limits.

A state of the head is its displacement from neutral and roll, pitch, yaw, in the axes of the
neutral pose, with first and second derivatives.
"""

from __future__ import annotations

from typing import Any

from robodyn.numerics.compiler import batch_kernel, inner
from robodyn.numerics.rotations import (
    angular_motion,
    quaternion_from_rpy,
    quaternion_product,
    rotation_columns,
)
from robodyn.numerics.vectors import add, combine, cross, scale, store, vector


@batch_kernel
def head_motions(place: Any, neutral: Any, head: Any, poses: Any, twists: Any, accels: Any) -> None:
    """Compute the motion of a platform from the motion of a head on it.

    Args:
        place: (3, K, 6) displacement of the head and roll, pitch, yaw, with first and second
            derivatives.
        neutral: (7,) pose of the platform at rest, base frame.
        head: (3,) [m] position of the head in the platform's frame.
        poses, twists, accels: (K, 7), (K, 6), (K, 6) output: motion of the platform, base frame.
    """
    a, b, c = rotation_columns(neutral)
    own, at = vector(head, 0), vector(neutral, 0)
    begun = (neutral[3], neutral[4], neutral[5], neutral[6])
    for k in range(place.shape[1]):
        x, v, change = place[0, k], place[1, k], place[2, k]
        q = quaternion_from_rpy(x[3], x[4], x[5])
        columns = rotation_columns((0.0, 0.0, 0.0, q[0], q[1], q[2], q[3]))
        omega, alpha = angular_motion(vector(x, 3), vector(v, 3), vector(change, 3))
        arm = scale(-1.0, combine(columns[0], columns[1], columns[2], own))
        swept = cross(omega, arm)
        moved = add(add(own, vector(x, 0)), arm)
        speed = add(vector(v, 0), swept)
        accel = add(vector(change, 0), add(cross(alpha, arm), cross(omega, swept)))
        store(poses[k], 0, add(at, combine(a, b, c, moved)))
        turned = quaternion_product(begun, q)
        for j in range(4):
            poses[k, 3 + j] = turned[j]
        store(twists[k], 0, combine(a, b, c, speed))
        store(twists[k], 3, combine(a, b, c, omega))
        store(accels[k], 0, combine(a, b, c, accel))
        store(accels[k], 3, combine(a, b, c, alpha))


@batch_kernel
def brakes(starts: Any, durations: Any, nodes: Any, out: Any) -> None:
    """Compute braking motions from given states to rest, with rates cubic in time.

    Args:
        starts: (C, 3, m) initial coordinates, rates and accelerations.
        durations: (C,) [s] of the braking motions.
        nodes: (N,) fractions of the durations.
        out: (3, C N, m) output: coordinates, rates and accelerations at the nodes.
    """
    count = nodes.shape[0]
    for c in range(starts.shape[0]):
        T = durations[c]
        for n in range(count):
            s, k = nodes[n], c * count + n
            left = 1.0 - s
            by_rate = s - s**3 + 0.5 * s**4
            by_change = 0.5 * s**2 - s**3 / 1.5 + 0.25 * s**4
            for j in range(starts.shape[2]):
                x, v, a = starts[c, 0, j], starts[c, 1, j], starts[c, 2, j]
                out[0, k, j] = x + T * (v * by_rate + a * T * by_change)
                out[1, k, j] = left**2 * (v * (1.0 + 2.0 * s) + a * T * s)
                out[2, k, j] = left * (-6.0 * s * v / T + a * (1.0 - 3.0 * s))


@inner
def _room(value: float, low: float, high: float) -> float:
    return min(value - low, high - value)


@batch_kernel
def least_margins(values: Any, limits: Any, efforts: Any, spacing: Any, out: Any) -> None:
    """Compute the least margins of braking motions to the joints' limits.

    Between nodes positions are quintic and rates cubic Hermite polynomials.

    Args:
        values: (4, C N, n) positions, rates, accelerations and efforts of the joints: C braking
            motions at N nodes each.
        limits: (2, 4, n) least and largest values of the four quantities.
        efforts: (C N, n) effort limits at these rates, minus a reserve.
        spacing: (C,) [s] interval between the nodes of each motion.
        out: (C, N) output: the least margin of all joints at each node, and midway between it and
            the previous node; negative beyond a limit.
    """
    low, high, count = limits[0], limits[1], out.shape[1]
    p, v, a, e = values[0], values[1], values[2], values[3]
    for c in range(out.shape[0]):
        h = spacing[c]
        for n in range(count):
            k, least = c * count + n, 1e300
            for j in range(values.shape[2]):
                for i in range(3):
                    least = min(least, _room(values[i, k, j], low[i, j], high[i, j]))
                least = min(least, efforts[k, j] - abs(e[k, j]))
                if n > 0:
                    bend = 0.15625 * h * (v[k - 1, j] - v[k, j])
                    middle = 0.5 * (p[k, j] + p[k - 1, j]) + bend
                    middle += 0.015625 * h**2 * (a[k - 1, j] + a[k, j])
                    least = min(least, _room(middle, low[0, j], high[0, j]))
                    middle = 0.5 * (v[k, j] + v[k - 1, j]) + 0.125 * h * (a[k - 1, j] - a[k, j])
                    least = min(least, _room(middle, low[1, j], high[1, j]))
            out[c, n] = least
