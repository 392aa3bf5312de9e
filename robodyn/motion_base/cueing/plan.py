# SPDX-License-Identifier: Apache-2.0

"""Planned motions of a platform, checked in advance and adapted to the limits of its joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.motion import DrivenMotion, Motion
from robodyn.arrays import ArrayLike, FloatArray, Indices
from robodyn.checks import as_scalar
from robodyn.errors import KinematicsError, NoSolution
from robodyn.loading.as_closed_loop import from_tree
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.kernels import brakes as kernels
from robodyn.motion_base.machine.braking import (
    BRAKES,
    FRACTIONS,
    FRACTIONS_OF_BRAKE,
    NODES,
    braking,
)
from robodyn.motion_base.machine.head_motion import REST, Cue, HeadMotion
from robodyn.motion_base.machine.limits import DriveLimits
from robodyn.motion_base.machine.workspace import Workspace

# Fractions of the ranges of positions, rates, accelerations and efforts that are reserved for
# deviations between the nodes of a brake.
SPARE = (1e-3, 5e-3, 5e-3, 5e-3)
# Bandwidth [rad/s] of the return to the requested motion, critically damped, and the distance [m,
# rad, and per s] at which it has been reached.
RETURN, THERE = 6.0, 1e-9


class Plan(NamedTuple):
    """Planned motion of K samples that ends at rest.

    Attributes:
        place: (3, K, 6) [m, rad] displacement of the head and roll, pitch, yaw, with first and
            second derivatives, in the axes of the neutral pose.
        cue: pose, twist and acceleration of the platform, base frame.
        motion: configuration, velocity and acceleration of the mechanism.
        joints: positions, velocities and accelerations of the driven joints, (K, n) each.
        efforts: (K, n) [N or N m] of the driven joints.
        force: (K, 3) [m/s^2] specific force felt at the head, minus that at rest, in its axes.
        rate: (K, 3) [rad/s] angular velocity of the head, in its axes.
    """

    place: FloatArray
    cue: Cue
    motion: Motion
    joints: DrivenMotion
    efforts: FloatArray
    force: FloatArray
    rate: FloatArray

    def advance(self) -> Plan:
        """Return the plan without its first sample, extended at rest by one sample."""
        return self._select_samples(np.minimum(np.arange(1, self.length + 1), self.length - 1))

    def lasting(self, length: int) -> Plan:
        """Return the plan with `length` samples, extended at rest or cut."""
        return self._select_samples(np.minimum(np.arange(length), self.length - 1))

    @property
    def length(self) -> int:
        """Number K of samples."""
        return int(self.place.shape[1])

    def _select_samples(self, samples: Indices) -> Plan:
        def chosen(values: FloatArray) -> FloatArray:
            return np.asarray(values[samples])

        return Plan(
            self.place[:, samples],
            Cue(*map(chosen, self.cue)),
            Motion(*map(chosen, self.motion)),
            DrivenMotion(*map(chosen, self.joints)),
            *map(chosen, self[4:]),
        )

    @property
    def values(self) -> FloatArray:
        """Positions, rates, accelerations and efforts of the driven joints (4, K, n)."""
        return np.stack([*self.joints, self.efforts])


class PlanExaminer:
    """Evaluator of planned motions and of their margins to the limits.

    Motions and efforts come from exact kinematics and dynamics. Positions and the condition number
    stay within the range that `Workspace` allows, so a commander accepts the planned motions.

    Args:
        mechanism: mechanism whose body moves around its home pose.
        dt: [s] between samples.
        head: (3,) [m] position of the head in the platform's frame.

    Attributes:
        dt: [s] between samples.
        mechanism: the given mechanism; a platform with fewer than six degrees of freedom is
            converted to a tree with closures.
        frame: conversion from the head's motion to the platform's.
        workspace: permitted configurations.
        low, high: (4, 1, n) limits of the joints' positions, rates, accelerations and efforts; the
            effort limits are those at rest.

    Raises:
        InvalidInput: `dt` is not positive, or as for `HeadMotion` and `DriveLimits.of`.
    """

    def __init__(self, mechanism: Mechanism, dt: float, head: ArrayLike) -> None:
        self.dt = as_scalar("dt", dt, "s", above=0.0)
        if mechanism.coordinates.velocity_size < 6:
            mechanism = from_tree(mechanism) or mechanism
        self.mechanism, self.frame = mechanism, HeadMotion(mechanism, head)
        drives = DriveLimits.of(mechanism)
        self.workspace = Workspace(mechanism, drives.positions)
        low, high = self.workspace.lower, self.workspace.upper
        most = np.stack([drives.rates, drives.accelerations, mechanism.effort_limits])
        self.low, self.high = np.stack([low, *-most])[:, None], np.stack([high, *most])[:, None]
        width = self.high - self.low
        spare = np.where(np.isfinite(width), width, 0.0) * np.reshape(SPARE, (4, 1, 1))
        self._limits = np.array([self.low + spare, self.high - spare])[:, :, 0]
        self._limits[0, 3] = spare[3, 0]  # the limits of efforts are those at the rates

    def plan(self, place: FloatArray, starts: FloatArray) -> Plan:
        """Compute the plan for a motion (3, K, 6) of the head, see `Plan.place`.

        The search for the configurations begins at `starts` (K, nq), which are near the samples.

        Returns:
            The plan: motions of platform, mechanism and driven joints, efforts, and the specific
            force and angular velocity felt at the head.

        Raises:
            NoSolution: inverse kinematics find no configuration for a sample.
        """
        cue, motion, joints = self.motion_of_plan(place, starts)
        force, rate = self.frame.felt_in(cue)
        efforts = self.mechanism.inverse_dynamics(*motion)
        return Plan(place, cue, motion, joints, efforts, force - REST, rate)

    def motion_of_plan(
        self, place: FloatArray, starts: FloatArray
    ) -> tuple[Cue, Motion, DrivenMotion]:
        """Compute the motion of platform and mechanism for a motion of the head.

        Args:
            place: (3, K, 6) motion of the head, see `Plan.place`.
            starts: (K, nq) configurations near the samples, from which the search begins.

        Returns:
            Motion of the platform in the base frame, parasitic motion included; motion of the
            mechanism; and motion of its driven joints.

        Raises:
            NoSolution: inverse kinematics find no configuration for a sample.
        """
        m, cue = self.mechanism, self.frame.cue(place)
        motion = motions.motions_of_body(m, *cue, starts, self.frame.rows)
        if np.isnan(motion.configuration).any():
            text = f"{m.name}: a pose of the plan cannot be reached from the previous one"
            raise NoSolution(text, residual=np.inf, value=place)
        return self.cue(cue, motion), motion, motions.driven_motion(m, *motion)

    def cue(self, cue: Cue, motion: Motion) -> Cue:
        """Return the platform's actual motion (K, ...), parasitic motion included.

        Args:
            cue: requested motion of the platform, base frame.
            motion: motion of the mechanism for `cue`, from inverse kinematics.

        Returns:
            `cue` itself if the body has six degrees of freedom; otherwise the motion of the body
            computed from `motion`, base frame.
        """
        if not self.frame.rows:
            return cue
        m = self.mechanism
        q, v, _ = motion
        twist = np.einsum("kij,kj->ki", m.twist_jacobian(q), v)
        return Cue(m.body_pose(q), twist, m.link_acceleration(*motion, m.frames[1]))

    def room(self, plan: Plan) -> FloatArray:
        """Compute the margins of a plan to the joints' limits, negative beyond a limit.

        Returns:
            Margins (4 K n + K,) in the units of the limits: of the driven joints' positions, rates,
            accelerations and efforts, then the least margin of any passive joint at each sample.
        """
        values = plan.values
        room: FloatArray = np.minimum(values - self.low, self.high - values)
        room[3] = self.mechanism.drives.effort_limits_at(plan.joints.velocities) - np.abs(
            plan.efforts
        )
        passive = self.workspace.passive_margins(plan.motion.configuration, 0.0)
        return np.append(room, passive)

    def examine(
        self, place: FloatArray, starts: FloatArray, spacing: FloatArray
    ) -> tuple[Cue, Motion, DrivenMotion, FloatArray]:
        """Evaluate braking motions at their nodes, and midway between them.

        Args:
            place: (3, C N, 6) motions of the head: C braking motions at N nodes each.
            starts: (C N, nq) configurations near the nodes, from which the search begins.
            spacing: (C,) [s] interval between the nodes of each braking motion.

        Returns:
            Requested motion of the platform in the base frame, motion of the mechanism, motion of
            its driven joints (C N, ...), and least margin (C, N) to any limit: negative beyond a
            limit, minus infinity at nodes out of reach.

        Raises:
            KinematicsError: no efforts produce the motion.
        """
        m, count = self.mechanism, len(spacing)
        cue = self.frame.cue(place)
        motion = motions.motions_of_body(m, *cue, starts, self.frame.rows)
        q, v, a = motion
        out = np.isnan(q[:, 0])
        if out.any():
            q[out], v[out], a[out] = starts[out], 0.0, 0.0
        joints = motions.driven_motion(m, *motion)
        values = np.array([*joints, m.inverse_dynamics(*motion)])
        efforts, room = (
            m.drives.effort_limits_at(joints.velocities),
            np.empty((count, len(q) // count)),
        )
        kernels.least_margins(values, self._limits, efforts - self._limits[0, 3], spacing, room)
        room = np.minimum(room, self.workspace.passive_margins(q, SPARE[0]).reshape(room.shape))
        room[out.reshape(room.shape)] = -np.inf
        return cue, motion, joints, room


class MotionLimiter:
    """Limiter of a head's motion, such that the platform can always come to rest.

    At every step the whole platform can brake within the joints' limits of position, rate,
    acceleration and effort. A step is accepted only if a braking motion after it passes a check
    with exact kinematics and dynamics; otherwise the platform follows the braking motion of the
    previous step. Motion within the limits is not changed. A step checks at most five braking
    motions without a search, so its duration hardly depends on the input.

    Args:
        examiner: evaluation of plans.

    Attributes:
        place: (3, K, 6) motion of the head from now until it rests; see `Plan.place`.
        joints: current positions, velocities and accelerations of the driven joints, (n,) each.
    """

    def __init__(self, examiner: PlanExaminer) -> None:
        self._examiner, self._dt = examiner, examiner.dt
        self._target = np.zeros((3, 6))
        positions = examiner.mechanism.joint_positions(examiner.mechanism.home)
        self.joints = DrivenMotion(positions, *np.zeros((2, len(positions))))
        self._follows = True
        self._brake = 0
        self._counts = np.array([max(round(each / self._dt), 2) for each in BRAKES])
        self._set_brake_motion(np.zeros((3, 2, 6)), examiner.mechanism.home[None], self._dt)
        # once at rest, which loads all kernels
        self(np.zeros((3, 6)))
        examiner.motion_of_plan(self.place[:, :1], self._nearest_configurations(np.zeros(1)))

    def _set_brake_motion(self, place: FloatArray, known: FloatArray, spacing: float) -> None:
        """Store a motion of the head (3, K, 6) to rest, which starts now.

        `known` (M, nq) are the configurations along the motion, `spacing` seconds apart.
        """
        self.place, self._known, self._spacing, self._since = place, known, spacing, 0.0

    def begin(self, plan: Plan) -> None:
        """Replace the current motion by a plan, which the next step continues."""
        self._set_brake_motion(plan.place, plan.motion.configuration, self._dt)
        self._follows = False

    @property
    def plan(self) -> Plan:
        """Plan that is followed, from the current state to rest."""
        times: FloatArray = self._dt * np.arange(self.place.shape[1], dtype=np.float64)
        return self._examiner.plan(self.place, self._nearest_configurations(times))

    def _nearest_configurations(self, times: FloatArray) -> FloatArray:
        """Return the stored configurations nearest in time to `times` (K,) [s] from now."""
        at = np.rint((self._since + times) / self._spacing).astype(int)
        return np.asarray(self._known[np.minimum(at, len(self._known) - 1)])

    def __call__(self, target: FloatArray) -> Cue:
        """Move the head toward a requested state by one step, within the limits.

        Args:
            target: (3, 6) requested state of the head, a sample of `Plan.place`.

        Returns:
            Motion of the platform after the step, base frame.
        """
        place, braked = self.place[:, 0], self.place[:, 1]
        requested = target if self._follows else self._approach(place, target)
        cue = self._follow(braked, requested - braked)
        self._target = target
        off = np.abs(self.place[:2, 0] - target[:2]).max()
        self._follows = bool(off < THERE)
        return cue

    def _follow(self, braked: FloatArray, way: FloatArray) -> Cue:
        """Advance the head by the step `way`, or by a fraction of it that limits allow.

        If the limits allow no fraction of the step, continue the last braking motion.
        """
        brake = self._brake
        cue, room = self._first_within_limits(braked, way, [(1.0, brake)])
        if cue is None:
            others = [(fraction, brake) for fraction in FRACTIONS]
            if room[0, 0] >= 0.0:  # another brake may help
                near = (k for k in (brake + 1, brake - 1) if 0 <= k < len(BRAKES))
                others = [(1.0, k) for k in near] + others
            cue, _ = self._first_within_limits(braked, way, others)
        if cue is None:
            if self.place.shape[1] > 2:  # at rest the last two are equal
                self.place = self.place[:, 1:]
            else:
                self.place = np.repeat(self.place[:, 1:], 2, axis=1)
            self._since += self._dt
            cue, _, joints = self._examiner.motion_of_plan(
                self.place[:, :1], self._nearest_configurations(np.zeros(1))
            )
            self.joints = DrivenMotion(*(each[0] for each in joints))
        return Cue(*(each[0] for each in cue))

    def _approach(self, place: FloatArray, target: FloatArray) -> FloatArray:
        """Compute the head's next state (3, 6) on a smooth return to the requested motion."""
        dt = self._dt
        x, v, a = place
        ahead = x + dt * v + 0.5 * dt**2 * a, v + dt * a
        change = target[2] + RETURN * (
            2.0 * (target[1] - ahead[1]) + RETURN * (target[0] - ahead[0])
        )
        return np.array(
            [
                x + dt * v + dt**2 / 6.0 * (2.0 * a + change),
                v + 0.5 * dt * (a + change),
                change,
            ]
        )

    def _first_within_limits(
        self, braked: FloatArray, way: FloatArray, tried: list[tuple[float, int]]
    ) -> tuple[Cue | None, FloatArray]:
        """Accept the first candidate step that respects all limits.

        A candidate is a fraction of the full step, followed by a braking motion.

        Returns:
            The platform's motion (1, ...), or None if no candidate respects all limits; and the
            margins (C, N) to the limits at the N nodes of each of the C candidates.
        """
        fractions, brakes = (np.array(each) for each in zip(*tried, strict=True))
        starts = braked + fractions[:, None, None] * way
        durations = self._dt * self._counts[brakes]
        place = braking(starts, durations, FRACTIONS_OF_BRAKE)
        times = self._dt + durations[:, None] * FRACTIONS_OF_BRAKE
        spacing = durations / (NODES - 1)
        try:
            near = self._nearest_configurations(times.ravel())
            cue, motion, joints, room = self._examiner.examine(place, near, spacing)
        except KinematicsError:
            return None, np.zeros((len(tried), NODES))
        for k in np.flatnonzero((room >= 0.0).all(axis=1)):
            nodes, first = slice(k * NODES, (k + 1) * NODES), slice(k * NODES, k * NODES + 1)
            q = motion.configuration[nodes]
            if self._examiner.workspace.is_conditioned(q[:: NODES - 1]):
                samples = np.linspace(0.0, 1.0, self._counts[brakes[k]] + 1)
                place = braking(starts[k : k + 1], durations[k : k + 1], samples)
                self._set_brake_motion(place, q, float(spacing[k]))
                self._brake = int(brakes[k])
                self.joints = DrivenMotion(*(each[k * NODES] for each in joints))
                now = Cue(*(each[first] for each in cue))
                return self._examiner.cue(now, Motion(*(each[first] for each in motion))), room
        return None, room
