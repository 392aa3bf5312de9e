# SPDX-License-Identifier: Apache-2.0

"""Classical washout: high-pass filtered motion, and tilt for sustained forces.

The filters are in discrete time, exact for inputs that are linear between samples.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from robodyn.algorithms.motion import DrivenMotion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.cueing.parameters import WashoutParameters
from robodyn.motion_base.cueing.plan import MotionLimiter, PlanExaminer
from robodyn.motion_base.kernels.filters import filter_step, turn
from robodyn.motion_base.machine.head_motion import GRAVITY, REST, Cue

# Largest pitch of a platform, below the pitch at which the axes of roll and yaw coincide.
STEEPEST = 0.1


class LinearFilter:
    """Filter 1 / (s^n + c_{n-1} s^{n-1} + ... + c_0) for each of several axes.

    Its state is the output and its derivatives except the highest. The input is linear between
    samples (first-order hold): the phase of a sine is exact, and the relative error of its
    amplitude is the square of the angle between two samples divided by twelve. With a zero-order
    hold, the output would be half a sample late.

    Args:
        coefficients: (axes, n) c_0 to c_{n-1}.
        dt: time [s] between samples.
    """

    def __init__(self, coefficients: FloatArray, dt: float) -> None:
        self._dt = dt
        self._state, self._held = np.zeros(coefficients.shape), np.zeros(len(coefficients))
        self.change(coefficients)

    def change(self, coefficients: FloatArray) -> None:
        """Replace the coefficients (axes, n) and keep the state."""
        axes, n = coefficients.shape
        self._coefficients = np.ascontiguousarray(coefficients)
        self._step = np.empty((axes, n, n + 2))
        for axis in range(axes):
            # the input and its slope are additional states
            whole = np.zeros((n + 2, n + 2))
            whole[: n - 1, 1:n] = np.eye(n - 1)
            whole[n - 1, :n], whole[n - 1, n] = -coefficients[axis], 1.0
            whole[n, n + 1] = 1.0
            self._step[axis] = scipy.linalg.expm(whole * self._dt)[:n]
        self._step[:, :, n + 1] /= self._dt

    def __call__(self, values: FloatArray) -> FloatArray:
        """Advance the filter by one sample, to the new input `values` (axes,).

        Returns:
            Output and its derivatives up to the order n, (axes, n + 1).
        """
        out = np.empty((len(values), self._coefficients.shape[1] + 1))
        numbers = self._step, self._coefficients
        filter_step(*numbers, np.ascontiguousarray(values), self._state, self._held, out)
        return out

    def limit_rate(self, before: FloatArray, limit: FloatArray, dt: float) -> FloatArray:
        """Limit the rates of the last step, and change the filter's state accordingly.

        The filter must be of second order.

        Args:
            before: (axes, 2) output and its rate before the step.
            limit: (axes,) largest rate of each output.
            dt: [s] sampling period.

        Returns:
            Limited output and its two derivatives (axes, 3).
        """
        rate = np.clip(self._state[:, 1], -limit, limit)
        moved = np.clip(self._state[:, 0] - before[:, 0], -limit * dt, limit * dt)
        cut = (rate != self._state[:, 1]) | (moved != self._state[:, 0] - before[:, 0])
        self._state[:, 0], self._state[:, 1] = before[:, 0] + moved, rate
        out = np.empty((len(rate), 3))
        out[:, :2] = self._state
        out[:, 2] = self._held - (self._coefficients * self._state).sum(axis=1)
        out[cut, 2] = (rate[cut] - before[cut, 1]) / dt
        return out


class ClassicalWashout:
    """Classical washout: motion of a platform that reproduces that of a vehicle.

    The method is that of Reid and Nahon (1985). The scaled specific force minus gravity passes a
    high-pass filter in non-rotating axes and moves the platform; a slow tilt reproduces the
    sustained part of its horizontal components; the scaled angular velocity passes a high-pass
    filter and rotates the platform. For small inputs, position, tilt and angle are the outputs of
    the filters in `WashoutParameters`, exact for inputs that are linear between samples. When the
    vehicle is at rest, the platform returns to neutral. If limits of position, velocity,
    acceleration or effort of the joints do not permit this motion, the platform follows it as
    closely as possible and brakes in time (`MotionLimiter`).

    A mechanism with fewer than six degrees of freedom reproduces the cues of its own axes and
    leaves out the others; a sustained horizontal force is reproduced if it can roll or pitch.

    Args:
        mechanism: mechanism whose body moves around its home pose.
        dt: time [s] between steps.
        parameters: gains and filters.
        head: (3,) [m] position of the driver's head in the frame of the platform, for which the
            motion is computed.
        limited: whether the motion is kept within the limits of the joints.

    Attributes:
        late: always zero, because a washout has no time limit; see `PredictiveCueing`.
        frame: conversion between the motions of head and platform.
        axes: axes of the body's motion among surge, sway, heave, roll, pitch and yaw.

    Raises:
        InvalidInput: `dt` is not positive, `head` is not three finite numbers, or the mechanism's
            body does not move at home or is tilted.
    """

    late = 0

    def __init__(
        self,
        mechanism: Mechanism,
        dt: float,
        parameters: WashoutParameters | None = None,
        head: ArrayLike = (0.0, 0.0, 0.0),
        *,
        limited: bool = True,
    ) -> None:
        examiner = PlanExaminer(mechanism, dt, head)
        self.dt = examiner.dt
        self.frame = examiner.frame
        self.neutral, self.axes = self.frame.neutral, self.frame.names
        self._has = np.isin(np.arange(6), self.frame.freedoms).astype(float)
        self._limiter = MotionLimiter(examiner) if limited else None
        shapes = ((3, 3), (2, 2), (3, 1))
        self._translation, self._tilt, self._rotation = (
            LinearFilter(np.zeros(shape), self.dt) for shape in shapes
        )
        self._rates, self._tilted = np.zeros(3), np.zeros((2, 3))
        self._angles = np.zeros(3)
        self.change(parameters or WashoutParameters())
        self.target(REST, np.zeros(3))  # loads the kernels of filters at rest

    def change(self, parameters: WashoutParameters) -> None:
        """Change the parameters but keep the filter states, so the output does not jump.

        Args:
            parameters: new parameters.
        """
        self.parameters = parameters
        of = parameters.of_axes
        self._force_gain, self._force_limit = of("force_gain"), of("force_limit")
        self._rotation_gain, self._rotation_limit = of("rotation_gain"), of("rotation_limit")
        self._tilt_rate = of("tilt_rate")[:2]
        w, damping, b = of("force_highpass"), of("force_highpass_damping"), of("force_washout")
        low, low_damping = of("tilt_lowpass")[:2], of("tilt_lowpass_damping")[:2]
        # (s^2 + 2 z w s + w^2) (s + b)
        cubic = np.column_stack([w**2 * b, w**2 + 2.0 * damping * w * b, 2.0 * damping * w + b])
        self._translation.change(cubic)
        square = np.column_stack([low**2, 2.0 * low_damping * low])
        self._tilt.change(square)
        self._tilt_gain, self._highpass = low**2, of("rotation_highpass")
        self._rotation.change(self._highpass[:, None])

    @property
    def text(self) -> str:
        """Description of the reproduced axes, and of the cues that are left out."""
        return self.frame.text

    @property
    def joints(self) -> DrivenMotion:
        """Driven joints' positions, velocities and accelerations (n,) at the last step.

        Raises:
            InvalidInput: `limited` is false, so the motion may be out of reach.
        """
        if self._limiter is None:
            raise InvalidInput("joints: their motion is computed only if limited=True")
        return self._limiter.joints

    def step(self, specific_force: ArrayLike, angular_velocity: ArrayLike) -> Cue:
        """Process one sample of the vehicle's motion; return the motion of the platform.

        Args:
            specific_force: (3,) [m/s^2] at the head in the vehicle, in its frame (x forward, y
                left, z up); at rest (0, 0, 9.81).
            angular_velocity: (3,) [rad/s] of the vehicle, in its frame.

        Returns:
            Pose, twist and acceleration of the platform, base frame.

        Raises:
            InvalidInput: the shape is wrong or a value is not finite; the state is unchanged.
        """
        place = self.target(specific_force, angular_velocity)
        if self._limiter is not None:
            return self._limiter(place)
        return Cue(*(each[0] for each in self.frame.cue(place[:, None])))

    def target(self, specific_force: ArrayLike, angular_velocity: ArrayLike) -> FloatArray:
        """Advance the filters by a sample of the vehicle's motion.

        Args:
            specific_force: (3,) [m/s^2] at the head, vehicle frame.
            angular_velocity: (3,) [rad/s], vehicle frame.

        Returns:
            Requested state (3, 6) of the head, as in `Plan.place`.
        """
        force = as_exact("specific_force", specific_force, (3,), "m/s^2")
        turning = as_exact("angular_velocity", angular_velocity, (3,), "rad/s")
        felt = np.clip(self._force_gain * (force - REST), -self._force_limit, self._force_limit)
        turned = np.clip(self._rotation_gain * turning, -self._rotation_limit, self._rotation_limit)
        # in non-rotating axes, by the attitude so far
        pushed = np.empty(3)
        turn(self._angles, felt, pushed)
        moved = self._translation(pushed)
        rates = _angle_rates(self._angles, turned)
        angle, rate = self._rotation(rates).T
        change = (rates - self._rates) / self.dt - self._highpass * rate
        self._rates = rates
        rpy = np.stack([angle, rate, change])
        rpy[:, :2] += self._tilt_coordination(felt).T
        rpy *= self._has[3:]
        self._angles = rpy[0].copy()
        # position = s u / (...): the cubic filter's first derivative
        return np.hstack([moved[:, 1:].T * self._has[:3], rpy])

    def _tilt_coordination(self, felt: FloatArray) -> FloatArray:
        """Compute the tilt angles at which gravity simulates a sustained specific force.

        Returns:
            Roll and pitch, and their first and second time derivatives: (2, 3).
        """
        pitch = -self._has[4] * np.arcsin(np.clip(felt[0] / GRAVITY, -1.0, 1.0))
        roll = np.arcsin(np.clip(felt[1] / (GRAVITY * max(np.cos(pitch), STEEPEST)), -1.0, 1.0))
        self._tilt(self._tilt_gain * np.array([roll, pitch]))
        self._tilted = self._tilt.limit_rate(self._tilted[:, :2], self._tilt_rate, self.dt)
        return self._tilted


def _angle_rates(rpy: FloatArray, omega: FloatArray) -> FloatArray:
    """Convert angular velocity (3,) in the body frame to rates of roll, pitch and yaw."""
    roll, pitch, _ = rpy
    level = max(np.cos(pitch), STEEPEST)
    across = np.sin(roll) * omega[1] + np.cos(roll) * omega[2]
    pitching = np.cos(roll) * omega[1] - np.sin(roll) * omega[2]
    return np.array([omega[0] + across * np.sin(pitch) / level, pitching, across / level])
