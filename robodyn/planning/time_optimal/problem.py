# SPDX-License-Identifier: Apache-2.0

"""What limits a motion along a piece of a path: all constraints in one, as the solvers take it."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.kernels.intervals import Intervals
from robodyn.planning.time_optimal.along import VERIFIED, Along, along_motion
from robodyn.planning.time_optimal.constraints.all import Constraints
from robodyn.planning.time_optimal.constraints.base import SPEED_MARGIN, SPEED_MARGIN_BETWEEN
from robodyn.planning.time_optimal.constraints.motor_curves import MotorCurves
from robodyn.planning.time_optimal.course import Course
from robodyn.planning.time_optimal.easing import Easing
from robodyn.planning.time_optimal.path import KnottedCurve, Piece

# x at which a limit is never met; finite, for arithmetic.
UNBOUNDED = 1e30


def intervals_of(path: Along, constraints: Constraints, ends: tuple[float, float]) -> Intervals:
    """What limits a motion along a piece, as the kernels take it; `ends` are x at its ends.

    Raises:
        KinematicsError: a configuration in which no efforts exist; `index` says where in (N, 3).
    """
    parts = [each.coefficients(path, ends) for each in constraints.second]
    terms = np.concatenate([part.terms for part in parts], axis=2)
    upper, lower = (
        np.concatenate(v, axis=1)
        for v in ([part.upper for part in parts], [part.lower for part in parts])
    )
    curved = any(part.curved for part in parts)
    if not curved:
        terms[..., 2] = 0.0
    bounds = np.ascontiguousarray(speed_bounds(path, constraints)[:, path.imposed])
    for k, x in zip((0, -1), ends, strict=True):
        if x > 0.0:
            # a motion that is taken over may use between its points what it leaves at them
            bounds[k] *= ((1.0 - SPEED_MARGIN_BETWEEN) / (1.0 - SPEED_MARGIN)) ** 2
    caps = np.full(len(path.steps) + 1, UNBOUNDED)
    caps[:-1] = np.minimum(caps[:-1], bounds[:, 0])
    caps[1:] = np.minimum(caps[1:], bounds[:, -1])
    curves = MotorCurves.joined([part.curves for part in parts])
    steps = np.ascontiguousarray(path.steps)
    return Intervals(steps, terms, upper, lower, bounds, caps, *curves, curved)


def speed_bounds(path: Along, constraints: Constraints) -> FloatArray:
    """Bounds (N, M) of x by the limits of the first order."""
    with np.errstate(divide="ignore"):
        bound = np.minimum.reduce([each.bound(path) for each in constraints.first])
        return np.asarray(((1.0 - SPEED_MARGIN) * bound) ** 2)


def course_of(constraints: Constraints, piece: Piece, easing: Easing, nodes: FloatArray) -> Course:
    """A piece with nodes r (N + 1,).

    Raises:
        KinematicsError: a configuration that cannot be; `index` says where.
    """
    steps = np.diff(piece.nodes)
    g, path = _eased(constraints, piece.curve, easing, nodes, steps, VERIFIED)
    return Course(piece.curve, easing, nodes, *g, path, intervals_of(path, constraints, piece.ends))


def course_at(course: Course, constraints: Constraints, places: FloatArray) -> Course:
    """The same at other places (M,) in every interval; see `course_of` for errors."""
    steps = course.path.steps
    g, path = _eased(constraints, course.curve, course.easing, course.nodes, steps, places)
    return course._replace(g=g[0], first=g[1], second=g[2], third=g[3], path=path)


def _eased(
    constraints: Constraints,
    curve: KnottedCurve,
    easing: Easing,
    nodes: FloatArray,
    steps: FloatArray,
    places: FloatArray,
) -> tuple[tuple[FloatArray, FloatArray, FloatArray, FloatArray], Along]:
    """S = g(r) and its derivatives (N, M) at places (M,) between nodes r (N + 1,), and the path."""
    g = easing.at(nodes[:-1, None] + np.diff(nodes)[:, None] * places)
    motion = curve.sample(g[0])
    return g, along_motion(constraints.mechanism, motion, steps, tip=constraints.tip)
