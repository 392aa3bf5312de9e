# SPDX-License-Identifier: Apache-2.0

"""Pose of a base at sea, from an inertial measurement unit (IMU) alone.

An IMU measures no position and no slow motion: a lasting acceleration looks like an inclination or
a bias. A ship oscillates within a band of periods. A Kalman filter for each axis models such a
motion. It estimates position and heading about their means without lag in this band, and the errors
of the IMU, like the harmonic models of heave compensation (Kuechler, Sawodny et al., IFAC World
Congress 2011). Inclinations come from the integrated angular velocity, corrected by the effect of
gravity in the horizontal filters (error-state filter: Farrell, Aided Navigation, 2008, chapter 11).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robodyn.arrays import FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput
from robodyn.poses import advance_pose, quaternion_of_rotation, rotation_matrix

GRAVITY = 9.81
# Order of the band's edges, and upper edge [rad/s]; above it displacements fall as 1 / s^4.
ORDER, FASTEST = 4, 2.5
# Standard deviations of a position [m] and of an angle [rad]; only their magnitudes matter.
POSITION, ANGLE = 0.5, 0.1
# Initial standard deviations of inclination [rad] and biases [rad/s], [m/s^2].
TILT, GYRO_BIAS, FORCE_BIAS = 0.1, 0.01, 0.1
# Settling time, relative to the longest period.
SETTLED = 5.0
# Number of samples for a first estimate of rate and inclination; a gap [s] after which the
# estimator restarts; largest plausible [m/s^2, rad/s].
FIRST, GAP, LARGEST = 50, 0.5, (50.0, 5.0)


@dataclass(frozen=True)
class ImuNoise:
    """Errors of an IMU: one-sided densities of white noise, and random walks of biases.

    Attributes:
        accelerometer: [m/s^2 per sqrt(Hz)] noise density of specific force.
        gyroscope: [rad/s per sqrt(Hz)] noise density of angular velocity.
        accelerometer_bias: [m/s^2] typical change of the accelerometer's bias in 100 s.
        gyroscope_bias: [rad/s] typical change of the gyroscope's bias in 100 s.
    """

    accelerometer: float = 1.7e-4
    gyroscope: float = 3.5e-5
    accelerometer_bias: float = 3.0e-5
    gyroscope_bias: float = 4.0e-6


def kalman_gain(P: FloatArray, H: FloatArray, R: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the Kalman gain and the covariance after a measurement.

    Args:
        P: (n, n) covariance of the state.
        H: (m, n) matrix from the state to the measurement.
        R: (m, m) covariance of the measurement's noise.

    Returns:
        Gain (n, m), and covariance (n, n) of the state after the measurement.
    """
    K = np.linalg.solve(H @ P @ H.T + R, H @ P).T
    kept = np.eye(len(P)) - K @ H
    # Joseph's form: it stays positive definite
    return K, kept @ P @ kept.T + K @ R @ K.T


class _BandFilter:
    """Kalman filter for band-limited motion of which a time derivative is measured.

    The motion is modeled as white noise behind a Butterworth high-pass and low-pass filter. All
    axes have the same model.

    Args:
        dt: [s] between samples.
        slowest: [rad/s] lower edge of the band.
        deviation: standard deviation of the motion.
        derivative: order of the measured derivative.
        noise: density of the measurement's white noise.
        axes: number of axes.
        errors: further states that contribute to the measurement: their state matrix (k, k), gains
            (k,) in the measurement, intensities of their white noise (k,), and initial deviations
            (k,).
    """

    def __init__(
        self,
        dt: float,
        slowest: float,
        deviation: float,
        derivative: int,
        noise: float,
        axes: int,
        errors: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    ) -> None:
        from scipy import signal  # slow to import

        high = signal.butter(ORDER, slowest, "highpass", analog=True, output="zpk")
        low = signal.butter(ORDER, FASTEST, "lowpass", analog=True, output="zpk")
        zeros, poles = np.append(high[0], low[0]), np.append(high[1], low[1])
        A, B, C, _ = signal.zpk2ss(zeros, poles, high[2] * low[2])
        X = scipy.linalg.solve_continuous_lyapunov(A, -B @ B.T)
        scale = np.sqrt(np.diag(X))
        A, B, C = A * scale / scale[:, None], B / scale[:, None], (C * scale)[0]
        X /= np.outer(scale, scale)
        gain = deviation / np.sqrt(C @ X @ C)
        B *= gain
        rows = [C]
        for _ in range(3):
            rows.append(rows[-1] @ A)
        drift, seen, intensity, begin = errors
        n, k = len(A), len(seen)
        # motion and its derivatives up to the third
        self.outputs = np.hstack([rows, np.zeros((4, k))])
        self._row = np.append(rows[derivative], seen)
        whole = scipy.linalg.block_diag(A, drift)
        white = scipy.linalg.block_diag(B @ B.T, np.diag(intensity))
        # Van Loan (1978): both integrals by one exponential
        zero = np.zeros_like(whole)
        both = scipy.linalg.expm(np.block([[-whole, white], [zero, whole.T]]) * dt)
        self._step = both[n + k :, n + k :].T
        self._white = self._step @ both[: n + k, n + k :]
        self._noise = np.array([[noise**2 / (2.0 * dt)]])
        self.covariance = scipy.linalg.block_diag(gain**2 * X, np.diag(begin**2))
        self.state = np.zeros((n + k, axes))
        self.size = n

    def predict(self) -> None:
        """Advance state and covariance by one sample."""
        self.state = self._step @ self.state
        self.covariance = self._step @ self.covariance @ self._step.T + self._white

    def correct(self, measured: FloatArray) -> None:
        """Correct the state with the measured values (axes,), one per axis."""
        row = self._row
        gain, P = kalman_gain(self.covariance, row[None], self._noise)
        self.covariance = 0.5 * (P + P.T)
        self.state += gain * (measured - row @ self.state)

    @property
    def deviation(self) -> float:
        """Standard deviation of the estimated motion, from the filter's covariance."""
        row = self.outputs[0]
        return float(np.sqrt(max(row @ self.covariance @ row, 0.0)))


class BasePoseEstimator:
    """Estimator of a base's pose, relative to the horizon and its mean position and heading.

    Poses are in the level frame: z up, at the mean position, x forward at the mean heading. Motions
    slower than the longest period are part of the inclination, but not of position and heading. The
    first samples determine the sampling rate.

    Args:
        noise: errors of the IMU.
        longest_period: [s] longest period of the motion to estimate.

    Attributes:
        patience: [s] settling time of the estimate.

    Raises:
        InvalidInput: the period is not positive.
    """

    def __init__(self, noise: ImuNoise | None = None, longest_period: float = 12.0) -> None:
        self._imu = noise or ImuNoise()
        period = as_scalar("longest_period", longest_period, "s", above=0.0)
        self._slowest, self.patience = 2.0 * np.pi / period, SETTLED * period
        self.reset()

    def reset(self) -> None:
        """Discard all samples, because the clock of their stamps was set."""
        self._samples: list[tuple[int, FloatArray]] = []
        self._horizontal: _BandFilter | None = None
        self._stamp = self._begun = 0

    @property
    def is_settled(self) -> bool:
        """Whether samples have arrived for the settling time, five longest periods."""
        return self._horizontal is not None and self._stamp - self._begun > self.patience * 1e9

    @property
    def deviations(self) -> tuple[float, float]:
        """Standard deviations [m] of the estimated position: horizontal, then vertical.

        They are predicted by the estimator's model of motion and noise.
        """
        if self._horizontal is None:
            return POSITION, POSITION
        return self._horizontal.deviation, self._vertical.deviation

    def step(self, stamp: int, felt: BaseMotion) -> None:
        """Update the estimate with an IMU sample at a time `stamp` [ns].

        `felt` contains the measured specific force and angular velocity, converted to the origin
        and the axes of the base.

        Raises:
            InvalidInput: the time is not later than that of the last sample, or the values are
                implausible for a ship.
        """
        row = felt.rows[:6]
        largest = np.abs(row.reshape(2, 3)).max(axis=1)
        if (largest > LARGEST).any():
            raise InvalidInput(
                f"the IMU reports {largest[0]:.3g} m/s^2 and {largest[1]:.3g} rad/s, "
                f"implausible for a base on a ship (at most {LARGEST[0]:g} m/s^2, "
                f"{LARGEST[1]:g} rad/s)",
                value=row,
            )
        last = self._samples[-1][0] if self._samples else stamp - 1
        if stamp <= last:
            raise InvalidInput(
                f"stamp is {1e-9 * stamp:.6f} s, must be after the previous stamp, "
                f"{1e-9 * last:.6f} s",
                value=stamp,
            )
        if stamp - last > GAP * 1e9:
            self.reset()
        self._samples.append((stamp, row))
        if self._horizontal is None:
            if len(self._samples) == FIRST:
                self._begin()
            return
        self._advance(1e-9 * (stamp - last))

    def _begin(self) -> None:
        stamps = np.array([stamp for stamp, _ in self._samples])
        self._dt = dt = 1e-9 * float(np.median(np.diff(stamps)))
        up = np.mean([row[:3] for _, row in self._samples], axis=0)
        up /= np.linalg.norm(up)
        forward = np.array([1.0, 0.0, 0.0]) - up[0] * up
        forward /= np.linalg.norm(forward)
        self._pose = np.zeros(7)
        self._pose[3:] = quaternion_of_rotation(np.array([forward, np.cross(up, forward), up]))
        s, white = self._imu, 0.5 * self._imu.gyroscope**2
        wander = s.gyroscope_bias**2 / 100.0
        one = np.ones(1)
        # effect of an inclination on the horizontal forces, and of a gyroscope's bias on it
        tilt = (
            np.array([[0.0, 1.0], [0.0, 0.0]]),
            np.array([GRAVITY, 0.0]),
            np.array([white, wander]),
            np.array([TILT, GYRO_BIAS]),
        )
        force = (0.0 * np.eye(1), one, s.accelerometer_bias**2 / 100.0 * one, FORCE_BIAS * one)
        rate = (0.0 * np.eye(1), one, wander * one, GYRO_BIAS * one)
        w = self._slowest
        self._horizontal = _BandFilter(dt, w, POSITION, 2, s.accelerometer, 2, tilt)
        self._vertical = _BandFilter(dt, w, POSITION, 2, s.accelerometer, 1, force)
        # angular velocity in the axes of the level frame, and the rate of the heading
        self._turning = _BandFilter(dt, w, ANGLE, 1, s.gyroscope, 4, rate)
        self._stamp = self._begun = self._samples[-1][0]

    def _advance(self, time: float) -> None:
        (_, before), (self._stamp, row) = self._samples[-2:]
        del self._samples[:-1]
        R = rotation_matrix(self._pose)
        turn = R @ (0.5 * time * (before[3:] + row[3:]))
        self._pose = advance_pose(self._pose, np.concatenate([np.zeros(3), turn]))
        R = rotation_matrix(self._pose)
        force, omega = R @ row[:3], R @ row[3:]
        # rate of yaw
        _, wy, wz = row[3:]
        yawing = (R[2, 1] * wy + R[2, 2] * wz) / max(R[2, 1] ** 2 + R[2, 2] ** 2, 1e-3)
        horizontal = self._horizontal
        assert horizontal is not None
        for each in (horizontal, self._vertical, self._turning):
            for _ in range(max(round(time / self._dt), 1)):
                each.predict()
        horizontal.correct(force[:2])
        self._vertical.correct(force[2:] - GRAVITY)
        self._turning.correct(np.append(omega, yawing))
        # an inclination phi adds -phi x g to the force: subtract it from the attitude
        found = horizontal.state[horizontal.size].copy()
        horizontal.state[horizontal.size] = 0.0
        self._pose = advance_pose(self._pose, [0.0, 0.0, 0.0, found[1], -found[0], 0.0])

    def at(self, time: int) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Predict the motion of the base's origin at a time [ns].

        The motion is extrapolated with the derivatives at the last sample.

        Returns:
            Pose (7,), twist (6,) and acceleration (6,) in the level frame; None if the estimate has
            not settled yet, or if the last sample is more than 0.5 s away from `time`.
        """
        ahead = 1e-9 * (time - self._stamp)
        if not self.is_settled or abs(ahead) > GAP:
            return None
        h = self._horizontal
        assert h is not None
        x = np.hstack([each.outputs @ each.state for each in (h, self._vertical, self._turning)])
        derivatives = [x[k:] for k in range(3)]
        factors = [1.0, ahead, ahead**2 / 2.0, ahead**3 / 6.0]
        p, v, a = (np.tensordot(factors[: len(d)], d, 1) for d in derivatives)
        turn = ahead * (x[1, 3:6] + 0.5 * ahead * x[2, 3:6])
        R = rotation_matrix(advance_pose(self._pose, np.concatenate([np.zeros(3), turn])))
        # the heading is relative to its mean
        angle = p[6] - np.arctan2(R[1, 0], R[0, 0])
        c, s = np.cos(angle), np.sin(angle)
        Z = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        pose = np.append(Z @ p[:3], quaternion_of_rotation(Z @ R))
        twist = np.append(Z @ v[:3], Z @ v[3:6])
        # the measured rate is the first derivative of the angles
        return pose, twist, np.append(Z @ a[:3], Z @ a[3:6])
