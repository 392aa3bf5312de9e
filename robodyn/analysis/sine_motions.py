# SPDX-License-Identifier: Apache-2.0

"""Which motions about its home a mechanism's drives can follow, by axis and frequency."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from robodyn.analysis.bisection import bisected
from robodyn.arrays import FloatArray
from robodyn.errors import RobodynError
from robodyn.mechanisms.mechanism import Mechanism

AXES = ("x", "y", "z", "about x", "about y", "about z")
FREQUENCIES = (0.2, 0.5, 1.0, 2.0, 5.0)  # [Hz]
# Instants of a period; halvings of an amplitude; the largest, in sizes of the mechanism and [rad].
INSTANTS, HALVINGS, LARGEST = 24, 18, (1.0, 1.5)
# Those at home and at both ends, between which no singularity may lie.
ENDS = [0, INSTANTS // 4, 3 * INSTANTS // 4]
# An axis along or about which less than this share of a motion is possible is left out.
POSSIBLE = 0.999


def sine_motions(mechanism: Mechanism) -> list[dict[str, Any]]:
    """A row for each axis of the base frame along or about which the body can move at home.

    `amplitudes` [m or rad] are the largest of sines at `FREQUENCIES` about home at which all joints
    stay within their ranges, rates and efforts, as motors have them at that rate, on the same side
    of singularities; `acceleration` is
    the largest from rest at home, in the weaker direction, None if nothing bounds it. Empty where
    nothing is known of rates and efforts, and of mechanisms with freedoms that nothing drives.
    """
    m = mechanism
    limits = np.concatenate([m.velocity_limits, m.effort_limits])
    if not np.isfinite(limits).any() or len(m.joint_names) < m.coordinates.velocity_size:
        return []
    J = m.twist_jacobian(m.home)
    rows = []
    for k, axis in enumerate(AXES):
        way = np.asarray(np.linalg.pinv(J, rcond=1e-6)[:, k], dtype=np.float64)
        if (J @ way)[k] < POSSIBLE:
            continue
        most = LARGEST[0] * m.size if k < 3 else LARGEST[1]
        rows.append(
            {
                "axis": axis,
                "unit": "m" if k < 3 else "rad",
                "acceleration": _from_rest(m, way),
                "amplitudes": [
                    bisected(partial(_follows, m, way, 2.0 * np.pi * f), 0.0, most, HALVINGS)[0]
                    for f in FREQUENCIES
                ],
            }
        )
    return rows


def _from_rest(m: Mechanism, way: FloatArray) -> float | None:
    rest = np.zeros_like(way)
    weight = m.inverse_dynamics(m.home, rest, rest)
    needed = np.abs(m.inverse_dynamics(m.home, rest, way) - weight)
    left = m.effort_limits_at(np.zeros_like(weight)) - np.abs(weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = float(np.nanmin(np.where(needed > 0.0, left / needed, np.inf)))
    return max(most, 0.0) if np.isfinite(most) else None


def _follows(m: Mechanism, unit: FloatArray, rate: float, amplitude: float) -> bool:
    way = amplitude * unit
    phase = np.linspace(0.0, 2.0 * np.pi, INSTANTS, endpoint=False)[:, None]
    try:
        at = m.advance(np.tile(m.home, (INSTANTS, 1)), np.sin(phase) * way)
        motion = at, rate * np.cos(phase) * way, -(rate**2) * np.sin(phase) * way
        positions, rates, _ = m.driven_motion(*motion)
        efforts = np.abs(m.inverse_dynamics(*motion))
        sides = {np.sign(side) for q in at[ENDS] if (side := m.side(q)) is not None}
    except RobodynError:
        return False
    lower, upper = m.position_limits.T
    return bool(
        len(sides) < 2
        and (positions >= lower).all()
        and (positions <= upper).all()
        and (np.abs(rates) <= m.velocity_limits).all()
        and (efforts <= m.effort_limits_at(rates)).all()
    )
