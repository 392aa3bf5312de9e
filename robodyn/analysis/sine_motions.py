# SPDX-License-Identifier: Apache-2.0

"""Largest excursion, velocity, acceleration and sine motions of the body about home, by axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from robodyn.algorithms import Motion, motions
from robodyn.algorithms.travel import within_travel
from robodyn.analysis.at_home import are_allowed
from robodyn.analysis.bisection import bisect
from robodyn.arrays import FloatArray
from robodyn.errors import RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import advance_pose

AXES = ("x", "y", "z", "about x", "about y", "about z")
FREQUENCIES = (0.2, 0.5, 1.0, 2.0, 5.0)  # [Hz]
# Number of instants per period; number of bisections of an amplitude; largest amplitude, relative
# to the mechanism's size and in [rad].
INSTANTS, HALVINGS, LARGEST = 24, 18, (1.0, 1.5)
# Number of steps along an axis, from home to the largest amplitude, to find the body's range.
STEPS = 60
# Fraction of a motion below which an axis is omitted.
POSSIBLE = 0.999
# Steps of a range beside another axis, in each of two rounds.
COARSE = 20


def sine_motions(
    mechanism: Mechanism, frequencies: Sequence[float] = FREQUENCIES
) -> list[dict[str, Any]]:
    """Compute the largest motions of the body about home, along and about each axis.

    Components of the pose that do not determine the configuration are free. Sine motions are
    checked along a whole period: all joints stay within their ranges, and the driven joints within
    their velocity and effort limits, torque-speed curves included.

    Args:
        mechanism: mechanism with velocity and effort limits.
        frequencies: (f,) [Hz] frequencies of the sine motions.

    Returns:
        A dictionary for each axis of the base frame along or about which the body can move: `axis`;
        `unit` of displacements, m or rad; `excursion`, both ends of the travel from home within all
        joint ranges and without crossing a singularity; `velocity`, the largest one at home;
        `acceleration`, the largest one from rest at home in the weaker direction; `beside`, the
        same three values while any one other axis is at half of its own value; and `amplitudes`
        (f,) of the largest sine motions about home. Values without a limit are None. The list is
        empty for underactuated mechanisms, without velocity and effort limits, or if a pose of the
        body does not determine the configuration.
    """
    m = mechanism
    limits = np.concatenate([m.velocity_limits, m.effort_limits])
    if not np.isfinite(limits).any() or len(m.joint_names) < m.coordinates.velocity_size:
        return []
    J = m.twist_jacobian(m.home)
    found: list[tuple[int, _Travel, FloatArray]] = []
    for k in range(6):
        way = np.asarray(np.linalg.pinv(J, rcond=1e-6)[:, k], dtype=np.float64)
        if (J @ way)[k] >= POSSIBLE:
            travel = _travel(m, k, LARGEST[0] * m.size if k < 3 else LARGEST[1])
            if travel is not None:
                found.append((k, travel, way))
    if not found:
        return []
    ways = np.array([way for _, _, way in found])
    rest = np.zeros_like(ways[0])
    free = m.without_friction()
    weight = free.inverse_dynamics(m.home, rest, rest)
    moved = np.array([free.inverse_dynamics(m.home, rest, way) for way in ways])
    # dry friction does not grow with the acceleration
    friction = np.abs([m.inverse_dynamics(m.home, rest, way) for way in ways] - moved).max(axis=0)
    left = m.drives.effort_limits_at(np.zeros_like(weight)) - np.abs(weight) - friction
    velocities = _largest_values(
        m.velocity_limits, [m.joint_velocities(m.home, way) for way in ways]
    )
    accelerations = _largest_values(np.maximum(left, 0.0), [*(moved - weight)])
    return [
        {
            "axis": AXES[k],
            "unit": "m" if k < 3 else "rad",
            "excursion": travel.ends.tolist(),
            "velocity": velocities[0][i],
            "acceleration": accelerations[0][i],
            "beside": {
                "excursion": _combined_range(m, travel, [each for _, each, _ in found]),
                "velocity": velocities[1][i],
                "acceleration": accelerations[1][i],
            },
            "amplitudes": [
                _largest_amplitude(partial(_is_feasible, m, travel, 2.0 * np.pi * f), travel.most)
                for f in frequencies
            ],
        }
        for i, (k, travel, _) in enumerate(found)
    ]


def _largest_values(
    limits: FloatArray, needed: Sequence[FloatArray]
) -> tuple[list[float | None], list[float | None]]:
    """Return the largest velocity or acceleration along each axis, alone and combined.

    Combined values are possible while any single other axis is at half of its largest value. Values
    without a limit
    are None.

    Args:
        limits: (n,) limits of the drives.
        needed: (a, n) values that the drives need for one unit along each axis.
    """
    per_unit = np.abs(needed)
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(per_unit > 0.0, limits / per_unit, np.inf).min(axis=1)
        half = 0.5 * np.where(np.isfinite(alone), alone, 0.0)[:, None] * per_unit
        pairs = np.where(per_unit[:, None] > 0.0, (limits - half) / per_unit[:, None], np.inf)
    beside = pairs.min(axis=2)
    np.fill_diagonal(beside, alone)
    values = alone.tolist(), beside.min(axis=1).tolist()
    most, less = ([each if np.isfinite(each) else None for each in row] for row in values)
    return most, less


class _Travel(NamedTuple):
    """Range of body motion from home along an axis, with known configurations.

    Attributes:
        unit: (6,) displacement of the body by one unit along the axis.
        ends: (2,) [m or rad] lowest and highest displacement.
        at: (N,) [m or rad] increasing displacements with known configurations.
        configurations: (N, nq) configurations at these displacements.
    """

    unit: FloatArray
    ends: FloatArray
    at: FloatArray
    configurations: FloatArray

    @property
    def most(self) -> float:
        """Largest displacement [m or rad] from home that is possible in both directions."""
        return float(np.abs(self.ends).min())

    def nearest(self, displacements: FloatArray) -> FloatArray:
        """Return the known configurations (N, nq) nearest to displacements (N,)."""
        gaps = np.abs(self.at - displacements[:, None])
        return np.asarray(self.configurations[gaps.argmin(axis=1)])


def _travel(m: Mechanism, axis: int, most: float) -> _Travel | None:
    """Compute the range of body motion from home along an axis.

    Returns None if a pose of the body does not determine the configuration.
    """
    unit: FloatArray = np.eye(6)[axis]
    known: list[tuple[float, FloatArray]] = [(0.0, m.home)]
    ends = []
    for sense in (1.0, -1.0):
        at, q = 0.0, m.home
        for step in most / STEPS * np.arange(1, STEPS + 1):
            there = _configuration_after(m, sense * step * unit, q)
            if there is None or not are_allowed(m, there[None])[0]:
                break
            at, q = float(step), there
            known.append((sense * at, q))
        if at < most:

            def holds(value: float, q: FloatArray = q, sense: float = sense) -> bool:
                there = _configuration_after(m, sense * value * unit, q)
                return there is not None and bool(are_allowed(m, there[None])[0])

            at = bisect(holds, at, at + most / STEPS, HALVINGS)[0]
        ends.append(at)
    if len(known) == 1 and _configuration_after(m, 1e-6 * most * unit, m.home) is None:
        return None
    known.sort(key=lambda one: one[0])
    places, configurations = zip(*known, strict=True)
    ends_of = np.array([-ends[1], ends[0]])
    return _Travel(unit, ends_of, np.array(places), np.array(configurations))


def _combined_range(m: Mechanism, travel: _Travel, every: Sequence[_Travel]) -> list[float]:
    """Return an axis's range ends with any single other axis at half of its range."""
    offsets = np.array([0.5 * end * each.unit for each in every if each is not travel
                        for end in each.ends]).reshape(-1, 6)  # fmt: skip
    found = []
    for end in travel.ends:
        inner, outer = 0.0, float(end)
        for _ in range(2 if len(offsets) else 0):
            at = np.linspace(inner, outer, COARSE + 1)
            moved = (offsets[:, None] + at[:, None] * travel.unit).reshape(-1, 6)
            poses, still = advance_pose(m.body_pose(m.home), moved), np.zeros_like(moved)
            starts = np.tile(travel.nearest(at), (len(offsets), 1))
            reached = motions.motions_of_body(m, poses, still, still, starts).configuration
            inside = are_allowed(m, reached).reshape(len(offsets), -1).all(axis=0)
            if inside.all():
                inner = outer
                break
            first = int(inside.argmin())
            inner, outer = float(at[max(first - 1, 0)]), float(at[first])
        found.append(inner if len(offsets) else float(end))
    return found


def _configuration_after(
    m: Mechanism, displacement: FloatArray, near: FloatArray
) -> FloatArray | None:
    """Return the configuration (nq,) after a displacement (6,) of the body from home.

    Returns None if no configuration was found.
    """
    pose, still = advance_pose(m.body_pose(m.home), displacement), np.zeros((1, 6))
    try:
        q = motions.motions_of_body(m, pose[None], still, still, near[None]).configuration[0]
    except RobodynError:
        return None
    return None if np.isnan(q).any() else q


def _largest_amplitude(holds: Any, most: float) -> float:
    return most if holds(most) else bisect(holds, 0.0, most, HALVINGS)[0]


def _sine(m: Mechanism, travel: _Travel, rate: float, amplitude: float) -> Motion:
    """Compute the motion for one period of a sine motion of the body along an axis.

    The arrays are (INSTANTS, ...), with NaN at instants at which the pose is unreachable.
    """
    phase = np.linspace(0.0, 2.0 * np.pi, INSTANTS, endpoint=False)[:, None]
    moved, way = amplitude * np.sin(phase), amplitude * travel.unit
    poses = advance_pose(m.body_pose(m.home), moved * travel.unit)
    twists, accels = rate * np.cos(phase) * way, -(rate**2) * np.sin(phase) * way
    return motions.motions_of_body(m, poses, twists, accels, travel.nearest(moved[:, 0]))


def _is_feasible(m: Mechanism, travel: _Travel, rate: float, amplitude: float) -> bool:
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
