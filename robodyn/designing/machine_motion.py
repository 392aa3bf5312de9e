# SPDX-License-Identifier: Apache-2.0

"""Motions of a mechanism's drives while its body makes required motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robodyn.algorithms.effort_terms import nan_where_singular
from robodyn.algorithms.motion import Motion
from robodyn.algorithms.motions import driven_motion, motion_of_body, motions_of_body
from robodyn.arrays import BoolArray, FloatArray, Indices
from robodyn.designing.body_motions import BodyMotion, BodyRows, displaced_poses, rows_of
from robodyn.errors import RobodynError
from robodyn.mechanism.mechanism import Mechanism

# Distance from a drive's reversal, in intervals, at which both sides are evaluated.
REVERSAL_OFFSET = 1e-3
# Number of steps from home to a pose that is not reached directly.
STEPS = 16


class DriveRows(NamedTuple):
    """Motion of the drives at K instants; NaN if the body cannot have the pose.

    Attributes:
        configuration: (K, nq) of the mechanism.
        position, rate, effort: (K, n) of the driven joints [m or rad, m/s or rad/s, N or N m].
        poses: (K, 7) of the body.
    """

    configuration: FloatArray
    position: FloatArray
    rate: FloatArray
    effort: FloatArray
    poses: FloatArray


class MotorRows(NamedTuple):
    """Torque, speed, power and current of the motors at K instants; NaN if unknown.

    Attributes:
        torque, speed: (K, n) [N m], [rad/s]; unknown for a prismatic joint without a lead.
        power: (K, n) [W] mechanical power.
        current: (K, n) [A]; unknown without a torque constant.
    """

    torque: FloatArray
    speed: FloatArray
    power: FloatArray
    current: FloatArray


@dataclass(frozen=True)
class MachineMotion:
    """Motion of a mechanism's drives for one required motion of its body.

    Attributes:
        motion: required motion; None for the poses at rest.
        times: (K,) [s]; all zero for the poses.
        rows: motion of the drives at these times.
        between: (P,) [s] further instants, at which a drive's position, rate or effort peaks.
        extremes: motion of the drives at the instants in `between`.
    """

    motion: BodyMotion | None
    times: FloatArray
    rows: DriveRows
    between: FloatArray
    extremes: DriveRows

    @property
    def all(self) -> DriveRows:
        """Motion of the drives at `times`, followed by that at the instants `between`."""
        pairs = zip(self.rows, self.extremes, strict=True)
        return DriveRows(*(np.concatenate(pair) for pair in pairs))

    @property
    def weights(self) -> FloatArray:
        """Weights of the instants of `all` in a time average, by the trapezoidal rule."""
        times = np.concatenate([self.times, self.between])
        if self.motion is None:
            return np.full(len(times), 1.0 / len(times))
        order = np.argsort(times, kind="stable")
        # from each instant to the next; the last is followed by the first of the next period
        steps = np.diff(times[order], append=times[0] + self.motion.duration)
        if not self.motion.repeats:
            steps[-1] = 0.0
        weights = np.empty(len(times))
        weights[order] = 0.5 * (steps + np.roll(steps, 1)) / self.motion.duration
        return weights


def machine_motions(
    m: Mechanism, motions: Sequence[BodyMotion], poses: FloatArray
) -> list[MachineMotion]:
    """Compute the drives' motions for required motions and poses of the body.

    Args:
        m: mechanism, whose home is the center of the motions.
        motions: required motions of the body.
        poses: (k, 6) [m, rad] displacements from home, held at rest.

    Returns:
        A machine motion for each required motion and, if there are poses, one for these.
    """
    home = m.body_pose(m.home)
    times = [motion.times for motion in motions]
    parts = [rows_of(motion, at, home) for motion, at in zip(motions, times, strict=True)]
    if len(poses):
        still = np.zeros((len(poses), 6))
        parts.append(BodyRows(displaced_poses(home, poses), still, still))
        times.append(np.zeros(len(poses)))
    sizes = np.array([len(part.poses) for part in parts])
    body = BodyRows(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    starts = np.repeat(m.home[None], len(body.poses), axis=0)
    found = motions_of_body(m, *body, starts)
    _continue_from_neighbors(m, body, found, sizes[: len(motions)])
    _continue_to_poses(m, home, body, found, int(sizes[: len(motions)].sum()))
    rows = _split(_drives(m, body.poses, found), sizes)
    # between samples
    peaks = [_peaks(*given) for given in zip(motions, times, rows, strict=False)]
    finer = [rows_of(motion, at, home) for motion, (at, _) in zip(motions, peaks, strict=True)]
    near = [part.configuration[k] for part, (_, k) in zip(rows, peaks, strict=False)]
    none = DriveRows(*(part[:0] for part in rows[0]))
    extremes = [none] * len(rows)
    if finer:
        between = BodyRows(*(np.concatenate(column) for column in zip(*finer, strict=True)))
        moving = motions_of_body(m, *between, np.concatenate(near))
        counts = np.array([len(at) for at, _ in peaks])
        extremes[: len(finer)] = _split(_drives(m, between.poses, moving), counts)
    named = [*motions, *([None] if len(poses) else [])]
    instants = [*(at for at, _ in peaks), *([np.empty(0)] if len(poses) else [])]
    parted = zip(named, times, rows, instants, extremes, strict=True)
    return [MachineMotion(*each) for each in parted]


def _split(rows: DriveRows, sizes: FloatArray | Indices) -> list[DriveRows]:
    ends = np.cumsum(sizes)[:-1].astype(int)
    return [DriveRows(*part) for part in zip(*(np.split(c, ends) for c in rows), strict=True)]


def _continue_from_neighbors(m: Mechanism, body: BodyRows, found: Motion, sizes: Indices) -> None:
    """Retry inverse kinematics that failed from home, from neighboring samples."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    count = len(group)
    while count:
        missing = np.isnan(found.configuration[:count, 0])
        starts: dict[int, int] = {}
        for step in (-1, 1):
            beside = np.arange(count) + step
            inside = (beside >= 0) & (beside < count)
            at = np.flatnonzero(missing & inside)
            at = at[~missing[at + step] & (group[at + step] == group[at])]
            starts |= {int(k): int(k) + step for k in at}
        if not starts:
            return
        rows, near = np.array(list(starts)), np.array(list(starts.values()))
        poses, twists, accels = (part[rows] for part in body)
        again = motions_of_body(m, poses, twists, accels, found.configuration[near])
        if np.isnan(again.configuration[:, 0]).all():
            return
        for whole, part in zip(found, again, strict=True):
            whole[rows] = part


def _continue_to_poses(
    m: Mechanism, home: FloatArray, body: BodyRows, found: Motion, first: int
) -> None:
    """Retry inverse kinematics of rest poses that failed from home, in several steps."""
    still = np.zeros((STEPS, 6))
    for row in range(first, len(body.poses)):
        if not np.isnan(found.configuration[row, 0]):
            continue
        fraction = np.linspace(0.0, 1.0, STEPS + 1)[1:, None]
        way = home + fraction * (body.poses[row] - home)
        way[:, 3:] /= np.linalg.norm(way[:, 3:], axis=1, keepdims=True)
        try:
            reached = motion_of_body(m, fraction[:, 0], way, still, still, m.home)
        except RobodynError:
            continue
        for whole, part in zip(found, reached, strict=True):
            whole[row] = part[-1]


def _drives(m: Mechanism, poses: FloatArray, motion: Motion) -> DriveRows:
    n = len(m.joint_names)
    known = ~np.isnan(motion.configuration[:, 0])
    reached = motion if known.all() else Motion(*(part[known] for part in motion))
    out = np.full((3, len(poses), n), np.nan)
    if known.any():
        position, rate, _ = driven_motion(m, *reached)
        effort = nan_where_singular(m.inverse_dynamics, reached, (n,))
        out[:, known] = position, rate, effort
    positions, rates, efforts = out
    return DriveRows(motion.configuration, positions, rates, efforts, poses)


def _peaks(motion: BodyMotion, times: FloatArray, rows: DriveRows) -> tuple[FloatArray, Indices]:
    """Find instants between samples at which a rate, effort or power peaks.

    Returns:
        Instants [s], including those just before and after reversals, and the index of a sample
        near each instant.
    """
    count, step = len(times), float(times[1] - times[0])
    v = rows.rate if not motion.repeats else np.vstack([rows.rate, rows.rate[:1]])
    turn = v[:-1] * v[1:] <= 0.0
    k, j = np.nonzero(turn & (v[:-1] != v[1:]))
    fraction = v[k, j] / (v[k, j] - v[k + 1, j])
    at, near = [times[k] + fraction * step], [k]
    for values in (rows.rate, rows.effort, rows.rate * rows.effort):
        for sign in (1.0, -1.0):
            top, offset = _parabola(sign * values, motion.repeats)
            at.append(times[top] + offset * step)
            near.append(top)
    moments, samples = np.concatenate(at), np.concatenate(near)
    reversals = len(k)
    # dry friction changes its sign there: evaluate both sides
    beside = REVERSAL_OFFSET * step
    moments = np.concatenate([moments[:reversals] - beside, moments[:reversals] + beside,
                              moments[reversals:]])  # fmt: skip
    samples = np.concatenate([samples[:reversals], samples])
    known = ~np.isnan(moments) & ~np.isnan(rows.configuration[samples, 0])
    return np.clip(moments[known], times[0], times[0] + motion.duration), samples[known] % count


def _parabola(values: FloatArray, repeats: bool) -> tuple[Indices, FloatArray]:
    """Fit parabolas through the maximum of each column and its neighbors.

    Returns:
        Index of the maximum of each column, and offset of the vertex from it, in samples.
    """
    filled = np.where(np.isnan(values), -np.inf, values)
    top = filled.argmax(axis=0)
    count, columns = len(values), np.arange(values.shape[1])
    before, after = (top - 1) % count, (top + 1) % count
    low, mid, high = (values[rows, columns] for rows in (before, top, after))
    with np.errstate(invalid="ignore", divide="ignore"):
        offset = 0.5 * (low - high) / (low - 2.0 * mid + high)
    inner = np.ones(len(top), dtype=bool) if repeats else (top > 0) & (top < count - 1)
    return top, np.where(inner & (np.abs(offset) <= 1.0), offset, 0.0)


def are_feasible(rows: DriveRows) -> BoolArray:
    """Find the instants at which the body can have its pose and drive efforts exist.

    Returns:
        Booleans (K,), one for each instant.
    """
    return np.asarray(~np.isnan(rows.effort).any(axis=1), dtype=np.bool_)


def motor_rows(m: Mechanism, rows: DriveRows) -> MotorRows:
    """Compute the motors' torque, speed, power and current for a motion of the drives.

    Returns:
        These values (K, n) of the n motors at the K instants of the motion.
    """
    unknown = np.full(len(rows.rate), np.nan)
    motors = []
    for j, (actuator, unit) in enumerate(zip(m.actuators, m.drives.units, strict=True)):
        torque = actuator.torques(rows.effort[:, j], rows.rate[:, j])
        speed = actuator.ratio * rows.rate[:, j]
        power, constant = torque * speed, actuator.torque_constant
        if unit == "m" and actuator.lead is None:
            motors.append((unknown, unknown, power, unknown))
        else:
            current = unknown if constant is None else torque / constant
            motors.append((torque, speed, power, current))
    return MotorRows(*(np.stack(part, axis=-1) for part in zip(*motors, strict=True)))
