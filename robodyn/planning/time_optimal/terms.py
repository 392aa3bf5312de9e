# SPDX-License-Identifier: Apache-2.0

"""Efforts, rates and accelerations along a piece of a path, by speed and acceleration along it.

Inverse dynamics is linear in the acceleration and, but for friction, in the square of the speed;
the mechanism without friction says with which factors. What friction adds is viscous, linear in
the speed, and dry, constant but for Stribeck's part, which the actuators say.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.planning.kernels.intervals import PLACES, Intervals
from robodyn.trajectories.sampled import SampledTrajectory

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.planning.time_optimal.limits import Limits
    from robodyn.planning.time_optimal.path import Piece
    from robodyn.trajectories.base import Motion

# Places in an interval, in which a result is verified; within, so that a knot's sides are apart.
VERIFIED = np.array([1e-6, 0.25, 0.5, 0.75, 1.0 - 1e-6])
# Those at which limits are imposed.
IMPOSED = VERIFIED[::2]
# x at which a limit is never met; finite, for arithmetic.
UNBOUNDED = 1e30
# Of a joint's fastest rate along the path: what is slower may be rounding, of either sign.
STANDING = 1e-7
# The mechanism of the last plan, and itself without friction; None where it has none.
_LAST: list[tuple[weakref.ref[Mechanism], Mechanism | None] | None] = [None]
# Of every limit: what is not used at the points, and what between them, where peaks are found by
# parabolas that are not quite exact: along random paths of a five-bar they missed up to 1.5e-5.
MARGIN, KEPT = 3e-5, 2e-5
# The same of limits of rates and of the tip's speed, which change less along an interval.
MARGIN_OF_SPEED, KEPT_OF_SPEED = 4e-6, 2e-6


class Along(NamedTuple):
    """A piece of a path in N intervals, at M places in each.

    Attributes:
        motion: (N, M, ...) configuration, dq/ds and d2q/ds2.
        rates, bends: (N, M, n) of the driven joints: dp/ds and d2p/ds2.
        positions: (N, M, n) of the driven joints.
        tip: (N, M) [m] dx/ds of the body.
        turned: (N, M, n) [N or N m] by how much an effort jumps next to a place at which its joint
            turns round, for the friction on the other side; else 0.
        steps: (N,) lengths of the intervals.
        imposed: which of the M places are those at which limits are imposed.
    """

    motion: Motion
    rates: FloatArray
    bends: FloatArray
    positions: FloatArray
    tip: FloatArray
    turned: FloatArray
    steps: FloatArray
    imposed: slice


def along(mechanism: Mechanism, piece: Piece, *, tip: bool, places: FloatArray = VERIFIED) -> Along:
    """A piece at places in every interval, by default those where results are verified.

    Raises:
        KinematicsError: a configuration that cannot be; `index` says where in (N, M).
    """
    steps = np.diff(piece.nodes)
    assert isinstance(piece.curve, SampledTrajectory)  # as pieces are until they are made smooth
    motion = piece.curve.between_knots(places)
    return along_motion(mechanism, motion, steps, tip=tip)


def along_motion(mechanism: Mechanism, motion: Motion, steps: FloatArray, *, tip: bool) -> Along:
    """A piece at places (N, M) of which the motion is known; see `Along`.

    Raises:
        KinematicsError: as `along`.
    """
    positions, rates, bends = mechanism.driven_motion(*motion)
    speed = np.zeros(rates.shape[:2])
    if tip:
        speed = _tip_speed(mechanism, motion)
    imposed = slice(None, None, (rates.shape[1] - 1) // (PLACES - 1))
    turned = _turned(mechanism, rates)
    return Along(motion, rates, bends, positions, speed, turned, steps, imposed)


def _turned(mechanism: Mechanism, rates: FloatArray) -> FloatArray:
    """See `Along.turned`."""
    out = np.zeros(rates.shape)
    for i, actuator in enumerate(mechanism.actuators):
        forward, backward = (float(actuator.dry_friction(sign * 1e-300)) for sign in (1.0, -1.0))
        if forward == backward:
            continue
        rate = rates[..., i]
        crosses = rate[:, 1:] * rate[:, :-1] < 0.0
        beside = np.zeros(rate.shape, dtype=bool)
        beside[:, 1:] |= crosses
        beside[:, :-1] |= crosses
        out[..., i] = np.where(beside, -np.sign(rate) * (forward - backward), 0.0)
    return out


def _tip_speed(mechanism: Mechanism, motion: Motion) -> FloatArray:
    """[m] dx/ds (N, M) of the body, by central differences of its position."""
    step = 1e-6
    ahead, behind = (
        mechanism.body_pose(mechanism.advance(motion.configuration, sign * step * motion.velocity))
        for sign in (1.0, -1.0)
    )
    return np.asarray(np.linalg.norm(ahead[..., :3] - behind[..., :3], axis=-1) / (2.0 * step))


def intervals_of(
    mechanism: Mechanism,
    path: Along,
    limits: Limits,
    wrench: FloatArray | None,
    ends: tuple[float, float],
) -> Intervals:
    """What limits a motion along a piece, as the kernels take it; `ends` are x at its ends.

    Raises:
        KinematicsError: a configuration in which no efforts exist; `index` says where in (N, 3).
    """
    count, joints = path.rates.shape[0], path.rates.shape[2]
    accelerated = np.flatnonzero(np.isfinite(limits.acceleration))
    terms = np.zeros((count, PLACES, joints + accelerated.size, 7))
    effort = terms[:, :, :joints]
    rubs = _fill_efforts(mechanism, path, wrench, effort)
    bound = (1.0 - MARGIN) * np.tile(limits.acceleration[accelerated], (count, 1))
    terms[:, :, joints:, 0] = path.rates[:, path.imposed][..., accelerated]
    terms[:, :, joints:, 1] = path.bends[:, path.imposed][..., accelerated]
    upper, lower = (
        np.concatenate([np.tile((1.0 - MARGIN) * limits.effort[:, side], (count, 1)), more], axis=1)
        for side, more in ((1, bound), (0, -bound))
    )
    if rubs is not None:
        standing, dry = rubs
        upper[:, :joints] -= standing
        lower[:, :joints] += standing
        for k, x in zip((0, -1), ends, strict=True):
            if x == 0.0:
                # at the instant of rest there is no friction yet, or no longer, that helps
                upper[k, :joints] += np.minimum(dry[k], 0.0).min(axis=0)
                lower[k, :joints] += np.maximum(dry[k], 0.0).max(axis=0)
    bounds = np.ascontiguousarray(speed_bounds(path, limits)[:, path.imposed])
    for k, x in zip((0, -1), ends, strict=True):
        if x > 0.0:
            # a motion that is taken over may use between its points what it leaves at them
            bounds[k] *= ((1.0 - KEPT_OF_SPEED) / (1.0 - MARGIN_OF_SPEED)) ** 2
    caps = np.full(count + 1, UNBOUNDED)
    caps[:-1] = np.minimum(caps[:-1], bounds[:, 0])
    caps[1:] = np.minimum(caps[1:], bounds[:, -1])
    shape = terms.shape[2], limits.curves.speeds.shape[1]
    speeds, efforts = np.zeros(shape), np.zeros(shape)
    speeds[:joints], efforts[:joints] = limits.curves.speeds, limits.curves.efforts
    counts = np.zeros(shape[0], dtype=np.int64)
    counts[:joints] = limits.curves.counts
    curved = bool(counts.any())
    if rubs is not None:
        size = np.abs(effort[..., :4]).max()
        curved = curved or bool(effort[..., 4].any() or np.abs(effort[..., 2]).max() > 1e-9 * size)
    if not curved:
        terms[..., 2] = 0.0
    steps = np.ascontiguousarray(path.steps)
    return Intervals(steps, terms, upper, lower, bounds, caps, speeds, efforts, counts, curved)


def speed_bounds(path: Along, limits: Limits) -> FloatArray:
    """Bounds (N, M) of x by the limits of rates and of the tip's speed."""
    with np.errstate(divide="ignore"):
        bound = (limits.velocity / np.abs(path.rates)).min(axis=-1)
        if np.isfinite(limits.tip_speed):
            bound = np.minimum(bound, limits.tip_speed / path.tip)
        return np.asarray(((1.0 - MARGIN_OF_SPEED) * bound) ** 2)


def without_friction(mechanism: Mechanism) -> Mechanism:
    """The mechanism without friction, itself if it has none; made once for plans in a row."""
    kept = _LAST[0]
    if kept is None or kept[0]() is not mechanism:
        smooth = mechanism.without_friction()
        kept = _LAST[0] = weakref.ref(mechanism), None if smooth == mechanism else smooth
    return mechanism if kept[1] is None else kept[1]


def _fill_efforts(
    mechanism: Mechanism, path: Along, wrench: FloatArray | None, terms: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Fill in the terms (N, 3, n, 7) of efforts, and return dry friction of joints.

    First that (N, n) of joints whose sense of motion is not known, then (N, 3, n) of the others;
    None of a mechanism without friction.
    """
    q, u, w = (values[:, path.imposed] for values in path.motion)
    ideal = without_friction(mechanism)
    rest = np.zeros(u.shape)
    D = ideal.inverse_dynamics(q, rest, rest, wrench)
    A = ideal.inverse_dynamics(q, rest, u, wrench) - D
    B = ideal.inverse_dynamics(q, u, w, wrench) - D
    rates = path.rates[:, path.imposed]
    terms[..., 0], terms[..., 1], terms[..., 6] = A, B, np.abs(rates)
    if ideal is mechanism:
        terms[..., 3] = D
        return None
    once = mechanism.inverse_dynamics(q, u, w, wrench) - B - D
    twice = mechanism.inverse_dynamics(q, 2.0 * u, 4.0 * w, wrench) - 4.0 * B - D
    S, G = np.zeros(A.shape), np.zeros(A.shape)
    for i, actuator in enumerate(mechanism.actuators):
        forward, backward, curvature = actuator.stribeck_terms
        rate = rates[..., i]
        S[..., i] = np.where(rate > 0.0, forward, np.where(rate < 0.0, -backward, 0.0))
        G[..., i] = curvature * rate**2
    once = once - S / (1.0 + G)
    twice = twice - S / (1.0 + 4.0 * G)
    C = twice - once
    dry = once - C
    unsure = np.abs(rates) < STANDING * np.abs(rates).max()
    unsure &= rates != 0.0
    standing = np.where(unsure, np.abs(dry + S), 0.0).max(axis=1)
    dry, S = np.where(unsure, 0.0, dry), np.where(unsure, 0.0, S)
    terms[..., 2], terms[..., 3], terms[..., 4], terms[..., 5] = C, D + dry, S, G
    return standing, dry + S
