# SPDX-License-Identifier: Apache-2.0

"""Sine motions around home that the drives of a mechanism can follow, by axis and frequency."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from robodyn.algorithms import Motion, conditioning, motions
from robodyn.algorithms.travel import within_travel
from robodyn.analysis.bisection import bisect
from robodyn.arrays import FloatArray
from robodyn.errors import RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import advance_pose

AXES = ("x", "y", "z", "about x", "about y", "about z")
FREQUENCIES = (0.2, 0.5, 1.0, 2.0, 5.0)  # [Hz]
# Instants of a period; bisections of an amplitude; the largest, in sizes of the mechanism and
# [rad].
INSTANTS, HALVINGS, LARGEST = 24, 18, (1.0, 1.5)
# Number of steps along an axis, from home to the largest amplitude, to find the body's range.
STEPS = 60
# Fraction of a motion below which an axis is omitted.
POSSIBLE = 0.999


def sine_motions(mechanism: Mechanism) -> list[dict[str, Any]]:
    """Return a row for each axis of the base frame along or about which the body can move at home.

    `amplitudes` [m or rad] are the largest sines of the body at `FREQUENCIES` around home during
    which all joints, passive ones too, stay within their ranges, and the driven ones within their
    velocities and efforts, with torque-speed curves, on the same side of singularities. They are
    found by inverse kinematics along the whole sine. Components of the pose that do not determine
    the mechanism follow. `acceleration` is the largest from rest at home, in the weaker direction,
    None without a limit. The list is empty if velocities and efforts are unknown, if a pose of the
    body does not determine the mechanism, and for underactuated mechanisms.
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
        travel = _travel(m, k, most)
        if travel is None:
            continue
        rows.append(
            {
                "axis": axis,
                "unit": "m" if k < 3 else "rad",
                "acceleration": _from_rest(m, way),
                "amplitudes": [
                    _largest(partial(_follows, m, travel, 2.0 * np.pi * f), travel.most)
                    for f in FREQUENCIES
                ],
            }
        )
    return rows


class _Travel(NamedTuple):
    """Range of the body from home along an axis, with configurations on the way.

    Attributes:
        unit: (6,) displacement of the body by 1.
        most: [m or rad] in either direction.
        at: (N,) [m or rad] known displacements, increasing.
        configurations: (N, nq) at these displacements.
    """

    unit: FloatArray
    most: float
    at: FloatArray
    configurations: FloatArray


def _travel(m: Mechanism, axis: int, most: float) -> _Travel | None:
    """Return the range of the body along an axis; None if poses do not determine the mechanism."""
    unit: FloatArray = np.eye(6)[axis]
    known: list[tuple[float, FloatArray]] = [(0.0, m.home)]
    ends = []
    for sense in (1.0, -1.0):
        at, q = 0.0, m.home
        for step in most / STEPS * np.arange(1, STEPS + 1):
            there = _moved(m, sense * step * unit, q)
            if there is None or not _is_allowed(m, there):
                break
            at, q = float(step), there
            known.append((sense * at, q))
        if at < most:

            def holds(value: float, q: FloatArray = q, sense: float = sense) -> bool:
                there = _moved(m, sense * value * unit, q)
                return there is not None and _is_allowed(m, there)

            at = bisect(holds, at, at + most / STEPS, HALVINGS)[0]
        ends.append(at)
    if len(known) == 1 and _moved(m, 1e-6 * most * unit, m.home) is None:
        return None
    known.sort(key=lambda one: one[0])
    places, configurations = zip(*known, strict=True)
    return _Travel(unit, min(ends), np.array(places), np.array(configurations))


def _moved(m: Mechanism, displacement: FloatArray, near: FloatArray) -> FloatArray | None:
    """Return the configuration after a displacement (6,) of the body from home, or None."""
    pose, still = advance_pose(m.body_pose(m.home), displacement), np.zeros((1, 6))
    try:
        q = motions.motions_of_body(m, pose[None], still, still, near[None]).configuration[0]
    except RobodynError:
        return None
    return None if np.isnan(q).any() else q


def _is_allowed(m: Mechanism, configuration: FloatArray) -> bool:
    """Return whether joints are in range, on the same side of singularities as home."""
    on_side = conditioning.is_on_side_of(m, configuration, m.home)
    return bool(on_side and within_travel(m, configuration).all())


def _largest(holds: Any, most: float) -> float:
    return most if holds(most) else bisect(holds, 0.0, most, HALVINGS)[0]


def _from_rest(m: Mechanism, way: FloatArray) -> float | None:
    rest = np.zeros_like(way)
    weight = m.inverse_dynamics(m.home, rest, rest)
    needed = np.abs(m.inverse_dynamics(m.home, rest, way) - weight)
    left = m.drives.effort_limits_at(np.zeros_like(weight)) - np.abs(weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = float(np.nanmin(np.where(needed > 0.0, left / needed, np.inf)))
    return max(most, 0.0) if np.isfinite(most) else None


def _sine(m: Mechanism, travel: _Travel, rate: float, amplitude: float) -> Motion:
    """Return the motion (INSTANTS, ...) for a sine of the body; NaN where unreachable."""
    phase = np.linspace(0.0, 2.0 * np.pi, INSTANTS, endpoint=False)[:, None]
    moved, way = amplitude * np.sin(phase), amplitude * travel.unit
    poses = advance_pose(m.body_pose(m.home), moved * travel.unit)
    nearest = np.abs(travel.at - moved).argmin(axis=1)
    twists, accels = rate * np.cos(phase) * way, -(rate**2) * np.sin(phase) * way
    return motions.motions_of_body(m, poses, twists, accels, travel.configurations[nearest])


def _follows(m: Mechanism, travel: _Travel, rate: float, amplitude: float) -> bool:
    try:
        motion = _sine(m, travel, rate, amplitude)
        if np.isnan(motion.configuration).any():
            return False
        _, rates, _ = motions.driven_motion(m, *motion)
        efforts = np.abs(m.inverse_dynamics(*motion))
    except RobodynError:
        return False
    return bool(
        within_travel(m, motion.configuration).all()
        and (np.abs(rates) <= m.velocity_limits).all()
        and (efforts <= m.drives.effort_limits_at(rates)).all()
    )
