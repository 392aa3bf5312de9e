# SPDX-License-Identifier: Apache-2.0
"""Smooth curves through configurations: B-splines of degree 5, four times differentiable.

A spline's control points are the position and quaternion of a pose, or the positions of the
independent joints. The spline of quaternions is normalized; it uses no angles, which could become
singular. The configurations of a closed loop are solved along the curve, each one from the previous
one.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.spaces import Space
from robodyn.trajectories.base import Motion

DEGREE = 5
# Number of points along a closed loop's curve from which the points between are found.
ANCHORS = 300


class Curve:
    """Path of an arm: a spline of joint positions over s from 0 to 1.

    Attributes:
        controls: (n, k) n control points of the spline.
    """

    def __init__(self, controls: FloatArray) -> None:
        self.controls = controls
        self._spline = Spline(controls)

    def with_controls(self, controls: FloatArray) -> Curve | None:
        """Return a curve with the same ends and other control points (n, k).

        Returns:
            The curve; None if the mechanism cannot follow it.
        """
        return type(self)(controls)

    def configurations(self, s: FloatArray) -> FloatArray:
        """Compute configurations (N, nq) at curve parameters s (N,) from 0 to 1."""
        return self._spline(s)

    def motion(self, s: FloatArray) -> Motion:
        """Compute configurations and their first two derivatives w.r.t. s, at s (N,).

        Returns:
            Configurations (N, nq), and the generalized velocities and accelerations (N, nv) with s
            in place of time.
        """
        return Motion(self.configurations(s), self._spline(s, 1), self._spline(s, 2))


def curve_along(mechanism: Mechanism, space: Space, path: FloatArray, count: int) -> Curve | None:
    """Fit a curve with `count` control points to a densely sampled path (n, nq).

    Args:
        mechanism: mechanism that follows the path.
        space: path space, in which lengths are measured.
        path: (n, nq) configurations.
        count: number of control points.

    Returns:
        The curve; None for a closed loop that cannot follow it.
    """
    # by the motion of all parts: near a fold of a sheet the coordinates hardly change
    steps = space.lengths(path)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    at /= max(at[-1], 1e-300)
    target = np.linspace(0.0, 1.0, count)
    if mechanism.coordinates.is_pose:
        values = path.copy()
        turned = np.cumsum(np.concatenate([[0], (values[1:, 3:] * values[:-1, 3:]).sum(1) < 0.0]))
        values[:, 3:] *= np.where(turned % 2, -1.0, 1.0)[:, None]
        return PoseCurve(_interpolate(target, at, values))
    moved = np.concatenate([np.zeros((1, len(space.weights))), space.displacements(path)])
    displacements = _interpolate(target, at, np.cumsum(moved, axis=0))
    if mechanism.coordinates.configuration_size == mechanism.coordinates.velocity_size:
        return Curve(path[0] + displacements)
    return LoopCurve(mechanism, space, path[[0, -1]], displacements).track()


class PoseCurve(Curve):
    """Path of a platform: a spline of poses over s from 0 to 1."""

    def configurations(self, s: FloatArray) -> FloatArray:
        """Compute poses (N, 7) at curve parameters s (N,) from 0 to 1."""
        pose = self._spline(s)
        pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
        return pose

    def motion(self, s: FloatArray) -> Motion:
        """Compute poses and their first two derivatives w.r.t. s, at s (N,).

        Returns:
            Poses (N, 7), and the body's twists and their derivatives (N, 6), base frame, with s in
            place of time.
        """
        x, v, a = (self._spline(s, order) for order in range(3))
        norm = np.linalg.norm(x[:, 3:], axis=1, keepdims=True)
        n, first, second = (part[:, 3:] / norm for part in (x, v, a))
        # first and second derivative of the norm, relative to the norm
        p = (n * first).sum(axis=1, keepdims=True)
        q = (first * first).sum(1, keepdims=True) + (n * second).sum(1, keepdims=True) - p * p
        rate = first - p * n
        change = second - 2.0 * p * first + (2.0 * p * p - q) * n
        return Motion(
            np.concatenate([x[:, :3], n], axis=1),
            np.concatenate([v[:, :3], 2.0 * _times_conjugate(rate, n)], axis=1),
            np.concatenate([a[:, :3], 2.0 * _times_conjugate(change, n)], axis=1),
        )


class LoopCurve(Curve):
    """Path of a closed loop: a spline of its independent joints over s from 0 to 1.

    The control points are displacements of the independent joints from the start of the path.
    """

    def __init__(
        self, mechanism: Mechanism, space: Space, ends: FloatArray, controls: FloatArray
    ) -> None:
        super().__init__(controls)
        self._mechanism, self._space, self._ends = mechanism, space, ends
        self._anchors = np.empty((ANCHORS + 1, ends.shape[1]))

    def track(self) -> LoopCurve | None:
        """Solve the loop closures along the curve from start to goal, step by step.

        The solutions are stored; `configurations` starts from them.

        Returns:
            This curve; None if a step fails or the last configuration is not the goal.
        """
        places = self._spline(np.linspace(0.0, 1.0, ANCHORS + 1))
        anchors, advance = self._anchors, self._mechanism.solver.unchecked.try_advance
        anchors[0] = self._ends[0]
        for k in range(ANCHORS):
            moved = advance(anchors[k], places[k + 1] - places[k])
            if moved is None:
                return None
            anchors[k + 1] = moved
        here, there = self._space.embed(np.stack([anchors[-1], self._ends[1]]))
        return self if self._space.distances(here, there[None])[0] <= 1e-6 else None

    def with_controls(self, controls: FloatArray) -> LoopCurve | None:
        """Return a curve with the same ends and other control points (n, k).

        Returns:
            The curve; None if the loop cannot follow it.
        """
        return LoopCurve(self._mechanism, self._space, self._ends, controls).track()

    def configurations(self, s: FloatArray) -> FloatArray:
        """Compute configurations (N, nq) at curve parameters s (N,) from 0 to 1."""
        near = np.rint(s * ANCHORS).astype(np.intp)
        step = self._spline(s) - self._spline(near / ANCHORS)
        return self._mechanism.advance(self._anchors[near], step)


class Spline:
    """Clamped uniform B-spline over s from 0 to 1, from its first to its last control point."""

    def __init__(self, controls: FloatArray) -> None:
        # slow to import, and most programs never plan
        from scipy.interpolate import BSpline

        inner = np.linspace(0.0, 1.0, len(controls) - DEGREE + 1)
        knots = np.concatenate([np.zeros(DEGREE), inner, np.ones(DEGREE)])
        splines = [BSpline(knots, controls, DEGREE)]
        for _ in range(2):
            splines.append(splines[-1].derivative())
        self._splines = splines

    def __call__(self, s: FloatArray, order: int = 0) -> FloatArray:
        """Evaluate the spline, or one of its derivatives w.r.t. s, at parameters s (N,).

        `order` is the order of the derivative: 0 for the value, 1 or 2.

        Returns:
            Values or derivatives (N, k), in the coordinates of the control points (n, k).
        """
        return np.asarray(self._splines[order](np.clip(s, 0.0, 1.0)))


def _interpolate(target: FloatArray, at: FloatArray, values: FloatArray) -> FloatArray:
    return np.stack([np.interp(target, at, column) for column in values.T], axis=1)


def _times_conjugate(a: FloatArray, b: FloatArray) -> FloatArray:
    """Compute the vector part (N, 3) of quaternion `a` times the conjugate of `b`.

    Both are quaternions (N, 4).
    """
    u, v = a[:, :3], b[:, :3]
    return np.asarray(b[:, 3:] * u - a[:, 3:] * v - np.cross(u, v))
