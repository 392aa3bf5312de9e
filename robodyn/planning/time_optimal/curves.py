# SPDX-License-Identifier: Apache-2.0

"""Smooth paths through configurations, on the manifold of a mechanism's configurations."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Motion, RowTrajectory
from robodyn.trajectories.sampled import SampledTrajectory

# Length [rad, or relative to the mechanism's size] below which a path does not move.
NOTHING = 1e-9
# Distance [rad, or relative to the mechanism's size] below which configurations are equal; of a
# short path relative to its length.
SAME = 1e-6
# Distance, relative to the path's length, below which two configurations are equal if their other
# neighbors are further away by the second factor: points that were taught twice.
REPEATED_POINT, ISOLATION = 1.001e-3, 100.0


class WaypointSpline(RowTrajectory):
    """Smooth curve through configurations, a trajectory over a parameter from 0 to 1.

    The position of a pose follows a cubic spline, its orientation a spline with continuous angular
    velocity and acceleration (SciPy's `RotationSpline`, after Park and Ravani). The independent
    joints of a closed loop follow splines. Two configurations are connected by a straight line.

    Knots are spaced by the square roots of the distances (centripetal), with zero curvature at both
    ends. Of the usual choices, this one deviates least from the polygon through unequally spaced
    points (Floater 2008, "On the deviation of a parametric cubic spline interpolant from its data
    polygon"). Nearly equal configurations count as one, see `SAME` and `REPEATED_POINT`.

    Args:
        mechanism: mechanism of the configurations.
        configurations: (k, nq) with at least two configurations.

    Raises:
        InvalidInput: the shape is wrong, a value is not finite, or there are fewer than two
            different points.
        NoSolution: a closed loop cannot be assembled along the curve.
    """

    duration = 1.0
    switching_times: tuple[float, ...] = ()  # its accelerations do not jump

    _unit = ""

    def __init__(self, mechanism: Mechanism, configurations: ArrayLike) -> None:
        coordinates = mechanism.coordinates
        given = as_array("path", configurations, (coordinates.configuration_size,))
        if given.ndim != 2 or len(given) < 2:
            raise InvalidInput(
                f"path has shape {given.shape}, expected (k, {coordinates.configuration_size}): "
                "at least two configurations to pass through, or a trajectory",
                value=configurations,
            )
        points = coordinates.unwrapped(coordinates.checked("path", given))
        points = _remove_duplicates(mechanism, points)
        knots = np.sqrt(_distances(mechanism, points[:-1], points[1:]))
        if not (len(knots) and knots.all()):
            raise InvalidInput(
                "all configurations of the path are the same; expected at least two different ones",
                value=given[0],
            )
        self._mechanism = mechanism
        self._start = points[0]
        places = np.concatenate([[0.0], np.cumsum(knots)]) / knots.sum()
        self._pose_spline: SampledTrajectory | None = None
        if mechanism.coordinates.is_pose:
            self._pose_spline = _pose_spline(mechanism, places, points)
        else:
            still = np.zeros((len(points), coordinates.velocity_size))
            values = np.array(motions.independent_motion(mechanism, points, still, still).positions)
            steps = mechanism.difference(points[:-1], points[1:])
            if steps.shape[1] == values.shape[1] and not coordinates.rotations:
                # the shorter rotation of a joint that is periodic
                values[1:] = values[0] + np.cumsum(steps, axis=0)
            self._line = _natural_spline(places, values)

    def _rows(self, t: FloatArray) -> Motion:
        flat = np.clip(t, 0.0, 1.0)
        if self._pose_spline is not None:
            return self._pose_spline.sample(flat)
        # in order: each configuration starts from the one before, the first from the path's start
        order = np.argsort(flat, kind="stable")
        begin = float(flat.min(initial=1.0))
        lead = np.linspace(0.0, begin, 50 if begin > 0.0 else 0)
        places = np.concatenate([lead, flat[order]])
        q, v, a = (self._line(places, derivative) for derivative in range(3))
        found = motions.motion_of_independent(self._mechanism, q, v, a, guess=self._start)
        back = np.empty(len(order), dtype=np.intp)
        back[order] = np.arange(len(order)) + lead.size
        return Motion(*(values[back] for values in found))

    def velocity(self, t: ArrayLike) -> FloatArray:
        """Compute the generalized velocity (..., nv) at curve parameters t (...), 0 to 1.

        The parameter t takes the place of time. Unlike the configuration, the velocity requires no
        solution of the loop closures.
        """
        times = np.clip(as_array("t", t, ()), 0.0, 1.0)
        if self._pose_spline is not None:
            return self._pose_spline.sample(times).velocity
        return np.asarray(self._line(times, 1))


def coordinate_weights(mechanism: Mechanism) -> FloatArray:
    """Return the factors (nv,) that convert the elements of a displacement to radians.

    A translation by the mechanism's size counts as one radian. Lengths of paths are measured in
    these units.
    """
    units = mechanism.coordinates.units
    return np.array([1.0 / mechanism.size if unit == "m" else 1.0 for unit in units])


def _distances(mechanism: Mechanism, start: FloatArray, goal: FloatArray) -> FloatArray:
    """Compute the weighted distance (...) of each pair of configurations (..., nq)."""
    way = coordinate_weights(mechanism) * mechanism.difference(start, goal)
    return np.asarray(np.linalg.norm(way, axis=-1))


def _remove_duplicates(mechanism: Mechanism, points: FloatArray) -> FloatArray:
    """Remove configurations (k, nq) that nearly equal their predecessor.

    The first and the last configuration are kept.
    """
    chords = _distances(mechanism, points[:-1], points[1:])
    whole, last = min(1.0, float(chords.sum())), len(points) - 1
    if not whole > NOTHING:
        return points[:1]
    same = SAME * whole

    def is_apart(one: int, other: int) -> bool:
        return bool(_distances(mechanism, points[one], points[other]) > same)

    kept = [0]
    for k, chord in enumerate(chords.tolist(), start=1):
        follows = kept[-1] == k - 1
        if (follows and chord > same) or is_apart(kept[-1], k):
            kept.append(k)
    while len(kept) > 1 and kept[-1] != last and not is_apart(kept[-1], last):
        kept.pop()
    if kept[-1] != last:
        kept.append(last)
    points = points[kept]
    chords = _distances(mechanism, points[:-1], points[1:])
    beside = np.concatenate([[np.inf], chords, [np.inf]])
    nearest = np.minimum(beside[:-2], beside[2:])
    twice = (
        (chords <= REPEATED_POINT * whole) & (ISOLATION * chords <= nearest) & np.isfinite(nearest)
    )
    is_kept = np.ones(len(points), dtype=bool)
    is_kept[1:] = ~twice
    if twice[-1]:
        is_kept[-2:] = False, True
    return np.asarray(points[is_kept])


def _pose_spline(mechanism: Mechanism, places: FloatArray, poses: FloatArray) -> SampledTrajectory:
    """Fit a smooth motion through poses (k, 7), see `WaypointSpline`.

    Between two poses, the motion is a cubic in the coordinates of the earlier pose's tangent space.
    It is determined by the two poses and the velocities there.
    """
    from scipy.spatial.transform import Rotation, RotationSpline

    line = _natural_spline(places, poses[:, :3])
    rotations = Rotation.from_quat(poses[:, 3:])
    turns = RotationSpline(places, rotations)
    # SciPy's rates and accelerations are in the rotating frame
    rates, changes = (
        np.concatenate([line(places, order), rotations.apply(turns(places, order))], axis=1)
        for order in (1, 2)
    )
    return SampledTrajectory(mechanism, places, Motion(poses, rates, changes))


def _natural_spline(places: FloatArray, points: FloatArray) -> Any:
    from scipy.interpolate import CubicSpline

    return CubicSpline(places, points, bc_type="natural")


def cubic_to_goal(
    mechanism: Mechanism,
    start: FloatArray,
    velocity: FloatArray,
    goal: FloatArray,
    velocity_weight: float,
) -> SampledTrajectory:
    """Create a cubic curve from a moving state to a goal, over a parameter 0 to 1.

    Args:
        mechanism: mechanism that moves.
        start: (nq,) start configuration.
        velocity: (nv,) generalized velocity at the start, whose direction the curve has there.
        goal: (nq,) end configuration, approached in the direction from start to goal.
        velocity_weight: time [s]; its product with the velocity is the tangent at the start. 0 for
            a straight line.

    Returns:
        The curve.
    """
    way = mechanism.difference(start, goal)
    rates = np.array([velocity_weight * velocity if velocity_weight else way, way])
    return SampledTrajectory(
        mechanism, [0.0, 1.0], Motion(np.array([start, goal]), rates, np.zeros(rates.shape))
    )
