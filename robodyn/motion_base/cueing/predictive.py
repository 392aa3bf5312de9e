# SPDX-License-Identifier: Apache-2.0

"""Predictive cueing: the platform motion with the least perceived error, within the legs' limits.

A plan of the head's displacement and of roll, pitch and yaw extends over a horizon and ends at
rest. Every step changes the previous plan by splines that start and end at rest, to minimize the
perceived error (`perception`). The limits of the joints are soft, slightly inside the real ones,
and linearized with exact kinematics and dynamics along the plan. The changed plan is then checked
exactly, and the part of the change that is within the limits is adopted. The previous plan is
always within the limits, and ends at rest. If there is no time to plan, the previous plan is
followed for a while; then a classical washout takes over.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.signal import lfilter

from robodyn.algorithms.motion import DrivenMotion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_scalar
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.cueing.horizon import Horizon
from robodyn.motion_base.cueing.parameters import PredictiveParameters
from robodyn.motion_base.cueing.perception import CANALS, OTOLITHS
from robodyn.motion_base.cueing.plan import MotionLimiter, Plan, PlanExaminer
from robodyn.motion_base.cueing.washout import ClassicalWashout
from robodyn.motion_base.kernels.soft_limits import gram, newton_step
from robodyn.motion_base.machine import head_motion

# Prediction of the vehicle's motion: the mean force of the last seconds persists, except for its
# vertical part, which no platform can reproduce; the deviation from it fades, and so does rotation.
MEAN, LASTS, ROTATION_FADES = 2.0, np.array([1.0, 1.0, 0.0]), 1.0
# Margins of the soft limits inside the real ones, relative to the ranges of positions, rates,
# accelerations and efforts: now, and more at the horizon's end, for nonlinearity.
INSIDE = ((0.01, 0.06), (0.02, 0.0), (0.04, 0.0), (0.04, 0.0))
# Step [m, rad] for finite differences of the efforts.
STEP = 1e-6
# Cost of being at the real limit, in squared thresholds of perception times seconds.
LIMIT_COST = 1e3
NEWTON_STEPS, DECREMENT = 8, 1e-2
# Largest number of trials of a change, and the reduction of the feasible fraction of the last one.
CORRECTIONS, CAUTION = 2, 0.9
# Time [s] for which the last plan is followed without a change before the washout takes over, and
# between later trials of a plan.
PATIENCE, AGAIN = 0.2, 1.0


class PredictiveCueing:
    """Predictive motion cueing, which minimizes the error of the perceived motion.

    When the vehicle is at rest, the platform returns to neutral. Positions, rates, accelerations
    and efforts of the joints stay within their limits for any input. The prediction of the
    vehicle's motion assumes that a mean force persists and the deviation from it fades.

    Args:
        mechanism: mechanism whose body moves around its home pose.
        dt: [s] between steps.
        parameters: gains and weights.
        head: (3,) [m] of the driver's head in the platform's frame, for which the motion is
            computed.
        budget: [s] time limit of a step, by default none; when it expires, the best plan so far is
            used. A step without a new plan follows the last plan. After 0.2 s without a new plan, a
            washout with default parameters takes over, within the same limits, and planning is
            tried again every second.

    Attributes:
        late: number of steps whose time limit expired before the last plan could be changed.
        frame: conversion between the motions of head and platform.
        axes: axes of the body's motion among surge, sway, heave, roll, pitch and yaw.
        joints: positions, velocities and accelerations (n,) of the driven joints at the last step.

    Raises:
        InvalidInput: `dt` is not positive, the head is not three finite numbers, or the body does
            not move at home or is tilted.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        dt: float,
        parameters: PredictiveParameters | None = None,
        head: ArrayLike = (0.0, 0.0, 0.0),
        budget: float | None = None,
    ) -> None:
        self.parameters = parameters = parameters or PredictiveParameters()
        self._examiner = PlanExaminer(mechanism, dt, head)
        self.dt = self._examiner.dt
        self._budget = np.inf if budget is None else as_scalar("budget", budget, "s", above=0.0)
        self._clock = time.perf_counter
        self.late = self._missed = 0
        self._patience, self._again = round(PATIENCE / self.dt), max(round(AGAIN / self.dt), 1)
        mechanism = self._examiner.mechanism
        self.frame = frame = self._examiner.frame
        self.neutral, self.axes, self.text = frame.neutral, frame.names, frame.text
        self._freedoms = list(frame.freedoms)
        self._washout = ClassicalWashout(mechanism, self.dt, head=head, limited=False)
        self._limiter = MotionLimiter(self._examiner)
        # at rest, dry friction has the sign of any acceleration
        self._smooth = mechanism.without_dry_friction()
        self._horizon = Horizon(parameters.horizon, self.dt)
        self._prepare_costs()
        now, more = np.array(INSIDE).T[:, :, None, None]
        far = (self._horizon.nodes / self._horizon.count)[:, None]
        self._margin = (self._examiner.high - self._examiner.low) * (now + more * far)
        self._mean = np.zeros(3)
        self._organs = [organ.discrete(self.dt) for organ in (OTOLITHS, CANALS)]
        self._memory = [np.zeros((len(a) - 1, 3)) for _, a in self._organs]
        samples = self._horizon.count + 1
        starts = np.tile(mechanism.home, (samples, 1))
        self._plan = self._examiner.plan(np.zeros((3, samples, 6)), starts)
        self.joints = self._limiter.joints

    def change(self, parameters: PredictiveParameters) -> None:
        """Change the parameters; the next plan starts from the current one.

        Args:
            parameters: new parameters, with the same horizon.

        Raises:
            InvalidInput: the horizon differs.
        """
        if parameters.horizon != self.parameters.horizon:
            raise InvalidInput(
                f"horizon = {parameters.horizon}: cannot be changed from {self.parameters.horizon} "
                "s",
                value=parameters.horizon,
            )
        self.parameters = parameters
        self._prepare_costs()

    def _prepare_costs(self) -> None:
        p, h = self.parameters, self._horizon
        times = self.dt * np.arange(h.count)[:, None]
        self._fading = np.exp(-times / p.of_axes("fading"))
        self._rotation_fading = np.exp(-times / ROTATION_FADES)
        # the horizon's end also represents the time after it
        widths = h.widths + np.r_[np.zeros(len(h.nodes) - 1), p.tail]
        self._force_weight = np.sqrt(p.force_weight * widths)[:, None] / OTOLITHS.threshold
        self._rate_weight = np.sqrt(p.rotation_weight * h.widths)[:, None] / CANALS.threshold
        self._away = np.repeat([p.position_weight, p.angle_weight], 3)[self._freedoms]
        self._moved = h.basis[0] * widths[:, None]
        jerk = np.diff(h.accelerations, axis=0) / self.dt
        self._jerk = p.jerk_weight * self.dt * jerk
        self._curvature = np.kron(np.diag(self._away), h.basis[0].T @ self._moved)
        self._curvature += np.kron(np.eye(len(self._away)), jerk.T @ self._jerk)

    def step(self, specific_force: ArrayLike, angular_velocity: ArrayLike) -> head_motion.Cue:
        """Process one sample of the vehicle's motion; return the motion of the platform.

        Args:
            specific_force: (3,) [m/s^2] at the vehicle's head, in its frame (x forward, y left, z
                up); at rest (0, 0, 9.81).
            angular_velocity: (3,) [rad/s] of the vehicle, in its frame.

        Returns:
            Pose, twist and acceleration of the platform, base frame.

        Raises:
            InvalidInput: the shape is wrong or a value is not finite; the state is unchanged.
        """
        latest = self._clock() + self._budget
        of = self.parameters.of_axes
        felt = as_exact("specific_force", specific_force, (3,), "m/s^2") - head_motion.REST
        turned = as_exact("angular_velocity", angular_velocity, (3,), "rad/s")
        target = self._washout.target(felt + head_motion.REST, turned)
        force, rate = of("force_gain") * felt, of("rotation_gain") * turned
        self._mean += self.dt / (MEAN + self.dt) * (force - self._mean)
        length, found = self._horizon.count + 1, None
        waited = self._missed - self._patience
        is_tried = waited < 0 or waited % self._again == 0
        if is_tried and waited > 0:
            self._plan = self._limiter.plan
        if is_tried and self._plan.length <= length:
            to_come = LASTS * self._mean + (force - self._mean) * self._fading
            plan = self._plan.lasting(length)
            try:
                found = self._improve_plan(plan, to_come, rate * self._rotation_fading, latest)
            except KinematicsError:
                found = plan
        self._missed = 0 if found is not None else self._missed + 1
        self.late += found is None
        if self._missed <= self._patience:
            self._plan = (self._plan if found is None else found).advance()
            cue = head_motion.Cue(*(each[0] for each in self._plan.cue))
            felt_force, felt_rate = self._plan.force[:1], self._plan.rate[:1]
            self.joints = DrivenMotion(*(each[0] for each in self._plan.joints))
        else:
            if self._missed == self._patience + 1:
                self._limiter.begin(self._plan)
            cue, self.joints = self._limiter(target), self._limiter.joints
            felt_force, felt_rate = map(np.atleast_2d, self.frame.felt_in(cue))
            felt_force = felt_force - head_motion.REST
        for i, error in enumerate((felt_force - force, felt_rate - rate)):
            _, self._memory[i] = lfilter(*self._organs[i], error, axis=0, zi=self._memory[i])
        return cue

    def _improve_plan(
        self, plan: Plan, force: FloatArray, rate: FloatArray, latest: float
    ) -> Plan | None:
        """Return an improved plan; None if the time ran out before any improvement."""
        H, g = self._objective(plan, force, rate)
        A = self._limit_jacobian(plan)
        nodes, examiner = self._horizon.nodes, self._examiner
        at = plan.values[:, nodes]
        below, above = at - examiner.low, examiner.high - at
        limits = np.stack([below - self._margin, above - self._margin, self._margin])
        limits = limits.reshape(3, -1)
        found = plan
        for _ in range(CORRECTIONS):
            x = np.zeros(len(g))
            for _ in range(NEWTON_STEPS):
                if self._clock() > latest:
                    break
                if newton_step(H, g, A, limits, LIMIT_COST, x) < DECREMENT:
                    break
            if not x.any():
                break
            change = self._horizon.accelerations @ x.reshape(len(self._freedoms), -1).T
            found = examiner.plan(self._integrate_change(plan, change), plan.motion.configuration)
            room = examiner.room(found)
            if (room >= 0.0).all():
                return found
            # the limits are nonlinear: expect the same deviation again
            off = (found.values - plan.values)[:, nodes].ravel() - x @ A
            limits[0] += np.minimum(off, 0.0)
            limits[1] -= np.maximum(off, 0.0)
        if found is plan:
            return None
        exceeds, before = room < 0.0, examiner.room(plan)
        fraction = CAUTION * float((before[exceeds] / (before[exceeds] - room[exceeds])).min())
        place = self._integrate_change(plan, fraction * change)
        found = examiner.plan(place, plan.motion.configuration)
        return found if (examiner.room(found) >= 0.0).all() else plan

    def _objective(
        self, plan: Plan, force: FloatArray, rate: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Compute the cost of a plan change: perceived errors, displacement and jerk.

        Returns:
            Hessian (N, N) and gradient (N,) w.r.t. the N spline coefficients of the change.
        """
        h, nodes = self._horizon, self._horizon.nodes
        errors = [
            lfilter(*self._organs[i], error, axis=0, zi=self._memory[i])[0][nodes - 1]
            for i, error in enumerate((plan.force[1:] - force, plan.rate[1:] - rate))
        ]
        place = plan.place[0, nodes]
        R = self.frame.rotations(plan.cue.pose[nodes])
        by_rate = np.swapaxes(R, 1, 2) @ head_motion.spatial_rates(place[:, 3:])
        rows = np.zeros((2, len(nodes), 3, 6, h.accelerations.shape[1]))
        acceleration, position, velocity = (each[:, None, None] for each in h.sensed)
        rows[0, :, :, :3] = np.swapaxes(R, 1, 2)[..., None] * acceleration
        rows[0, :, :, 3:] = head_motion.weight_by_angles(place[:, 3:])[..., None] * position
        rows[1, :, :, 3:] = by_rate[..., None] * velocity
        if len(self._freedoms) < 6:
            rows = np.einsum("abcdn,dk->abckn", rows, self.frame.coupling)
        weights = np.stack([self._force_weight, self._rate_weight])
        rows *= weights[..., None, None]
        A = rows.reshape(-1, len(self._curvature))
        H = self._curvature.copy()
        gram(A, H)
        g = (weights * np.stack(errors)).ravel() @ A
        g += (self._away[:, None] * (place.T[self._freedoms] @ self._moved)).ravel()
        changes = plan.place[2][:, self._freedoms]
        g += (np.diff(changes, axis=0).T @ self._jerk / self.dt).ravel()
        return H, g

    def _limit_jacobian(self, plan: Plan) -> FloatArray:
        """Compute derivatives of joint motion and efforts w.r.t. spline coefficients.

        Returns:
            Matrix (N, 4 k n) for N coefficients, k nodes and n joints: the derivatives of
            positions, rates, accelerations and efforts.
        """
        of_joints, by_place, by_change = self._jacobians(plan)
        nodes, n, _ = of_joints.shape
        A = np.empty((len(self._freedoms), self._horizon.accelerations.shape[1], 4, nodes, n))
        position, velocity, acceleration = (b.T[None, :, :, None] for b in self._horizon.basis)
        joints, place, change = (
            J.transpose(2, 0, 1)[:, None] for J in (of_joints, by_place, by_change)
        )
        np.multiply(joints, position, out=A[:, :, 0])
        np.multiply(joints, velocity, out=A[:, :, 1])
        np.multiply(joints, acceleration, out=A[:, :, 2])
        np.multiply(change, acceleration, out=A[:, :, 3])
        A[:, :, 3] += place * position
        return A.reshape(A.shape[0] * A.shape[1], -1)

    def _jacobians(self, plan: Plan) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute the Jacobians of the joints' positions and efforts at each node.

        Returns:
            Three Jacobians (nodes, n, k) w.r.t. k coordinates of the head: of the joint positions
            w.r.t. displacements, of the efforts w.r.t. displacements, and of the efforts w.r.t.
            accelerations. The first one also applies to rates and accelerations.
        """
        nodes, m, frame = self._horizon.nodes, self._examiner.mechanism, self.frame
        axes = frame.axes
        E = axes @ head_motion.spatial_rates(plan.place[0, nodes, 3:])
        arm = axes @ frame.rotations(plan.cue.pose[nodes]) @ frame.head
        whole = np.zeros((len(nodes), 6, 6))
        whole[:, :3, :3], whole[:, 3:, 3:] = axes, E
        # the reference point rotates about the head
        whole[:, :3, 3:] = np.cross(arm[:, :, None], E, axis=1)
        at, speed, change = (each[nodes] for each in plan.motion)
        places = np.linalg.solve(whole, m.twist_jacobian(at))[:, self._freedoms]
        by_velocity = np.swapaxes(np.linalg.inv(places), 1, 2)
        of_joints = m.joint_velocities(at[:, None], by_velocity)
        smooth = self._smooth.inverse_dynamics
        begin = smooth(at, speed, change)[:, None]
        moved = m.advance(at[:, None], STEP * by_velocity)
        by_place = (smooth(moved, speed[:, None], change[:, None]) - begin) / STEP
        by_change = smooth(at[:, None], speed[:, None], change[:, None] + by_velocity) - begin
        jacobians = (np.swapaxes(each, 1, 2) for each in (of_joints, by_place, by_change))
        return tuple(jacobians)  # type: ignore[return-value]

    def _integrate_change(self, plan: Plan, change: FloatArray) -> FloatArray:
        """Return a plan's head motion (3, M + 1, 6) after adding to its accelerations."""
        dt = self.dt
        place = plan.place.copy()
        place[2][:, self._freedoms] += change
        before, after = place[2, :-1], place[2, 1:]
        place[1, 1:] = place[1, 0] + np.cumsum(0.5 * dt * (before + after), axis=0)
        step = dt * place[1, :-1] + dt**2 / 6.0 * (2.0 * before + after)
        place[0, 1:] = place[0, 0] + np.cumsum(step, axis=0)
        return np.asarray(place)
